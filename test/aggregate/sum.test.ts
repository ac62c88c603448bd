import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ExactSums } from '../../engine/aggregate/exact-sums.ts';
import { FLOAT64, INT64, NUMBER } from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import { QueryError } from '../../engine/query-error.ts';
import type { Row } from './rows-of-groups.ts';
import {
  answers,
  asNumbers,
  expectAnswers,
  expectOrderFree,
  feed,
  maker,
} from './rows-of-groups.ts';

const INTEGERS = maker('sum', INT64);
const FLOATS = maker('sum', FLOAT64);
const AVERAGES = maker('avg', FLOAT64);

test('zeros take no limbs of exact sums', () => {
  const sums = new ExactSums();
  sums.add(0, 0, 1);
  assert.ok(sums.isEmpty);
  sums.add(0, 0.1, 1);
  const before = sums.partial(1);
  sums.add(0, 0, 1);
  sums.add(0, -0, 1);
  assert.deepEqual(sums.partial(1), before);
});

function inOneGroup(values: readonly SqlValue[]): Row[] {
  return values.map((value) => [0, value]);
}

function floatSum(...values: number[]): SqlValue {
  return answers(FLOATS, inOneGroup(values), 1)[0]!;
}

test('SUM of nothing and of NULLs is NULL', () => {
  for (const make of [INTEGERS, FLOATS, AVERAGES]) {
    expectAnswers(make, [], [null]);
    expectAnswers(
      make,
      [
        [0, null],
        [1, 3],
      ],
      [null, 3],
    );
  }
});

test('SUM of INT64 is exact beyond 2^53 and back', () => {
  const limit = 2 ** 53 - 1;
  expectAnswers(INTEGERS, inOneGroup([limit, 1]), [2n ** 53n]);
  expectAnswers(INTEGERS, inOneGroup([limit, 0]), [limit]);
  expectAnswers(INTEGERS, inOneGroup([-limit, -1]), [-(2n ** 53n)]);
  expectAnswers(INTEGERS, inOneGroup([limit, 2, -limit]), [2]);
  expectAnswers(INTEGERS, inOneGroup([2n ** 53n, -(2n ** 53n)]), [0]);
});

test('SUM of INT64 may pass 64 bits on the way, but must end within them', () => {
  const max = 2n ** 63n - 1n;
  expectAnswers(INTEGERS, inOneGroup([max, 1, -1]), [max]);
  expectAnswers(INTEGERS, inOneGroup([-max, -1]), [-max - 1n]);
  const beyond = (error: unknown): boolean =>
    error instanceof QueryError &&
    error.code === 'query_failed' &&
    error.message.includes('9223372036854775808');
  assert.throws(() => answers(INTEGERS, inOneGroup([max, 1]), 1), beyond);
});

test('AVG of INT64 divides the exact sum', () => {
  expectAnswers(maker('avg', INT64), inOneGroup([1, 2, null, 4]), [7 / 3]);
  expectAnswers(maker('avg', INT64), inOneGroup([2n ** 63n - 1n, 2n ** 63n - 1n]), [2 ** 63]);
});

test('SUM of FLOAT64 is the exact sum, rounded once', () => {
  expectAnswers(FLOATS, inOneGroup([1e16, 1, -1e16]), [1]);
  expectAnswers(FLOATS, inOneGroup([0.1, 0.2, 0.3, -0.6]), [2 ** -55]);
  expectAnswers(FLOATS, inOneGroup([1e308, 1e308, -1e308]), [1e308]);
  expectAnswers(FLOATS, inOneGroup([Number.MIN_VALUE, Number.MIN_VALUE]), [2 ** -1073]);
  expectAnswers(FLOATS, inOneGroup([1, Number.MIN_VALUE, -1]), [Number.MIN_VALUE]);
  expectAnswers(FLOATS, inOneGroup([1e300, 1e-300, -1e300]), [1e-300]);
  expectAnswers(FLOATS, inOneGroup([-0, -0]), [0]);
});

test('SUM of FLOAT64 breaks ties to even, and sees the smallest bit beside a tie', () => {
  const half = 2 ** -53; // Half of the last bit of 1.
  assert.equal(floatSum(1, half), 1);
  assert.equal(floatSum(1 + 2 * half, half), 1 + 4 * half);
  assert.equal(floatSum(1, half, Number.MIN_VALUE), 1 + 2 * half);
  assert.equal(floatSum(1, half, -Number.MIN_VALUE), 1);
  assert.equal(floatSum(-1, -half, -Number.MIN_VALUE), -1 - 2 * half);
});

test('SUM of FLOAT64 beyond a double is an error; AVG of the same is not', () => {
  const overflows = (error: unknown): boolean =>
    error instanceof QueryError && error.code === 'query_failed';
  assert.throws(() => floatSum(1e308, 1e308), overflows);
  assert.throws(() => floatSum(Number.MAX_VALUE, 2 ** 970), overflows);
  assert.equal(floatSum(Number.MAX_VALUE, 2 ** 969), Number.MAX_VALUE);
  expectAnswers(AVERAGES, inOneGroup([1e308, 1e308]), [1e308]);
  expectAnswers(AVERAGES, inOneGroup([-Number.MAX_VALUE, -Number.MAX_VALUE]), [-Number.MAX_VALUE]);
});

