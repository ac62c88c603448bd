import { must } from '../assert.ts';
import { newSegmentBuffer } from './arrays.ts';
import { partitionPoint } from './positions.ts';
import type { Slice } from './slice.ts';

/** States of a block, and of the frame. */
export const ABSENT = 0;
export const RESIDENT = 1;
/** State of the frame alone: the buffer was released, and nobody may read more into it. */
const RETIRED = 2;

/** Entries of the gauge; sizes in KiB, so that 32 bits hold terabytes. */
export const GAUGE_RESIDENT = 0;
export const GAUGE_LIMIT = 1;
/** What was read into memory of one query alone since the start, for want of room. */
export const GAUGE_PASSING = 2;
/** Counts up about once a minute. */
export const GAUGE_CLOCK = 3;
/** Counts the buffers that were let go. */
export const GAUGE_RETIRED = 4;
/** What has left memory since the start; goes round. */
export const GAUGE_EVICTED = 5;
const GAUGE_ENTRIES = 6;

export const KIB = 1024;

/**
 * How much of the stored segments is in memory, and how much may be: six shared integers for the
 * whole process. Threads that read blocks add to the first; whoever lets memory go sets it anew.
 */
export type MemoryGauge = Int32Array;

/** `limit`: bytes of blocks that may be in memory. */
export function newMemoryGauge(limit: number): MemoryGauge {
  const gauge = new Int32Array(new SharedArrayBuffer(GAUGE_ENTRIES * 4));
  gauge[GAUGE_LIMIT] = Math.floor(limit / KIB);
  gauge[GAUGE_CLOCK] = 1;
  return gauge;
}

/**
 * Where the bytes of a sealed segment come from that are not in its buffer: a file of blocks, each of them a
 * part of one slice. The buffer has the size of the whole segment all the same; pages that
 * nobody has written to take no memory.
 *
 * Shared by all threads. A block is written into the buffer before its state says so, by whichever
 * thread needs it first; two that do so at once write the same bytes. Nothing leaves a buffer: to let
 * memory go, another buffer with less in it takes its place, under another id, and this one is
 * retired. Its memory is free once no thread refers to it, so each thread looks for retired buffers.
 */
export type SegmentBacking = {
  /** Of the segment: what a scan asks for before it reads anything. */
  readonly rowCount: number;
  readonly timestampUsMin: number;
  readonly timestampUsMax: number;
  /** Bytes of the whole segment. */
  readonly imageSize: number;
  /** Absolute. */
  readonly path: string;
  /** BLOCK_NUMBERS for each block, in the order of their places. */
  readonly blocks: BlockTable;
  /** The header and the footer of the segment, compressed (RFC 7932). */
  readonly frame: Uint8Array;
  /** Of each block, and last of the frame. */
  readonly states: Int32Array;
  /** Of each block, and last of the frame. */
  readonly uses: BlockUses;
  /**
   * READ_IN_PARTS_NUMBERS, in KiB, since the columns of the segment were last read whole: what was read of it in parts, a
   * block at a time, and what was copied from memory in parts.
   */
  readonly readInParts: Int32Array;
  readonly gauge: MemoryGauge;
};

export const READ_IN_PARTS_NUMBERS = 2;

/** Numbers of a block: place and size in the segment, place and size in the file, CRC-32 there. */
export const BLOCK_NUMBERS = 5;

/** BLOCK_NUMBERS for each block. A file has less than 4 GiB, as its segment has. */
export type BlockTable = Uint32Array;

/** Whether the buffer that the backing was made for has been let go. */
export function isRetired({ states }: SegmentBacking): boolean {
  return Atomics.load(states, states.length - 1) === RETIRED;
}

/** Makes all threads drop a buffer. What is read of the segment from then on comes from its file. */
export function retire({ states, gauge }: SegmentBacking): void {
  Atomics.store(states, states.length - 1, RETIRED);
  Atomics.add(gauge, GAUGE_RETIRED, 1);
}

const NO_BUFFER = newSegmentBuffer(0);

/** Drops the buffer of a retired handle: a handle that is still held then keeps no memory. */
export function releaseBuffer(handle: { readonly buffer: SharedArrayBuffer }): void {
  (handle as { buffer: SharedArrayBuffer }).buffer = NO_BUFFER;
}

/** Indexes of consecutive blocks: [first, end). */
export type BlockRange = { readonly first: number; readonly end: number };

/**
 * The blocks that some bytes of a slice, one at least, are in.
 *
 * @throws Error when there is no block with the first of them.
 */
export function blocksWith(blocks: BlockTable, [offset, size]: Slice): BlockRange {
  const first = firstBehind(blocks, offset) - 1;
  const number = first * BLOCK_NUMBERS;
  if (first < 0 || offset >= blocks[number]! + blocks[number + 1]!) {
    throw new Error(`no block of the segment has the byte at ${offset}`);
  }
  return { first, end: firstBehind(blocks, offset + size - 1) };
}

/** The first block whose place is behind an offset. */
function firstBehind(blocks: BlockTable, offset: number): number {
  return partitionPoint(0, blocks.length / BLOCK_NUMBERS, (index) => {
    return blocks[index * BLOCK_NUMBERS]! <= offset;
  });
}

/** Uses from which a block is frequent. */
export const FREQUENT_USES = 2;

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
