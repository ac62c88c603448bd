import {
  GAUGE_CLOCK,
  GAUGE_EVICTED,
  GAUGE_LIMIT,
  GAUGE_PASSING,
  GAUGE_RESIDENT,
  KIB,
  type MemoryGauge,
  newMemoryGauge,
} from '../engine/column/segment-backing.ts';
import type { Shortage } from './eviction.ts';
import {
  BACKLOG_SHARE_MAX,
  BLOCKS_SHARE_MIN,
  EVICTION_SHARE,
  MERGE_BYTES_MAX,
  MERGE_ROWS_MAX,
  MERGE_SHARE_MAX,
  OPEN_SHARE_MAX,
  USE_CLOCK_TICKS,
} from './limits.ts';
import type { MergeBounds } from './merge-choice.ts';

export type MemoryBudgetOptions = {
  /** Bytes for the whole process; Infinity: as many as there are. */
  readonly memoryBytesMax: number;
  /** Bytes of it that others take: the process itself, queries, bodies, answers. */
  readonly othersBytesMax: number;
  /** Bytes of events that no file holds yet; BACKLOG_SHARE_MAX of all unless given. */
  readonly backlogBytesMax?: number;
  /** Bytes that sealed segments may have, whatever else there is; BLOCKS_SHARE_MIN of all unless given. */
  readonly segmentBytesMin?: number;
};

/** What a store of logs holds, in bytes. */
export type HeldMemory = {
  /** Of stored segments: the blocks that are in memory. */
  readonly blocks: number;
  /** Of sealed segments that no file holds yet. */
  readonly unstored: number;
  /** Of open and frozen segments, what they hold in reserve included. */
  readonly open: number;
  /** Of batches that wait. */
  readonly queued: number;
  /** What is known of each segment while it is not in memory. */
  readonly index: number;
};

export type MemoryStats = {
  /** Bytes; Infinity when there is no limit. */
  readonly memoryBytesMax: number;
  /** Bytes that sealed segments may take at present, and do. */
  readonly segmentBytesMax: number;
  readonly segmentBytes: number;
  /** What there is of logs, in parts; `blocks` and `unstored` are those sealed segments. */
  readonly held: HeldMemory;
  /** Stored segments of which anything is in memory. */
  readonly residentCount: number;
  readonly evictedBlocks: number;
  readonly evictedBytes: number;
  /** Read into memory of one query alone, for want of room. */
  readonly passingBytes: number;
  /** Whether more is in memory than may be, and nothing can leave. */
  readonly isExceeded: boolean;
};

/** The most that a gauge can say: 2 TiB. */
const GAUGE_BYTES_MAX = (2 ** 31 - 1) * KIB;

/**
 * How much of the sealed segments may be in memory: what is left of the process's memory when all
 * else has its part. The gauge tells it to the threads that read segments, and hears from them.
 */
export class MemoryBudget {
  readonly gauge: MemoryGauge;
  readonly #memoryBytesMax: number;
  readonly #othersBytesMax: number;
  readonly #backlogBytesMax: number;
  readonly #segmentBytesMin: number;
  #ticksToStep = USE_CLOCK_TICKS;
  #lentBytes = 0;
  #segmentBytesMax: number;
  #segmentBytes = 0;
  #held: HeldMemory = { blocks: 0, unstored: 0, open: 0, queued: 0, index: 0 };
  /** KiB that the gauge said. */
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
    this.#segmentBytesMax = this.#restOf({ open: 0, queued: 0, index: 0 });
    this.gauge = newMemoryGauge(this.#segmentBytesMax);
  }

  static unlimited(): MemoryBudget {
    return new MemoryBudget({ memoryBytesMax: Number.POSITIVE_INFINITY, othersBytesMax: 0 });
  }

  /** The current minute, as marks of use say it. */
  get clock(): number {
    return Atomics.load(this.gauge, GAUGE_CLOCK);
  }

  /** Bytes of events that may be in memory and in no file yet. */
  get backlogBytesMax(): number {
    return this.#backlogBytesMax;
  }

  /** Bytes that open segments may take together, what they hold in reserve included. */
  get openBytesMax(): number {
    return this.#backlogBytesMax * OPEN_SHARE_MAX;
  }

  get mergeBounds(): MergeBounds {
    const byteSize = Math.min(MERGE_BYTES_MAX, Math.floor(this.#backlogBytesMax * MERGE_SHARE_MAX));
    return { rowCount: MERGE_ROWS_MAX, byteSize };
  }

  /** Bytes that sealed segments may take at present. */
  get segmentBytesMax(): number {
    return this.#segmentBytesMax;
  }

  /** Whether they took more when they were last measured. */
  get isOver(): boolean {
    return this.#segmentBytes > this.#segmentBytesMax;
  }

  /** Whether threads have read blocks since `measure` was last called. */
  get hasGrown(): boolean {
    return Atomics.load(this.gauge, GAUGE_RESIDENT) !== this.#residentSet;
  }

  /**
   * To be called about once a second. Whether a new minute has begun: then all is to be measured
   * again, as what a thread reads while it is measured may be missed.
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

  /** Bytes that sealed segments may take beyond their share, because others do not use theirs. */
  get lentBytes(): number {
    return this.#lentBytes;
  }

  /** Allows sealed segments so many bytes that others do not use, until the next call. */
  lend(byteSize: number): void {
    this.#lentBytes = byteSize;
  }

  /** Takes note of what is held. `readBefore`: `residentKib` from before it was added up. */
  measured(held: HeldMemory, readBefore: number): void {
    this.#segmentBytesMax = this.#restOf(held);
    Atomics.store(this.gauge, GAUGE_LIMIT, Math.floor(this.#segmentBytesMax / KIB));
    this.#segmentBytes = held.blocks + held.unstored;
    this.#held = held;
    this.#residentSet = Math.min(Math.ceil(this.#segmentBytes / KIB), 2 ** 31 - 1);
    // What threads read meanwhile is added to this, and so makes `hasGrown` true.
    Atomics.add(this.gauge, GAUGE_RESIDENT, this.#residentSet - readBefore);
    if (!this.isOver) this.#isExceeded = false;
  }

  get residentKib(): number {
    return Atomics.load(this.gauge, GAUGE_RESIDENT);
  }

  /** What should leave, of what was measured last; `undefined`: nothing. */
  shortage(): Shortage | undefined {
    const max = this.#segmentBytesMax;
    const over = this.#segmentBytes - max;
    const spare = max * EVICTION_SHARE;
    // Queries that found no room are to find some the next time.
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
      segmentBytesMax: this.#segmentBytesMax,
      segmentBytes,
      // With what threads have read since it was measured.
      held: { ...this.#held, blocks: Math.max(0, segmentBytes - this.#held.unstored) },
      residentCount,
      evictedBlocks: this.#evictedBlocks,
      evictedBytes: this.#evictedBytes,
      passingBytes: this.#passingKib * KIB,
      isExceeded: this.#isExceeded,
    };
  }

  #restOf({ open, queued, index }: Pick<HeldMemory, 'open' | 'queued' | 'index'>): number {
    const othersBytes = this.#othersBytesMax - this.#lentBytes;
    const rest = this.#memoryBytesMax - othersBytes - open - queued - index;
    return Math.floor(Math.min(Math.max(rest, this.#segmentBytesMin), GAUGE_BYTES_MAX));
  }
}
