import type { Chunk, VectorFunction } from '../column/chunk.ts';
import { projectedChunk } from '../column/chunk.ts';
import type { Sink } from './sink.ts';

/** Computes columns; each is evaluated when it is first read, for the rows it is read for. */
export class ProjectOperator implements Sink {
  readonly #functions: readonly VectorFunction[];
  readonly #sink: Sink;

  constructor(functions: readonly VectorFunction[], sink: Sink) {
    this.#functions = functions;
    this.#sink = sink;
  }

  push(chunk: Chunk): boolean {
    return this.#sink.push(projectedChunk(this.#functions, chunk));
  }
}
