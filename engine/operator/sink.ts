import type { Chunk } from '../column/chunk.ts';
import { sliceChunk } from '../column/chunk.ts';
import { CHUNK_ROWS_MAX } from '../limits.ts';

/**
 * Where an operator pushes its rows. Chunks come in the order of the rows; the receiver may keep
 * them. The columns of a chunk are those of the operator's output, in order.
 */
export interface Sink {
  /** Returns false when no further rows are wanted: pushing more is allowed, and in vain. */
  push(chunk: Chunk): boolean;
}

/** Throws a QueryError when the query is to stop; called once per chunk by whatever may run long. */
export type Checkpoint = () => void;

/** Pushes a chunk of any length as chunks of at most `CHUNK_ROWS_MAX` rows, empty ones not at all. */
export function pushInChunks(chunk: Chunk, sink: Sink): boolean {
  if (chunk.count === 0) return true;
  for (let start = 0; start < chunk.count; start += CHUNK_ROWS_MAX) {
    const end = Math.min(start + CHUNK_ROWS_MAX, chunk.count);
    if (!sink.push(sliceChunk(chunk, start, end))) return false;
  }
  return true;
}
