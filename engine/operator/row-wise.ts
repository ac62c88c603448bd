import { carvedUint8, threadArrays } from '../column/arrays.ts';
import { type Chunk, projectedChunk, sliceChunk, type VectorFunction } from '../column/chunk.ts';
import { FALSE, TRUE, UNKNOWN, type Vector, valueAt } from '../column/vector.ts';
import { CHUNK_ROWS_MAX } from '../limits.ts';
import type { Sink } from './sink.ts';

/**
 * Keeps the rows for which every conjunct is TRUE. Conjuncts are evaluated in order, each on the
 * rows that passed the ones before: a later one reads fewer rows and fails for none that is out.
 */
export class FilterOperator implements Sink {
  readonly #conjuncts: readonly VectorFunction[];
  readonly #sink: Sink;

  constructor(conjuncts: readonly VectorFunction[], sink: Sink) {
    this.#conjuncts = conjuncts;
    this.#sink = sink;
  }

  push(chunk: Chunk): boolean {
    const passed = filterChunk(chunk, this.#conjuncts);
    return passed.count === 0 || this.#sink.push(passed);
  }
}

/** Which of two filters a row has to pass is known by where it comes from. */
export class ChoosingFilter implements Sink {
  readonly #filters: { readonly all: FilterOperator; readonly keyed: FilterOperator };
  readonly #isKeyed: () => boolean;

  /**
   * `keyed` has fewer conjuncts: those left out hold for every row of a chunk that is keyed. Asked
   * before each chunk.
   */
  constructor(
    filters: { readonly all: FilterOperator; readonly keyed: FilterOperator },
    isKeyed: () => boolean,
  ) {
    this.#filters = filters;
    this.#isKeyed = isKeyed;
  }

  push(chunk: Chunk): boolean {
    return (this.#isKeyed() ? this.#filters.keyed : this.#filters.all).push(chunk);
  }
}

/** The rows of a chunk for which all conjuncts are TRUE; the chunk itself when all rows are. */
function filterChunk(chunk: Chunk, conjuncts: readonly VectorFunction[]): Chunk {
  let passed = chunk;
  for (const conjunct of conjuncts) {
    if (passed.count === 0) return passed;
    const verdict = conjunct(passed);
    if (verdict.kind === 'constant') {
      if (verdict.value === true) continue;
      return passed.select(new Int32Array(0), 0);
    }
    const { positions, count } = positionsWhere(truthBytes(verdict), passed.count, TRUE);
    if (count < passed.count) passed = passed.select(positions, count);
  }
  return passed;
}

/** A BOOL vector of any form as bytes: FALSE, TRUE or UNKNOWN. Not to be written to. */
export function truthBytes(vector: Vector): Uint8Array {
  if (vector.kind === 'boolean') return vector.values;
  if (vector.kind === 'constant') {
    return carvedUint8(vector.count).fill(truthOf(vector.value));
  }
  const truths = carvedUint8(vector.count);
  for (let i = 0; i < vector.count; i++) truths[i] = truthOf(valueAt(vector, i));
  return truths;
}

/** Anything but TRUE and FALSE is NULL here: a BOOL has no other values. */
export function truthOf(value: unknown): number {
  return value === true ? TRUE : value === false ? FALSE : UNKNOWN;
}

type Positions = { readonly positions: Int32Array; readonly count: number };

/** Where `truths[0, count)` equals `wanted`, ascending: without a branch, for which do is not to be guessed. */
export function positionsWhere(truths: Uint8Array, count: number, wanted: number): Positions {
  const positions = threadArrays.borrow(Int32Array, count);
  let found = 0;
  for (let i = 0; i < count; i++) {
    positions[found] = i;
    found += Number(truths[i] === wanted);
  }
  threadArrays.giveBack(positions);
  return { positions: positions.slice(0, found), count: found };
}

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

type Bounds = {
  /** Infinity when only an offset is given. */
  readonly count: number;
  readonly offset: number;
  /** Index of the column with the ordinals: whole numbers below CHUNK_ROWS_MAX, none of them NULL. */
  readonly per: number;
};
