/**
 * Some rows of a segment: `[start, end)` pairs end to end, ascending; each range has rows, and no two
 * overlap or touch.
 */
export type RowRanges = Int32Array;

/** Collects ranges that come in order of their starts. */
export class RangeCollector {
  readonly #bounds: number[] = [];
  readonly #gapMax: number;

  /** Ranges with no more than `gapMax` rows between them become one. */
  constructor(gapMax = 0) {
    this.#gapMax = gapMax;
  }

  add(start: number, end: number): void {
    if (start >= end) return;
    const bounds = this.#bounds;
    if (bounds.length > 0 && start <= bounds.at(-1)! + this.#gapMax) {
      bounds[bounds.length - 1] = Math.max(bounds.at(-1)!, end);
    } else {
      bounds.push(start, end);
    }
  }

  ranges(): RowRanges {
    return Int32Array.from(this.#bounds);
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
