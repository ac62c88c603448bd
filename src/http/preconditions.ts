import type { IncomingMessage } from 'node:http';
import { echo } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import { namesTag } from './http-caching.ts';

/**
 * Checks `If-Match`, so that a caller cannot overwrite a version that it has not seen: it must be `*` or name one of
 * the current tags, with strong comparison (RFC 9110 §13.1.1). No tags: the resource does not exist.
 *
 * @throws ServiceError if it does not match, or is missing although required (RFC 6585 §3).
 */
export function checkIfMatch(
  request: IncomingMessage,
  tags: readonly string[] | undefined,
  { isNeeded }: { readonly isNeeded: boolean },
): void {
  const header = request.headers['if-match'];
  if (header === undefined) {
    if (!isNeeded) return;
    throw new ServiceError(
      'precondition_required',
      'If-Match is required: send the ETag of the version to change, or * for any version',
    );
  }
  if (header.trim() === '*' && tags !== undefined) return;
  // A weak tag may denote equivalent versions; here only the identical one matches.
  const given = Array.from(header.matchAll(/(W\/)?("[^"]*")/g), ([, weak, tag]) =>
    weak === undefined ? tag! : '',
  );
  if (given.some((tag) => tags?.includes(tag))) return;
  const is = tags?.[0] === undefined ? 'there is none' : `it is ${tags[0]} now`;
  throw new ServiceError('precondition_failed', `If-Match is ${echo(header)}; ${is}`);
}

/**
 * Checks `If-None-Match`: the resource must have none of the named tags, with weak comparison, or must not exist for
 * `*` (RFC 9110 §13.1.2). No tags: the resource does not exist.
 *
 * @throws ServiceError if the condition is false.
 */
export function checkIfNoneMatch(
  request: IncomingMessage,
  tags: readonly string[] | undefined,
): void {
  const header = request.headers['if-none-match'];
  if (!tags?.some((tag) => namesTag(header, tag))) return;
  throw new ServiceError(
    'precondition_failed',
    `If-None-Match is ${echo(header!)}; there is a definition already, ${tags[0]}`,
  );
}
