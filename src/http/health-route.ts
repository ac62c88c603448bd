import { REFUSING_CODES, type Readiness } from '../readiness.ts';
import { sendJson } from './response.ts';
import type { OpenOperation } from './route.ts';

/**
 * Answers with 200 while the service accepts calls (`degraded` with reasons if something is wrong), and with 503 and
 * the reason before and after. `members`: further members of the answer while it accepts calls.
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

/** Answers with 200 while the service accepts calls and posts, and with 503 and the reason otherwise. */
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
