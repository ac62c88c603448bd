import { carvedInt32, carvedUint8 } from '../../column/arrays.ts';
import { type Chunk, consecutivePositions, type VectorFunction } from '../../column/chunk.ts';
import {
  booleanVector,
  FALSE,
  isOfStrings,
  TRUE,
  TRUTH_COUNT,
  takeVector,
  UNKNOWN,
  type Vector,
  valueAt,
} from '../../column/vector.ts';
import { mergeVectors, type Piece } from '../../operator/merge-vectors.ts';
import { truthBytes } from '../../operator/row-wise.ts';

type Branch = { readonly when: VectorFunction; readonly then: VectorFunction };

/** CASE: each branch is evaluated on the rows that no earlier one has taken. */
export function caseOf(branches: readonly Branch[], otherwise: VectorFunction): VectorFunction {
  return (chunk) => {
    const remainder = new Remainder(chunk);
    for (const { when, then } of branches) {
      const { open } = remainder;
      if (open.count === 0) break;
      const truths = truthBytes(when(open));
      remainder.take(truths, (taken, count) =>
        then(count === open.count ? open : open.select(taken, count)),
      );
    }
    return remainder.finish(otherwise);
  };
}

/** COALESCE: each argument is evaluated on the rows where all earlier ones are NULL. */
export function coalesceOf(terms: readonly VectorFunction[]): VectorFunction {
  const last = terms.at(-1)!;
  return (chunk) => {
    const remainder = new Remainder(chunk);
    for (const term of terms.slice(0, -1)) {
      const { open } = remainder;
      if (open.count === 0) break;
      const vector = term(open);
      remainder.take(presence(vector), (taken, count) =>
        count === open.count ? vector : takeVector(vector, taken, count),
      );
    }
    return remainder.finish(last);
  };
}

/** The rows of a chunk that have no value yet, and the values of those that have. */
class Remainder {
  readonly #count: number;
  readonly #pieces: Piece[] = [];
  /** Rows without a value. */
  open: Chunk;
  /** Where they are in the whole chunk; `undefined` while they are the whole chunk. */
  #rows: Int32Array | undefined;

  constructor(chunk: Chunk) {
    this.#count = chunk.count;
    this.open = chunk;
  }

  /** Gives the open rows whose flag is TRUE the values `evaluate` makes of their positions. */
  take(flags: Uint8Array, evaluate: (taken: Int32Array, count: number) => Vector): void {
    const { open } = this;
    const taken = carvedInt32(open.count);
    const left = carvedInt32(open.count);
    let takenCount = 0;
    let leftCount = 0;
    for (let i = 0; i < open.count; i++) {
      // Of FALSE, TRUE and UNKNOWN only TRUE is odd.
      const isTaken = flags[i]! & 1;
      taken[takenCount] = i;
      left[leftCount] = i;
      takenCount += isTaken;
      leftCount += 1 - isTaken;
    }
    if (takenCount === 0) return;
    const vector = evaluate(taken, takenCount);
    this.#pieces.push({ vector, positions: composePositions(this.#rows, taken, takenCount) });
    this.#rows = composePositions(this.#rows, left, leftCount);
    this.open = open.select(left, leftCount);
  }

  /** All values, those of the rows still open from `otherwise`. */
  finish(otherwise: VectorFunction): Vector {
    if (this.open.count > 0) {
      const vector = otherwise(this.open);
      const positions = this.#rows ?? consecutivePositions(0, this.#count);
      this.#pieces.push({ vector, positions });
    }
    const [only] = this.#pieces;
    // Rows stay in order within a piece, so one piece of all rows is the answer.
    if (this.#pieces.length === 1 && only!.vector.count === this.#count) return only!.vector;
    return mergeVectors(this.#pieces, this.#count);
  }
}

/** TRUE for each entry that is not NULL. */
function presence(vector: Vector): Uint8Array {
  const { count } = vector;
  const flags = carvedUint8(count).fill(TRUE);
  if (vector.kind === 'number') {
    const { nulls } = vector;
    if (nulls === undefined) return flags;
    for (let i = 0; i < count; i++) flags[i] = 1 - nulls[i]!;
  } else if (vector.kind === 'nested') {
    for (let i = 0; i < count; i++) flags[i] = vector.nodes[i]! < 0 ? 0 : TRUE;
  } else if (vector.kind === 'dictionary' && isOfStrings(vector.dictionary)) {
    for (let i = 0; i < count; i++) flags[i] = vector.codes[i]! < 0 ? 0 : TRUE;
  } else if (vector.kind === 'constant') {
    if (vector.value === null) flags.fill(0);
  } else {
    for (let i = 0; i < count; i++) flags[i] = valueAt(vector, i) === null ? 0 : TRUE;
  }
  return flags;
}

/** AND: FALSE as soon as one argument is, else NULL if one is. */
export function conjunctionOf(terms: readonly VectorFunction[]): VectorFunction {
  return (chunk) => combine(chunk, terms, { deciding: FALSE, neutral: TRUE });
}

/** OR: TRUE as soon as one argument is, else NULL if one is. */
export function disjunctionOf(terms: readonly VectorFunction[]): VectorFunction {
  return (chunk) => combine(chunk, terms, { deciding: TRUE, neutral: FALSE });
}

/** Evaluates terms left to right, each on the rows that no earlier one has decided. */
function combine(
  chunk: Chunk,
  terms: readonly VectorFunction[],
  truth: { readonly deciding: number; readonly neutral: number },
): Vector {
  const { deciding, neutral } = truth;
  const verdicts = carvedUint8(chunk.count).fill(neutral);
  const together = truthsTogether(neutral);
  const truthCount = TRUTH_COUNT;
  let open = chunk;
  /** Row of `chunk` for each row of `open`; `undefined` while they are the same. */
  let rows: Int32Array | undefined;
  for (const term of terms) {
    if (open.count === 0) break;
    const truths = truthBytes(term(open));
    const undecided = carvedInt32(open.count);
    let undecidedCount = 0;
    for (let i = 0; i < open.count; i++) {
      const verdict = truths[i]!;
      const row = rows === undefined ? i : rows[i]!;
      verdicts[row] = together[truthCount * verdicts[row]! + verdict]!;
      undecided[undecidedCount] = i;
      undecidedCount += Number(verdict !== deciding);
    }
    if (undecidedCount === open.count) continue;
    open = open.select(undecided, undecidedCount);
    rows = composePositions(rows, undecided, undecidedCount);
  }
  return booleanVector(verdicts, chunk.count);
}

/** The verdict of two: one so far, that is neutral or UNKNOWN, in threes, and that of the next term. */
function truthsTogether(neutral: number): Uint8Array {
  const together = new Uint8Array(TRUTH_COUNT ** 2);
  for (const soFar of [neutral, UNKNOWN]) {
    for (let next = 0; next < TRUTH_COUNT; next++) {
      together[TRUTH_COUNT * soFar + next] = next === neutral ? soFar : next;
    }
  }
  return together;
}

/** Where `positions`, which point into what `outer` selected, point in what it selected from. */
function composePositions(
  outer: Int32Array | undefined,
  positions: Int32Array,
  count: number,
): Int32Array {
  if (outer === undefined) return positions.subarray(0, count);
  const composed = carvedInt32(count);
  for (let i = 0; i < count; i++) composed[i] = outer[positions[i]!]!;
  return composed;
}
