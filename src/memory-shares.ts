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
} from '../engine/limits.ts';
import type { PoolLimits } from '../engine/pool/query-pool.ts';
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

/** The smallest MEMORY_LIMIT: with less there is no room for the longest body, one query and the segments it reads. */
export const MEMORY_BYTES_MIN = 256 * MEBIBYTE;

/** Bytes that the process may take beside MEMORY_LIMIT: some 120 MB of them are there before there is any log. */
export const BESIDE_BYTES = 150e6;

/** Bytes of the main thread: code, its heap with new objects, and freed memory that the allocator keeps. */
const PROCESS_BYTES = 120 * MEBIBYTE;

/** Bytes of a thread that has run nothing yet, apart from its new objects and what it keeps of tasks. */
const THREAD_BYTES = 8 * MEBIBYTE;

/**
 * Bytes of the heap of a worker, at least. V8 collects at once, and throws compiled code away, whenever arrays have grown by
 * half as much since it last did: 64 MiB grow before it collects of itself, and a task makes some more meanwhile. What
 * queries hold is bounded apart.
 */
const WORKER_HEAP_BYTES_MIN = 192 * MEBIBYTE;

/** What the thread that decodes large bodies takes for 12 MB of usual logs: 32 MiB of heap and 64 MiB of arrays. */
const DECODING_BYTES = 96 * MEBIBYTE;

/** Its heap, at most: no known post takes more. V8 ends the process, and not the thread, when one text alone is larger than what is left. */
const DECODING_HEAP_BYTES_MAX = 128 * MEBIBYTE;

/** The arrays of one body there, at most, with little memory … */
const DECODING_LOAN_BYTES_MIN = 96 * MEBIBYTE;

/** … and with much: no known post takes more. */
const DECODING_LOAN_BYTES_MAX = 256 * MEBIBYTE;

/** Those whose shares are for the worst moments, and are counted by the bytes they use. */
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

/** Part of what is not used that is lent: what comes at once finds the other part free. */
const LENT_PART = 1 / 2;

/** Part of what the process does not take that is lent more from one second to the next: it takes what it was lent with a delay. */
const LENT_STEP = 1 / 8;

/** What each consumer may hold at most, in bytes. Together they are no more than MEMORY_LIMIT and `BESIDE_BYTES`. */
type MemoryShares = {
  /** Of the main thread. */
  readonly process: number;
  /** Of all worker threads, those of parked queries among them: what each is itself, its new objects, and what it keeps of tasks. */
  readonly threads: number;
  /** Of heaps and arrays of all queries that run. */
  readonly queries: number;
  /** Of segments that threads read for themselves, for want of room where all share them. */
  readonly passing: number;
  /** Of answers on their way to callers, and of the blocks kept for them. */
  readonly answers: number;
  /** Of pages on their way to followers. */
  readonly followed: number;
  readonly cache: number;
  readonly memo: number;
  /** Of posts as they arrive, and inflated. */
  readonly bodies: number;
  readonly callBodies: number;
  /** Of bodies being decoded, beside what the backlog counts. */
  readonly decoding: number;
  /** Of the thread that decodes large bodies: what usual ones take, or as much of that as there is room for. */
  readonly decodingThread: number;
  /** Of events that no file holds yet. */
  readonly backlog: number;
  /** Of sealed segments in memory, at the least: they have whatever else is free, too. */
  readonly segments: number;
};

/** How MEMORY_LIMIT is divided. */
export type MemoryDivision = {
  readonly shares: MemoryShares;
  /** Threads that run queries: as many as are wanted, or as there is room for. */
  readonly workerCount: number;
  /** … and bounds of the pool that they are in. */
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
  /** What no share has; less than 0 where what was set to be kept is too much. */
  readonly spareBytes: number;
  /** What is free for sealed segments and the backlog when all others have their part. */
  readonly storeBytesMax: number;
  /** Bytes of arrays that bodies were decoded in and that are kept for the next ones; a part of what decoding may take. */
  readonly pooledBytesMax: number;
  /** Bytes of large bodies that are decoded at a time. */
  readonly largeBodiesBytesMax: number;
  /** Of the thread that decodes large bodies. */
  readonly decodingBounds: DecodingBounds;
  /** Bytes of answers on their way to callers. */
  readonly answersBytesMax: number;
};

/**
 * Divides the memory of the process. `cacheBytesMax` and `memoBytesMax` are as they were set. Shares grow with the
 * limit; below `MEMORY_BYTES_MIN` they would not fit.
 */
export function divideMemory(of: {
  readonly memoryBytesMax: number;
  readonly cacheBytesMax: number;
  readonly memoBytesMax: number;
  /** As many as there are cores when left out. */
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
    // Half as much again is garbage before it is collected.
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
 * Bytes that sealed segments may have of the shares of others, who use `usedBytes` of them; `lentBytes` are those they
 * have. Counts do not know garbage and what the allocator keeps, so nothing more is lent once the process takes
 * MEMORY_LIMIT: the BESIDE_BYTES are for what comes until blocks have left, a second or two later.
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
  const wantedBytes = now.lentBytes + (freeBytes > 0 ? LENT_STEP : 1) * freeBytes;
  const lentBytesMax = LENT_PART * Math.max(0, sumLendable(shares) - now.usedBytes);
  return Math.floor(Math.min(Math.max(0, wantedBytes), lentBytesMax));
}

/** Bytes of the shares of all who lend. */
export function sumLendable(shares: MemoryShares): number {
  return LENDERS.reduce((sum, name) => sum + shares[name], 0);
}

/** Bytes of kept answers where nothing else is said. */
export function defaultCacheBytes(memoryBytesMax: number): number {
  return Math.min(CACHE_BYTES_MAX, Math.floor(memoryBytesMax / 32));
}

/** Bytes of remembered states where nothing else is said. */
export function defaultMemoBytes(memoryBytesMax: number): number {
  return Math.min(REMEMBERED_BYTES_MAX, Math.floor(memoryBytesMax / 32));
}

/** Of all shares. */
export function sumShares(shares: Readonly<Record<string, number>>): number {
  return Object.values(shares).reduce((sum, bytes) => sum + bytes, 0);
}

/** V8 has powers of two of them, three times: in two halves, and copied to. */
function computeNewObjectsBytes(all: number): number {
  if (all >= 4 * 1024 * MEBIBYTE) return WORKER_NEW_OBJECTS_BYTES_MAX;
  return all >= 1024 * MEBIBYTE ? 24 * MEBIBYTE : 12 * MEBIBYTE;
}

/** What a thread may keep of tasks: what some dozen segments and plans need, and more where there is much memory. */
function computeKeptBytes(all: number): number {
  const bytes = Math.max(Math.min(30 * MEBIBYTE, Math.floor(all / 32)), Math.floor(all / 72));
  return Math.min(KEPT_BYTES_MAX, Math.max(12 * MEBIBYTE, bytes));
}

/** Bytes of the arrays of one body in the thread that decodes. */
function computeDecodingLoanBytes(all: number): number {
  const bytes = Math.min(DECODING_LOAN_BYTES_MAX, Math.floor(all / 8));
  return Math.max(DECODING_LOAN_BYTES_MIN, bytes);
}

/** One thread is left for a query that is parked, and where there is room some to seal in beside a merge that is. */
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
