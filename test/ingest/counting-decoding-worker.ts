import { parentPort, workerData } from 'node:worker_threads';
import { must } from '../../engine/assert.ts';
import { serveDecoding } from '../../ingest/decoding-service.ts';
import type { DecodingThreadData } from '../../ingest/decoding-thread.ts';
import { MemoryPool } from '../../ingest/memory-pool.ts';
import { countedIds } from './counted-ids.ts';

/** As `decoding-worker.ts`, with ids that are counted. */
const { loanBytesMax, ...options } = workerData as DecodingThreadData;

serveDecoding(must(parentPort), {
  ...options,
  ...countedIds(),
  pool: new MemoryPool(0, loanBytesMax),
});
