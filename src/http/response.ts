import type { IncomingMessage, ServerResponse } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { ServiceError } from '../errors.ts';
import { discardBody, isBodyShort, isBodyUnderWay } from './body.ts';
import type { Failure, TellFailure } from './failure.ts';
import type { TransportResponse } from './transport.ts';

/** Headers that pages of other origins may read. */
const EXPOSED_HEADERS =
  'X-Request-Id, Server-Timing, Age, Cache-Status, ETag, Retry-After, Allow, Location, Weir-Warnings, Weir-Truncated, Weir-Complete-Until';

/** Headers of every answer. */
export const COMMON_HEADERS: ReadonlyMap<string, string> = new Map([
  ['X-Content-Type-Options', 'nosniff'],
  ['Access-Control-Allow-Origin', '*'],
  ['Access-Control-Expose-Headers', EXPOSED_HEADERS],
]);

/** Sends a complete answer, given in parts; for HEAD, only its headers. */
export function sendBytes(
  response: TransportResponse,
  status: number,
  contentType: string,
  parts: readonly Uint8Array[],
): void {
  beginBytes(response, status, contentType, parts);
  if (parts.length === 1) {
    response.end(parts[0]);
    return;
  }
  // Small parts are sent in one packet; the end of the answer flushes them.
  response.cork();
  for (const part of parts.slice(0, -1)) response.write(part);
  response.end(parts.at(-1));
}

/** Sets the status and headers of a complete answer, given in parts. */
export function beginBytes(
  response: TransportResponse,
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

/** Adds a request header to `Vary`. */
export function varyBy(response: ServerResponse, header: string): void {
  const known = response.getHeader('Vary');
  const headers = known === undefined ? [] : String(known).split(', ');
  if (!headers.includes(header)) response.setHeader('Vary', [...headers, header].join(', '));
}

/** The id of the request, from the headers of its answer. */
export function getRequestId(response: Pick<TransportResponse, 'getHeader'>): string {
  return String(response.getHeader('X-Request-Id') ?? '');
}

/** Sends a failure, formatted by `tell`. `nowMs`: the time of the failure. */
export function sendError(
  request: IncomingMessage,
  response: ServerResponse,
  error: ServiceError,
  { tell, nowMs }: { readonly tell: TellFailure; readonly nowMs: number },
): void {
  const { details, retryAfterS } = error;
  const { accept, 'content-type': sentType } = request.headers;
  const failed = { requestId: getRequestId(response), accept, contentType: sentType, nowMs };
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
    // No body follows a request whose sender waits for a 100 that it does not get.
    if (request.headers.expect !== undefined) response.setHeader('Connection', 'close');
    sendBytes(response, status, contentType, [body]);
    return;
  }
  if (!isBodyShort(request)) response.setHeader('Connection', 'close');
  // The whole answer is sent now. It is ended, which may close the connection, only after the body has been read:
  // closing with unread bytes resets the connection, and the caller would lose the answer.
  beginBytes(response, status, contentType, [body]);
  if (request.method === 'HEAD') response.flushHeaders();
  else response.write(body);
  discardBody(request, () => response.end());
}

/** Sends all bytes but the last, and then breaks the connection off. */
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
    // Unread bytes would reset the connection earlier, and the caller would not see the reason.
    if (isBodyUnderWay(request)) discardBody(request, breakOff);
    else breakOff();
  });
}

/** The bytes of a complete HTTP answer, for a connection whose request could not be read. */
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
