import {
  DIVIDED_LATE_PART,
  MERGE_BYTES_MAX,
  MERGE_ROWS_MAX,
  MERGE_SEGMENTS_MIN,
} from './limits.ts';

/** The properties of a sealed segment by which merges are chosen. */
export type MergeCandidate = MergeTotal & {
  /** Whether the segment is one of the parts of a division by project. */
  readonly isPart: boolean;
  /** Whether blocks of its file are whole arrays, so that extracting rows from it takes much memory. */
  readonly areBlocksWhole: boolean;
};

type MergeTotal = {
  readonly rowCount: number;
  /** Bytes in memory. */
  readonly byteSize: number;
};

type Total = { rowCount: number; byteSize: number };

/** The limits of a merge, over all its segments. */
export type MergeBounds = MergeTotal;

const MERGE_BOUNDS: MergeBounds = { rowCount: MERGE_ROWS_MAX, byteSize: MERGE_BYTES_MAX };

export type MergeChoice<T> = {
  readonly segments: readonly T[];
  /** Bytes in memory that the merge takes at a time. */
  readonly byteSize: number;
  /** Number of segments to create: more than one if a merge cannot take all rows. */
  readonly partCount: number;
};

/**
 * Chooses the segments of one partition to merge next; `undefined` if no merge is worthwhile.
 *
 * A segment of at least half the size limit of a merge stays as it is. Of the others, segments of similar size, within a
 * factor of MERGE_SEGMENTS_MIN, are merged when there are that many of them, or when they fill a merge. So each write
 * moves a row to a segment larger by that factor: in a partition of n equal segments, a row is written log n times, to the
 * base of MERGE_SEGMENTS_MIN. Smaller segments are merged along: they add little to the write, and queries no longer read
 * each of them.
 *
 * A partition that gets no more rows (`isOver`: its day is over, or its source is silent) is merged to one segment,
 * including large ones, if a merge can take all. Otherwise its rows are divided by project: into as many segments, but with
 * each project in one of them. Rows that come later are divided with all others when they exceed one in DIVIDED_LATE_PART.
 * So rows are written once more, and again each time rows have come and the partition is quiet again.
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

/** `segments` ascend by size. */
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

/** Chooses for a partition that gets no more rows. `segments` ascend by size; `loose` are those that are no parts. */
function chooseForGood<T extends MergeCandidate>(
  all: readonly T[],
  loose: readonly T[],
  bounds: MergeBounds,
): MergeChoice<T> | undefined {
  if (all.length < 2) return undefined;
  const total = sumSegments(all);
  const partCount = Math.ceil(
    Math.max(total.byteSize / bounds.byteSize, total.rowCount / bounds.rowCount),
  );
  if (partCount === 1) return inOne(all);
  // Its rows are divided with the others after it has been rewritten.
  const whole = loose.find(({ areBlocksWhole }) => areBlocksWhole);
  if (whole !== undefined) return inOne([whole]);
  if (sumSegments(loose).byteSize * DIVIDED_LATE_PART > total.byteSize) {
    return { segments: all, byteSize: bounds.byteSize, partCount };
  }
  const rest = takeFitting(loose, [], bounds);
  return rest.length > 1 ? inOne(rest) : undefined;
}

function inOne<T extends MergeCandidate>(segments: readonly T[]): MergeChoice<T> {
  return { segments, byteSize: sumSegments(segments).byteSize, partCount: 1 };
}

function sumSegments(segments: readonly MergeTotal[]): Total {
  const total: Total = { rowCount: 0, byteSize: 0 };
  for (const { rowCount, byteSize } of segments) {
    total.rowCount += rowCount;
    total.byteSize += byteSize;
  }
  return total;
}

/** Segments smaller than `byteSizeEnd`, as many as a merge takes. */
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

/** The smallest segments that fit in the merge together with those it has. */
function takeFitting<T extends MergeCandidate>(
  ascending: readonly T[],
  taken: readonly T[],
  bounds: MergeBounds,
): readonly T[] {
  const total = sumSegments(taken);
  const end = ascending.findIndex((segment) => !add(total, segment, bounds));
  return end < 0 ? ascending : ascending.slice(0, end);
}

/** Adds a segment to the total of a merge. Returns false, and changes nothing, if the limits are exceeded. */
function add(total: Total, { rowCount, byteSize }: MergeTotal, bounds: MergeBounds): boolean {
  if (total.rowCount + rowCount > bounds.rowCount) return false;
  if (total.byteSize + byteSize > bounds.byteSize) return false;
  total.rowCount += rowCount;
  total.byteSize += byteSize;
  return true;
}
