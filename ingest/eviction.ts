import { isFrequent, must, RESIDENT, type SegmentBacking } from '../engine/columns.ts';
import { countBlocks, type SegmentBlocks } from './segment-blocks.ts';
import { blockSizeAt } from './segment-envelope.ts';

/** How many bytes to evict. */
export type Shortage = {
  /** Blocks not used in the current minute are evicted until this many bytes are free. */
  readonly wanted: number;
  /** Blocks used in the current minute are evicted, too, while fewer bytes than this are free. */
  readonly needed: number;
};

/** Indexes of the blocks that a segment evicts; `all` for every resident block. */
export type Leaving = 'all' | ReadonlySet<number>;

/** An object that holds the resident blocks of a stored segment. */
export type BlockHolder = { readonly blocks: SegmentBlocks };

/**
 * The share of resident memory for blocks that were used in one minute only. It remains during eviction, so that a
 * query that is repeated soon finds its blocks.
 */
const RECENT_SHARE = 1 / 10;

/**
 * Chooses the blocks to evict, over all segments. First the least recently used blocks among those used in one minute
 * only, while these take more than RECENT_SHARE; then the least recently used of the others. Among blocks last used at
 * the same time, whole segments are evicted in the given order, so the result may exceed the demand by less than one
 * segment of each kind. `clock`: the current minute.
 */
export function chooseLeaving<T extends BlockHolder>(
  holders: readonly T[],
  shortage: Shortage,
  clock: number,
): Map<T, Leaving> {
  const recent = new SizesByUse();
  const frequent = new SizesByUse();
  for (const { blocks } of holders) addSizes(blocks.backing, recent, frequent);
  const shared = (bytes: number) => computeShares(bytes, recent.total, frequent.total);
  const [wanted, needed] = [shared(shortage.wanted), shared(shortage.needed)];
  const limits = {
    recent: recent.lastToLeave({ wanted: wanted.recent, needed: needed.recent }, clock),
    frequent: frequent.lastToLeave({ wanted: wanted.frequent, needed: needed.frequent }, clock),
  };
  const leaving = new Map<T, Leaving>();
  for (const holder of holders) {
    const chosen = chooseBlocks(holder.blocks, limits);
    if (chosen === 'all' || chosen.size > 0) leaving.set(holder, chosen);
  }
  return leaving;
}

/** Divides the bytes to evict between recent and frequent blocks. */
function computeShares(
  bytes: number,
  recentBytes: number,
  frequentBytes: number,
): { readonly recent: number; readonly frequent: number } {
  const spare = Math.max(0, recentBytes - RECENT_SHARE * (recentBytes + frequentBytes));
  const frequent = Math.min(bytes - Math.min(bytes, spare), frequentBytes);
  return { recent: bytes - frequent, frequent };
}

/** Blocks last used before `clock` are evicted, and `bytesLeft` bytes of those last used at `clock`. */
type LeavingLimit = { readonly clock: number; bytesLeft: number };

type LeavingLimits = { readonly recent: LeavingLimit; readonly frequent: LeavingLimit };

/** Bytes of blocks by their last use. */
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

/** Adds the resident blocks of a segment. Memory may hold a million blocks, so nothing is allocated per block. */
function addSizes(backing: SegmentBacking, recent: SizesByUse, frequent: SizesByUse): void {
  const { blocks, states, uses } = backing;
  const count = countBlocks(backing);
  for (let block = 0; block < count; block++) {
    if (states[block] !== RESIDENT) continue;
    const sizes = isFrequent(uses, block) ? frequent : recent;
    sizes.add(must(uses.usedAt[block]), blockSizeAt(blocks, block));
  }
}

/** The blocks that a segment evicts. Reduces `bytesLeft` of the limits by those last used at the limit's clock. */
function chooseBlocks({ backing }: SegmentBlocks, limits: LeavingLimits): Leaving {
  const { blocks, states, uses } = backing;
  const count = countBlocks(backing);
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

/** Number and bytes of the blocks to evict. */
export function measureLeaving(
  { backing }: SegmentBlocks,
  leaving: Leaving,
): { readonly blocks: number; readonly bytes: number } {
  const { blocks, states } = backing;
  const count = countBlocks(backing);
  const left = { blocks: 0, bytes: 0 };
  for (let block = 0; block < count; block++) {
    if (states[block] !== RESIDENT || (leaving !== 'all' && !leaving.has(block))) continue;
    left.blocks += 1;
    left.bytes += blockSizeAt(blocks, block);
  }
  return left;
}
