import type { ByteNeedle } from '../../column/byte-needle.ts';
import { SoughtText } from '../../column/sought-text.ts';
import type { SplitBlock, Vector } from '../../column/vector.ts';
import type { TextMatcher } from '../../function/regex/text-matcher.ts';
import { literalMatcher } from '../../function/text/literal-matcher.ts';
import { MatcherSearch } from './matcher-search.ts';
import { WordSearch } from './word-search.ts';

/**
 * The test `value.includes(text)` for strings where they lie, as UTF-8, without making JavaScript
 * strings of them. A string is first looked at where the one before had its hit: the URLs of a project
 * mostly share their beginning.
 *
 * Measured: 19 ns for a URL of 137 bytes, where `Buffer.indexOf` over all URLs end to end takes 34,
 * for that begins anew after each hit.
 */
export class ByteSearch extends MatcherSearch {
  readonly #text: string;
  readonly #needle: ByteNeedle;
  /** For strings taken apart, where the text is of a word. */
  readonly #words: WordSearch | undefined;
  /** Where in its string the last hit began. */
  #hitBefore = 0;

  /** `text` has no lone surrogates: UTF-8 would not tell them apart. */
  constructor(text: string) {
    super();
    this.#text = text;
    const sought = new SoughtText(text);
    this.#needle = sought.needle;
    this.#words = sought.isOfWord ? new WordSearch(sought) : undefined;
  }

  override test(bytes: Uint8Array, start: number, end: number): boolean {
    const needle = this.#needle;
    if (needle.isAt(bytes, start + this.#hitBefore, end)) return true;
    const at = needle.find(bytes, start, end);
    if (at < 0) return false;
    this.#hitBefore = at - start;
    return true;
  }

  override testSplit(split: SplitBlock, codes: Int32Array, count: number): Uint8Array {
    return this.#words?.test(split, codes, count) ?? super.testSplit(split, codes, count);
  }

  override testRange(split: SplitBlock, start: number, count: number): Vector | undefined {
    return this.#words?.testRange(split, start, count) ?? super.testRange(split, start, count);
  }

  protected override matcher(): TextMatcher {
    return literalMatcher(this.#text);
  }
}
