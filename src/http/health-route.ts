import type { Readiness } from '../readiness.ts';
import { sendJson } from './response.ts';
import type { OpenOperation } from './route.ts';

/** Whether the service takes calls, in words of its own: 200 where it does, 503 and why where it does not. */
export function healthHandler(
  readiness: Readiness,
  words: { readonly good: string; readonly bad: string },
  members: object,
): OpenOperation['handle'] {
  return (_request, response) => {
    const { reason, details } = readiness;
    response.setHeader('Cache-Control', 'no-store');
    const bad = details.recovering === undefined ? words.bad : 'recovering';
    if (reason === undefined)
      sendJson(response, 200, { status: words.good, ...members, ...details });
    else sendJson(response, 503, { status: bad, reason, ...details });
  };
}
