import {
  GAUGE_CLOCK,
  GAUGE_EVICTED,
  GAUGE_LIMIT,
  GAUGE_PASSING,
  GAUGE_RESIDENT,
  KIB,
  type MemoryGauge,
  newMemoryGauge,
} from '../engine/columns.ts';
import type { Shortage } from './eviction.ts';
import {
  BACKLOG_SHARE_MAX,
  BLOCKS_SHARE_MIN,
  EVICTION_SHARE,
  MERGE_BYTES_MAX,
  MERGE_ROWS_MAX,
  MERGE_RUNS_MIN,
  MERGE_SEGMENTS_SHARE,
  MERGE_SHARE_MAX,
  MERGE_STEP_BYTES_MIN,
  MERGE_STEP_SHARE,
  OPEN_SHARE_MAX,
  USE_CLOCK_TICKS,
} from './limits.ts';
import type { MergeBounds } from './merge-choice.ts';

export type MemoryBudgetOptions = {
  /** Limit for the whole process, in bytes; Infinity: no limit. */
  readonly memoryBytesMax: number;
  /** Bytes of the limit for everything but logs: the process itself, queries, bodies, answers. */
  readonly othersBytesMax: number;
  /** Limit of the backlog in bytes; by default BACKLOG_SHARE_MAX of all. */
  readonly backlogBytesMax?: number;
  /** Bytes that sealed segments may have in any case; by default BLOCKS_SHARE_MIN of all. */
  readonly segmentBytesMin?: number;
};

/** Memory that a log store holds, in bytes. */
export type HeldMemory = {
  /** Resident blocks of stored segments. */
  readonly blocks: number;
  /** Sealed segments that no file holds yet. */
  readonly unstored: number;
  /** Open and frozen segments, including their spare capacity. */
  readonly open: number;
  /** Batches in the append queue. */
  readonly queued: number;
  /** Bytes of each segment that stay in memory when its blocks are evicted. */
  readonly index: number;
};

export type MemoryStats = {
  /** In bytes; Infinity if there is no limit. */
  readonly memoryBytesMax: number;
  /** The current limit of sealed segments, and their size. */
  readonly segmentBytesMax: number;
  readonly segmentBytes: number;
  /** Memory by kind; `blocks` and `unstored` are the sealed segments. */
  readonly held: HeldMemory;
  /** Number of stored segments with resident blocks. */
  readonly residentCount: number;
  readonly evictedBlocks: number;
  readonly evictedBytes: number;
  /** Bytes that single queries read for themselves, because there was no room for the blocks. */
  readonly passingBytes: number;
  /** Whether the limit is exceeded and nothing can be evicted. */
  readonly isExceeded: boolean;
};

/** The largest value of the gauge: 2 TiB. */
const GAUGE_BYTES_MAX = (2 ** 31 - 1) * KIB;

/**
 * Computes how much memory sealed segments may have: what the rest of the process leaves. The gauge, in shared memory,
 * carries the limit to the threads that read segments, and from them how many bytes they have read.
 */
export class MemoryBudget {
  readonly gauge: MemoryGauge;
  readonly #memoryBytesMax: number;
  readonly #othersBytesMax: number;
  readonly #backlogBytesMax: number;
  readonly #segmentBytesMin: number;
  #ticksToStep = USE_CLOCK_TICKS;
  #lentBytes = 0;
  /** Bytes that each merge under way takes at a time. */
  readonly #merges: number[] = [];
  #keptByMerges = 0;
  /** The limit of sealed segments and merges together. */
  #restBytes: number;
  #segmentBytes = 0;
  #held: HeldMemory = { blocks: 0, unstored: 0, open: 0, queued: 0, index: 0 };
  /** The gauge's value after the last measurement, in KiB. */
  #residentSet = 0;
  #passingSeen = 0;
  #passingKib = 0;
  #isAskedForMore = false;
  #isExceeded = false;
  #evictedBlocks = 0;
  #evictedBytes = 0;

  constructor(options: MemoryBudgetOptions) {
    const { memoryBytesMax, othersBytesMax } = options;
    this.#memoryBytesMax = memoryBytesMax;
    this.#othersBytesMax = othersBytesMax;
    this.#backlogBytesMax = options.backlogBytesMax ?? memoryBytesMax * BACKLOG_SHARE_MAX;
    this.#segmentBytesMin = options.segmentBytesMin ?? memoryBytesMax * BLOCKS_SHARE_MIN;
    this.#restBytes = this.#measureRest({ open: 0, queued: 0, index: 0 });
    this.gauge = newMemoryGauge(this.segmentBytesMax);
  }

  static unlimited(): MemoryBudget {
    return new MemoryBudget({ memoryBytesMax: Number.POSITIVE_INFINITY, othersBytesMax: 0 });
  }

  /** The current minute, in which uses of blocks are recorded. */
  get clock(): number {
    return Atomics.load(this.gauge, GAUGE_CLOCK);
  }

  /** The limit of the backlog in bytes. */
  get backlogBytesMax(): number {
    return this.#backlogBytesMax;
  }

  /** The limit of all open segments together in bytes, including their spare capacity. */
  get openBytesMax(): number {
    return this.#backlogBytesMax * OPEN_SHARE_MAX;
  }

  get mergeBounds(): MergeBounds {
    const backlog = this.#backlogBytesMax;
    const byteSize = Math.min(MERGE_BYTES_MAX, Math.floor(backlog * MERGE_SHARE_MAX));
    const stepSize = Math.max(MERGE_STEP_BYTES_MIN, Math.floor(backlog * MERGE_STEP_SHARE));
    return { rowCount: MERGE_ROWS_MAX, byteSize, stepSize, runsMin: MERGE_RUNS_MIN };
  }

