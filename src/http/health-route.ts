import { REFUSING_CODES, type Readiness } from '../readiness.ts';
import { sendJson } from './response.ts';
import type { OpenOperation } from './route.ts';

/**
 * How the service is: 200 while it takes calls, `degraded` with the reasons where something is not as it should be;
 * 503 and why before and after. `members`: what a service that takes calls says besides.
 */
export function healthHandler(readiness: Readiness, members: object): OpenOperation['handle'] {
  return (_request, response) => {
    const { reason, details, healthReasons: reasons } = readiness;
    response.setHeader('Cache-Control', 'no-store');
    if (reason !== undefined) {
      const status = details.recovering === undefined ? 'coming_up' : 'recovering';
      sendJson(response, 503, { status, reason, ...details });
    } else if (reasons.length === 0) {
      sendJson(response, 200, { status: 'ok', ...members, ...details });
    } else sendJson(response, 200, { status: 'degraded', reasons, ...members, ...details });
  };
}

/** Whether the service takes calls and posts: 200 where it does, 503 and why where it does not. */
export function readyHandler(readiness: Readiness, members: object): OpenOperation['handle'] {
  return (_request, response) => {
    const { reason, details, healthReasons } = readiness;
    const [refusal, ...others] = healthReasons.filter(({ code }) => REFUSING_CODES.has(code));
    response.setHeader('Cache-Control', 'no-store');
    if (reason !== undefined) {
      const status = details.recovering === undefined ? 'not_ready' : 'recovering';
      sendJson(response, 503, { status, reason, ...details });
    } else if (refusal !== undefined) {
      const reasons = [refusal, ...others];
      const { message } = refusal;
      sendJson(response, 503, { status: 'not_ready', reason: message, reasons, ...details });
    } else sendJson(response, 200, { status: 'ready', ...members, ...details });
  };
}
