import { MERGE_BYTES_MAX, MERGE_ROWS_MAX, MERGE_SEGMENTS_MIN } from './limits.ts';

/** What is looked at of a sealed segment to decide whether to merge it. */
export type MergeCandidate = {
  readonly rowCount: number;
  /** In memory. */
  readonly byteSize: number;
};

type Total = { rowCount: number; byteSize: number };

/** What a merge takes at most, all its segments together. */
export type MergeBounds = MergeCandidate;

const MERGE_BOUNDS: MergeBounds = { rowCount: MERGE_ROWS_MAX, byteSize: MERGE_BYTES_MAX };

/**
 * Which segments of one partition are to be merged next; `undefined` when none are worth it.
 *
 * Segments that grew to half of what a merge may take are left alone. Of the others those of about
 * one size, within a factor of MERGE_SEGMENTS_MIN, are merged once there are that many of them, or
 * once they fill a merge. So each row climbs by that factor with each writing: to a partition of
 * n equal segments, log n to the base of MERGE_SEGMENTS_MIN times. Smaller ones go along: all of them
 * together are hardly more to write, and none of them is looked at by each query any more.
 *
 * A partition that gets no more rows (`isOver`), as its day is over or its source is silent, has what is left merged
 * from the small end, large ones too, as much as a merge takes: one more writing of those rows, once for each time that
 * rows have come and two hours gone by.
 */
export function chooseMerge<T extends MergeCandidate>(
  segments: readonly T[],
  isOver: boolean,
  bounds: MergeBounds = MERGE_BOUNDS,
): readonly T[] | undefined {
  const all = segments.toSorted((left, right) => left.byteSize - right.byteSize);
  const small = all.filter(({ rowCount, byteSize }) => {
    return rowCount * 2 <= bounds.rowCount && byteSize * 2 <= bounds.byteSize;
  });
  for (const [start, { byteSize }] of small.entries()) {
    const byteSizeEnd = byteSize * MERGE_SEGMENTS_MIN;
    const { taken, isFilled } = takeAlike(small.slice(start), byteSizeEnd, bounds);
    if (taken.length < MERGE_SEGMENTS_MIN && !isFilled) continue;
    return [...taken, ...takeFitting(small.slice(0, start), taken, bounds)];
  }
  if (!isOver) return undefined;
  const rest = takeFitting(all, [], bounds);
  return rest.length > 1 ? rest : undefined;
}

/** Segments of less than `byteSizeEnd`, as many as a merge takes. */
function takeAlike<T extends MergeCandidate>(
  ascending: readonly T[],
  byteSizeEnd: number,
  bounds: MergeBounds,
): { readonly taken: readonly T[]; readonly isFilled: boolean } {
  const taken: T[] = [];
  const total: Total = { rowCount: 0, byteSize: 0 };
  for (const segment of ascending) {
    if (segment.byteSize >= byteSizeEnd) break;
    if (!add(total, segment, bounds)) return { taken, isFilled: true };
    taken.push(segment);
  }
  return { taken, isFilled: false };
}

/** From the smallest on, as many as a merge takes besides what it has. */
function takeFitting<T extends MergeCandidate>(
  ascending: readonly T[],
  taken: readonly T[],
  bounds: MergeBounds,
): readonly T[] {
  const total: Total = { rowCount: 0, byteSize: 0 };
  for (const segment of taken) add(total, segment, bounds);
  const end = ascending.findIndex((segment) => !add(total, segment, bounds));
  return end < 0 ? ascending : ascending.slice(0, end);
}

/** Adds a segment to the total of a merge; changes nothing and is false where that takes no more. */
function add(total: Total, { rowCount, byteSize }: MergeCandidate, bounds: MergeBounds): boolean {
  if (total.rowCount + rowCount > bounds.rowCount) return false;
  if (total.byteSize + byteSize > bounds.byteSize) return false;
  total.rowCount += rowCount;
  total.byteSize += byteSize;
  return true;
}
