import { availableParallelism } from 'node:os';
import {
  ANSWER_BLOCKS_MAX,
  ANSWER_BYTES_MAX,
  KEPT_BYTES_MAX,
  PARKED_PER_WORKER_MAX,
  PASSING_BYTES_MAX,
  READERS_BYTES_MAX,
  REMEMBERED_BYTES_MAX,
  WORKER_HEAP_BYTES_MAX,
  WORKER_NEW_OBJECTS_BYTES_MAX,
} from '../engine/columns.ts';
import type { PoolLimits } from '../engine/index.ts';
import type { DecodingBounds } from '../ingest/decoding-thread.ts';
import { POOLED_BYTES_MAX } from '../ingest/limits.ts';
import {
  ANSWERS_BYTES_MAX,
  BODIES_BYTES_MAX,
  BODY_WIRE_BYTES_MAX,
  CACHE_BYTES_MAX,
  CALL_BODIES_BYTES_MAX,
  CALL_BODIES_BYTES_MIN,
  LARGE_BODIES_BYTES_MAX,
} from './limits.ts';

const MEBIBYTE = 1024 * 1024;

/**
 * The smallest MEMORY_LIMIT. Less has no room for the longest body, one query and the segments it
 * reads.
 */
export const MEMORY_BYTES_MIN = 256 * MEBIBYTE;

/**
 * Bytes that the process may take above MEMORY_LIMIT. It uses about 120 MB of them before it has
 * any logs.
 */
export const BESIDE_BYTES = 150e6;

/**
 * Bytes of the main thread: code, its heap with new objects, and freed memory that the allocator
 * retains.
 */
const PROCESS_BYTES = 120 * MEBIBYTE;

/** Bytes of an idle thread, without its new objects and what it keeps between tasks. */
const THREAD_BYTES = 8 * MEBIBYTE;

/**
 * Minimum size of a worker's heap, in bytes. V8 collects garbage at once, and discards compiled
 * code, whenever arrays have grown by half since its last collection. 64 MiB grow before V8
 * collects by itself, and a task allocates more meanwhile. The memory of queries has limits of its
 * own.
 */
const WORKER_HEAP_BYTES_MIN = 192 * MEBIBYTE;

/**
 * Memory of the thread that decodes large bodies, for 12 MB of typical logs: 32 MiB of heap and 64
 * MiB of arrays.
 */
const DECODING_BYTES = 96 * MEBIBYTE;

/**
 * Maximum heap of that thread; no known post takes more. If one string alone is larger than the
 * free heap, V8 ends the process and not the thread.
 */
const DECODING_HEAP_BYTES_MAX = 128 * MEBIBYTE;

/** Maximum size of the arrays of one body in that thread, with little memory. */
const DECODING_LOAN_BYTES_MIN = 96 * MEBIBYTE;

/** Maximum size of those arrays with much memory; no known post takes more. */
const DECODING_LOAN_BYTES_MAX = 256 * MEBIBYTE;

/** Consumers whose shares are sized for their worst case. What they do not use is lent. */
const LENDERS = [
  'queries',
  'answers',
  'followed',
  'cache',
  'memo',
  'bodies',
  'callBodies',
  'decoding',
] as const satisfies readonly (keyof MemoryShares)[];

/** Fraction of the unused memory that is lent. The rest covers what a consumer needs at once. */
const LENT_PART = 1 / 2;

/**
 * Fraction of the process's free memory by which loans may grow from one second to the next,
 * because the process takes what it was lent with a delay.
 */
const LENT_STEP = 1 / 8;

/**
 * Fraction of what the process takes too much by which loans shrink from one second to the next: blocks are evicted, garbage
 * collected and memory given back some seconds later. With all of it at once loans shrink several times for the same bytes,
 * and every block that queries need leaves memory.
 */
const TAKEN_BACK_STEP = 1 / 4;

/**
 * The maximum of each consumer, in bytes. Their sum is at most MEMORY_LIMIT plus `BESIDE_BYTES`.
 */
type MemoryShares = {
  /** The main thread. */
  readonly process: number;
  /**
   * All worker threads, including those of parked queries: the threads themselves, their new
   * objects, and what they keep between tasks.
   */
  readonly threads: number;
  /** Heaps and arrays of all running queries. */
  readonly queries: number;
  /** Segments that threads read privately, because shared memory has no room for them. */
  readonly passing: number;
  /** Answers that are being sent, and the blocks kept for them. */
  readonly answers: number;
  /** Pages that are being sent to followers. */
  readonly followed: number;
  readonly cache: number;
  readonly memo: number;
  /** Posts as received, and decompressed. */
  readonly bodies: number;
  readonly callBodies: number;
  /** Bodies that are being decoded, without what the backlog counts. */
  readonly decoding: number;
  /** The thread that decodes large bodies: what typical bodies take, or less if memory is short. */
  readonly decodingThread: number;
  /** Events that are in no file yet. */
  readonly backlog: number;
  /** Sealed segments in memory: their minimum. They may also use all other free memory. */
  readonly segments: number;
};

