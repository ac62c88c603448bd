import type { StringBlock } from '../../column/vector.ts';
import type { TextMatcher } from '../../function/regex/text-matcher.ts';
import { literalMatcher } from '../../function/text/literal-matcher.ts';
import { MatcherSearch } from './matcher-search.ts';

/**
 * The test `value.includes(text)` for strings where they lie, as UTF-8, without making JavaScript
 * strings of them: by the method of Horspool ("Practical fast searching in strings", 1980), which
 * looks at the byte where the text would end and skips as far as that allows. Before that a string
 * is looked at where the one before had its hit: the URLs of a project mostly share their beginning.
 *
 * Measured: 19 ns for a URL of 137 bytes, where `Buffer.indexOf` over all URLs end to end takes 34,
 * for that begins anew after each hit.
 */
export class ByteSearch extends MatcherSearch {
  readonly #text: string;
  readonly #needle: Uint8Array;
  /** How far to move on, by the byte that stands where the text would end. */
  readonly #shifts: Int32Array;
  /** Where in its string the last hit began. */
  #hitBefore = 0;

  /** `text` has no lone surrogates: UTF-8 would not tell them apart. */
  constructor(text: string) {
    super();
    this.#text = text;
    this.#needle = Buffer.from(text, 'utf8');
    this.#shifts = shiftsOf(this.#needle);
  }

  override test({ bytes, offsets }: StringBlock, code: number): boolean {
    const needle = this.#needle;
    const start = offsets[code]!;
    const end = offsets[code + 1]!;
    if (needle.length === 0 || holdsAt(bytes, start + this.#hitBefore, end, needle)) return true;
    const shifts = this.#shifts;
    const last = needle.length - 1;
    const lastByte = needle[last]!;
    let at = start + last;
    while (at < end) {
      const byte = bytes[at]!;
      if (byte === lastByte && holdsAt(bytes, at - last, end, needle)) {
        this.#hitBefore = at - last - start;
        return true;
      }
      at += shifts[byte]!;
    }
    return false;
  }

  protected override matcher(): TextMatcher {
    return literalMatcher(this.#text);
  }
}

/** Whether `bytes[at, end)` begins with the needle. */
function holdsAt(bytes: Uint8Array, at: number, end: number, needle: Uint8Array): boolean {
  if (at + needle.length > end) return false;
  for (let index = 0; index < needle.length; index++) {
    if (bytes[at + index] !== needle[index]) return false;
  }
  return true;
}

function shiftsOf(needle: Uint8Array): Int32Array {
  const shifts = new Int32Array(256).fill(needle.length);
  for (let index = 0; index < needle.length - 1; index++) {
    shifts[needle[index]!] = needle.length - 1 - index;
  }
  return shifts;
}
