import {
  DIVIDED_LATE_PART,
  DIVIDED_RUNS_FACTOR,
  MERGE_BYTES_MAX,
  MERGE_ROWS_MAX,
  MERGE_RUNS_MIN,
} from './limits.ts';

/** The properties of a sealed segment by which merges are chosen. */
export type MergeCandidate = MergeTotal & {
  /** The division by project that made the segment, as one number; all its parts have the same. `undefined`: none. */
  readonly division: number | undefined;
  readonly projectCount: number;
  /** Whether blocks of its file are whole arrays, so that extracting rows from it takes much memory. */
  readonly areBlocksWhole: boolean;
};

type MergeTotal = {
  readonly rowCount: number;
  /** Bytes in memory. */
  readonly byteSize: number;
};

/** The limits of the segments that a merge makes. */
export type MergeBounds = MergeTotal & {
  /** Bytes of one step, where the rows can be divided by project; may be more than `byteSize`. */
  readonly stepSize: number;
  /** Runs of similar size that are merged at a time. */
  readonly runsMin: number;
};

const MERGE_BOUNDS: MergeBounds = {
  ...{ rowCount: MERGE_ROWS_MAX, byteSize: MERGE_BYTES_MAX, stepSize: MERGE_BYTES_MAX },
  runsMin: MERGE_RUNS_MIN,
};

export type MergeChoice<T> = {
  readonly segments: readonly T[];
  /** Bytes in memory of all of them. */
  readonly totalBytes: number;
  /** Bytes in memory that the merge takes at a time. */
  readonly byteSize: number;
  /** Number of segments to create: more than one if a merge cannot take all rows. */
  readonly partCount: number;
};

/** A segment, or all parts of a division: a project is in one segment of it. Merged as a whole or not at all. */
type Run<T> = MergeTotal & {
  readonly segments: readonly T[];
  readonly projectCount: number;
  readonly isDivided: boolean;
};

/**
 * Chooses the segments of one partition to merge next; `undefined` if no merge is worthwhile.
 *
 * A *run* is a segment, or all parts of a division by project: a query for one project reads one segment of each run.
 * Runs of similar size, within a factor of `runsMin`, become one run when there are that many of them. So each write moves a
 * row to a run larger by that factor: in a partition of n equal segments, a row is written log n times, to the base of
 * `runsMin`. Smaller runs are merged along: they add little to the write, and queries no longer read each of them.
 * The new run is one segment if a merge can take all its rows; otherwise the rows are divided by project. Of many runs that
 * wait, so few are divided at a time that each part has many rows of each.
 *
 * A partition that gets no more rows (`isOver`: its day is over, or its source is silent) becomes one run. Rows that come
 * later are divided with all others when they exceed one in DIVIDED_LATE_PART. So rows are written once more, and again each
 * time rows have come and the partition is quiet again.
 *
 * Rows of few projects are not divided: each project would still be in many segments.
 */
export function chooseMerge<T extends MergeCandidate>(
  segments: readonly T[],
  isOver: boolean,
  bounds: MergeBounds = MERGE_BOUNDS,
): MergeChoice<T> | undefined {
  const runs = runsOf(segments);
  return isOver ? chooseForGood(runs, bounds) : chooseAlike(runs, bounds);
}

/** Ascending by size. */
function runsOf<T extends MergeCandidate>(segments: readonly T[]): readonly Run<T>[] {
  const runs = new Map<number | T, T[]>();
  for (const segment of segments) {
    const { division = segment } = segment;
    const run = runs.get(division);
    if (run === undefined) runs.set(division, [segment]);
    else run.push(segment);
  }
  return Array.from(runs.values(), runOf).sort((left, right) => left.byteSize - right.byteSize);
}

function runOf<T extends MergeCandidate>(segments: readonly T[]): Run<T> {
  const projectCount = segments.reduce((sum, segment) => sum + segment.projectCount, 0);
  const isDivided = segments.some(({ division }) => division !== undefined);
  return { ...addTotals(segments), segments, projectCount, isDivided };
}

