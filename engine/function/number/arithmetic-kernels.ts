import { carvedFloat64, carvedUint8 } from '../../column/carved-arrays.ts';
import type { ConstantVector, NumberVector, Vector } from '../../column/vector.ts';
import { constantVector, numberVector } from '../../column/vector.ts';
import type { InPlace, Kernel } from '../definition.ts';

export type Operation = '+' | '-' | '*' | '/';

/** Two number vectors (a constant is spread out), ready for one loop. */
type Operands = {
  readonly left: Float64Array;
  readonly right: Float64Array;
  /** Where either is NULL. */
  readonly nulls: Uint8Array | undefined;
};

/** `+ - *` of INT64. Left to `evaluate` when a result is not a safe integer. */
export function integerKernel(operation: '+' | '-' | '*'): Kernel {
  return (vectors, count) => {
    if (vectors.some(isNull)) return constantVector(null, count);
    const operands = operandsOf(vectors, count);
    if (operands === undefined) return undefined;
    const results = carvedFloat64(count);
    compute(operation, operands, results);
    for (let i = 0; i < count; i++) {
      if (!(Math.abs(results[i]!) <= Number.MAX_SAFE_INTEGER) && operands.nulls?.[i] !== 1) {
        return undefined;
      }
      // No INT64 is -0.
      results[i]! += 0;
    }
    return numberVector(results, count, operands.nulls);
  };
}

/** `+ - * /` of FLOAT64. Left to `evaluate` when a result is infinite: it may be an error. */
export function floatKernel(operation: Operation): Kernel {
  return (vectors, count) => {
    if (vectors.some(isNull)) return constantVector(null, count);
    const operands = operandsOf(vectors, count);
    if (operands === undefined) return undefined;
    const results = carvedFloat64(count);
    compute(operation, operands, results);
    const { nulls, right } = operands;
    const isDivision = operation === '/';
    for (let i = 0; i < count; i++) {
      const isOpen = Math.abs(results[i]!) === Number.POSITIVE_INFINITY;
      if ((isOpen || (isDivision && right[i] === 0)) && nulls?.[i] !== 1) return undefined;
    }
    return numberVector(results, count, nulls);
  };
}

/** Integers where they lie, and a constant integer added or taken away: they stay where they are. */
export function integerShift(operation: '+' | '-'): InPlace {
  const sign = operation === '+' ? 1 : -1;
  return (vectors) => {
    const [left, right] = vectors as [Vector, Vector];
    if (left.form === 'packed numbers') {
      return isConstantNumber(right) ? left.shifted(sign * right.value) : undefined;
    }
    const isSum = operation === '+' && right.form === 'packed numbers';
    return isSum && isConstantNumber(left) ? right.shifted(left.value) : undefined;
  };
}

function isConstantNumber(vector: Vector): vector is ConstantVector & { readonly value: number } {
  return vector.kind === 'constant' && typeof vector.value === 'number';
}

/** SAFE_DIVIDE: NULL beside a divisor of 0. */
export const safeDivideKernel: Kernel = (vectors, count) => {
  if (vectors.some(isNull)) return constantVector(null, count);
  const operands = operandsOf(vectors, count);
  if (operands === undefined) return undefined;
  const results = carvedFloat64(count);
  compute('/', operands, results);
  const nulls = operands.nulls?.slice(0, count) ?? carvedUint8(count);
  for (let i = 0; i < count; i++) {
    if (operands.right[i] === 0) nulls[i] = 1;
    else if (Math.abs(results[i]!) === Number.POSITIVE_INFINITY && nulls[i] !== 1) return undefined;
  }
  return numberVector(results, count, nulls);
};

function isNull(vector: Vector): boolean {
  return vector.kind === 'constant' && vector.value === null;
}

function compute(operation: Operation, { left, right }: Operands, results: Float64Array): void {
  const count = results.length;
  switch (operation) {
    case '+':
      for (let i = 0; i < count; i++) results[i] = left[i]! + right[i]!;
      break;
    case '-':
      for (let i = 0; i < count; i++) results[i] = left[i]! - right[i]!;
      break;
    case '*':
      for (let i = 0; i < count; i++) results[i] = left[i]! * right[i]!;
      break;
    case '/':
      for (let i = 0; i < count; i++) results[i] = left[i]! / right[i]!;
      break;
  }
}

/** `undefined` unless both are numbers and one is no constant: constants are folded elsewhere. */
function operandsOf(vectors: readonly Vector[], count: number): Operands | undefined {
  const [left, right] = vectors as [Vector, Vector];
  if (left.kind !== 'number' && right.kind !== 'number') return undefined;
  const leftValues = spread(left, count);
  const rightValues = spread(right, count);
  if (leftValues === undefined || rightValues === undefined) return undefined;
  const nulls = mergeNulls(nullsOf(left), nullsOf(right), count);
  return { left: leftValues, right: rightValues, nulls };
}

function spread(vector: Vector, count: number): Float64Array | undefined {
  if (vector.kind === 'number') return vector.values;
  if (vector.kind !== 'constant' || typeof vector.value !== 'number') return undefined;
  return carvedFloat64(count).fill(vector.value);
}

function nullsOf(vector: Vector): NumberVector['nulls'] {
  return vector.kind === 'number' ? vector.nulls : undefined;
}

/** 1 where either is; may be one of the two. */
export function mergeNulls(
  left: Uint8Array | undefined,
  right: Uint8Array | undefined,
  count: number,
): Uint8Array | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  const nulls = carvedUint8(count);
  for (let i = 0; i < count; i++) nulls[i] = left[i]! | right[i]!;
  return nulls;
}
