/** Longer values are not offered for a search: nobody reads them in it. */
export const SEARCHED_LENGTH_MAX = 400;

export type SearchedValue = string | number | boolean | null;

/** A search with one more condition: events that have the value in the field, or that have it not. */
export function addCondition(
  search: string,
  path: string,
  value: SearchedValue,
  isWanted: boolean,
): string {
  // That there is a value at all is the opposite of null.
  const condition = value === null ? `${path}:*` : `${path}:${quoteValue(String(value))}`;
  const isPlain = isWanted === (value !== null);
  const [added, opposite] = isPlain ? [condition, `-${condition}`] : [`-${condition}`, condition];
  const spaced = ` ${search.trim()} `;
  if (spaced.includes(` ${added} `)) return search.trim();
  if (spaced.includes(` ${opposite} `)) {
    return spaced.replace(` ${opposite} `, () => ` ${added} `).trim();
  }
  return `${search.trim()} ${added}`.trim();
}

/** A value that a search does not read as anything else than itself. */
export function quoteValue(text: string): string {
  return /^[\p{L}\p{N}_.-]+$/u.test(text) ? text : `"${text.replace(/[\\"]/g, '\\$&')}"`;
}
