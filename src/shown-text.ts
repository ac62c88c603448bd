/**
 * A text in which nothing is left that a terminal or an editor would act on when it shows it: each such
 * character is an escape, as JSON has them. What callers send is written to logs and terminals.
 */
export function shownText(text: string): string {
  return text.replace(UNSHOWN, escaped);
}

/**
 * Controls of C0 and C1, of which some begin commands to a terminal, and DEL; other spaces, ends of lines and
 * directions of writing, which make a line read as another.
 */
const UNSHOWN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

/** A unit of 16 bits at a time. */
function escaped(character: string): string {
  const short = SHORT_ESCAPES.get(character);
  if (short !== undefined) return short;
  return Array.from({ length: character.length }, (_, index) => {
    return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }).join('');
}