test('NaN and infinities sum as IEEE 754 has it, in each group for itself', () => {
  const { POSITIVE_INFINITY: infinity } = Number;
  expectAnswers(
    FLOATS,
    [
      [0, infinity],
      [0, 1.5],
      [1, -infinity],
      [2, infinity],
      [2, -infinity],
      [3, Number.NaN],
      [3, infinity],
      [4, 0.5],
    ],
    [infinity, -infinity, Number.NaN, Number.NaN, 0.5],
  );
});

test('a sum of numbers of events is an INT64 while all are whole, else a FLOAT64', () => {
  const numbers = maker('sum', NUMBER);
  expectAnswers(numbers, inOneGroup([2n ** 53n, 1, null]), [2n ** 53n + 1n]);
  expectAnswers(numbers, inOneGroup([2n ** 62n, 2n ** 62n - 1n]), [2n ** 63n - 1n]);
  expectAnswers(numbers, inOneGroup([2n ** 62n, 2n ** 62n, -5]), [2n ** 63n - 5n]);
  expectAnswers(numbers, inOneGroup([2 ** 53 - 1, 1, 1]), [2n ** 53n + 1n]);
  expectAnswers(numbers, inOneGroup([1, 2]), [3]);
  expectAnswers(numbers, inOneGroup([2n ** 53n, 1, 0.5, 0.5]), [2 ** 53 + 2]);
  expectAnswers(numbers, inOneGroup([2n ** 60n, 0.5, -(2n ** 60n)]), [0.5]);
  expectAnswers(numbers, inOneGroup([1e300, 1]), [1e300]);
  expectAnswers(maker('avg', NUMBER), inOneGroup([2n ** 62n, -(2n ** 62n), 3]), [1]);
});

test('integer sums hand over to exact sums at 2^53', () => {
  expectAnswers(FLOATS, inOneGroup([2 ** 53 - 1, 1, 1, 0, -(2 ** 53)]), [1]);
  expectAnswers(FLOATS, inOneGroup([2 ** 60, 1, -(2 ** 60)]), [1]);
});

test('any doubles sum to the double nearest to their exact sum', () => {
  const double = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.double({ noNaN: true, min: -1e3, max: 1e3 }),
    fc.integer(),
    fc.constantFrom(1e16, -1e16, 2 ** -1074, 2 ** -1022, 1e308, -1e308, 2 ** 53),
  );
  fc.assert(
    fc.property(fc.array(double, { minLength: 1, maxLength: 40 }), (values) => {
      const exact = values.reduce((sum, value) => sum + exactly(value), 0n);
      if (absolute(exact) >= exactly(Number.MAX_VALUE)) return;
      const sum = feed(FLOATS(), inOneGroup(values), 1, asNumbers).finalize(0) as number;
      const distance = absolute(exactly(sum) - exact);
      for (const neighbour of neighbours(sum)) {
        const other = absolute(exactly(neighbour) - exact);
        assert.ok(distance < other || (distance === other && isEven(sum)), `${values} to ${sum}`);
      }
    }),
    { numRuns: 1000 },
  );
});

test('sums and averages do not depend on order, splits or forms of vectors', () => {
  const float = fc.oneof(
    fc.double({ noNaN: true, min: -1e300, max: 1e300 }),
    fc.integer(),
    fc.constant(null),
  );
  expectOrderFree(FLOATS, float);
  expectOrderFree(AVERAGES, fc.oneof(float, fc.double()));
  const integer = fc.oneof(
    fc.maxSafeInteger(),
    fc.bigInt({ min: 2n ** 53n, max: 2n ** 55n }),
    fc.bigInt({ min: -(2n ** 55n), max: -(2n ** 53n) }),
    fc.constant(null),
  );
  expectOrderFree(INTEGERS, integer);
  expectOrderFree(maker('avg', INT64), integer);
});

test('a million additions carry in time', () => {
  const count = 2 ** 21 + 5;
  const value = 1 - 2 ** -53;
  const state = FLOATS();
  const groups = new Int32Array(count);
  const vector = { kind: 'number', count, values: new Float64Array(count).fill(value) } as const;
  state.update(groups, count, 1, [{ ...vector, nulls: undefined }]);
  const exact = BigInt(count) * exactly(value);
  assert.ok(absolute(exactly(state.finalize(0) as number) - exact) <= exactly(2 ** -32));
});

/** The double as a multiple of 2^-1074. */
function exactly(value: number): bigint {
  let mantissa = value;
  let exponent = 0;
  while (!Number.isInteger(mantissa)) {
    mantissa *= 2;
    exponent--;
  }
  return BigInt(mantissa) << BigInt(1074 + exponent);
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}

const BITS = new BigInt64Array(1);
const DOUBLES = new Float64Array(BITS.buffer);

function isEven(value: number): boolean {
  DOUBLES[0] = value;
  return (BITS[0]! & 1n) === 0n;
}

function neighbours(value: number): number[] {
  if (value === 0) return [Number.MIN_VALUE, -Number.MIN_VALUE];
  const both = [1n, -1n].map((step) => {
    DOUBLES[0] = value;
    BITS[0]! += step;
    return DOUBLES[0]!;
  });
  return both.filter(Number.isFinite);
}
