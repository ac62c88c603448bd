import type { CallStats } from '../call/result-cache.ts';
import type { BackendStats } from '../store/backend.ts';
import type { Reading } from './read-metric.ts';

/** Bytes that requests hold while they are under way. */
export type RequestMemory = {
  /** Of posts as they arrive, and inflated. */
  readonly bodies: number;
  readonly callBodies: number;
  /** Of answers on their way to callers. */
  readonly answers: number;
  /** Of pages on their way to followers. */
  readonly followed: number;
};

const NOTHING: RequestMemory = { bodies: 0, callBodies: 0, answers: 0, followed: 0 };

/**
 * Who has what of the memory, in bytes: each byte that the service counts is in one part. What is in none is measured
 * only as resident memory of the process: code, garbage, what the allocator keeps, and the thread that decodes.
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
