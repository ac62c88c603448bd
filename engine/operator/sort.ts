import type { Chunk } from '../column/chunk.ts';
import { CollectSink } from './collect.ts';
import { concatVectors } from './merge-vectors.ts';
import type { Sink } from './sink.ts';
import { pushInChunks } from './sink.ts';
import type { OrderKey } from './sort-order.ts';
import { sortedRows } from './sort-order.ts';

/** Keeps all rows and gives them sorted: by the keys, rows equal in all of them as they came. */
export class SortSink implements Sink {
  readonly #keys: readonly OrderKey[];
  readonly #rows: CollectSink;

  /** `width` is the number of columns of the rows; `rowsMax` as in `CollectSink`. */
  constructor(options: {
    readonly keys: readonly OrderKey[];
    readonly width: number;
    readonly rowsMax?: number;
  }) {
    this.#keys = options.keys;
    this.#rows = new CollectSink(options.width, options.rowsMax);
  }

  push(chunk: Chunk): boolean {
    return this.#rows.push(chunk);
  }

  /** All rows, sorted, in one chunk of any length. */
  finalize(): Chunk {
    const { chunks, rowCount } = this.#rows;
    const keyVectors = this.#keys.map((key) => concatVectors(chunks.map(key.expression)));
    const rows = sortedRows(this.#keys, keyVectors, rowCount);
    return this.#rows.materialize().select(rows, rowCount);
  }

  /** Pushes all rows, sorted; what `sink` answered last. */
  emit(sink: Sink): boolean {
    return pushInChunks(this.finalize(), sink);
  }
}
