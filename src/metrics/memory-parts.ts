import type { CallStats } from '../call/result-cache.ts';
import type { BackendStats } from '../store/backend.ts';
import type { Reading } from './read-metric.ts';

/** Bytes held by requests in progress. */
export type RequestMemory = {
  /** Bodies of posts, as received and decompressed. */
  readonly bodies: number;
  readonly callBodies: number;
  /** Answers that are being sent to callers. */
  readonly answers: number;
  /** Pages that are being sent to followers. */
  readonly followed: number;
};

const NOTHING: RequestMemory = { bodies: 0, callBodies: 0, answers: 0, followed: 0 };

/**
 * The parts of the memory in bytes; each byte that the service counts is in one part. The rest of the process's
 * resident memory is code, garbage, free memory of the allocator, and the decoding thread.
 */
export function readMemoryParts(of: {
  readonly backend: BackendStats;
  readonly calls: CallStats;
  readonly requests?: RequestMemory | undefined;
  /** The heap of the main thread. */
  readonly heapBytes: number;
}): readonly Reading[] {
  const { backend, calls, requests = NOTHING, heapBytes } = of;
  const { engine, memory } = backend;
  const parts = {
    heap: heapBytes,
    threads: engine.threadsBytes,
    queries: engine.queriesBytes,
    bodies: requests.bodies,
    call_bodies: requests.callBodies,
    decoding: backend.pooledBytes,
    answers: requests.answers,
    followed: requests.followed,
    kept_answers: calls.cache.byteSize,
    memo: engine.memo.bytes,
    queued: memory.held.queued,
    open: memory.held.open,
    unstored: memory.held.unstored,
    blocks: memory.held.blocks,
    index: memory.held.index,
  };
  return Object.entries(parts).map(([part, value]) => ({ labels: { part }, value }));
}
