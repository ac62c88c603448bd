import {
  DIVIDED_LATE_PART,
  MERGE_BYTES_MAX,
  MERGE_ROWS_MAX,
  MERGE_SEGMENTS_MIN,
} from './limits.ts';

/** What is looked at of a sealed segment to decide whether to merge it. */
export type MergeCandidate = MergeTotal & {
  /** Whether it is one of those that rows were divided to. */
  readonly isPart: boolean;
  /** Whether blocks of its file are whole arrays, so that rows taken out of it take much memory. */
  readonly areBlocksWhole: boolean;
};

type MergeTotal = {
  readonly rowCount: number;
  /** In memory. */
  readonly byteSize: number;
};

type Total = { rowCount: number; byteSize: number };

/** What a merge takes at most, all its segments together. */
export type MergeBounds = MergeTotal;

const MERGE_BOUNDS: MergeBounds = { rowCount: MERGE_ROWS_MAX, byteSize: MERGE_BYTES_MAX };

export type MergeChoice<T> = {
  readonly segments: readonly T[];
  /** Bytes in memory that a merge of them takes at a time. */
  readonly byteSize: number;
  /** How many segments their rows are to be in: more than one where a merge does not take all. */
  readonly partCount: number;
};

/**
 * Which segments of one partition are to be merged next; `undefined` when none are worth it.
 *
 * Segments that grew to half of what a merge may take are left alone. Of the others those of about
 * one size, within a factor of MERGE_SEGMENTS_MIN, are merged once there are that many of them, or
 * once they fill a merge. So each row climbs by that factor with each writing: to a partition of
 * n equal segments, log n to the base of MERGE_SEGMENTS_MIN times. Smaller ones go along: all of them
 * together are hardly more to write, and none of them is looked at by each query any more.
 *
 * A partition that gets no more rows (`isOver`), as its day is over or its source is silent, has all in one segment,
 * large ones too, where a merge takes them. Else its rows are divided by project: as many segments, but each project is in
 * one of them. Rows that come later are divided with all others once they are more than one in DIVIDED_LATE_PART. So rows
 * are written once more, and again for each time that rows have come and two hours gone by.
 */
export function chooseMerge<T extends MergeCandidate>(
  segments: readonly T[],
  isOver: boolean,
  bounds: MergeBounds = MERGE_BOUNDS,
): MergeChoice<T> | undefined {
  const all = segments.toSorted((left, right) => left.byteSize - right.byteSize);
  const loose = all.filter(({ isPart }) => !isPart);
  return isOver ? chooseForGood(all, loose, bounds) : chooseSmall(loose, bounds);
}

/** Of ascending segments. */
function chooseSmall<T extends MergeCandidate>(
  all: readonly T[],
  bounds: MergeBounds,
): MergeChoice<T> | undefined {
  const small = all.filter(({ rowCount, byteSize }) => {
    return rowCount * 2 <= bounds.rowCount && byteSize * 2 <= bounds.byteSize;
  });
  for (const [start, { byteSize }] of small.entries()) {
    const byteSizeEnd = byteSize * MERGE_SEGMENTS_MIN;
    const { taken, isFilled } = takeAlike(small.slice(start), byteSizeEnd, bounds);
    if (taken.length < MERGE_SEGMENTS_MIN && !isFilled) continue;
    return inOne([...taken, ...takeFitting(small.slice(0, start), taken, bounds)]);
  }
  return undefined;
}

/** Of ascending segments that get no more rows; `loose` are those that are no parts. */
function chooseForGood<T extends MergeCandidate>(
  all: readonly T[],
  loose: readonly T[],
  bounds: MergeBounds,
): MergeChoice<T> | undefined {
  if (all.length < 2) return undefined;
  const total = totalOf(all);
  const partCount = Math.ceil(
    Math.max(total.byteSize / bounds.byteSize, total.rowCount / bounds.rowCount),
  );
  if (partCount === 1) return inOne(all);
  // Its rows are divided with the others once it is stored anew.
  const whole = loose.find(({ areBlocksWhole }) => areBlocksWhole);
  if (whole !== undefined) return inOne([whole]);
  if (totalOf(loose).byteSize * DIVIDED_LATE_PART > total.byteSize) {
    return { segments: all, byteSize: bounds.byteSize, partCount };
  }
  const rest = takeFitting(loose, [], bounds);
  return rest.length > 1 ? inOne(rest) : undefined;
}

function inOne<T extends MergeCandidate>(segments: readonly T[]): MergeChoice<T> {
  return { segments, byteSize: totalOf(segments).byteSize, partCount: 1 };
}

function totalOf(segments: readonly MergeTotal[]): Total {
  const total: Total = { rowCount: 0, byteSize: 0 };
  for (const { rowCount, byteSize } of segments) {
    total.rowCount += rowCount;
    total.byteSize += byteSize;
  }
  return total;
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
  const total = totalOf(taken);
  const end = ascending.findIndex((segment) => !add(total, segment, bounds));
  return end < 0 ? ascending : ascending.slice(0, end);
}

/** Adds a segment to the total of a merge; changes nothing and is false where that takes no more. */
function add(total: Total, { rowCount, byteSize }: MergeTotal, bounds: MergeBounds): boolean {
  if (total.rowCount + rowCount > bounds.rowCount) return false;
  if (total.byteSize + byteSize > bounds.byteSize) return false;
  total.rowCount += rowCount;
  total.byteSize += byteSize;
  return true;
}
