import { NO_INT32 } from '../column/arrays.ts';
import { type Chunk, VectorChunk, type VectorFunction } from '../column/chunk.ts';
import type { SqlValue } from '../column/value.ts';
import { type Vector, valueAt } from '../column/vector.ts';
import { QueryError, type QueryErrorCode } from '../query-error.ts';
import type { AggregateState } from './aggregate-function.ts';
import type { ChunkRuns } from './chunk-runs.ts';

/** What is deferred answers: NULL, a list of the value, or of NULL and the code and message of an error. */
export type DeferredAnswer = null | readonly [SqlValue] | DeferredFailure;

type DeferredFailure = readonly [null, QueryErrorCode, string];

/** Rows, and what makes an aggregate's arguments of them. */
export type RowsApart = {
  readonly chunk: Chunk;
  readonly functions: readonly VectorFunction[];
};

/** Tries of rows between two pauses: one that fails takes some microseconds. */
const PAUSE_STEPS = 64;

type DeferredPartial = {
  readonly plain: unknown;
  readonly groups: readonly number[];
  readonly errors: readonly DeferredError[];
};

type DeferredError = { readonly code: QueryErrorCode; readonly message: string };

/**
 * An aggregate that returns its errors as answers; the expression that reads such an answer raises it. A group fails by
 * one of its rows, and reads no further rows then, or by its result. Errors carry no place in the SQL, because another
 * query may reuse the partial state.
 */
export class DeferredState implements AggregateState {
  readonly isCertain = true;
  readonly #create: () => AggregateState;
  readonly #plain: AggregateState;
  readonly #errors = new Map<number, DeferredError>();

  constructor(create: () => AggregateState) {
    this.#create = create;
    this.#plain = create();
  }

