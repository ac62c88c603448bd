import { BOOL, DYNAMIC, FLOAT64, INT64 } from '../../column/type.ts';

import type { SqlValue } from '../../column/value.ts';
import { QueryError } from '../../query-error.ts';
import { compareValues } from '../comparison.ts';
import { elementsOf, readerBeside } from '../dynamic.ts';
import {
  type FunctionDoc,
  type ScalarFunction,
  type ScalarOverload,
  scalarFunction,
  typed,
  withAlias,
} from '../scalar-function.ts';
import type { Int64 } from './int64.ts';

/** FLOAT64 in, FLOAT64 out. A finite number has a finite answer, or none, which is an error; an infinity without one gives NaN. */
export const mathFunctions: readonly ScalarFunction[] = [
  unary(
    'sqrt',
    ['Square root; an error for a negative number.', 'SQRT(2.25)', '1.5'],
    rootOf,
    'at least 0',
  ),
  unary('cbrt', ['Cube root.', 'CBRT(-8)', '-2.0'], Math.cbrt),
  unary(
    'exp',
    [
      'e to the power of the number; an error if it does not fit FLOAT64.',
      'ROUND(EXP(1), 3)',
      '2.718',
    ],
    Math.exp,
  ),
  unary(
    'ln',
    ['Natural logarithm; an error for 0 and negative numbers.', 'LN(1)', '0.0'],
    Math.log,
    'greater than 0',
  ),
  unary(
    'log10',
    ['Logarithm to base 10; an error for 0 and negative numbers.', 'LOG10(1000)', '3.0'],
    Math.log10,
    'greater than 0',
  ),
  scalarFunction(
    'log',
    [
      'Logarithm to the given base (default e). An error for 0 and negative numbers, and for a base of 1 or at most 0.',
      'LOG(8, 2)',
      '3.0',
    ],
    {
      parameters: [FLOAT64, FLOAT64],
      optionalCount: 1,
      result: FLOAT64,
      nulls: 'propagate',
      evaluate: typed(logarithm),
    },
  ),
  ...withAlias(
    ['pow', 'power'],
    [
      'The first number to the power of the second; an error if the result is not real or does not fit FLOAT64.',
      'POW(2, 10)',
      '1024.0',
    ],
    binaryOverload(power),
  ),
  binary(
    'ieee_divide',
    [
      'The quotient by IEEE 754: infinity or NaN instead of an error if the divisor is 0.',
      'IEEE_DIVIDE(1, 0)',
      "CAST('inf' AS FLOAT64)",
    ],
    (left, right) => left / right,
  ),
  unary('sin', ['Sine of an angle in radians.', 'ROUND(SIN(1), 3)', '0.841'], Math.sin),
  unary('cos', ['Cosine of an angle in radians.', 'ROUND(COS(1), 3)', '0.54'], Math.cos),
  unary('tan', ['Tangent of an angle in radians.', 'ROUND(TAN(1), 3)', '1.557'], Math.tan),
  unary(
    'asin',
    [
      'Angle in radians, from -π/2 to π/2, with this sine; an error below -1 and above 1.',
      'ROUND(ASIN(1), 3)',
      '1.571',
    ],
    Math.asin,
    'from -1 to 1',
  ),
  unary(
    'acos',
    [
      'Angle in radians, from 0 to π, with this cosine; an error below -1 and above 1.',
      'ROUND(ACOS(-1), 3)',
      '3.142',
    ],
    Math.acos,
    'from -1 to 1',
  ),
  unary(
    'atan',
    ['Angle in radians, from -π/2 to π/2, with this tangent.', 'ROUND(ATAN(1), 3)', '0.785'],
    Math.atan,
  ),
  binary(
    'atan2',
    [
      'Angle in radians, from -π to π, of the point with the coordinates y and x, in this order.',
      'ROUND(ATAN2(1, -1), 3)',
      '2.356',
    ],
    Math.atan2,
  ),
  unary(
    'sinh',
    ['Hyperbolic sine; an error if it does not fit FLOAT64.', 'ROUND(SINH(1), 3)', '1.175'],
    Math.sinh,
  ),
  unary(
    'cosh',
    ['Hyperbolic cosine; an error if it does not fit FLOAT64.', 'ROUND(COSH(1), 3)', '1.543'],
    Math.cosh,
  ),
  unary('tanh', ['Hyperbolic tangent.', 'ROUND(TANH(1), 3)', '0.762'], Math.tanh),
  unary('asinh', ['Number with this hyperbolic sine.', 'ROUND(ASINH(1), 3)', '0.881'], Math.asinh),
  unary(
    'acosh',
    [
      'Non-negative number with this hyperbolic cosine; an error below 1.',
      'ROUND(ACOSH(2), 3)',
      '1.317',
    ],
    Math.acosh,
    'at least 1',
  ),
  unary(
    'atanh',
    [
      'Number with this hyperbolic tangent; an error outside (-1, 1).',
      'ROUND(ATANH(0.5), 3)',
      '0.549',
    ],
    Math.atanh,
    'between -1 and 1',
  ),
  unary(
    'cot',
    ['Cotangent of an angle in radians; an error for 0.', 'ROUND(COT(1), 3)', '0.642'],
    (value) => 1 / Math.tan(value),
    'other than 0',
  ),
  unary(
    'csc',
    ['Cosecant of an angle in radians; an error for 0.', 'ROUND(CSC(1), 3)', '1.188'],
    (value) => 1 / Math.sin(value),
    'other than 0',
  ),
  unary(
    'sec',
    ['Secant of an angle in radians.', 'ROUND(SEC(1), 3)', '1.851'],
    (value) => 1 / Math.cos(value),
  ),
  unary(
    'coth',
    ['Hyperbolic cotangent; an error for 0.', 'ROUND(COTH(1), 3)', '1.313'],
    (value) => 1 / Math.tanh(value),
    'other than 0',
  ),
  unary(
    'csch',
    ['Hyperbolic cosecant; an error for 0.', 'ROUND(CSCH(1), 3)', '0.851'],
    (value) => 1 / Math.sinh(value),
    'other than 0',
  ),
  unary(
    'sech',
    ['Hyperbolic secant.', 'ROUND(SECH(1), 3)', '0.648'],
    (value) => 1 / Math.cosh(value),
  ),
  numberTest(
    'is_nan',
    ['Whether a number is NaN.', "IS_NAN(CAST('nan' AS FLOAT64))", 'TRUE'],
    (value) => Number.isNaN(value),
  ),
  numberTest(
    'is_inf',
    ['Whether a number is infinite, with either sign.', "IS_INF(CAST('-inf' AS FLOAT64))", 'TRUE'],
    (value) => Math.abs(value) === Number.POSITIVE_INFINITY,
  ),
  scalarFunction(
    'range_bucket',
    [
      'The number of ascending bounds that are at most the value, which is the index of its bucket. NULL for NaN; an error if the bounds descend or contain a NULL.',
      'RANGE_BUCKET(25, [10, 20, 30])',
      '2',
    ],
    {
      parameters: ['any', 'list'],
      result: INT64,
      nulls: 'propagate',
      evaluate: typed(bucketOf),
      evaluateTyped: ([point, list]) => {
        const bound = list!.kind === 'ARRAY' ? list!.element : DYNAMIC;
        const readPoint = readerBeside(point!, bound);
        const readBound = readerBeside(bound, point!);
        if (readPoint === undefined && readBound === undefined) return typed(bucketOf);
        return typed((value: SqlValue, bounds: SqlValue) =>
          bucketOf(
            readPoint === undefined ? value : readPoint(value),
            readBound === undefined ? bounds : (elementsOf(bounds)?.map(readBound) ?? null),
          ),
        );
      },
    },
  ),
];

