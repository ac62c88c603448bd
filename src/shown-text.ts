/**
 * Escapes the characters that a terminal or an editor would act on, as JSON does. Logs and
 * terminals show texts that callers send.
 */
export function shownText(text: string): string {
  return text.replace(UNSHOWN, escaped);
}

/**
 * Control characters (C0, C1, DEL), some of which begin terminal commands, and format,
 * line-separator and bidirectional characters, which change how a line reads.
 */
const UNSHOWN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

/** Escapes one UTF-16 code unit at a time. */
function escaped(character: string): string {
  const short = SHORT_ESCAPES.get(character);
  if (short !== undefined) return short;
  return Array.from({ length: character.length }, (_, index) => {
    return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }).join('');
}
