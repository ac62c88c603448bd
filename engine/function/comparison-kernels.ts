import { carvedUint8 } from '../column/carved-arrays.ts';
import type { NumberVector, Vector } from '../column/vector.ts';
import { booleanVector, constantVector, UNKNOWN } from '../column/vector.ts';
import type { Kernel } from './definition.ts';
import { mergeNulls } from './number/arithmetic-kernels.ts';

// `Number` of a comparison is its truth, FALSE or TRUE, made without a branch: V8 makes one of a choice between two
// constants, and where rows are not to be guessed it takes five times as long as comparing.

export type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>=';

const MIRRORED: Readonly<Record<Comparison, Comparison>> = {
  '=': '=',
  '!=': '!=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};

/** A comparison of two columns of numbers, or of one with a constant. */
export function comparisonKernel(operator: Comparison): Kernel {
  return (vectors, count) => {
    const [left, right] = vectors as [Vector, Vector];
    if (isNull(left) || isNull(right)) return constantVector(null, count);
    const truths = carvedUint8(count);
    if (left.kind === 'number' && right.kind === 'number') {
      compareColumns(operator, left.values, right.values, truths);
      return withNulls(truths, mergeNulls(left.nulls, right.nulls, count));
    }
    if (left.kind === 'number' && isNumber(right)) {
      return compareWithConstant(operator, left, right.value, truths);
    }
    if (right.kind === 'number' && isNumber(left)) {
      return compareWithConstant(MIRRORED[operator], right, left.value, truths);
    }
    return undefined;
  };
}

function isNull(vector: Vector): boolean {
  return vector.kind === 'constant' && vector.value === null;
}

function isNumber(vector: Vector): vector is Vector & { kind: 'constant'; value: number } {
  return vector.kind === 'constant' && typeof vector.value === 'number';
}

function compareWithConstant(
  operator: Comparison,
  { values, nulls }: NumberVector,
  constant: number,
  truths: Uint8Array,
): Vector {
  const count = truths.length;
  switch (operator) {
    case '=':
      for (let i = 0; i < count; i++) truths[i] = Number(values[i] === constant);
      break;
    case '!=':
      for (let i = 0; i < count; i++) truths[i] = Number(values[i] !== constant);
      break;
    case '<':
      for (let i = 0; i < count; i++) truths[i] = Number(values[i]! < constant);
      break;
    case '<=':
      for (let i = 0; i < count; i++) truths[i] = Number(values[i]! <= constant);
      break;
    case '>':
      for (let i = 0; i < count; i++) truths[i] = Number(values[i]! > constant);
      break;
    case '>=':
      for (let i = 0; i < count; i++) truths[i] = Number(values[i]! >= constant);
      break;
  }
  return withNulls(truths, nulls);
}

function compareColumns(
  operator: Comparison,
  left: Float64Array,
  right: Float64Array,
  truths: Uint8Array,
): void {
  const count = truths.length;
  switch (operator) {
    case '=':
      for (let i = 0; i < count; i++) truths[i] = Number(left[i] === right[i]);
      break;
    case '!=':
      for (let i = 0; i < count; i++) truths[i] = Number(left[i] !== right[i]);
      break;
    case '<':
      for (let i = 0; i < count; i++) truths[i] = Number(left[i]! < right[i]!);
      break;
    case '<=':
      for (let i = 0; i < count; i++) truths[i] = Number(left[i]! <= right[i]!);
      break;
    case '>':
    case '>=':
      compareColumns(MIRRORED[operator], right, left, truths);
      break;
  }
}

/** Writes UNKNOWN over the truths beside a NULL. */
function withNulls(truths: Uint8Array, nulls: Uint8Array | undefined): Vector {
  if (nulls !== undefined) {
    // V8 reads an imported constant anew in each round of a loop.
    const unknown = UNKNOWN;
    for (let i = 0; i < truths.length; i++) {
      const isNull = nulls[i]!;
      truths[i] = (truths[i]! & (isNull - 1)) | (isNull * unknown);
    }
  }
  return booleanVector(truths, truths.length);
}