/** `wanted` says of which numbers the function has a value, for the message. */
function unary(
  name: string,
  doc: FunctionDoc,
  compute: (value: number) => number,
  wanted?: string,
): ScalarFunction {
  function evaluate(value: Int64): number {
    const number = Number(value);
    const result = compute(number);
    if (Number.isFinite(result) || !Number.isFinite(number)) return result;
    throw refusedNumber(name, wanted ?? 'of smaller size', number);
  }
  return scalarFunction(name, doc, {
    parameters: [FLOAT64],
    result: FLOAT64,
    nulls: 'propagate',
    evaluate: typed(evaluate),
  });
}

function refusedNumber(name: string, wanted: string, number: number): QueryError {
  const sentence = `${name.toUpperCase()} takes a number ${wanted}; got ${number}`;
  return new QueryError('query_failed', sentence);
}

/** Alone among these functions SQRT refuses an infinity, as GoogleSQL has it. */
function rootOf(number: number): number {
  if (number === Number.NEGATIVE_INFINITY) throw refusedNumber('sqrt', 'at least 0', number);
  return Math.sqrt(number);
}

type Binary = (left: number, right: number) => number;

function binary(name: string, doc: FunctionDoc, compute: Binary): ScalarFunction {
  return scalarFunction(name, doc, binaryOverload(compute));
}

