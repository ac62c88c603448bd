import type { Chunk } from '../column/chunk.ts';
import { isReadingPassing } from '../column/segment-reader.ts';
import type { SqlValue } from '../column/value.ts';
import {
  booleanVector,
  detachedVector,
  FALSE,
  TRUE,
  takeVector,
  UNKNOWN,
  type Vector,
  valueAt,
  valueVector,
} from '../column/vector.ts';
import { MATERIALIZED_ROWS_MAX } from '../limits.ts';
import { QueryError, type Span } from '../query-error.ts';
import { concatVectors } from './merge-vectors.ts';
import { truthBytes } from './row-wise.ts';
import { type Sink, tooManyRows } from './sink.ts';

/**
 * Takes in the rows of a subquery that ran for some rows outside, and makes one value of those of
 * each row outside. Rows of one ordinal come in their order; ordinals mix as they like.
 */
export interface RowsToValue extends Sink {
  /** A value for each of the rows outside, in order. Ends the use of the sink. */
  finish(): Vector;
}

export type RowsToValueOptions = {
  /** Rows outside. */
  readonly count: number;
  /** Index of the column with the ordinals, in [0, count); absent when there is one row outside. */
  readonly ordinal?: number | undefined;
  /** Index of the column that counts; absent when only rows do. */
  readonly value?: number | undefined;
  readonly span?: Span | undefined;
};

/** The value of the only row; NULL without a row. */
export class ScalarRows implements RowsToValue {
  readonly #options: RowsToValueOptions;
  readonly #vectors: Vector[] = [];
  /** Where among the rows taken in each ordinal's row is; -1 while there is none. */
  readonly #positions: Int32Array;
  #rowCount = 0;

  constructor(options: RowsToValueOptions) {
    this.#options = options;
    this.#positions = new Int32Array(options.count).fill(-1);
  }

  push(chunk: Chunk): boolean {
    const ordinalOf = ordinalReader(chunk, this.#options);
    for (let row = 0; row < chunk.count; row++) {
      const ordinal = ordinalOf(row);
      if (this.#positions[ordinal]! >= 0) throw severalRows(this.#options.span);
      this.#positions[ordinal] = this.#rowCount + row;
    }
    this.#rowCount += chunk.count;
    this.#vectors.push(keptVector(chunk.column(this.#options.value ?? 0)));
    return true;
  }

  finish(): Vector {
    return takeVector(concatVectors(this.#vectors), this.#positions, this.#options.count);
  }
}

/** The values of all rows as an array. */
export class ArrayRows implements RowsToValue {
  readonly #options: RowsToValueOptions;
  readonly #arrays: SqlValue[][];
  #rowCount = 0;

  constructor(options: RowsToValueOptions) {
    this.#options = options;
    this.#arrays = Array.from({ length: options.count }, () => []);
  }

  push(chunk: Chunk): boolean {
    this.#rowCount += chunk.count;
    if (this.#rowCount > MATERIALIZED_ROWS_MAX) throw tooManyRows(MATERIALIZED_ROWS_MAX);
    const ordinalOf = ordinalReader(chunk, this.#options);
    const values = keptVector(chunk.column(this.#options.value ?? 0));
    for (let row = 0; row < chunk.count; row++) {
      this.#arrays[ordinalOf(row)]!.push(valueAt(values, row));
    }
    return true;
  }

  finish(): Vector {
    return valueVector(this.#arrays);
  }
}

/** Whether there is a row. */
export class ExistsRows implements RowsToValue {
  readonly #options: RowsToValueOptions;
  readonly #found: Uint8Array;
  #openCount: number;

  constructor(options: RowsToValueOptions) {
    this.#options = options;
    this.#found = new Uint8Array(options.count).fill(FALSE);
    this.#openCount = options.count;
  }

  push(chunk: Chunk): boolean {
    const ordinalOf = ordinalReader(chunk, this.#options);
    for (let row = 0; row < chunk.count; row++) {
      const ordinal = ordinalOf(row);
      this.#openCount -= this.#found[ordinal] === FALSE ? 1 : 0;
      this.#found[ordinal] = TRUE;
    }
    return this.#openCount > 0;
  }

  finish(): Vector {
    return booleanVector(this.#found, this.#options.count);
  }
}

/** Whether a row is TRUE; NULL when none is and one is NULL. */
export class AnyRows implements RowsToValue {
  readonly #options: RowsToValueOptions;
  readonly #truths: Uint8Array;

  constructor(options: RowsToValueOptions) {
    this.#options = options;
    this.#truths = new Uint8Array(options.count).fill(FALSE);
  }

  push(chunk: Chunk): boolean {
    const ordinalOf = ordinalReader(chunk, this.#options);
    const truths = truthBytes(chunk.column(this.#options.value ?? 0));
    for (let row = 0; row < chunk.count; row++) {
      const ordinal = ordinalOf(row);
      if (truths[row] === TRUE) this.#truths[ordinal] = TRUE;
      else if (truths[row] === UNKNOWN && this.#truths[ordinal] === FALSE) {
        this.#truths[ordinal] = UNKNOWN;
      }
    }
    return true;
  }

  finish(): Vector {
    return booleanVector(this.#truths, this.#options.count);
  }
}

function ordinalReader(chunk: Chunk, options: RowsToValueOptions): (row: number) => number {
  if (options.ordinal === undefined) return () => 0;
  const ordinals = chunk.column(options.ordinal);
  if (ordinals.kind === 'number') return (row) => ordinals.values[row]!;
  return (row) => valueAt(ordinals, row) as number;
}

/** Values that outlast the chunk they came in. */
function keptVector(vector: Vector): Vector {
  return isReadingPassing() ? detachedVector(vector) : vector;
}

function severalRows(span: Span | undefined): QueryError {
  const sentence =
    'a subquery used as a value returned more than one row; LIMIT 1 would keep the first';
  return new QueryError('query_failed', sentence, span);
}
