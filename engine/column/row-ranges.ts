import { carvedInt32 } from './carved-arrays.ts';
import { partitionPoint } from './positions.ts';

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
