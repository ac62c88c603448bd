import type { UnsignedArray } from './slice.ts';
import type { Dictionary } from './vector.ts';

/** A column of strings, as far as ranges of it are concerned. */
export interface RangedStrings {
  readonly entries: Dictionary;
  /** Whether the code at each position is the position. */
  readonly hasEntryEach: boolean;
  /** The code at each position, where these lie in an array. */
  readonly codes: UnsignedArray | undefined;
  /** The codes of consecutive positions, in an array of their own. */
  codesOf(start: number, count: number): Int32Array;
}

/**
 * Strings where they lie in a segment, at consecutive positions of a column. None is NULL. Nothing is
 * read, and the column not even opened, before somebody asks for codes or dictionary.
 */
export class StringRange {
  readonly kind = 'dictionary';
  readonly form = 'string range';
  readonly count: number;
  /** The position of the first. */
  readonly start: number;
  readonly #column: () => RangedStrings;
  #codes: Int32Array | undefined;

  constructor(column: () => RangedStrings, start: number, count: number) {
    this.#column = column;
    this.start = start;
    this.count = count;
  }

  get dictionary(): Dictionary {
    return this.#column().entries;
  }

  /** The code of the first, where those of the next follow it one by one. */
  get firstCode(): number | undefined {
    return this.#column().hasEntryEach ? this.start : undefined;
  }

  /** The codes of the whole column, from position 0, where they lie in an array. */
  get codesInPlace(): UnsignedArray | undefined {
    return this.#column().codes;
  }

  get codes(): Int32Array {
    this.#codes ??= this.#column().codesOf(this.start, this.count);
    return this.#codes;
  }
}
