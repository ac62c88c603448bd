import { carvedInt32, carvedUint8 } from '../../column/carved-arrays.ts';
import type { Chunk, VectorFunction } from '../../column/chunk.ts';
import { consecutivePositions } from '../../column/chunk.ts';
import type { Vector } from '../../column/vector.ts';
import { isOfStrings, TRUE, takeVector, valueAt } from '../../column/vector.ts';
import type { Piece } from '../../operator/merge-vectors.ts';
import { mergeVectors } from '../../operator/merge-vectors.ts';
import { truthBytes } from '../../operator/truth.ts';
import { composePositions } from './logic.ts';

export type Branch = { readonly when: VectorFunction; readonly then: VectorFunction };

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
