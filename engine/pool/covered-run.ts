import { must } from '../assert.ts';
import type { SegmentHandle } from '../column/segment.ts';
import { FRAGMENT_BYTES_MIN } from '../limits.ts';
import type { Coverage, Piece } from '../memo/coverage.ts';
import type { MemoRuns } from '../memo/memo-runs.ts';
import type { PiecesResult } from '../memo/run-pieces.ts';
import type { AggregatePartial } from '../operator/aggregate.ts';
import type { TaskStats } from './task.ts';

/** A run of which something is remembered, or is to be. */
export type CoveredRun = {
  readonly coverage: Coverage;
  /** Hears what came of the pieces, so that it is remembered. */
  readonly memo: Pick<MemoRuns, 'keep' | 'keepTogether'>;
};

/** Pieces dealt out by size, the largest first to the lightest share; one share of little. */
export function sharesOfPieces(
  pieces: readonly Piece[],
  workerCount: number,
): readonly (readonly Piece[])[] {
  const sized = pieces.map((piece) => ({ piece, size: sizeOf(piece.handle) }));
  const total = sized.reduce((sum, { size }) => sum + size, 0);
  const count = total < FRAGMENT_BYTES_MIN ? 1 : workerCount;
  const shares = Array.from({ length: count }, () => ({ size: 0, pieces: [] as Piece[] }));
  for (const { piece, size } of sized.sort((left, right) => right.size - left.size)) {
    const lightest = shares.reduce((least, share) => (share.size < least.size ? share : least));
    lightest.pieces.push(piece);
    lightest.size += size;
  }
  return shares.filter((share) => share.pieces.length > 0).map((share) => share.pieces);
}

/** All partial states that came of some pieces; what is to be remembered is told. */
export function takePieces(
  pieces: readonly Piece[],
  { kept, together, others }: PiecesResult,
  { coverage, memo }: CoveredRun,
): readonly AggregatePartial[] {
  const partials = [...others];
  for (const [index, result] of kept.entries()) {
    if (result === undefined) continue;
    memo.keep(coverage, must(pieces[index], 'each result is of a piece'), result);
    if (result !== 'few') partials.push(result.partial);
  }
  if (together !== undefined) {
    const few = together.indexes.map((index) => must(pieces[index]));
    memo.keepTogether(coverage, few, together);
    partials.push(together.partial);
  }
  return partials;
}

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
