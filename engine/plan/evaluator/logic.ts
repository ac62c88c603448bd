import { carvedInt32, carvedUint8 } from '../../column/carved-arrays.ts';
import type { Chunk, VectorFunction } from '../../column/chunk.ts';
import type { Vector } from '../../column/vector.ts';
import { booleanVector, FALSE, TRUE, TRUTH_COUNT, UNKNOWN } from '../../column/vector.ts';
import { truthBytes } from '../../operator/truth.ts';

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
export function composePositions(
  outer: Int32Array | undefined,
  positions: Int32Array,
  count: number,
): Int32Array {
  if (outer === undefined) return positions.subarray(0, count);
  const composed = carvedInt32(count);
  for (let i = 0; i < count; i++) composed[i] = outer[positions[i]!]!;
  return composed;
}
