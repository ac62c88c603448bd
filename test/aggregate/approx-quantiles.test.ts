import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BOOL, DYNAMIC, FLOAT64, INT64, INTERVAL, STRING } from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import { numberVector } from '../../engine/column/vector.ts';
import { EXACT_QUANTILE_VALUES_MAX, QUANTILES_MAX } from '../../engine/limits.ts';
import { QueryError } from '../../engine/query-error.ts';
import type { Row, StateMaker } from './rows-of-groups.ts';
import {
  answers,
  combined,
  distinctMaker,
  expectAnswers,
  expectOrderFree,
  maker,
} from './rows-of-groups.ts';

function inOneGroup(values: readonly SqlValue[]): Row[] {
  return values.map((value) => [0, value]);
}

/** The rule itself, in integers: sorted[max(ceil(i·N/n) − 1, 0)]. */
function quantilesOf(values: readonly number[], n: number): number[] {
  const sorted = values.toSorted((left, right) => left - right);
  return Array.from({ length: n + 1 }, (_, i) => {
    const rank = (BigInt(i) * BigInt(sorted.length) + BigInt(n) - 1n) / BigInt(n);
    return sorted[Math.max(Number(rank) - 1, 0)]!;
  });
}

test('quantiles of no values are NULL', () => {
  expectAnswers(maker('approx_quantiles', INT64, [4]), [], [null]);
  expectAnswers(maker('approx_quantiles', INT64, [4]), inOneGroup([null, null]), [null]);
});

test('n quantiles are n + 1 values of the data by nearest rank, NULLs left out', () => {
  const four = maker('approx_quantiles', INT64, [4]);
  expectAnswers(four, inOneGroup([7]), [[7, 7, 7, 7, 7]]);
  expectAnswers(four, inOneGroup([30, null, 10]), [[10, 10, 10, 30, 30]]);
  expectAnswers(maker('approx_quantiles', FLOAT64, [1]), inOneGroup([2.5, -1, 9]), [[-1, 9]]);
});

test('quantiles of INTERVALs are INTERVALs, a month as long as 30 days', () => {
  const interval = (months: number, days: number, us: number) => ({ months, days, us });
  const [least, greatest] = [interval(-120_000, 0, 0), interval(120_000, 0, 0)];
  const values = [interval(0, 31, 0), greatest, interval(1, 0, -1), interval(0, 29, 0), least];
  expectAnswers(maker('approx_quantiles', INTERVAL, [4]), inOneGroup([...values, null]), [
    [least, interval(0, 29, 0), interval(1, 0, -1), interval(0, 31, 0), greatest],
  ]);
  expectAnswers(maker('approx_quantiles', INTERVAL, [1]), inOneGroup([null]), [null]);
});

test('any number of values and of quantiles follow the rule', () => {
  for (const count of [1, 2, 99, 100, 101, 1000]) {
    // Small integers, large ones, negative ones and fractions, with repeats.
    const values = Array.from({ length: count }, (_, index) => {
      const spread = (index * 7919) % 613;
      return [spread, spread * 1000, -spread, spread / 8][index % 4]! + 0;
    });
    for (const n of [1, 2, 3, 100, 101]) {
      const [quantiles] = answers(maker('approx_quantiles', FLOAT64, [n]), inOneGroup(values), 1);
      assert.deepEqual(quantiles, quantilesOf(values, n));
    }
  }
});

test('the number of quantiles must be from 1 to its limit', () => {
  for (const n of [0, -1, QUANTILES_MAX + 1, null]) {
    assert.throws(
      () => maker('approx_quantiles', INT64, [n])(),
      (error) => error instanceof QueryError && error.message.includes(`got ${n ?? 'NULL'}`),
    );
  }
  const [most] = answers(maker('approx_quantiles', INT64, [QUANTILES_MAX]), inOneGroup([1, 2]), 1);
  assert.equal((most as number[]).length, QUANTILES_MAX + 1);
});

test('the values around the end of the histograms are told apart', () => {
  const values = [63, 64, 65, 65_535, 65_536, 65_537, 0, -1];
  const eight = maker('approx_quantiles', INT64, [8]);
  // Often enough that a histogram pays.
  const rows = Array.from({ length: 8000 }, (_, index): Row => [0, values[index & 7]!]);
  const expected = [-1, -1, 0, 63, 64, 65, 65_535, 65_536, 65_537];
  assert.deepEqual(answers(eight, rows, 1), [expected]);
  assert.deepEqual(combined(eight, [rows.slice(0, 5000), rows.slice(5000)], 1), [expected]);
});

test('NaN comes first, infinities where they belong, -0 as 0', () => {
  const { NaN: nan, POSITIVE_INFINITY: infinity } = Number;
  expectAnswers(
    maker('approx_quantiles', FLOAT64, [4]),
    inOneGroup([infinity, -0, nan, -infinity]),
    [[nan, nan, -infinity, 0, infinity]],
  );
});

test('strings and booleans have quantiles too', () => {
  expectAnswers(maker('approx_quantiles', STRING, [2]), inOneGroup(['b', 'c', 'a']), [
    ['a', 'b', 'c'],
  ]);
  expectAnswers(maker('approx_quantiles', BOOL, [2]), inOneGroup([true, null, false, false]), [
    [false, false, true],
  ]);
});

