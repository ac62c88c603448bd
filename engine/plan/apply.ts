import { unreachable } from '../assert.ts';
import { type Chunk, sliceChunk, VectorChunk, type VectorFunction } from '../column/chunk.ts';
import { isReadingPassing } from '../column/segment-reader.ts';
import type { SqlValue } from '../column/value.ts';
import {
  booleanVector,
  constantVector,
  detachedVector,
  FALSE,
  TRUE,
  takeVector,
  UNKNOWN,
  type Vector,
  valueAt,
  valueVector,
} from '../column/vector.ts';
import { CHUNK_ROWS_MAX, MATERIALIZED_ROWS_MAX } from '../limits.ts';
import { JoinTable } from '../operator/join.ts';
import { concatVectors } from '../operator/merge-vectors.ts';
import { truthBytes } from '../operator/row-wise.ts';
import { CollectSink, type Sink, tooManyRows } from '../operator/sink.ts';
import { QueryError, type Span } from '../query-error.ts';
import type { Apply, Column, Expression } from './expression.ts';
import { layoutOf } from './physical-plan.ts';

/** Runs the plan of a subquery for some rows outside, at most CHUNK_ROWS_MAX of them. */
export type RunSubquery = (rows: Chunk, sink: Sink) => void;

/** A subquery with captures: it is run once for the rows of a chunk. */
export function correlatedFunction(
  apply: Apply,
  compile: (part: Expression) => VectorFunction,
  run: RunSubquery,
): VectorFunction {
  const captures = apply.captures.map(({ expression }) => compile(expression));
  return (chunk) => {
    if (chunk.count === 0) return constantVector(null, 0);
    const vectors: Vector[] = [];
    for (let start = 0; start < chunk.count; start += CHUNK_ROWS_MAX) {
      const part = sliceChunk(chunk, start, Math.min(start + CHUNK_ROWS_MAX, chunk.count));
      const captured = captures.map((capture) => capture(part));
      const rows = new VectorChunk(captured, part.count);
      const values = rowsToValueOf(apply, part.count);
      run(rows, values);
      vectors.push(values.finish());
    }
    return concatVectors(vectors);
  };
}

/** A subquery that is the same for all rows: it is run when a row first needs it, and only then. */
export class ConstantSubquery {
  readonly #apply: Apply;
  readonly #run: RunSubquery;
  #value: SqlValue | undefined;
  #members: Members | undefined;

  constructor(apply: Apply, run: RunSubquery) {
    this.#apply = apply;
    this.#run = run;
  }

  /** `input`: of `in`, what is looked for. */
  compile(input: VectorFunction | undefined): VectorFunction {
    if (input === undefined) {
      return (chunk) => constantVector(chunk.count === 0 ? null : this.#constant(), chunk.count);
    }
    return (chunk) => {
      if (chunk.count === 0) return constantVector(null, 0);
      this.#members ??= this.#collect();
      return membership(input(chunk), chunk.count, this.#members);
    };
  }

  #constant(): SqlValue {
    if (this.#value === undefined) {
      const values = rowsToValueOf(this.#apply, 1);
      this.#run(new VectorChunk([], 1), values);
      this.#value = valueAt(values.finish(), 0);
    }
    return this.#value;
  }

  #collect(): Members {
    const { plan, value } = this.#apply;
    const rows = new CollectSink(layoutOf(plan).length);
    this.#run(new VectorChunk([], 1), rows);
    const table = rows.materialize();
    const index = indexOf(plan, value);
    const values = table.column(index);
    let hasNull = false;
    for (let row = 0; row < table.count && !hasNull; row++) hasNull = valueAt(values, row) === null;
    return { table: new JoinTable(table, [(chunk) => chunk.column(index)]), hasNull };
  }
}

/** The rows of a subquery by their value, as `=` has it, and whether a NULL is among these. */
type Members = { readonly table: JoinTable; readonly hasNull: boolean };

function membership(vector: Vector, count: number, { table, hasNull }: Members): Vector {
  // Among nothing there is nothing, not even what a NULL stands for.
  if (table.rows.count === 0) return constantVector(false, count);
  const matches = table.firstMatches([vector], count);
  const truths = new Uint8Array(count);
  for (let row = 0; row < count; row++) {
    if (matches[row]! >= 0) truths[row] = TRUE;
    else truths[row] = hasNull || valueAt(vector, row) === null ? UNKNOWN : FALSE;
  }
  return booleanVector(truths, count);
}

function rowsToValueOf(apply: Apply, count: number): RowsToValue {
  const { form, plan, value, ordinal, span } = apply;
  const options: RowsToValueOptions = {
    count,
    value: value === undefined ? undefined : indexOf(plan, value),
    ordinal: ordinal === undefined ? undefined : indexOf(plan, ordinal),
    span,
  };
  switch (form) {
    case 'scalar':
      return new ScalarRows(options);
    case 'array':
      return new ArrayRows(options);
    case 'exists':
      return new ExistsRows(options);
    case 'any':
    case 'in':
      return new AnyRows(options);
    default:
      return unreachable(form);
  }
}

function indexOf(plan: Apply['plan'], column: Column | undefined): number {
  return column === undefined ? -1 : layoutOf(plan).indexOf(column.id);
}

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
