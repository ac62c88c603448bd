import { spendSteps } from '../work-meter.ts';

/**
 * Texts up to this length are looked for by V8, which compares each character of a text with at most all of these. It
 * takes the time of the product for long ones (`b` before a thousand `a`, in a million `a`), of which callers choose both.
 */
const SHORT_LENGTH_MAX = 64;

/** Where `wanted` stands in `text`, at `from` or behind it; -1 where it does not. Takes time linear in both. */
export function indexOfText(text: string, wanted: string, from = 0): number {
  if (wanted.length <= SHORT_LENGTH_MAX) return text.indexOf(wanted, from);
  for (const at of placesOf(text, wanted, from)) return at;
  return -1;
}

export function holdsText(text: string, wanted: string): boolean {
  return indexOfText(text, wanted) >= 0;
}

/** What stands between the places of `wanted`, which do not overlap: `text.split(wanted)`. */
export function splitText(text: string, wanted: string): readonly string[] {
  if (wanted.length <= SHORT_LENGTH_MAX) return text.split(wanted);
  const pieces: string[] = [];
  let end = 0;
  for (const at of placesOf(text, wanted)) {
    if (at < end) continue;
    pieces.push(text.slice(end, at));
    end = at + wanted.length;
  }
  return [...pieces, text.slice(end)];
}

/**
 * All places of a text that is not empty, in order; they may overlap (Knuth, Morris and Pratt, "Fast Pattern Matching
 * in Strings", SIAM Journal on Computing 6, 1977).
 */
export function* placesOf(text: string, wanted: string, from = 0): Generator<number> {
  spendSteps(wanted.length);
  const borders = bordersOf(wanted);
  let matched = 0;
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && wanted.charCodeAt(matched) !== unit) matched = borders[matched - 1]!;
    if (wanted.charCodeAt(matched) === unit) matched++;
    if (matched < wanted.length) continue;
    yield at - matched + 1;
    matched = borders[matched - 1]!;
  }
}

/** Of each beginning of the text: how long the longest shorter one is that it also ends with. */
function bordersOf(text: string): Int32Array {
  const borders = new Int32Array(text.length);
  let length = 0;
  for (let at = 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    while (length > 0 && text.charCodeAt(length) !== unit) length = borders[length - 1]!;
    if (text.charCodeAt(length) === unit) length++;
    borders[at] = length;
  }
  return borders;
}
