import { must } from '../assert.ts';
import type { SegmentHandle } from '../column/segment.ts';
import { FRAGMENT_BYTES_MIN } from '../limits.ts';
import type { Coverage, Piece } from '../memo/coverage.ts';
import type { MemoRuns } from '../memo/memo-runs.ts';
import { type PiecesResult, partialsOf } from '../memo/run-pieces.ts';
import type { SentPartial } from '../memo/sent-partial.ts';
import { sharesOf } from './shares.ts';
import type { TaskStats } from './task.ts';

/** A run of which something is remembered, or is to be. */
export type CoveredRun = {
  readonly coverage: Coverage;
  /** Hears what came of the pieces, so that it is remembered. */
  readonly memo: Pick<MemoRuns, 'keep' | 'keepTogether'>;
};

/** Whether a run looks at all of its rows: nothing of it is remembered yet, if anything is to be. */
export function isOfAllRows(covered: CoveredRun | undefined): boolean {
  return covered === undefined || covered.coverage.partials.length === 0;
}

/** Pieces dealt out by size; one share of little. */
export function sharesOfPieces(
  pieces: readonly Piece[],
  workerCount: number,
): readonly (readonly Piece[])[] {
  const size = ({ handle }: Piece): number => sizeOf(handle);
  const total = pieces.reduce((sum, piece) => sum + size(piece), 0);
  return sharesOf(pieces, total < FRAGMENT_BYTES_MIN ? 1 : workerCount, size);
}

/** Returns all partial states of some pieces, and passes those worth remembering to the memo. */
export function takePieces(
  pieces: readonly Piece[],
  result: PiecesResult,
  { coverage, memo }: CoveredRun,
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