/** `runs` ascend by size. */
function chooseAlike<T extends MergeCandidate>(
  runs: readonly Run<T>[],
  bounds: MergeBounds,
): MergeChoice<T> | undefined {
  for (const [start, { byteSize }] of runs.entries()) {
    const larger = runs.findIndex((run) => run.byteSize >= byteSize * bounds.runsMin);
    const end = larger < 0 ? runs.length : larger;
    if (end - start < bounds.runsMin) continue;
    const choice = merged(runs.slice(0, end), bounds);
    if (choice !== undefined) return choice;
  }
  return undefined;
}

/** Chooses for a partition that gets no more rows. `runs` ascend by size. */
function chooseForGood<T extends MergeCandidate>(
  runs: readonly Run<T>[],
  bounds: MergeBounds,
): MergeChoice<T> | undefined {
  const segmentCount = runs.reduce((sum, { segments }) => sum + segments.length, 0);
  if (segmentCount < 2) return undefined;
  const total = addTotals(runs);
  const othersSize = total.byteSize - runs.at(-1)!.byteSize;
  if (countParts(total, bounds) === 1 || othersSize * DIVIDED_LATE_PART > total.byteSize) {
    const choice = merged(runs, bounds);
    if (choice !== undefined) return choice;
  }
  const rest = takeFitting(
    runs.filter(({ isDivided }) => !isDivided),
    bounds,
  );
  return rest.length > 1 ? merged(rest, bounds) : undefined;
}

/** Makes one run of several, or of the smallest of them where they are many; `undefined` if one segment cannot take its rows and too few projects are there to divide them. */
function merged<T extends MergeCandidate>(
  runs: readonly Run<T>[],
  bounds: MergeBounds,
): MergeChoice<T> | undefined {
  const segments = runs.flatMap((run) => run.segments);
  const total = addTotals(segments);
  const byteSize = Math.min(bounds.byteSize, bounds.stepSize);
  const partCount = countParts(total, { ...bounds, byteSize });
  if (partCount === 1) return inOne(segments);
  const runsMax = DIVIDED_RUNS_FACTOR * bounds.runsMin;
  if (runs.length > runsMax) return merged(runs.slice(0, runsMax), bounds);
  if (runs.every(({ projectCount }) => projectCount < partCount)) {
    return countParts(total, bounds) === 1 ? inOne(segments) : undefined;
  }
  // Its rows are divided with the others after it has been rewritten.
  const whole = segments.find(({ areBlocksWhole }) => areBlocksWhole);
  if (whole !== undefined) return inOne([whole]);
  return { segments, totalBytes: total.byteSize, byteSize, partCount };
}

function inOne<T extends MergeCandidate>(segments: readonly T[]): MergeChoice<T> {
  const { byteSize } = addTotals(segments);
  return { segments, totalBytes: byteSize, byteSize, partCount: 1 };
}

function addTotals(all: readonly MergeTotal[]): MergeTotal {
  return {
    rowCount: all.reduce((sum, { rowCount }) => sum + rowCount, 0),
    byteSize: all.reduce((sum, { byteSize }) => sum + byteSize, 0),
  };
}

/** The number of segments that a merge makes of so many rows. */
function countParts({ rowCount, byteSize }: MergeTotal, bounds: MergeBounds): number {
  return Math.ceil(Math.max(byteSize / bounds.byteSize, rowCount / bounds.rowCount));
}

/** The smallest runs that one segment can take. */
function takeFitting<T extends MergeCandidate>(
  ascending: readonly Run<T>[],
  bounds: MergeBounds,
): readonly Run<T>[] {
  const end = ascending.findIndex(
    (_, index) => countParts(addTotals(ascending.slice(0, index + 1)), bounds) > 1,
  );
  return end < 0 ? ascending : ascending.slice(0, end);
}
