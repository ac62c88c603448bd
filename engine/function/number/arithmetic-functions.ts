import { carvedFloat64, carvedUint8 } from '../../column/arrays.ts';
import { FLOAT64, INT64, NUMBER, type SqlType } from '../../column/type.ts';
import {
  type ConstantVector,
  constantVector,
  isConstantNull,
  type NumberVector,
  numberVector,
  type Vector,
} from '../../column/vector.ts';
import { QueryError } from '../../query-error.ts';
import { isWhole } from '../dynamic.ts';
import {
  type Evaluate,
  type InPlace,
  type Kernel,
  type ScalarFunction,
  type ScalarOverload,
  scalarFunction,
  typed,
  withAlias,
} from '../scalar-function.ts';
import {
  intervalNegations,
  intervalProducts,
  intervalQuotients,
  timeDifferences,
  timeSums,
} from '../time/interval-functions.ts';
import {
  addFloat64,
  divideFloat64,
  multiplyFloat64,
  roundFloat64,
  subtractFloat64,
  truncateFloat64,
} from './float64.ts';
import {
  absoluteInt64,
  addInt64,
  divideInt64,
  type Int64,
  multiplyInt64,
  negateInt64,
  remainderInt64,
  signInt64,
  subtractInt64,
} from './int64.ts';

type Unary = (value: Int64) => Int64;
type Binary = (left: Int64, right: Int64) => Int64;

