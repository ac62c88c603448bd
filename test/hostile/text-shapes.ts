/**
 * SQL texts that a caller may send to hold up the main thread: each grows with a count, so that one can ask how the work
 * on it grows. They read the tables of HOSTILE_SANDBOX.
 */
export type HostileText = {
  readonly name: string;
  /** The text with so many branches, elements, columns, tables, and so on. */
  readonly withCount: (count: number) => string;
  /** What it comes to grows by the square of its length, up to a limit of planning. */
  readonly isProduct?: true;
};

export function list(count: number, item: (index: number) => string, separator = ','): string {
  return Array.from({ length: count }, (_, index) => item(index)).join(separator);
}

/** `before` so many times, the middle, and `after` as often. */
export function nested(count: number, before: string, middle: string, after: string): string {
  return before.repeat(count) + middle + after.repeat(count);
}

/** Subqueries in FROM that each give the columns of the one within. */
export function layers(
  count: number,
  select: (level: number) => string,
  innermost: string,
): string {
  let text = innermost;
  for (let level = 0; level < count; level++) text = `${select(level)} FROM (${text})`;
  return text;
}

/** The table that most texts read. */
export const FROM = 'FROM entries';
