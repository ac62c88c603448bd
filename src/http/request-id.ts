import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** The allowed request ids of callers. They cannot break a log line or a header. */
const REQUEST_ID = /^[\w.:+/=-]{1,128}$/;

/** Headers that give a request its id, in this order. The second is that of Amazon Data Firehose. */
const REQUEST_ID_HEADERS = ['x-request-id', 'x-amz-firehose-request-id'] as const;

/** The id that a request gives itself, else a new one. */
export function findRequestId(headers: IncomingHttpHeaders): string {
  const given = REQUEST_ID_HEADERS.map((name) => headers[name]).find(Boolean);
  const isUsable = typeof given === 'string' && REQUEST_ID.test(given);
  return isUsable ? given : randomUUID();
}