  /**
   * Bytes that a merge may take now: what the backlog leaves, or a share of the memory of sealed segments if that is more.
   */
  mergeRoom(backlogFreeBytes: number): number {
    return Math.max(backlogFreeBytes, Math.floor(this.#restBytes * MERGE_SEGMENTS_SHARE));
  }

  /** Sealed segments have so many bytes less until the merge ends. */
  mergeBegins(byteSize: number): void {
    this.#merges.push(byteSize);
  }

  mergeEnds(byteSize: number): void {
    this.#merges.splice(this.#merges.indexOf(byteSize), 1);
  }

  /** Merges under way keep so many bytes of segments that they have made, more or fewer than before. */
  mergesKeep(byteSizeMore: number): void {
    this.#keptByMerges += byteSizeMore;
  }

  /** The current limit of sealed segments in bytes. */
  get segmentBytesMax(): number {
    return Math.max(0, this.#restBytes - this.#mergingBytes);
  }

  /** Whether sealed segments exceeded their limit when they were last measured. */
  get isOver(): boolean {
    return this.#segmentBytes > this.segmentBytesMax;
  }

  /** Whether sealed segments, as they were last measured, will have room for so many bytes more once steps of merges end. */
  hasRoomFor(byteSize: number): boolean {
    return this.#segmentBytes + this.#keptByMerges + byteSize <= this.#restBytes;
  }

  /** Whether threads have read blocks since the last call of `measured`. */
  get hasGrown(): boolean {
    return Atomics.load(this.gauge, GAUGE_RESIDENT) !== this.#residentSet;
  }

  /**
   * Must be called about once a second. Returns whether a new minute has begun. All memory must then be measured again,
   * because blocks that a thread reads during a measurement may be missed.
   */
  tick(): boolean {
    const passing = Atomics.load(this.gauge, GAUGE_PASSING);
    const grown = (passing - this.#passingSeen) >>> 0;
    this.#passingSeen = passing;
    this.#passingKib += grown;
    this.#isAskedForMore ||= grown > 0;
    this.#ticksToStep -= 1;
    if (this.#ticksToStep > 0) return false;
    this.#ticksToStep = USE_CLOCK_TICKS;
    Atomics.add(this.gauge, GAUGE_CLOCK, 1);
    return true;
  }

  /** Bytes that sealed segments may have beyond their share, lent by other users of memory. */
  get lentBytes(): number {
    return this.#lentBytes;
  }

  /** Lends sealed segments bytes that others do not use, until the next call. */
  lend(byteSize: number): void {
    this.#lentBytes = byteSize;
  }

  /** Stores a measurement. `readBefore`: the value of `residentKib` before the measurement. */
  measured(held: HeldMemory, readBefore: number): void {
    this.#restBytes = this.#measureRest(held);
    Atomics.store(this.gauge, GAUGE_LIMIT, Math.floor(this.segmentBytesMax / KIB));
    this.#segmentBytes = held.blocks + held.unstored;
    this.#held = held;
    this.#residentSet = Math.min(Math.ceil(this.#segmentBytes / KIB), 2 ** 31 - 1);
    // Blocks that threads read during the measurement are added to it, which makes `hasGrown` true.
    Atomics.add(this.gauge, GAUGE_RESIDENT, this.#residentSet - readBefore);
    if (!this.isOver) this.#isExceeded = false;
  }

  get residentKib(): number {
    return Atomics.load(this.gauge, GAUGE_RESIDENT);
  }

  /** How much to evict, by the last measurement; `undefined`: nothing. */
  shortage(): Shortage | undefined {
    const max = this.segmentBytesMax;
    const over = this.#segmentBytes - max;
    const spare = max * EVICTION_SHARE;
    // After queries found no room, some is made for the next ones.
    const isWanted = over > 0 || (this.#isAskedForMore && over + spare > 0);
    this.#isAskedForMore = false;
    return isWanted ? { needed: Math.max(over, 0), wanted: over + spare } : undefined;
  }

  evicted(count: { readonly blocks: number; readonly bytes: number }): void {
    this.#evictedBlocks += count.blocks;
    this.#evictedBytes += count.bytes;
    Atomics.add(this.gauge, GAUGE_EVICTED, Math.ceil(count.bytes / KIB));
    this.#isExceeded = this.isOver && count.blocks === 0;
  }

  stats(residentCount: number): MemoryStats {
    const segmentBytes = this.residentKib * KIB;
    return {
      memoryBytesMax: this.#memoryBytesMax,
      segmentBytesMax: this.segmentBytesMax,
      segmentBytes,
      // Includes the blocks that threads have read since the last measurement.
      held: { ...this.#held, blocks: Math.max(0, segmentBytes - this.#held.unstored) },
      residentCount,
      evictedBlocks: this.#evictedBlocks,
      evictedBytes: this.#evictedBytes,
      passingBytes: this.#passingKib * KIB,
      isExceeded: this.#isExceeded,
    };
  }

  /** Smaller merges run between the steps of a long one, which has in memory then only what it keeps. */
  get #mergingBytes(): number {
    return Math.max(0, ...this.#merges) + this.#keptByMerges;
  }

  #measureRest({ open, queued, index }: Pick<HeldMemory, 'open' | 'queued' | 'index'>): number {
    const othersBytes = this.#othersBytesMax - this.#lentBytes;
    const rest = this.#memoryBytesMax - othersBytes - open - queued - index;
    return Math.floor(Math.min(Math.max(rest, this.#segmentBytesMin), GAUGE_BYTES_MAX));
  }
}
