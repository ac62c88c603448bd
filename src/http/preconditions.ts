import type { IncomingMessage } from 'node:http';
import { echo } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import { namesTag } from './http-caching.ts';

/**
 * Guards a change against one that the caller has not seen: `If-Match` must name one of the tags of
 * what there is, compared strongly, or be `*` (RFC 9110 §13.1.1). No tags: there is nothing.
 *
 * @throws ServiceError when it does not, or is missing where it is needed (RFC 6585 §3).
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
      'If-Match must be given, with the ETag of what is to be changed, or * for whatever there is',
    );
  }
  if (header.trim() === '*' && tags !== undefined) return;
  // A weak tag stands for others that mean the same; here only the same will do.
  const given = Array.from(header.matchAll(/(W\/)?("[^"]*")/g), ([, weak, tag]) =>
    weak === undefined ? tag! : '',
  );
  if (given.some((tag) => tags?.includes(tag))) return;
  const is = tags?.[0] === undefined ? 'there is none' : `it is ${tags[0]} now`;
  throw new ServiceError('precondition_failed', `If-Match is ${echo(header)}; ${is}`);
}

/**
 * `If-None-Match` wants that what there is has none of the tags that it names, compared weakly; with `*`, that there
 * is nothing yet (RFC 9110 §13.1.2). No tags: there is nothing.
 *
 * @throws ServiceError when it is otherwise.
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