test('a DYNAMIC group has the quantiles of its numbers, else its strings, else its booleans', () => {
  const rows: Row[] = [
    [0, 'x'],
    [0, 2n ** 60n],
    [0, 1.5],
    [0, true],
    [1, false],
    [1, 'x'],
    [2, false],
    [3, null],
  ];
  expectAnswers(maker('approx_quantiles', DYNAMIC, [2]), rows, [
    [1.5, 1.5, 2n ** 60n],
    ['x', 'x', 'x'],
    [false, false, false],
    null,
  ]);
});

test('exact quantiles do not depend on order, splits or forms of vectors', () => {
  const number = fc.oneof(
    fc.double(),
    fc.integer({ min: -5, max: 100 }),
    fc.constantFrom(65_535, 65_536, -0, 2 ** 60, 2n ** 60n),
  );
  const any = fc.oneof(number, fc.constantFrom('a', 'b', '\u{1f600}', true, false, null));
  expectOrderFree(maker('approx_quantiles', DYNAMIC, [7]), any);
  expectOrderFree(maker('approx_quantiles', FLOAT64, [100]), fc.option(fc.double()));
  const overload = distinctMaker('count', DYNAMIC);
  expectOrderFree(overload, any, 20);
});

test('as many distinct values as the limit are exact, however they are split', () => {
  const values = Array.from({ length: EXACT_QUANTILE_VALUES_MAX }, (_, index) => index + 0.5);
  const hundred = maker('approx_quantiles', FLOAT64, [100]);
  const halves = [inOneGroup(values), inOneGroup(values.slice(100, 9000))];
  const expected = quantilesOf([...values, ...values.slice(100, 9000)], 100);
  assert.deepEqual(combined(hundred, halves, 1), [expected]);
});

test('more distinct strings than the limit are refused, where strings are asked for', () => {
  const words = Array.from({ length: EXACT_QUANTILE_VALUES_MAX + 1 }, (_, index) => `${index}`);
  const two = maker('approx_quantiles', DYNAMIC, [2]);
  assert.throws(
    () => combined(two, [inOneGroup(words.slice(0, 9)), inOneGroup(words.slice(9))], 1),
    (error) => error instanceof QueryError && error.code === 'query_limit',
  );
  assert.deepEqual(answers(two, inOneGroup([...words, 4]), 1), [[4, 4, 4]]);
  assert.ok(Array.isArray(answers(two, inOneGroup(words.slice(1)), 1)[0]));
});

const MANY = 1_000_000;

/** A million skewed values, mostly distinct: e to the power of a roughly normal number. */
function skewedValues(): Float64Array {
  let state = 0x9e3779b9;
  const random = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  return Float64Array.from({ length: MANY }, () =>
    Math.exp(2 * (random() + random() + random() + random() - 2) + 4),
  );
}

/** Asserts that each element lies within 0.1 % of its rank, and is a value of the data. */
function expectRanks(sorted: Float64Array, quantiles: SqlValue): void {
  const elements = quantiles as number[];
  const n = elements.length - 1;
  elements.forEach((element, i) => {
    const first = lowerBound(sorted, element);
    assert.equal(sorted[first], element, 'an element is a value of the data');
    const wanted = Math.max(Math.ceil((i * sorted.length) / n) - 1, 0);
    assert.ok(Math.abs(first - wanted) <= sorted.length / 1000, `element ${i} is ${first}`);
  });
  assert.equal(elements[0], sorted[0]);
  assert.equal(elements[n], sorted.at(-1));
}

function lowerBound(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function feedNumbers(make: StateMaker, values: Float64Array): ReturnType<StateMaker> {
  const state = make();
  const groups = new Int32Array(2048);
  for (let start = 0; start < values.length; start += 2048) {
    const chunk = values.subarray(start, start + 2048);
    state.update(groups, chunk.length, 1, [numberVector(chunk, chunk.length)]);
  }
  return state;
}

test('law 3: a million distinct values: ranks are off by 0.1 % at most, whole or combined', () => {
  const values = skewedValues();
  const sorted = values.toSorted();
  const make = maker('approx_quantiles', FLOAT64, [1000]);
  const whole = feedNumbers(make, values).finalize(0);
  expectRanks(sorted, whole);
  assert.deepEqual(feedNumbers(make, values).finalize(0), whole, 'the same again');

  const state = make();
  for (let part = 0; part < 10; part++) {
    const start = (part * MANY) / 10;
    const partial = feedNumbers(make, values.subarray(start, start + MANY / 10)).partial(1);
    state.combine(structuredClone(partial), Int32Array.of(0), 1);
  }
  expectRanks(sorted, state.finalize(0));
});

test('values that only rise keep their ranks', () => {
  const rising = Float64Array.from({ length: 300_000 }, (_, index) => index * 1.25 + 0.125);
  const make = maker('approx_quantiles', FLOAT64, [100]);
  expectRanks(rising, feedNumbers(make, rising).finalize(0));
});
