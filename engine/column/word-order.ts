import type { SplitBlock, StringBlock } from './vector.ts';

/** The words of a column, and what strings have them. */
export type ColumnWords = Pick<SplitBlock, 'words' | 'wordStarts' | 'isWordHeld'>;

/**
 * The words of a column that its strings hold, sorted by their bytes, so that those that begin alike stand side by side. A place is an
 * index into that order.
 */
export class WordOrder {
  /** The word at each place. */
  readonly words: Uint32Array;
  /** 1 for each byte that some word has. */
  readonly hasByte = new Uint8Array(256);
  readonly #block: StringBlock;
  /** For each place, and behind the last, how many strings have the words before it. */
  readonly #stringCounts: Uint32Array;

  constructor({ words, wordStarts, isWordHeld }: ColumnWords) {
    this.#block = words;
    const { bytes, offsets } = words;
    this.words = Uint32Array.from({ length: offsets.length - 1 }, (_, word) => word).filter(
      (word) => wordStarts[word] !== wordStarts[word + 1] && isWordHeld?.[word] !== 0,
    );
    this.words.sort((left, right) => compareEntries(bytes, offsets, left, right));
    this.#stringCounts = new Uint32Array(this.words.length + 1);
    this.words.forEach((word, place) => {
      for (let at = offsets[word]!; at < offsets[word + 1]!; at++) this.hasByte[bytes[at]!] = 1;
      const count = wordStarts[word + 1]! - wordStarts[word]!;
      this.#stringCounts[place + 1] = this.#stringCounts[place]! + count;
    });
  }

  /** How many strings have the words at places [start, end): one with two of them counts twice. */
  stringCount(start: number, end: number): number {
    return this.#stringCounts[end]! - this.#stringCounts[start]!;
  }

  /** Where in the bytes of all words one begins. */
  start(place: number): number {
    return this.#block.offsets[this.words[place]!]!;
  }

  size(place: number): number {
    const { offsets } = this.#block;
    const word = this.words[place]!;
    return offsets[word + 1]! - offsets[word]!;
  }

  /**
   * Where the words that have the same byte at `depth` as the one at `start` end, of words at places [start, end)
   * that are all longer, and alike before it.
   */
  endOfSame(start: number, end: number, depth: number): number {
    const { bytes } = this.#block;
    const byte = bytes[this.start(start) + depth];
    let low = start + 1;
    let high = end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (bytes[this.start(middle) + depth] === byte) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Sorted once for as long as a column is open. */
const known = new WeakMap<object, WordOrder>();

export function wordOrderOf(column: ColumnWords): WordOrder {
  // What is cut out of strings has the same words, but may not hold all of them.
  const key = column.isWordHeld ?? column.words;
  let order = known.get(key);
  if (order === undefined) {
    order = new WordOrder(column);
    known.set(key, order);
  }
  return order;
}

function compareEntries(
  bytes: Uint8Array,
  offsets: Uint32Array,
  left: number,
  right: number,
): number {
  const leftStart = offsets[left]!;
  const rightStart = offsets[right]!;
  const leftSize = offsets[left + 1]! - leftStart;
  const rightSize = offsets[right + 1]! - rightStart;
  const size = Math.min(leftSize, rightSize);
  for (let index = 0; index < size; index++) {
    const difference = bytes[leftStart + index]! - bytes[rightStart + index]!;
    if (difference !== 0) return difference;
  }
  return leftSize - rightSize;
}