/** How MEMORY_LIMIT is divided. */
export type MemoryDivision = {
  readonly shares: MemoryShares;
  /** Threads that run queries: as many as were asked for, or fewer if memory is short. */
  readonly workerCount: number;
  /** Limits of the pool of those threads. */
  readonly poolLimits: Pick<
    PoolLimits,
    | 'heapBytesMax'
    | 'newObjectsBytesMax'
    | 'queriesBytesMax'
    | 'parkedMax'
    | 'backgroundMax'
    | 'answerBytesMax'
    | 'answerBlockBytesMax'
    | 'passingBytesMax'
    | 'keptBytesMax'
    | 'readersBytesMax'
  >;
  /** Bytes that belong to no share; negative if the settings for kept data ask for too much. */
  readonly spareBytes: number;
  /** Bytes for sealed segments and the backlog after all other shares. */
  readonly storeBytesMax: number;
  /**
   * Bytes of arrays that are reused from one decoded body to the next; part of the decoding share.
   */
  readonly pooledBytesMax: number;
  /** Bytes of large bodies that are decoded at once. */
  readonly largeBodiesBytesMax: number;
  /** Limits of the thread that decodes large bodies. */
  readonly decodingBounds: DecodingBounds;
  /** Bytes of answers that are being sent. */
  readonly answersBytesMax: number;
};

/**
 * Divides the memory of the process. `cacheBytesMax` and `memoBytesMax` are the values of the
 * settings. Shares grow with the limit; below `MEMORY_BYTES_MIN` they would not fit.
 */
export function divideMemory(of: {
  readonly memoryBytesMax: number;
  readonly cacheBytesMax: number;
  readonly memoBytesMax: number;
  /** Defaults to the number of cores. */
  readonly workerCount: number | undefined;
}): MemoryDivision {
  const { memoryBytesMax: all, workerCount: wantedCount = availableParallelism() } = of;
  const newObjectsBytesMax = computeNewObjectsBytes(all);
  const keptBytesMax = computeKeptBytes(all);
  const threadBytes = THREAD_BYTES + newObjectsBytesMax + keptBytesMax;
  const threadCountMax = Math.max(3, Math.floor(((15 * all) / 64 + 24 * MEBIBYTE) / threadBytes));
  const { workerCount, parkedMax, backgroundMax } = threadsWithin(threadCountMax, wantedCount);
  const threads = workerCount + parkedMax + backgroundMax;
  const queries = Math.floor((3 * all) / 16);
  const answers = Math.min(ANSWERS_BYTES_MAX, Math.floor(all / 16));
  const answerBytesMax = Math.min(ANSWER_BYTES_MAX, Math.floor(answers / 4));
  const answerBlockBytesMax = Math.floor(answers / (4 * ANSWER_BLOCKS_MAX * threads));
  const passingBytesMax = Math.min(PASSING_BYTES_MAX, Math.floor(all / 40 / workerCount));
  const withoutThread = {
    process: PROCESS_BYTES,
    threads: threads * threadBytes,
    queries,
    // Garbage adds half again before it is collected.
    passing: Math.ceil(1.5 * passingBytesMax * workerCount),
    answers: answers + threads * ANSWER_BLOCKS_MAX * answerBlockBytesMax,
    followed: Math.floor(all / 128),
    cache: of.cacheBytesMax,
    memo: of.memoBytesMax,
    bodies: Math.max(
      2 * BODY_WIRE_BYTES_MAX + MEBIBYTE,
      Math.min(BODIES_BYTES_MAX, Math.floor(all / 11)),
    ),
    callBodies: Math.max(
      CALL_BODIES_BYTES_MIN,
      Math.min(CALL_BODIES_BYTES_MAX, Math.floor(all / 64)),
    ),
    decoding: Math.floor(all / 32),
    backlog: Math.floor((3 * all) / 16 - 16 * MEBIBYTE),
    segments: Math.floor((3 * all) / 64),
  };
  const roomBytes = Math.floor(all + BESIDE_BYTES - sumShares(withoutThread));
  const wantedBytes = THREAD_BYTES + newObjectsBytesMax + DECODING_BYTES;
  const decodingThread = Math.min(wantedBytes, Math.max(0, roomBytes));
  const shares = { ...withoutThread, decodingThread };
  const spareBytes = roomBytes - decodingThread;
  return {
    shares,
    workerCount,
    poolLimits: {
      heapBytesMax: Math.min(
        WORKER_HEAP_BYTES_MAX,
        Math.max(WORKER_HEAP_BYTES_MIN, queries + 64 * MEBIBYTE),
      ),
      newObjectsBytesMax,
      queriesBytesMax: queries,
      parkedMax,
      backgroundMax,
      answerBytesMax,
      answerBlockBytesMax,
      passingBytesMax,
      keptBytesMax,
      readersBytesMax: Math.min(READERS_BYTES_MAX, Math.floor(keptBytesMax / 2)),
    },
    pooledBytesMax: Math.min(POOLED_BYTES_MAX, Math.floor(shares.decoding / 2)),
    largeBodiesBytesMax: Math.min(LARGE_BODIES_BYTES_MAX, Math.floor(shares.decoding / 2)),
    decodingBounds: {
      heapBytesMax: DECODING_HEAP_BYTES_MAX,
      newObjectsBytesMax,
      loanBytesMax: computeDecodingLoanBytes(all),
    },
    answersBytesMax: answers,
    spareBytes,
    storeBytesMax: shares.backlog + shares.segments + Math.max(0, spareBytes),
  };
}

