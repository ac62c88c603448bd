import { RESIDENT } from '../engine/column/segment-backing.ts';
import { blockCountOf, type SegmentBlocks } from './segment-blocks.ts';
import { blockSizeAt } from './segment-envelope.ts';

/** How much is to leave memory, in bytes. */
export type Shortage = {
  /** What was not needed in the current minute leaves until it is this much. */
  readonly wanted: number;
  /** What was, only until it is this much in all. */
  readonly needed: number;
};

/** Indexes of the blocks that leave a segment's memory; all that are there when it is `all`. */
export type Leaving = 'all' | ReadonlySet<number>;

/** Something that has a stored segment's blocks in memory. */
export type BlockHolder = { readonly blocks: SegmentBlocks };

/**
 * Which blocks leave: those not needed for longest, from all segments. Of those last needed at the
 * same time whole segments go, in the order given, and more may leave than was asked for, by less than
 * one segment. `clock`: the current minute.
 */
export function chooseLeaving<T extends BlockHolder>(
  holders: readonly T[],
  { wanted, needed }: Shortage,
  clock: number,
): Map<T, Leaving> {
  const lastUse = lastUseToLeave(holders, { wanted, needed }, clock);
  const leaving = new Map<T, Leaving>();
  if (lastUse === undefined) return leaving;
  let { bytesLeft } = lastUse;
  for (const holder of holders) {
    const isTaken = bytesLeft > 0;
    const chosen = chosenOf(holder.blocks, isTaken ? lastUse.clock : lastUse.clock - 1);
    if (isTaken) bytesLeft -= chosen.bytesAtLast;
    if (chosen.leaving === 'all' || chosen.leaving.size > 0) leaving.set(holder, chosen.leaving);
  }
  return leaving;
}

/**
 * The time up to which blocks leave that were last needed then, and how many bytes of those of that
 * very time are to leave; all of earlier ones do.
 */
function lastUseToLeave(
  holders: readonly BlockHolder[],
  { wanted, needed }: Shortage,
  clock: number,
): { readonly clock: number; readonly bytesLeft: number } | undefined {
  const bytesByUse = new Map<number, number>();
  for (const { blocks } of holders) {
    forEachResident(blocks, (_block, size, usedAt) => {
      bytesByUse.set(usedAt, (bytesByUse.get(usedAt) ?? 0) + size);
    });
  }
  let left = 0;
  let last: { clock: number; bytesLeft: number } | undefined;
  for (const [use, bytes] of [...bytesByUse].sort(([one], [other]) => one - other)) {
    const bytesLeft = (use < clock ? wanted : needed) - left;
    if (bytesLeft <= 0) break;
    last = { clock: use, bytesLeft };
    left += bytes;
  }
  return last;
}

/** The blocks of a segment last needed at `lastUse` or before. */
function chosenOf(
  blocks: SegmentBlocks,
  lastUse: number,
): { readonly leaving: Leaving; readonly bytesAtLast: number } {
  const leaving = new Set<number>();
  let stays = 0;
  let bytesAtLast = 0;
  forEachResident(blocks, (block, size, usedAt) => {
    if (usedAt > lastUse) stays += 1;
    else leaving.add(block);
    if (usedAt === lastUse) bytesAtLast += size;
  });
  return { leaving: leaving.size > 0 && stays === 0 ? 'all' : leaving, bytesAtLast };
}

function forEachResident(
  { backing }: SegmentBlocks,
  take: (block: number, size: number, usedAt: number) => void,
): void {
  const { blocks, states, usedAt } = backing;
  const count = blockCountOf(backing);
  for (const [block, at] of usedAt.subarray(0, count).entries()) {
    if (states[block] === RESIDENT) take(block, blockSizeAt(blocks, block), at);
  }
}

/** How many blocks leave, and their bytes. */
export function leavingOf(
  blocks: SegmentBlocks,
  leaving: Leaving,
): { readonly blocks: number; readonly bytes: number } {
  const left = { blocks: 0, bytes: 0 };
  forEachResident(blocks, (block, size) => {
    if (leaving !== 'all' && !leaving.has(block)) return;
    left.blocks += 1;
    left.bytes += size;
  });
  return left;
}
