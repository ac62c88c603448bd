import type { Chunk } from '../column/chunk.ts';
import { valueAt } from '../column/vector.ts';
import { CHUNK_ROWS_MAX } from '../limits.ts';
import type { Sink } from './sink.ts';

/** Of the rows of each ordinal skips `offset` and passes on `count`, in whichever order they mix. */
export class LimitPerOperator implements Sink {
  readonly #bounds: Bounds;
  readonly #sink: Sink;
  /** Rows met so far, by ordinal. */
  readonly #rowCounts = new Float64Array(CHUNK_ROWS_MAX);

  constructor(bounds: Bounds, sink: Sink) {
    this.#bounds = bounds;
    this.#sink = sink;
  }

  push(chunk: Chunk): boolean {
    const { count, offset, per } = this.#bounds;
    const ordinals = chunk.column(per);
    const positions = new Int32Array(chunk.count);
    let passed = 0;
    for (let row = 0; row < chunk.count; row++) {
      const index = this.#rowCounts[valueAt(ordinals, row) as number]!++;
      positions[passed] = row;
      passed += index >= offset && index < offset + count ? 1 : 0;
    }
    if (passed === 0) return true;
    return this.#sink.push(passed === chunk.count ? chunk : chunk.select(positions, passed));
  }
}

export type Bounds = {
  /** Infinity when only an offset is given. */
  readonly count: number;
  readonly offset: number;
  /** Index of the column with the ordinals: whole numbers below CHUNK_ROWS_MAX, none of them NULL. */
  readonly per: number;
};