export const arithmeticFunctions: readonly ScalarFunction[] = [
  scalarFunction(
    '+',
    [
      'The sum. For two INT64 it is an INT64, and an error on overflow. A number of days can be added to a DATE, and an INTERVAL to a TIMESTAMP or DATETIME.',
      "DATE '2026-01-31' + 1",
      "DATE '2026-02-01'",
    ],
    ...binaryOverloads('+', addInt64, addFloat64),
    ...timeSums,
  ),
  scalarFunction(
    '-',
    [
      'The difference, for the same types as `+`. The difference of two times is an INTERVAL.',
      "TIMESTAMP '2026-01-15 12:00:00+00' - TIMESTAMP '2026-01-15 11:30:00+00'",
      'INTERVAL 30 MINUTE',
    ],
    ...binaryOverloads('-', subtractInt64, subtractFloat64),
    ...timeDifferences,
  ),
  scalarFunction(
    '*',
    [
      'The product. For two INT64 it is an INT64, and an error on overflow. An INTERVAL can be multiplied by an INT64.',
      '3 * 1.5',
      '4.5',
    ],
    ...binaryOverloads('*', multiplyInt64, multiplyFloat64),
    ...intervalProducts,
  ),
  scalarFunction(
    '/',
    [
      'The quotient, always a FLOAT64; an error if the divisor is 0. An INTERVAL can be divided by an INT64.',
      '7 / 2',
      '3.5',
    ],
    {
      parameters: ['number', 'number'],
      result: FLOAT64,
      nulls: 'propagate',
      evaluate: typed(divideFloat64),
      kernel: floatKernel('/'),
    },
    ...intervalQuotients,
  ),
  scalarFunction(
    'safe_divide',
    ['Like `/`, but NULL instead of an error.', 'SAFE_DIVIDE(1, 0)', 'NULL'],
    {
      parameters: ['number', 'number'],
      result: FLOAT64,
      nulls: 'propagate',
      facts: { fails: 'never' },
      evaluate: safely(typed(divideFloat64)),
      kernel: safeDivideKernel,
    },
  ),
  scalarFunction(
    'safe_add',
    ['The sum; NULL on overflow.', 'SAFE_ADD(9223372036854775807, 1)', 'NULL'],
    ...safeOverloads(addInt64, addFloat64),
  ),
  scalarFunction(
    'safe_subtract',
    ['The difference; NULL on overflow.', 'SAFE_SUBTRACT(5, 7)', '-2'],
    ...safeOverloads(subtractInt64, subtractFloat64),
  ),
  scalarFunction(
    'safe_multiply',
    ['The product; NULL on overflow.', 'SAFE_MULTIPLY(9223372036854775807, 2)', 'NULL'],
    ...safeOverloads(multiplyInt64, multiplyFloat64),
  ),
  scalarFunction(
    'safe_negate',
    [
      'The negated number; NULL for the least INT64, which has no opposite.',
      'SAFE_NEGATE(-9223372036854775808)',
      'NULL',
    ],
    ...unaryOverloads(negateInt64, negateFloat64).map(safeOverload),
  ),
  scalarFunction(
    'neg',
    ['The negated number or INTERVAL; an error for the least INT64.', '-(2 + 3)', '-5'],
    ...unaryOverloads(negateInt64, negateFloat64),
    ...intervalNegations,
  ),
  scalarFunction(
    'abs',
    ['The absolute value; an error for the least INT64.', 'ABS(-2.5)', '2.5'],
    ...unaryOverloads(absoluteInt64, (value) => Math.abs(Number(value))),
  ),
  scalarFunction(
    'sign',
    [
      '-1, 0 or 1 for a negative number, 0 or a positive number, in the type of the number.',
      'SIGN(-2.5)',
      '-1.0',
    ],
    ...unaryOverloads(signInt64, (value) => Math.sign(Number(value)) + 0),
  ),
  scalarFunction(
    'mod',
    [
      'The remainder of `DIV`, with the sign of the first number; an error if the second is 0.',
      'MOD(-7, 3)',
      '-1',
    ],
    integerOverload(remainderInt64),
  ),
  scalarFunction(
    'div',
    ['The quotient of two INT64, truncated; an error if the divisor is 0.', 'DIV(-7, 2)', '-3'],
    integerOverload(divideInt64),
  ),
  scalarFunction(
    'round',
    [
      'The number as a FLOAT64, rounded to this many decimal places (default 0; -2 rounds to hundreds). Halves are rounded away from 0.',
      'ROUND(1250, -2)',
      '1300.0',
    ],
    roundingOverload(roundFloat64),
  ),
  scalarFunction(
    'trunc',
    [
      'The number as a FLOAT64, truncated to this many decimal places (default 0; -2 truncates to hundreds).',
      'TRUNC(-2.78, 1)',
      '-2.7',
    ],
    roundingOverload(truncateFloat64),
  ),
  ...withAlias(
    ['ceil', 'ceiling'],
    ['The number rounded up to a whole number, as a FLOAT64.', 'CEIL(1.2)', '2.0'],
    wholeOverload(Math.ceil),
  ),
  scalarFunction(
    'floor',
    ['The number rounded down to a whole number, as a FLOAT64.', 'FLOOR(-1.2)', '-2.0'],
    wholeOverload(Math.floor),
  ),
];

function negateFloat64(value: Int64): number {
  return -Number(value);
}

/**
 * INT64 of two INT64, else FLOAT64; of a NUMBER beside an INT64 or a NUMBER what the values say. FLOAT64 stands
 * first and the mixed pairs are written out, so that a DYNAMIC operand, which fits either, is read as FLOAT64
 * beside one, and keeps its fraction.
 */
function binaryOverloads(
  operation: Exclude<Operation, '/'>,
  ofInt64: Binary,
  ofFloat64: Binary,
): readonly ScalarOverload[] {
  const floatPairs: readonly (readonly SqlType[])[] = [
    [FLOAT64, FLOAT64],
    [FLOAT64, INT64],
    [INT64, FLOAT64],
  ];
  const inPlace = operation === '*' ? undefined : integerShift(operation);
  const floats = floatPairs.map(
    (parameters): ScalarOverload => ({
      parameters,
      result: FLOAT64,
      nulls: 'propagate',
      evaluate: typed(ofFloat64),
      kernel: floatKernel(operation),
      inPlace,
    }),
  );
  const ofIntegers = { ...integerOverload(ofInt64), kernel: integerKernel(operation), inPlace };
  return [
    ...floats,
    ofIntegers,
    { ...numberOverload(ofInt64, ofFloat64), kernel: ofIntegers.kernel, inPlace },
  ];
}