  update(groups: Int32Array, count: number, groupCount: number, vectors: readonly Vector[]): void {
    if (this.#tryUpdate(groups, count, groupCount, vectors) === undefined) return;
    const functions = vectors.map((_, index) => (chunk: Chunk) => chunk.column(index));
    this.updateApart(groups, groupCount, { chunk: new VectorChunk(vectors, count), functions });
  }

  updateRuns(runs: ChunkRuns, groupCount: number, vectors: readonly Vector[]): boolean {
    return this.#plain.updateRuns?.(runs, groupCount, vectors) === true;
  }

  /** Updates where the arguments fail for some rows. Calls `pause` regularly, because a row that fails is slow. */
  updateApart(
    groups: Int32Array,
    groupCount: number,
    { chunk, functions }: RowsApart,
    pause?: () => void,
  ): void {
    const attempt = (start: number, end: number): Outcome => {
      const positions = this.#positionsWithoutError(groups, start, end);
      const error = this.#tryRows(groups, groupCount, { chunk, functions }, positions);
      if (error === undefined) return 'done';
      if (positions.length > 1) return 'undone';
      this.#fail(groups[positions[0]!]!, error);
      return 'failed';
    };
    tryRanges(chunk.count, attempt, pause);
  }

  combine(partial: unknown, groups: Int32Array, groupCount: number): void {
    const theirs = partial as DeferredPartial; // By contract, what partial() of this class gave.
    this.#plain.combine(theirs.plain, groups, groupCount);
    for (const [index, error] of theirs.errors.entries()) {
      this.#fail(groups[theirs.groups[index]!]!, error);
    }
  }

  partial(groupCount: number): DeferredPartial {
    // Groups of which each row failed are not known to it.
    this.#plain.combine(this.#create().partial(0), NO_INT32, groupCount);
    return {
      plain: this.#plain.partial(groupCount),
      groups: [...this.#errors.keys()],
      errors: [...this.#errors.values()],
    };
  }

  finalize(group: number): DeferredAnswer {
    const known = this.#errors.get(group);
    if (known !== undefined) return failureOf(known);
    try {
      return deferredAnswer(this.#plain.finalize(group));
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      return failureOf(error);
    }
  }

  clear(group: number): void {
    this.#plain.clear?.(group);
  }

  /** Of several errors the first by its text, so that it makes no difference which is met first. */
  #fail(group: number, { code, message }: DeferredError): void {
    const known = this.#errors.get(group);
    if (known === undefined || message < known.message) this.#errors.set(group, { code, message });
  }

  #positionsWithoutError(groups: Int32Array, start: number, end: number): Int32Array {
    const positions = new Int32Array(end - start);
    let kept = 0;
    for (let row = start; row < end; row++) {
      if (!this.#errors.has(groups[row]!)) positions[kept++] = row;
    }
    return positions.subarray(0, kept);
  }

  #tryRows(
    groups: Int32Array,
    groupCount: number,
    { chunk, functions }: RowsApart,
    positions: Int32Array,
  ): QueryError | undefined {
    const count = positions.length;
    if (count === 0) return undefined;
    const rows = count === chunk.count ? chunk : chunk.select(positions, count);
    const vectors = valuesOrError(functions, rows);
    if (vectors instanceof QueryError) return vectors;
    const own = positions.map((position) => groups[position]!);
    return this.#tryUpdate(own, count, groupCount, vectors);
  }

  /** The error of a value that the aggregate does not take: it fails before it has added any. A limit stays one. */
  #tryUpdate(
    groups: Int32Array,
    count: number,
    groupCount: number,
    vectors: readonly Vector[],
  ): QueryError | undefined {
    try {
      this.#plain.update(groups, count, groupCount, vectors);
      return undefined;
    } catch (error) {
      if (error instanceof QueryError && error.code === 'query_failed') return error;
      throw error;
    }
  }
}

/** What became of a range of rows: taken, not taken for an error of some row, or over with the error of one row. */
type Outcome = 'done' | 'undone' | 'failed';

/**
 * Tries ranges that are all rows together, from the first to the last. After a failure it tries half as many, down to the
 * one that fails; after a success twice as many.
 */
function tryRanges(
  count: number,
  attempt: (start: number, end: number) => Outcome,
  pause?: () => void,
): void {
  let start = 0;
  let size = count;
  for (let step = 1; start < count; step++) {
    if (step % PAUSE_STEPS === 0) pause?.();
    const end = Math.min(start + size, count);
    const outcome = attempt(start, end);
    if (outcome === 'undone') {
      size = (end - start) >> 1;
      continue;
    }
    if (outcome === 'done') size *= 2;
    start = end;
  }
}

/** Adds what a function comes to in each row. Calls `pause` regularly, because a row that fails is slow. */
export function addDeferredAnswers(
  expression: VectorFunction,
  chunk: Chunk,
  into: DeferredAnswer[],
  pause: () => void,
): void {
  const attempt = (start: number, end: number): Outcome => {
    const count = end - start;
    const positions = Int32Array.from({ length: count }, (_, index) => start + index);
    const rows = count === chunk.count ? chunk : chunk.select(positions, count);
    const vectors = valuesOrError([expression], rows);
    if (vectors instanceof QueryError) {
      if (count > 1) return 'undone';
      into.push(failureOf(vectors));
      return 'failed';
    }
    for (let row = 0; row < count; row++) into.push(deferredAnswer(valueAt(vectors[0]!, row)));
    return 'done';
  };
  tryRanges(chunk.count, attempt, pause);
}

/** A value as an answer. */
export function deferredAnswer(value: SqlValue): DeferredAnswer {
  return value === null ? null : [value];
}

/** An error as an answer. */
export function failureOf({ code, message }: DeferredError): DeferredFailure {
  return [null, code, message];
}

/** Whether an answer is an error. */
export function isFailure(answer: DeferredAnswer): answer is DeferredFailure {
  return answer?.length === 3;
}

/** The value in an answer; NULL for an error. */
export function valueInAnswer(answer: DeferredAnswer): SqlValue {
  return answer?.[0] ?? null;
}

/** The columns that functions make of rows, or the error of one. */
export function valuesOrError(
  functions: readonly VectorFunction[],
  chunk: Chunk,
): readonly Vector[] | QueryError {
  try {
    return functions.map((each) => each(chunk));
  } catch (error) {
    if (error instanceof QueryError) return error;
    throw error;
  }
}