function binaryOverload(compute: Binary): ScalarOverload {
  return {
    parameters: [FLOAT64, FLOAT64],
    result: FLOAT64,
    nulls: 'propagate',
    evaluate: typed((left: Int64, right: Int64) => compute(Number(left), Number(right))),
  };
}

/** 1 to any power is 1, and -1 to an infinite one, as in C; JavaScript has NaN there. */
function power(base: number, exponent: number): number {
  if (base === 1 || (base === -1 && Math.abs(exponent) === Number.POSITIVE_INFINITY)) return 1;
  const result = base ** exponent;
  const isGiven = Number.isFinite(base) && Number.isFinite(exponent);
  if (Number.isFinite(result) || !isGiven) return result;
  throw new QueryError(
    'query_failed',
    `POW has no FLOAT64 for ${base} to the power of ${exponent}`,
  );
}

/** LOG: natural, or to the base given. */
function logarithm(value: Int64, base?: Int64): number {
  const number = Number(value);
  // Of an infinite base nothing is a power.
  if (base !== undefined && !Number.isFinite(Number(base))) return Number.NaN;
  const result = base === undefined ? Math.log(number) : quotientOfLogarithms(number, Number(base));
  if (number > 0 && (base === undefined || (base > 0 && base !== 1))) return result;
  if (!Number.isFinite(number)) return result;
  throw new QueryError(
    'query_failed',
    `LOG takes a number greater than 0, and a base that is none of 0 and 1; got ${number}` +
      (base === undefined ? '' : ` and ${base}`),
  );
}

function quotientOfLogarithms(number: number, base: number): number {
  if (base === 2) return Math.log2(number);
  if (base === 10) return Math.log10(number);
  return Math.log(number) / Math.log(base);
}

function numberTest(
  name: string,
  doc: FunctionDoc,
  test: (value: number) => boolean,
): ScalarFunction {
  return scalarFunction(name, doc, {
    parameters: [FLOAT64],
    result: BOOL,
    nulls: 'propagate',
    evaluate: typed((value: Int64) => test(Number(value))),
  });
}

/** RANGE_BUCKET: how many of the ascending bounds are at most `point`. */
function bucketOf(point: SqlValue, array: SqlValue): number | null {
  const bounds = elementsOf(array);
  if (bounds === null || point === null || Number.isNaN(point)) return null;
  for (const [index, bound] of bounds.entries()) {
    if (bound === null || (index > 0 && compareValues(bounds[index - 1]!, bound) > 0)) {
      throw new QueryError(
        'query_failed',
        'RANGE_BUCKET takes bounds in ascending order, without NULL',
      );
    }
  }
  let low = 0;
  let high = bounds.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareValues(bounds[middle]!, point) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
