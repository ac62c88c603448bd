import type { IncomingMessage, ServerResponse } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { ServiceError } from '../errors.ts';
import { discardBody, isBodyShort, isBodyUnderWay } from './body.ts';
import type { Failure, TellFailure } from './failure.ts';

/** Headers that pages of other origins may read. */
const EXPOSED_HEADERS =
  'X-Request-Id, Server-Timing, Age, Cache-Status, ETag, Retry-After, Allow, Location, Weir-Warnings, Weir-Truncated';

/** On every answer, whatever was asked. */
export const COMMON_HEADERS: ReadonlyMap<string, string> = new Map([
  ['X-Content-Type-Options', 'nosniff'],
  ['Access-Control-Allow-Origin', '*'],
  ['Access-Control-Expose-Headers', EXPOSED_HEADERS],
]);

/** Writes a whole answer, given in parts; of one to HEAD only the headers leave. */
export function sendBytes(
  response: ServerResponse,
  status: number,
  contentType: string,
  parts: readonly Uint8Array[],
): void {
  beginBytes(response, status, contentType, parts);
  if (parts.length === 1) {
    response.end(parts[0]);
    return;
  }
  // Small parts then leave in one packet; the end of an answer lets it go.
  response.cork();
  for (const part of parts.slice(0, -1)) response.write(part);
  response.end(parts.at(-1));
}

function beginBytes(
  response: ServerResponse,
  status: number,
  contentType: string,
  parts: readonly Uint8Array[],
): void {
  response.statusCode = status;
  response.setHeader('Content-Type', contentType);
  response.setHeader(
    'Content-Length',
    parts.reduce((size, part) => size + part.length, 0),
  );
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  sendBytes(response, status, 'application/json; charset=utf-8', [
    Buffer.from(JSON.stringify(value)),
  ]);
}

/** Says that the answer is another one where this header of the request is. */
export function varyBy(response: ServerResponse, header: string): void {
  const known = response.getHeader('Vary');
  const headers = known === undefined ? [] : String(known).split(', ');
  if (!headers.includes(header)) response.setHeader('Vary', [...headers, header].join(', '));
}

/** The id of a request, as its answer tells it. */
export function requestIdOf(response: ServerResponse): string {
  return String(response.getHeader('X-Request-Id') ?? '');
}

/** Tells the caller what is wrong, in the words of `tell`. */
export function sendError(
  request: IncomingMessage,
  response: ServerResponse,
  error: ServiceError,
  tell: TellFailure,
): void {
  const { details, retryAfterS } = error;
  const { accept, 'content-type': sentType } = request.headers;
  const failed = { requestId: requestIdOf(response), accept, contentType: sentType };
  const { status, contentType, body, isCutShort = false } = tell(error, failed);
  if (retryAfterS !== undefined) response.setHeader('Retry-After', retryAfterS);
  if (details.allow !== undefined) response.setHeader('Allow', details.allow.join(', '));
  if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer realm="weir"');
  response.setHeader('Cache-Control', 'no-store');
  varyBy(response, 'Accept');
  if (isCutShort) {
    cutShort(request, response, { status, contentType, body });
    return;
  }
  if (!isBodyUnderWay(request)) {
    // Nothing follows a request that was told not to send its body.
    if (request.headers.expect !== undefined) response.setHeader('Connection', 'close');
    sendBytes(response, status, contentType, [body]);
    return;
  }
  if (!isBodyShort(request)) response.setHeader('Connection', 'close');
  // The whole answer leaves now. It is ended, which may close the connection, only when the body has
  // been read off: closing with bytes unread resets it, and the caller would lose the answer.
  beginBytes(response, status, contentType, [body]);
  if (request.method === 'HEAD') response.flushHeaders();
  else response.write(body);
  discardBody(request, () => response.end());
}

/** Sends all there is, and lets the connection break off where the last byte should be. */
function cutShort(
  request: IncomingMessage,
  response: ServerResponse,
  { status, contentType, body }: Failure,
): void {
  response.setHeader('Connection', 'close');
  beginBytes(response, status, contentType, [body]);
  response.setHeader('Content-Length', body.length + 1);
  const breakOff = (): void => void response.destroy();
  response.write(body, () => {
    // What is unread would break it off sooner, and the caller would not see why.
    if (isBodyUnderWay(request)) discardBody(request, breakOff);
    else breakOff();
  });
}

/** The bytes of a whole HTTP answer, for a connection whose request could not be read. */
export function rawErrorResponse(error: ServiceError, tell: TellFailure): string {
  const { status, contentType, body } = tell(error, { requestId: '', accept: undefined });
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${body.length}`,
    'Cache-Control: no-store',
    ...Array.from(COMMON_HEADERS, ([name, value]) => `${name}: ${value}`),
    'Connection: close',
    '',
    body.toString(),
  ].join('\r\n');
}