/** Of values of events: exact where both are whole. The kernel of INT64 leaves the others to this, and -0. */
function numberOverload(ofInt64: Binary, ofFloat64: Binary): ScalarOverload {
  const compute: Binary = (left, right) => {
    if (isWhole(left) && isWhole(right)) return ofInt64(left, right);
    return Number(ofFloat64(left, right)) + 0;
  };
  return {
    parameters: [NUMBER, NUMBER],
    result: NUMBER,
    nulls: 'propagate',
    evaluate: typed(compute),
  };
}

function integerOverload(evaluate: Binary): ScalarOverload {
  return {
    parameters: [INT64, INT64],
    result: INT64,
    nulls: 'propagate',
    evaluate: typed(evaluate),
  };
}

function unaryOverloads(ofInt64: Unary, ofFloat64: Unary): readonly ScalarOverload[] {
  return [
    { parameters: [FLOAT64], result: FLOAT64, nulls: 'propagate', evaluate: typed(ofFloat64) },
    { parameters: [INT64], result: INT64, nulls: 'propagate', evaluate: typed(ofInt64) },
    {
      parameters: [NUMBER],
      result: NUMBER,
      nulls: 'propagate',
      evaluate: typed((value: Int64) => (isWhole(value) ? ofInt64(value) : ofFloat64(value))),
    },
  ];
}

function safeOverloads(ofInt64: Binary, ofFloat64: Binary): readonly ScalarOverload[] {
  return binaryOverloads('+', ofInt64, ofFloat64).map(safeOverload);
}

/** The same, with NULL in place of an error. */
export function safeOverload(overload: ScalarOverload): ScalarOverload {
  const { evaluate, evaluateTyped } = overload;
  return {
    ...overload,
    evaluate: safely(evaluate),
    facts: { fails: 'never' },
    evaluateTyped: evaluateTyped && ((types) => safely(evaluateTyped(types))),
    kernel: undefined,
    inPlace: undefined,
  };
}

function safely(evaluate: Evaluate): Evaluate {
  return (...values) => {
    try {
      return evaluate(...values);
    } catch (error) {
      if (error instanceof QueryError) return null;
      throw error;
    }
  };
}

/** ROUND and TRUNC: FLOAT64 whatever they are given, as in GoogleSQL. */
function roundingOverload(round: (value: number, digits: number) => number): ScalarOverload {
  return {
    parameters: ['number', INT64],
    optionalCount: 1,
    result: FLOAT64,
    nulls: 'propagate',
    evaluate: typed((value: Int64, digits: Int64 = 0) => round(Number(value), Number(digits))),
  };
}

function wholeOverload(round: (value: number) => number): ScalarOverload {
  return {
    parameters: ['number'],
    result: FLOAT64,
    nulls: 'propagate',
    evaluate: typed((value: Int64) => round(Number(value))),
  };
}

type Operation = '+' | '-' | '*' | '/';

/** Two number vectors (a constant is spread out), ready for one loop. */
type Operands = {
  readonly left: Float64Array;
  readonly right: Float64Array;
  /** Where either is NULL. */
  readonly nulls: Uint8Array | undefined;
};

/** `+ - *` of INT64. Left to `evaluate` when a result is not a safe integer. */
function integerKernel(operation: '+' | '-' | '*'): Kernel {
  return (vectors, count) => {
    if (vectors.some(isConstantNull)) return constantVector(null, count);
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
function floatKernel(operation: Operation): Kernel {
  return (vectors, count) => {
    if (vectors.some(isConstantNull)) return constantVector(null, count);
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
function integerShift(operation: '+' | '-'): InPlace {
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
function safeDivideKernel(vectors: readonly Vector[], count: number): Vector | undefined {
  if (vectors.some(isConstantNull)) return constantVector(null, count);
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
