import { must } from '../assert.ts';
import {
  type BlockRange,
  GAUGE_CLOCK,
  GAUGE_EVICTED,
  GAUGE_LIMIT,
  RESIDENT,
  type SegmentBacking,
} from './segment-backing.ts';

/** Uses from which a block is frequent. */
const FREQUENT_USES = 2;

/** When the blocks of a segment file were needed, whether they are in memory or not. Shared by all threads. */
export type BlockUses = {
  /** The minute in which each block was last needed or came into memory, by the clock of the gauge; 0: never. */
  readonly usedAt: Int32Array;
  /** In how many minutes each block was needed, up to FREQUENT_USES. */
  readonly useCounts: Uint8Array;
  /** What the gauge said was evicted when each block last left memory: KiB. */
  readonly leftAt: Int32Array;
};

export function newBlockUses(count: number): BlockUses {
  return {
    usedAt: new Int32Array(new SharedArrayBuffer(4 * count)),
    useCounts: new Uint8Array(new SharedArrayBuffer(count)),
    leftAt: new Int32Array(new SharedArrayBuffer(4 * count)),
  };
}

/** Bytes of memory. */
export function sizeOfUses({ usedAt, useCounts, leftAt }: BlockUses): number {
  return usedAt.byteLength + useCounts.byteLength + leftAt.byteLength;
}

/**
 * Whether a block was needed in more than one minute. A scan needs each block once, however many it reads, which tells it
 * from those who come again. Earlier uses of a block that has left memory count as long as twice the memory would have
 * kept it ("2Q": Johnson and Shasha, VLDB 1994).
 */
export function isFrequent({ useCounts }: BlockUses, block: number): boolean {
  return must(useCounts[block]) >= FREQUENT_USES;
}

export function wasNeeded({ useCounts }: BlockUses, block: number): boolean {
  return must(useCounts[block]) > 0;
}

/** Takes note that some blocks are needed now. */
export function noteUse(backing: SegmentBacking, { first, end }: BlockRange): void {
  const { usedAt, useCounts } = backing.uses;
  const minute = must(backing.gauge[GAUGE_CLOCK]);
  for (let block = first; block < end; block++) {
    const count = must(useCounts[block]);
    if (count > 0 && usedAt[block] === minute) continue;
    useCounts[block] = Math.min((isForgotten(backing, block) ? 0 : count) + 1, FREQUENT_USES);
    usedAt[block] = minute;
  }
}

/** Takes note that a block leaves memory; of one that is not there nothing changes. */
export function noteLeaving({ uses, states, gauge }: SegmentBacking, block: number): void {
  if (states[block] === RESIDENT) uses.leftAt[block] = must(gauge[GAUGE_EVICTED]);
}

/** More than the memory holds has left since the block did. */
function isForgotten({ uses, states, gauge }: SegmentBacking, block: number): boolean {
  if (states[block] === RESIDENT) return false;
  // What was evicted counts up for ever, and 32 bits go round.
  const evicted = (must(gauge[GAUGE_EVICTED]) - must(uses.leftAt[block])) | 0;
  return evicted > must(gauge[GAUGE_LIMIT]);
}
