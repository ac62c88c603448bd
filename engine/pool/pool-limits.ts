import { SPILLED_BYTES_MAX } from '../column/spill-file.ts';
import {
  ANSWER_BLOCK_BYTES_MAX,
  ANSWER_BYTES_MAX,
  KEPT_BYTES_MAX,
  PASSING_BYTES_MAX,
  QUERIES_BYTES_MAX,
  QUERIES_WAITING_MAX,
  QUERY_TIME_MS_MAX,
  READERS_BYTES_MAX,
  STOP_MS_MAX,
  THREAD_IDLE_MS_MAX,
  TURN_MS_MIN,
  WORKER_HEAP_BYTES_MAX,
  WORKER_NEW_OBJECTS_BYTES_MAX,
} from '../limits.ts';
import type { SharedMemoryUse } from './heap-guard.ts';

/**
 * Milliseconds a sealing may take: some five hundred times the usual, for it lets all others go first,
 * but so that none holds a thread for ever.
 */
const SEAL_TIME_MS_MAX = 600_000;

/** Bounds of a pool; those of `limits.ts` where left out. */
export type PoolLimits = Omit<ThreadBounds, 'partialBytesMax'> & {
  readonly heapBytesMax: number;
  readonly newObjectsBytesMax: number;
  /** Bytes that all queries hold together; those of the background threads may be as many again. */
  readonly queriesBytesMax: number;
  readonly queryMsMax: number;
  readonly stopMsMax: number;
  readonly sealMsMax: number;
  readonly queriesWaitingMax: number;
  readonly threadIdleMsMax: number;
  readonly turnMsMin: number;
  /** Tasks of queries that are parked at a time, each on a thread beside those that run. */
  readonly parkedMax: number;
  /** Threads of work on segments: at least half as many as run at a time. With twice that one seals beside each that is parked. */
  readonly backgroundMax: number;
};

/** Bytes that each thread of a pool may have beside what its query holds; those of `limits.ts` where left out. */
export type ThreadBounds = {
  /** Of one answer. */
  readonly answerBytesMax: number;
  /** Of each block that is kept for answers. */
  readonly answerBlockBytesMax: number;
  /** Of segments that a task reads for itself; half as much may be garbage. */
  readonly passingBytesMax: number;
  /** Of what is kept of tasks that have ended. */
  readonly keptBytesMax: number;
  /** Of arrays beyond which a thread keeps fewer segments open. */
  readonly readersBytesMax: number;
  /** Of the partial state of a part of a query. */
  readonly partialBytesMax: number;
  /** Of the file of one task whose states do not fit into memory. */
  readonly spilledBytesMax: number;
};

/**
 * Part of what queries may hold that all partial states of a query may take. The task that combines them holds them, and a
 * hash table beside.
 */
const PARTIALS_PART = 3 / 8;

/** Bytes of the partial state of each part of a query. */
export function partialBytesWithin(queriesBytesMax: number, workerCount: number): number {
  return (PARTIALS_PART * queriesBytesMax) / workerCount;
}

export const THREAD_BOUNDS: ThreadBounds = {
  answerBytesMax: ANSWER_BYTES_MAX,
  answerBlockBytesMax: ANSWER_BLOCK_BYTES_MAX,
  passingBytesMax: PASSING_BYTES_MAX,
  keptBytesMax: KEPT_BYTES_MAX,
  readersBytesMax: READERS_BYTES_MAX,
  partialBytesMax: partialBytesWithin(QUERIES_BYTES_MAX, 1),
  spilledBytesMax: SPILLED_BYTES_MAX,
};

/** Those that do not depend on the number of workers. */
export const POOL_LIMITS: Omit<PoolLimits, 'parkedMax' | 'backgroundMax'> = {
  ...THREAD_BOUNDS,
  heapBytesMax: WORKER_HEAP_BYTES_MAX,
  newObjectsBytesMax: WORKER_NEW_OBJECTS_BYTES_MAX,
  queriesBytesMax: QUERIES_BYTES_MAX,
  queryMsMax: QUERY_TIME_MS_MAX,
  stopMsMax: STOP_MS_MAX,
  sealMsMax: SEAL_TIME_MS_MAX,
  queriesWaitingMax: QUERIES_WAITING_MAX,
  threadIdleMsMax: THREAD_IDLE_MS_MAX,
  turnMsMin: TURN_MS_MIN,
};

/** What a thread is sent when it starts. */
export type ThreadData = {
  readonly memory: SharedMemoryUse;
  readonly bounds: ThreadBounds;
  /** The folder for such files; absent: states have to fit into memory. */
  readonly spillFolder?: string | undefined;
};
