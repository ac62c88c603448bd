import { must } from '../assert.ts';
import { findOnce } from '../column/caches.ts';
import type { SegmentHandle } from '../column/segment.ts';
import { FRAGMENT_BYTES_MIN } from '../limits.ts';
import type { Coverage, Piece } from '../memo/coverage.ts';
import type { MemoRuns } from '../memo/memo-runs.ts';
import { type PiecesResult, partialsOf, type SentPartial } from '../memo/run-pieces.ts';
import type { RowSlice } from '../operator/scan.ts';
import { factsOf } from '../plan/call-facts.ts';
import { knownTest } from '../plan/evaluator/text-search.ts';
import type { Expression } from '../plan/expression.ts';
import type { CalledPlan } from '../plan/late-texts.ts';
import type { TimeWindow } from '../plan/logical-plan.ts';
import { type PhysicalPlan, scansOf } from '../plan/physical-plan.ts';
import { someExpression } from '../plan/physical-walk.ts';
import type { QueryRun } from './query-pool.ts';
import type { TaskStats } from './task.ts';

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

/** A run of which something is remembered, or is to be. */
export type RunCoverage = {
  readonly coverage: Coverage;
  /** Hears what came of the pieces, so that it is remembered. */
  readonly memo: Pick<MemoRuns, 'keep' | 'keepTogether'>;
};

/** Whether a run looks at all of its rows: nothing of it is remembered yet, if anything is to be. */
export function isOfAllRows(covered: RunCoverage | undefined): boolean {
  return covered === undefined || covered.coverage.partials.length === 0;
}

/** Pieces dealt out by what of their size is inside their windows; one share of little. */
export function sharesOfPieces(
  pieces: readonly Piece[],
  workerCount: number,
): readonly (readonly Piece[])[] {
  const total = pieces.reduce((sum, { handle }) => sum + sizeOf(handle), 0);
  const shareCount = total < FRAGMENT_BYTES_MIN ? 1 : workerCount;
  return sharesOf(
    pieces,
    shareCount,
    ({ handle, window }) => sizeOf(handle) * partWithin(handle, window),
  );
}

/** Returns all partial states of some pieces, and passes those worth remembering to the memo. */
export function takePieces(
  pieces: readonly Piece[],
  result: PiecesResult,
  { coverage, memo }: RunCoverage,
): readonly SentPartial[] {
  const { kept, together } = result;
  for (const [index, one] of kept.entries()) {
    if (one === undefined) continue;
    memo.keep(coverage, must(pieces[index], 'each result is of a piece'), one);
  }
  if (together !== undefined) {
    const few = together.indexes.map((index) => must(pieces[index]));
    memo.keepTogether(coverage, few, together);
  }
  return partialsOf(result);
}

/** The bytes that a task over all of a segment may have to read. */
export function sizeOf(handle: SegmentHandle): number {
  return handle.kind === 'sealed'
    ? handle.buffer.byteLength
    : handle.arrays.slots.byteLength + handle.arrays.stringBytes.byteLength;
}

/** What a run did, with what was remembered for it; both count for its only scan. */
export function withRemembered(stats: TaskStats, { rowCount, segmentCount }: Coverage): TaskStats {
  const rowsFromMemo = stats.rowsFromMemo + rowCount;
  const { profile } = stats;
  if (profile === undefined) return { ...stats, rowsFromMemo };
  const scans = profile.scans.map((scan) => ({
    ...scan,
    rowsFromMemo: scan.rowsFromMemo + rowCount,
    rememberedCount: scan.rememberedCount + segmentCount,
  }));
  return { ...stats, rowsFromMemo, profile: { ...profile, scans } };
}

/** Items that are dealt out, and what they weigh together. */
type Share = { size: number; readonly indexes: number[] };

/**
 * Items dealt out by size to so many, the largest first to the lightest share; nobody gets nothing. Within a share they
 * are in the order they came in.
 */
function sharesOf<T>(
  items: readonly T[],
  shareCount: number,
  sizeOf: (item: T) => number,
): readonly (readonly T[])[] {
  const sized = items.map((item, index) => ({ index, size: sizeOf(item) }));
  const shares = Array.from({ length: shareCount }, (): Share => ({ size: 0, indexes: [] }));
  for (const { index, size } of sized.sort((left, right) => right.size - left.size)) {
    const lightest = shares.reduce((least, share) => (share.size < least.size ? share : least));
    lightest.indexes.push(index);
    lightest.size += size;
  }
  return shares
    .filter(({ indexes }) => indexes.length > 0)
    .map(({ indexes }) =>
      indexes.sort((left, right) => left - right).map((index) => items[index]!),
    );
}

/**
 * Whether a run tests regular expressions with operators, its plan's or one that the call puts in. For each segment
 * that takes time apart from that of the rows, as an automaton is tried on what strings are made of; more where the code
 * for it is not compiled yet.
 */
export function triesExpression({ plan, template }: CalledPlan): boolean {
  return (template?.texts.patterns.size ?? 0) > 0 || hasExpression(plan);
}

const hasExpression = findOnce((plan: PhysicalPlan) => someExpression(plan, isExpressionTest));

function isExpressionTest(node: Expression): boolean {
  if (node.op !== 'call' || node.arguments[1]?.op !== 'literal') return false;
  return factsOf(node).regex === 'tested' && knownTest(node)?.test.kind !== 'contains';
}
