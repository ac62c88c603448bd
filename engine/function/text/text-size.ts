import { MADE_TEXT_LENGTH_MAX } from '../../limits.ts';
import { QueryError } from '../../query-error.ts';

/**
 * Throws when a function would make a text of `length` characters that is too large, unless what it
 * was given is as large already: `givenLength`.
 */
export function checkTextSize(name: string, length: number, givenLength = 0): void {
  if (length <= MADE_TEXT_LENGTH_MAX || length <= givenLength) return;
  throw new QueryError(
    'query_limit',
    `${name} makes texts of at most ${MADE_TEXT_LENGTH_MAX} characters; got ${length}`,
  );
}
