import type { SegmentHandle } from '../column/segment.ts';
import type { RowSlice } from '../operator/scan.ts';
import type { TimeWindow } from '../plan/logical-plan.ts';
import { scansOf } from '../plan/physical-plan.ts';
import { sizeOf } from './covered-run.ts';
import type { QueryRun } from './query-pool.ts';
import { sharesOf } from './shares.ts';
import { triesExpression } from './tries-expression.ts';

/**
 * What the worker with most of such segments may have, as a multiple of what each has in the mean: beyond, all have a part
 * of the rows of each segment, for which each reads it.
 */
const FRAGMENT_EXCESS_MAX = 1.25;

/** What one worker looks at: some segments, or one part of the rows of each. */
export type FragmentShare = {
  readonly segments: readonly SegmentHandle[];
  readonly slice?: RowSlice;
};

/**
 * The segments of a query with one scan, dealt out to so many workers. Where they are too few, or one is so large that its
 * worker would have much more to do than the others, each worker has a part of the rows of all of them. What takes time
 * for a segment and not for its rows would be done by each then, so not where a text or an expression is looked for.
 * `undefined`: the query is best run by one.
 */
export function fragmentShares(
  query: Pick<QueryRun, 'plan' | 'template'>,
  segments: readonly SegmentHandle[],
  workerCount: number,
): readonly FragmentShare[] | undefined {
  const [scan] = scansOf(query.plan);
  if (scan === undefined) return undefined;
  const { window, texts } = query.template?.bounds[scan.index] ?? scan;
  const weightOf = (handle: SegmentHandle) => sizeOf(handle) * partWithin(handle, window);
  const shares = sharesOf(segments, workerCount, weightOf);
  const weights = shares.map((share) => share.reduce((sum, one) => sum + weightOf(one), 0));
  const mean = weights.reduce((sum, weight) => sum + weight, 0) / workerCount;
  const isEven = Math.max(...weights) <= FRAGMENT_EXCESS_MAX * mean;
  const isTextSought = texts !== undefined && texts.length > 0;
  if (isEven || isTextSought || triesExpression(query)) {
    return shares.length < 2 ? undefined : shares.map((share) => ({ segments: share }));
  }
  return Array.from({ length: workerCount }, (_, index) => ({
    segments,
    slice: { index, count: workerCount },
  }));
}

/** The part of a segment's time that is inside a window. */
function partWithin(handle: SegmentHandle, { startUs, endUs }: TimeWindow): number {
  const times = handle.kind === 'open' ? handle : handle.content;
  if (times === undefined) return 1;
  const { timestampUsMin, timestampUsMax } = times;
  const insideUs = Math.min(endUs, timestampUsMax + 1) - Math.max(startUs, timestampUsMin);
  return Math.max(0, insideUs) / (timestampUsMax + 1 - timestampUsMin);
}
