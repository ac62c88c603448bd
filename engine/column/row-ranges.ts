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

/** The rows in either. */
export function unionOf(left: RowRanges, right: RowRanges): RowRanges {
  if (left.length === 0) return right;
  if (right.length === 0) return left;
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

/** The rows in both. */
export function intersectionOf(left: RowRanges, right: RowRanges): RowRanges {
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
