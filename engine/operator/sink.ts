import { type Chunk, SelectedChunk, sliceChunk, VectorChunk } from '../column/chunk.ts';
import { isReadingPassing } from '../column/segment-reader.ts';
import { detachedVector, type Vector } from '../column/vector.ts';
import { CHUNK_ROWS_MAX, MATERIALIZED_ROWS_MAX } from '../limits.ts';
import { QueryError } from '../query-error.ts';
import { concatVectors } from './merge-vectors.ts';

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

/** Keeps all rows pushed, in order; a QueryError `query_limit` when they are too many. */
export class CollectSink implements Sink {
  readonly #chunks: Chunk[] = [];
  readonly #width: number;
  readonly #rowsMax: number;
  #rowCount = 0;

  /** `width`: columns of the rows. */
  constructor(width: number, rowsMax: number = MATERIALIZED_ROWS_MAX) {
    this.#width = width;
    this.#rowsMax = rowsMax;
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  get chunks(): readonly Chunk[] {
    return this.#chunks;
  }

  push(chunk: Chunk): boolean {
    if (chunk.count === 0) return true;
    this.#rowCount += chunk.count;
    if (this.#rowCount > this.#rowsMax) {
      throw tooManyRows(this.#rowsMax);
    }
    this.#chunks.push(isReadingPassing() ? detachedChunk(chunk, this.#width) : chunk);
    return true;
  }

  /** All rows in one chunk, their columns read; it may be longer than CHUNK_ROWS_MAX. */
  materialize(): VectorChunk {
    return concatChunks(this.#chunks, this.#width);
  }
}

/** What is thrown when an operator would hold more rows than `rowsMax`. */
export function tooManyRows(rowsMax: number): QueryError {
  return new QueryError(
    'query_limit',
    `a sort, a join or an intermediate result may hold at most ${rowsMax} rows; got more`,
  );
}

/** The rows of a chunk, all columns read, in memory of their own. */
export function detachedChunk(chunk: Chunk, width: number): VectorChunk {
  const columns = Array.from({ length: width }, (_, index) => detachedVector(chunk.column(index)));
  return new VectorChunk(columns, chunk.count);
}

/** The rows of all chunks in one; a column is read when somebody asks for it. */
export class ConcatChunk implements Chunk {
  readonly count: number;
  readonly #chunks: readonly Chunk[];
  readonly #read: (Vector | undefined)[] = [];

  constructor(chunks: readonly Chunk[]) {
    this.count = chunks.reduce((sum, { count }) => sum + count, 0);
    this.#chunks = chunks;
  }

  column(index: number): Vector {
    this.#read[index] ??= concatVectors(this.#chunks.map((chunk) => chunk.column(index)));
    return this.#read[index];
  }

  select(positions: Int32Array, count: number): Chunk {
    return new SelectedChunk(this, positions, count);
  }
}

/** The rows of all chunks in one, their `width` columns read. */
export function concatChunks(chunks: readonly Chunk[], width: number): VectorChunk {
  const all = new ConcatChunk(chunks);
  return new VectorChunk(
    Array.from({ length: width }, (_, index) => all.column(index)),
    all.count,
  );
}
