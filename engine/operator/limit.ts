import type { Chunk } from '../column/chunk.ts';
import { sliceChunk } from '../column/chunk.ts';
import type { Sink } from './sink.ts';

/** Skips `offset` rows, passes on `count` rows, and asks for no more as soon as it has them. */
export class LimitOperator implements Sink {
  readonly #sink: Sink;
  #rowsToSkip: number;
  #rowsToPass: number;

  /** `count` is Infinity when only an offset is given. */
  constructor(bounds: { readonly count: number; readonly offset: number }, sink: Sink) {
    this.#rowsToSkip = bounds.offset;
    this.#rowsToPass = bounds.count;
    this.#sink = sink;
  }

  push(chunk: Chunk): boolean {
    const start = Math.min(this.#rowsToSkip, chunk.count);
    const end = Math.min(start + this.#rowsToPass, chunk.count);
    this.#rowsToSkip -= start;
    this.#rowsToPass -= end - start;
    const wanted = end === start || this.#sink.push(sliceChunk(chunk, start, end));
    return wanted && this.#rowsToPass > 0;
  }
}