/**
 * Computes the bytes that sealed segments may borrow from other consumers, which use `usedBytes` of
 * their shares; `lentBytes` is the current loan. Byte counts include neither garbage nor memory
 * that the allocator retains, so loans stop growing once the process takes MEMORY_LIMIT.
 * BESIDE_BYTES then covers growth until blocks are evicted, some seconds later.
 */
export function lentBytes(
  { shares }: MemoryDivision,
  now: {
    readonly memoryBytesMax: number;
    readonly residentBytes: number;
    readonly usedBytes: number;
    readonly lentBytes: number;
  },
): number {
  const freeBytes = now.memoryBytesMax - now.residentBytes;
  const wantedBytes = now.lentBytes + (freeBytes > 0 ? LENT_STEP : TAKEN_BACK_STEP) * freeBytes;
  const lentBytesMax = LENT_PART * Math.max(0, sumLendable(shares) - now.usedBytes);
  return Math.floor(Math.min(Math.max(0, wantedBytes), lentBytesMax));
}

/** Sums the shares that may be lent. */
export function sumLendable(shares: MemoryShares): number {
  return LENDERS.reduce((sum, name) => sum + shares[name], 0);
}

/** Default for the bytes of kept answers. */
export function defaultCacheBytes(memoryBytesMax: number): number {
  return Math.min(CACHE_BYTES_MAX, Math.floor(memoryBytesMax / 32));
}

/** Default for the bytes of kept partial states. */
export function defaultMemoBytes(memoryBytesMax: number): number {
  return Math.min(REMEMBERED_BYTES_MAX, Math.floor(memoryBytesMax / 32));
}

export function sumShares(shares: Readonly<Record<string, number>>): number {
  return Object.values(shares).reduce((sum, bytes) => sum + bytes, 0);
}

/**
 * V8 sizes its young generation in powers of two and needs it three times: two halves and a copy.
 */
function computeNewObjectsBytes(all: number): number {
  if (all >= 4 * 1024 * MEBIBYTE) return WORKER_NEW_OBJECTS_BYTES_MAX;
  return all >= 1024 * MEBIBYTE ? 24 * MEBIBYTE : 12 * MEBIBYTE;
}

/**
 * Bytes that a thread may keep between tasks: enough for some dozen segments and plans, and more
 * with much memory.
 */
function computeKeptBytes(all: number): number {
  const bytes = Math.max(Math.min(30 * MEBIBYTE, Math.floor(all / 32)), Math.floor(all / 72));
  return Math.min(KEPT_BYTES_MAX, Math.max(12 * MEBIBYTE, bytes));
}

/** Bytes of the arrays of one body in the decoding thread. */
function computeDecodingLoanBytes(all: number): number {
  const bytes = Math.min(DECODING_LOAN_BYTES_MAX, Math.floor(all / 8));
  return Math.max(DECODING_LOAN_BYTES_MIN, bytes);
}

/**
 * One thread is reserved for a parked query and, if there is room, others for sealing beside a
 * merge.
 */
function threadsWithin(
  countMax: number,
  wantedWorkers: number,
): { readonly workerCount: number } & Pick<PoolLimits, 'parkedMax' | 'backgroundMax'> {
  const background = (workers: number): number => Math.ceil(workers / 2);
  let workerCount = wantedWorkers;
  while (workerCount > 1 && workerCount + background(workerCount) + 1 > countMax) workerCount -= 1;
  const spare = countMax - workerCount - background(workerCount);
  const parkedMax = Math.min(PARKED_PER_WORKER_MAX * workerCount, spare);
  const beside = Math.min(background(workerCount), spare - parkedMax);
  return { workerCount, parkedMax, backgroundMax: background(workerCount) + beside };
}
