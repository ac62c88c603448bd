import { BOOL, DYNAMIC, FLOAT64, INT64 } from '../../column/type.ts';

import type { SqlValue } from '../../column/value.ts';
import { QueryError } from '../../query-error.ts';
import { compareValues } from '../comparison.ts';
import { scalarFunction, typed } from '../definition.ts';
import { elementsOf, readerBeside } from '../dynamic.ts';
import type { ScalarFunction } from '../scalar-function.ts';
import type { Int64 } from './int64.ts';

/** FLOAT64 in, FLOAT64 out. A finite number has a finite answer, or none, which is an error; an infinity without one gives NaN. */
export const mathFunctions: readonly ScalarFunction[] = [
  unary('sqrt', rootOf, 'at least 0'),
  unary('cbrt', Math.cbrt),
  unary('exp', Math.exp),
  unary('ln', Math.log, 'greater than 0'),
  unary('log10', Math.log10, 'greater than 0'),
  scalarFunction('log', {
    parameters: [FLOAT64, FLOAT64],
    optionalCount: 1,
    result: FLOAT64,
    nulls: 'propagate',
    evaluate: typed(logarithm),
  }),
  ...['pow', 'power'].map((name) => binary(name, power)),
  binary('ieee_divide', (left, right) => left / right),
  unary('sin', Math.sin),
  unary('cos', Math.cos),
  unary('tan', Math.tan),
  unary('asin', Math.asin, 'from -1 to 1'),
  unary('acos', Math.acos, 'from -1 to 1'),
  unary('atan', Math.atan),
  binary('atan2', Math.atan2),
  unary('sinh', Math.sinh),
  unary('cosh', Math.cosh),
  unary('tanh', Math.tanh),
  unary('asinh', Math.asinh),
  unary('acosh', Math.acosh, 'at least 1'),
  unary('atanh', Math.atanh, 'between -1 and 1'),
  unary('cot', (value) => 1 / Math.tan(value), 'other than 0'),
  unary('csc', (value) => 1 / Math.sin(value), 'other than 0'),
  unary('sec', (value) => 1 / Math.cos(value)),
  unary('coth', (value) => 1 / Math.tanh(value), 'other than 0'),
  unary('csch', (value) => 1 / Math.sinh(value), 'other than 0'),
  unary('sech', (value) => 1 / Math.cosh(value)),
  numberTest('is_nan', (value) => Number.isNaN(value)),
  numberTest('is_inf', (value) => Math.abs(value) === Number.POSITIVE_INFINITY),
  scalarFunction('range_bucket', {
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
  }),
];

/** `wanted` says of which numbers the function has a value, for the message. */
function unary(name: string, compute: (value: number) => number, wanted?: string): ScalarFunction {
  function evaluate(value: Int64): number {
    const number = Number(value);
    const result = compute(number);
    if (Number.isFinite(result) || !Number.isFinite(number)) return result;
    throw refusedNumber(name, wanted ?? 'of smaller size', number);
  }
  return scalarFunction(name, {
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

function binary(name: string, compute: (left: number, right: number) => number): ScalarFunction {
  return scalarFunction(name, {
    parameters: [FLOAT64, FLOAT64],
    result: FLOAT64,
    nulls: 'propagate',
    evaluate: typed((left: Int64, right: Int64) => compute(Number(left), Number(right))),
  });
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

function numberTest(name: string, test: (value: number) => boolean): ScalarFunction {
  return scalarFunction(name, {
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
