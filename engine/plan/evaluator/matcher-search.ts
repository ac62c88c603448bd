import { carvedUint8 } from '../../column/carved-arrays.ts';
import {
  FALSE,
  type SplitBlock,
  type StringBlock,
  TRUE,
  UNKNOWN,
  type Vector,
} from '../../column/vector.ts';
import type { TextMatcher } from '../../function/regex/text-matcher.ts';
import { RANGE_MIN, SplitSearch } from './split-search.ts';
import type { TextSearch } from './text-search.ts';

/** A search that has its own way with strings that lie whole, and a matcher's with those taken apart. */
export abstract class MatcherSearch implements TextSearch {
  /** Made when the first strings taken apart are met. */
  #split: SplitSearch | undefined;

  abstract test(bytes: Uint8Array, start: number, end: number): boolean;

  /** The matcher of the same test; asked for once. */
  protected abstract matcher(): TextMatcher;

  testAll({ bytes, offsets }: StringBlock, codes: Int32Array, count: number): Uint8Array {
    const truths = carvedUint8(count);
    for (let i = 0; i < count; i++) {
      const code = codes[i]!;
      if (code < 0) truths[i] = UNKNOWN;
      else truths[i] = this.test(bytes, offsets[code]!, offsets[code + 1]!) ? TRUE : FALSE;
    }
    return truths;
  }

  testSplit(split: SplitBlock, codes: Int32Array, count: number): Uint8Array {
    return this.#splitSearch().test(split, codes, count);
  }

  testRange(split: SplitBlock, start: number, count: number): Vector | undefined {
    // To make an automaton takes longer than to test few strings, which may not need one.
    return count < RANGE_MIN ? undefined : this.#splitSearch().testRange(split, start, count);
  }

  #splitSearch(): SplitSearch {
    this.#split ??= new SplitSearch(this.matcher());
    return this.#split;
  }
}
