import { getHeapStatistics } from 'node:v8';
import { resourceLimits } from 'node:worker_threads';
import { collectGarbage } from '../column/garbage.ts';
import { WORKER_ARRAYS_BYTES_MAX } from '../limits.ts';
import { QueryError } from '../query-error.ts';

const MEGABYTE = 1024 * 1024;

/** What V8 ends this thread at; the young generation, of 48 MiB, is not counted there. */
const HEAP_BYTES_MAX = (resourceLimits.maxOldGenerationSizeMb ?? Infinity) * MEGABYTE;

/**
 * Part of what a thread may fill from which it is looked at more closely: what is left above is made between
 * two checkpoints, and V8 gives up somewhat below its limit.
 */
const LOOKED_AT_PART = 3 / 4;

/** … and part that may be in use once garbage is gone. The difference keeps collecting from being done all the time. */
const USED_PART = 9 / 16;

/**
 * To be called at checkpoints: throws a QueryError `query_limit` when what the query of this thread holds comes
 * near to what the thread may fill, by which it would be lost. Takes about a microsecond, and some
 * tenths of a second when there is that much.
 */
export function checkHeap(): void {
  const { used_heap_size, external_memory } = getHeapStatistics();
  const isHeapFull = used_heap_size > LOOKED_AT_PART * HEAP_BYTES_MAX;
  if (!isHeapFull && external_memory < LOOKED_AT_PART * WORKER_ARRAYS_BYTES_MAX) return;
  collectGarbage();
  // Arrays that one collection finds are given back by the next.
  collectGarbage();
  const left = getHeapStatistics();
  checkUsed(left.used_heap_size, HEAP_BYTES_MAX);
  checkUsed(left.external_memory, WORKER_ARRAYS_BYTES_MAX);
}

function checkUsed(bytes: number, bytesMax: number): void {
  if (bytes <= USED_PART * bytesMax) return;
  throw new QueryError(
    'query_limit',
    `a query may hold about ${Math.floor((USED_PART * bytesMax) / MEGABYTE)} MiB of rows, texts and groups at a time; this one held ${Math.ceil(bytes / MEGABYTE)} MiB`,
  );
}
