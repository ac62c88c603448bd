import { unreachable } from '../assert.ts';
import { type Chunk, sliceChunk, VectorChunk, type VectorFunction } from '../column/chunk.ts';
import type { SqlValue } from '../column/value.ts';
import {
  booleanVector,
  constantVector,
  FALSE,
  TRUE,
  UNKNOWN,
  type Vector,
  valueAt,
} from '../column/vector.ts';
import { CHUNK_ROWS_MAX } from '../limits.ts';
import { JoinTable } from '../operator/join.ts';
import { concatVectors } from '../operator/merge-vectors.ts';
import {
  AnyRows,
  ArrayRows,
  ExistsRows,
  type RowsToValue,
  type RowsToValueOptions,
  ScalarRows,
} from '../operator/rows-to-value.ts';
import { CollectSink, type Sink } from '../operator/sink.ts';
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
