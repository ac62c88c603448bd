import { carvedInt32 } from './arrays.ts';
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

/**
 * Some rows of a segment: `[start, end)` pairs end to end, ascending; each range has rows, and no two
 * overlap or touch.
 */
export type RowRanges = Int32Array;

/** Collects ranges that come in order of their starts. */
export class RangeCollector {
  readonly #bounds: number[] = [];
  readonly #gapMax: number;
  /** Where the last range ends. */
  #end = Number.NEGATIVE_INFINITY;

  /** Ranges with no more than `gapMax` rows between them become one. */
  constructor(gapMax = 0) {
    this.#gapMax = gapMax;
  }

  add(start: number, end: number): void {
    if (start >= end) return;
    const bounds = this.#bounds;
    if (start > this.#end + this.#gapMax) {
      bounds.push(start, end);
      this.#end = end;
    } else if (end > this.#end) {
      bounds[bounds.length - 1] = end;
      this.#end = end;
    }
  }

  ranges(): RowRanges {
    return new Int32Array(this.#bounds);
  }
}

/** One range of each of some rows, ascending, each perhaps more than once. */
export function rangesOfRows(rows: Int32Array): RowRanges {
  const bounds = new Int32Array(2 * rows.length);
  let size = 0;
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at]!;
    if (size > 0 && row <= bounds[size - 1]!) bounds[size - 1] = row + 1;
    else {
      bounds[size++] = row;
      bounds[size++] = row + 1;
    }
  }
  return bounds.subarray(0, size);
}

/** How many rows there are. */
export function countOfRanges(ranges: RowRanges): number {
  let count = 0;
  for (let at = 0; at < ranges.length; at += 2) count += ranges[at + 1]! - ranges[at]!;
  return count;
}

/** The rows of ranges that are of one row each, and the other ranges. */
export function partedByLength(ranges: RowRanges): {
  readonly alone: Int32Array;
  readonly others: RowRanges;
} {
  const alone = carvedInt32(ranges.length / 2);
  const others = carvedInt32(ranges.length);
  let aloneCount = 0;
  let size = 0;
  for (let at = 0; at < ranges.length; at += 2) {
    const start = ranges[at]!;
    const end = ranges[at + 1]!;
    alone[aloneCount] = start;
    others[size] = start;
    others[size + 1] = end;
    const isAlone = Number(end - start === 1);
    aloneCount += isAlone;
    size += 2 - 2 * isAlone;
  }
  return { alone: alone.subarray(0, aloneCount), others: others.subarray(0, size) };
}

/** The rows in either. */
export function unionOf(left: RowRanges, right: RowRanges): RowRanges {
  if (left.length === 0) return right;
  if (right.length === 0) return left;
  if (left.length === 2) return withRange(right, left[0]!, left[1]!);
  if (right.length === 2) return withRange(left, right[0]!, right[1]!);
  const union = new RangeCollector();
  let leftAt = 0;
  let rightAt = 0;
  while (leftAt < left.length || rightAt < right.length) {
    const isLeft =
      rightAt >= right.length || (leftAt < left.length && left[leftAt]! <= right[rightAt]!);
    if (isLeft) union.add(left[leftAt]!, left[leftAt + 1]!);
    else union.add(right[rightAt]!, right[rightAt + 1]!);
    if (isLeft) leftAt += 2;
    else rightAt += 2;
  }
  return union.ranges();
}

/** Some rows, and those of one range: as `unionOf`, without looking at each of many. */
function withRange(ranges: RowRanges, start: number, end: number): RowRanges {
  // Ranges that overlap the one, or touch it, are [from, to).
  const from = firstEnding(ranges, start);
  const to = firstBeginning(ranges, end + 1);
  const union = new Int32Array(2 * (ranges.length / 2 - (to - from) + 1));
  union.set(ranges.subarray(0, 2 * from));
  union[2 * from] = from < to ? Math.min(start, ranges[2 * from]!) : start;
  union[2 * from + 1] = from < to ? Math.max(end, ranges[2 * to - 1]!) : end;
  union.set(ranges.subarray(2 * to), 2 * from + 2);
  return union;
}

/** Those of some rows that are in one range: as `intersectionOf`. */
function withinRange(ranges: RowRanges, start: number, end: number): RowRanges {
  if (start >= end) return new Int32Array(0);
  const from = firstEnding(ranges, start + 1);
  const to = Math.max(from, firstBeginning(ranges, end));
  const within = ranges.subarray(2 * from, 2 * to);
  const { length } = within;
  if (length === 0 || (within[0]! >= start && within[length - 1]! <= end)) return within;
  const clipped = within.slice();
  clipped[0] = Math.max(start, clipped[0]!);
  clipped[length - 1] = Math.min(end, clipped[length - 1]!);
  return clipped;
}

/** The first of some ranges that ends at `row` or behind it. */
function firstEnding(ranges: RowRanges, row: number): number {
  return partitionPoint(0, ranges.length / 2, (index) => ranges[2 * index + 1]! < row);
}

/** The first of some ranges that begins at `row` or behind it. */
function firstBeginning(ranges: RowRanges, row: number): number {
  return partitionPoint(0, ranges.length / 2, (index) => ranges[2 * index]! < row);
}

/** The rows in both. */
export function intersectionOf(left: RowRanges, right: RowRanges): RowRanges {
  if (left.length === 2) return withinRange(right, left[0]!, left[1]!);
  if (right.length === 2) return withinRange(left, right[0]!, right[1]!);
  const both = new RangeCollector();
  let leftAt = 0;
  let rightAt = 0;
  while (leftAt < left.length && rightAt < right.length) {
    const leftEnd = left[leftAt + 1]!;
    const rightEnd = right[rightAt + 1]!;
    both.add(Math.max(left[leftAt]!, right[rightAt]!), Math.min(leftEnd, rightEnd));
    if (leftEnd <= rightEnd) leftAt += 2;
    if (rightEnd <= leftEnd) rightAt += 2;
  }
  return both.ranges();
}
