import { QueryError } from '../../query-error.ts';

/** A piece of a pattern of FORMAT: text that stands for itself, or a place for an argument. */
export type FormatPiece = string | FormatPlace;

/** `%[flags][width][.precision]letter`; `*` takes the number from an argument of its own. */
export type FormatPlace = {
  readonly flags: string;
  readonly width: number | '*' | undefined;
  readonly precision: number | '*' | undefined;
  readonly letter: string;
};

/** A place whose width and precision are numbers, if there are any. */
export type FixedPlace = {
  readonly flags: string;
  readonly width: number;
  readonly precision: number | undefined;
  readonly letter: string;
};

const PLACE = /%([-+ #0']*)(\*|\d{1,7})?(?:\.(\*|\d{0,7}))?([a-zA-Z%])/y;

let latest: { readonly pattern: string; readonly pieces: readonly FormatPiece[] } | undefined;

/** The pieces of a pattern; throws for a `%` that begins no place. */
export function parseFormat(pattern: string): readonly FormatPiece[] {
  // Row after row asks for the same pattern.
  if (latest?.pattern === pattern) return latest.pieces;
  const pieces: FormatPiece[] = [];
  for (let at = 0; at < pattern.length; ) {
    const percent = pattern.indexOf('%', at);
    const end = percent < 0 ? pattern.length : percent;
    if (end > at) pieces.push(pattern.slice(at, end));
    if (percent < 0) break;
    PLACE.lastIndex = percent;
    const [whole, flags, width, precision, letter] = PLACE.exec(pattern) ?? [];
    if (whole === undefined || !'dioxXfFeEgGstTpP%'.includes(letter!)) {
      throw new QueryError(
        'query_failed',
        'FORMAT allows specifiers such as %d, %s, %t and %10.2f, and %% for a percent sign; ' +
          `got ${JSON.stringify(pattern.slice(percent, percent + 16))}`,
      );
    }
    if (letter === '%') pieces.push('%');
    else {
      pieces.push({
        flags: flags!,
        width: numberOf(width),
        precision: numberOf(precision),
        letter: letter!,
      });
    }
    at = PLACE.lastIndex;
  }
  latest = { pattern, pieces };
  return pieces;
}

/** A point without digits is a precision of 0, as in C. */
function numberOf(text: string | undefined): number | '*' | undefined {
  return text === undefined || text === '*' ? text : Number(text);
}
