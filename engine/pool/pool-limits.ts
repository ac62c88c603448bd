import {
  QUERIES_BYTES_MAX,
  QUERIES_WAITING_MAX,
  QUERY_TIME_MS_MAX,
  STOP_MS_MAX,
  THREAD_IDLE_MS_MAX,
  TURN_MS_MIN,
  WORKER_HEAP_BYTES_MAX,
  WORKER_NEW_OBJECTS_BYTES_MAX,
} from '../limits.ts';
import { THREAD_BOUNDS, type ThreadBounds } from './thread-bounds.ts';

/**
 * Milliseconds a sealing may take: some five hundred times the usual, for it lets all others go first,
 * but so that none holds a thread for ever.
 */
const SEAL_TIME_MS_MAX = 600_000;

/** Bounds of a pool; those of `limits.ts` where left out. */
export type PoolLimits = ThreadBounds & {
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
