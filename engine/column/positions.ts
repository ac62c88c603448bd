import { carvedInt32 } from './carved-arrays.ts';
import type { Slice, SliceSink, SliceSource } from './slice.ts';

/**
 * Where the values of a row lie in a column: the first at some position, further ones (of lists)
 * after it. Values lie in the order of their rows.
 *
 * - `every-row`: each row has exactly one value: its position is the row.
 * - `bitmap`: at most one; a bit per row, and for each 32 of them how many are set before.
 * - `sparse`: the row of each value; few rows have any.
 * - `offsets`: the position of each row's first value, and the end.
 */
export type PositionsFooter =
  | { readonly kind: 'every-row' }
  | { readonly kind: 'bitmap'; readonly words: Slice; readonly ranks: Slice }
  | { readonly kind: 'sparse'; readonly rows: Slice }
  | { readonly kind: 'offsets'; readonly offsets: Slice };

/** A sparse value costs 32 bits, a bitmap two bits for every row. */
const SPARSE_ROWS_PER_VALUE = 16;

const EVERY_ROW: PositionsFooter = { kind: 'every-row' };

/**
 * `rows[0, valueCount)`: the row of each value, ascending. `perRowMax`: values a row has at most.
 */
export function encodePositions(
  sink: SliceSink,
  column: { readonly rows: Uint32Array; readonly valueCount: number; readonly perRowMax: number },
  rowCount: number,
): PositionsFooter {
  const { rows, valueCount, perRowMax } = column;
  if (perRowMax === 1 && valueCount === rowCount) return EVERY_ROW;
  const isDense =
    perRowMax > 1 ? valueCount >= rowCount : valueCount * SPARSE_ROWS_PER_VALUE >= rowCount;
  if (!isDense) return { kind: 'sparse', rows: sink.add(rows.slice(0, valueCount)) };
  if (perRowMax > 1) return { kind: 'offsets', offsets: sink.add(offsetsOf(column, rowCount)) };
  const words = new Uint32Array((rowCount >>> 5) + 1);
  for (let i = 0; i < valueCount; i++) words[rows[i]! >>> 5]! |= 1 << (rows[i]! & 31);
  const ranks = new Uint32Array(words.length);
  for (let i = 1; i < words.length; i++) ranks[i] = ranks[i - 1]! + bitCount(words[i - 1]!);
  return { kind: 'bitmap', words: sink.add(words), ranks: sink.add(ranks) };
}

function offsetsOf(
  column: { readonly rows: Uint32Array; readonly valueCount: number },
  rowCount: number,
): Uint32Array {
  const offsets = new Uint32Array(rowCount + 1);
  for (let i = 0; i < column.valueCount; i++) offsets[column.rows[i]! + 1]!++;
  for (let row = 0; row < rowCount; row++) offsets[row + 1]! += offsets[row]!;
  return offsets;
}

export interface Positions {
  /** Position of the row's first value; where it would stand when the row has none. */
  first(row: number): number;
  /** Whether the row has a value. */
  has(row: number): boolean;
  /** `first` of each of `rows[0, count)`: the same array perhaps, so not to be written to. */
  locate(rows: Int32Array, count: number): Int32Array;
}

/**
 * The position of the first of `count` consecutive rows, each of which has a value, where each has just
 * one, so that they lie one after the other; -1 where some have several.
 */
export function rangeStart(positions: Positions, row: number, count: number): number {
  const start = positions.first(row);
  return positions.first(row + count) - start === count ? start : -1;
}

/** `valueCount`: of the column. */
export function openPositions(source: SliceSource, footer: PositionsFooter): Positions {
  switch (footer.kind) {
    case 'every-row':
      return new EveryRow();
    case 'bitmap':
      return new Bitmap(source.unsigned32(footer.words), source.unsigned32(footer.ranks));
    case 'sparse':
      return new SparseRows(source.unsigned32(footer.rows));
    case 'offsets':
      return new Offsets(source.unsigned32(footer.offsets));
  }
}

class EveryRow implements Positions {
  first(row: number): number {
    return row;
  }

  has(): boolean {
    return true;
  }

  locate(rows: Int32Array): Int32Array {
    return rows;
  }
}

class Bitmap implements Positions {
  readonly #words: Uint32Array;
  readonly #ranks: Uint32Array;

  constructor(words: Uint32Array, ranks: Uint32Array) {
    this.#words = words;
    this.#ranks = ranks;
  }

  first(row: number): number {
    const below = this.#words[row >>> 5]! & ((1 << (row & 31)) - 1);
    return this.#ranks[row >>> 5]! + bitCount(below);
  }

  has(row: number): boolean {
    return ((this.#words[row >>> 5]! >>> (row & 31)) & 1) === 1;
  }

  locate(rows: Int32Array, count: number): Int32Array {
    const positions = carvedInt32(count);
    for (let i = 0; i < count; i++) positions[i] = this.first(rows[i]!);
    return positions;
  }
}

class SparseRows implements Positions {
  readonly #rows: Uint32Array;

  constructor(rows: Uint32Array) {
    this.#rows = rows;
  }

  first(row: number): number {
    return firstAtLeast(this.#rows, 0, this.#rows.length, row);
  }

  has(row: number): boolean {
    return this.#rows[this.first(row)] === row;
  }

  locate(rows: Int32Array, count: number): Int32Array {
    const positions = carvedInt32(count);
    for (let i = 0; i < count; i++) positions[i] = this.first(rows[i]!);
    return positions;
  }
}

class Offsets implements Positions {
  readonly #offsets: Uint32Array;

  constructor(offsets: Uint32Array) {
    this.#offsets = offsets;
  }

  first(row: number): number {
    return this.#offsets[row]!;
  }

  has(row: number): boolean {
    return this.#offsets[row]! < this.#offsets[row + 1]!;
  }

  locate(rows: Int32Array, count: number): Int32Array {
    const positions = carvedInt32(count);
    for (let i = 0; i < count; i++) positions[i] = this.#offsets[rows[i]!]!;
    return positions;
  }
}

/** The first index of [start, end) that `isBefore` does not hold of, nor of any behind it; `end`: there is none. */
export function partitionPoint(
  start: number,
  end: number,
  isBefore: (index: number) => boolean,
): number {
  let low = start;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How many of the ascending `values[start, start + count)` are below `value`. Without a call for each look. */
export function firstAtLeast(
  values: Uint32Array,
  start: number,
  count: number,
  value: number,
): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[start + middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How many bits of a word are set (Warren, "Hacker's Delight", 5-1). */
export function bitCount(word: number): number {
  let sum = word - ((word >>> 1) & 0x55555555);
  sum = (sum & 0x33333333) + ((sum >>> 2) & 0x33333333);
  return Math.imul((sum + (sum >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** The place of the lowest bit of a word that is set; some is. */
export function lowestBit(word: number): number {
  return 31 - Math.clz32(word & -word);
}
