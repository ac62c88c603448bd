import { randomUUID } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { must } from '../engine/columns.ts';
import { serveDecoding } from './decoding-service.ts';
import type { DecodingThreadData } from './decoding-thread.ts';
import { MemoryPool } from './memory-pool.ts';
import { randomUuids } from './random-id.ts';

/** The entry of the decoding thread. */
const { loanBytesMax, ...options } = workerData as DecodingThreadData;

serveDecoding(must(parentPort, 'this runs in a thread'), {
  ...options,
  pool: new MemoryPool(0, loanBytesMax),
  randomId: randomUuids(),
  newId: randomUUID,
});
