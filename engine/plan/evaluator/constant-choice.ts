import { carvedFloat64 } from '../../column/carved-arrays.ts';
import type { VectorFunction } from '../../column/chunk.ts';
import { CodedNumbers } from '../../column/coded-numbers.ts';
import type { Vector } from '../../column/vector.ts';
import { constantVector, numberVector, TRUE, TRUTH_COUNT } from '../../column/vector.ts';
import { truthBytes } from '../../operator/truth.ts';

/** What stands for a row where the condition is TRUE, and what for all others. */
export type NumberChoice = { readonly then: number; readonly otherwise: number };

/** CASE with one condition between two constant numbers: `caseOf` without dividing the rows. */
export function numberChoiceOf(when: VectorFunction, choice: NumberChoice): VectorFunction {
  return (chunk) => chosen(when(chunk), choice, chunk.count);
}

function chosen(truths: Vector, { then, otherwise }: NumberChoice, count: number): Vector {
  if (truths.kind === 'constant') {
    return constantVector(truths.value === true ? then : otherwise, count);
  }
  if (truths.form === 'coded truths' && truths.exceptions.length === 0) {
    const { numbers, truthOfCode } = truths;
    return new CodedNumbers(numbers, choose(truthOfCode, truthOfCode.length, { then, otherwise }));
  }
  return numberVector(choose(truthBytes(truths), count, { then, otherwise }), count);
}

function choose(
  truths: Uint8Array,
  count: number,
  { then, otherwise }: NumberChoice,
): Float64Array {
  const numbers = carvedFloat64(count);
  const ofTruth = new Float64Array(TRUTH_COUNT).fill(otherwise);
  ofTruth[TRUE] = then;
  for (let i = 0; i < count; i++) numbers[i] = ofTruth[truths[i]!]!;
  return numbers;
}
