import { ByteNeedle } from '../../column/byte-needle.ts';
import { encodeWtf8 } from '../../column/wtf8.ts';
import type { TextMatcher } from '../../function/regex/text-matcher.ts';
import { MatcherSearch } from './matcher-search.ts';

/** The test whether strings have some texts in their order (`TextTest.pieces`), by looking for one behind the other. */
export class PiecesSearch extends MatcherSearch {
  readonly #matcher: TextMatcher;
  readonly #first: ByteNeedle;
  readonly #middle: readonly ByteNeedle[];
  /** `undefined`: the string is the first, and no more. */
  readonly #last: ByteNeedle | undefined;

  /** `pieces`: at least one. `matcher`: of the same test. */
  constructor(pieces: readonly string[], matcher: TextMatcher) {
    super();
    const [first, ...others] = pieces.map(
      (text) => new ByteNeedle(new Uint8Array(encodeWtf8(text))),
    );
    this.#matcher = matcher;
    this.#first = first!;
    this.#last = others.pop();
    this.#middle = others;
  }

  override test(bytes: Uint8Array, start: number, end: number): boolean {
    const first = this.#first;
    const last = this.#last;
    if (!first.isAt(bytes, start, end)) return false;
    let at = start + first.bytes.length;
    if (last === undefined) return at === end;
    const behind = end - last.bytes.length;
    if (behind < at || !last.isAt(bytes, behind, end)) return false;
    // The leftmost place for a piece leaves most room for the others.
    for (const piece of this.#middle) {
      const found = piece.find(bytes, at, behind);
      if (found < 0) return false;
      at = found + piece.bytes.length;
    }
    return true;
  }

  protected override matcher(): TextMatcher {
    return this.#matcher;
  }
}
