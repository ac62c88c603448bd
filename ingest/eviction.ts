import { must } from '../engine/assert.ts';
import { isFrequent } from '../engine/column/block-uses.ts';
import { RESIDENT, type SegmentBacking } from '../engine/column/segment-backing.ts';
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
 * The part of what is in memory that was needed in one minute at most, and stays while more leaves: whoever comes again
 * finds it there.
 */
const RECENT_SHARE = 1 / 10;

/**
 * Which blocks leave, from all segments: of those that were needed in one minute at most the ones not needed for longest,
 * as long as there are many of them, then of the frequent ones those not needed for longest. Of those last needed at the
 * same time whole segments go, in the order given, and more may leave than was asked for, by less than one segment of
 * each of the two. `clock`: the current minute.
 */
export function chooseLeaving<T extends BlockHolder>(
  holders: readonly T[],
  shortage: Shortage,
  clock: number,
): Map<T, Leaving> {
  const recent = new SizesByUse();
  const frequent = new SizesByUse();
  for (const { blocks } of holders) addSizes(blocks.backing, recent, frequent);
  const shared = (bytes: number) => sharesOf(bytes, recent.total, frequent.total);
  const [wanted, needed] = [shared(shortage.wanted), shared(shortage.needed)];
  const limits = {
    recent: recent.lastToLeave({ wanted: wanted.recent, needed: needed.recent }, clock),
    frequent: frequent.lastToLeave({ wanted: wanted.frequent, needed: needed.frequent }, clock),
  };
  const leaving = new Map<T, Leaving>();
  for (const holder of holders) {
    const chosen = chosenOf(holder.blocks, limits);
    if (chosen === 'all' || chosen.size > 0) leaving.set(holder, chosen);
  }
  return leaving;
}

/** How much of what is to leave is taken from which blocks. */
function sharesOf(
  bytes: number,
  recentBytes: number,
  frequentBytes: number,
): { readonly recent: number; readonly frequent: number } {
  const spare = Math.max(0, recentBytes - RECENT_SHARE * (recentBytes + frequentBytes));
  const frequent = Math.min(bytes - Math.min(bytes, spare), frequentBytes);
  return { recent: bytes - frequent, frequent };
}

/** Up to when blocks leave, and how many bytes of those last needed at that very time are still to leave. */
type LeavingLimit = { readonly clock: number; bytesLeft: number };

type LeavingLimits = { readonly recent: LeavingLimit; readonly frequent: LeavingLimit };

/** Bytes of blocks by when they were last needed. */
class SizesByUse {
  total = 0;
  readonly #sizes = new Map<number, number>();

  add(usedAt: number, size: number): void {
    this.total += size;
    this.#sizes.set(usedAt, (this.#sizes.get(usedAt) ?? 0) + size);
  }

  lastToLeave({ wanted, needed }: Shortage, clock: number): LeavingLimit {
    let left = 0;
    let last = { clock: -1, bytesLeft: 0 };
    for (const [use, bytes] of [...this.#sizes].sort(([one], [other]) => one - other)) {
      const bytesLeft = (use < clock ? wanted : needed) - left;
      if (bytesLeft <= 0) break;
      last = { clock: use, bytesLeft };
      left += bytes;
    }
    return last;
  }
}

/** Adds up what of a segment is in memory. Memory may have a million blocks, so nothing is made for each. */
function addSizes(backing: SegmentBacking, recent: SizesByUse, frequent: SizesByUse): void {
  const { blocks, states, uses } = backing;
  const count = blockCountOf(backing);
  for (let block = 0; block < count; block++) {
    if (states[block] !== RESIDENT) continue;
    const sizes = isFrequent(uses, block) ? frequent : recent;
    sizes.add(must(uses.usedAt[block]), blockSizeAt(blocks, block));
  }
}

/** The blocks of a segment that leave; what is taken of the last ones is taken from the limits. */
function chosenOf({ backing }: SegmentBlocks, limits: LeavingLimits): Leaving {
  const { blocks, states, uses } = backing;
  const count = blockCountOf(backing);
  const leaving = new Set<number>();
  let stays = 0;
  let recentSize = 0;
  let frequentSize = 0;
  for (let block = 0; block < count; block++) {
    if (states[block] !== RESIDENT) continue;
    const isOften = isFrequent(uses, block);
    const { clock, bytesLeft } = isOften ? limits.frequent : limits.recent;
    const usedAt = must(uses.usedAt[block]);
    if (usedAt < clock || (usedAt === clock && bytesLeft > 0)) leaving.add(block);
    else stays += 1;
    if (usedAt !== clock) continue;
    if (isOften) frequentSize += blockSizeAt(blocks, block);
    else recentSize += blockSizeAt(blocks, block);
  }
  limits.recent.bytesLeft -= recentSize;
  limits.frequent.bytesLeft -= frequentSize;
  return leaving.size > 0 && stays === 0 ? 'all' : leaving;
}

/** How many blocks leave, and their bytes. */
export function leavingOf(
  { backing }: SegmentBlocks,
  leaving: Leaving,
): { readonly blocks: number; readonly bytes: number } {
  const { blocks, states } = backing;
  const count = blockCountOf(backing);
  const left = { blocks: 0, bytes: 0 };
  for (let block = 0; block < count; block++) {
    if (states[block] !== RESIDENT || (leaving !== 'all' && !leaving.has(block))) continue;
    left.blocks += 1;
    left.bytes += blockSizeAt(blocks, block);
  }
  return left;
}
