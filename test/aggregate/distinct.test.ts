import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { AggregateState } from '../../engine/aggregate/aggregate-function.ts';
import { DISTINCT_FED_MAX } from '../../engine/aggregate/distinct.ts';
import { BOOL, DYNAMIC, FLOAT64, INT64, STRING } from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import { dictionaryVector, numberVector, type Vector } from '../../engine/column/vector.ts';
import { budgetOf } from '../support/budget.ts';
import type { Row } from './rows-of-groups.ts';
import { answers, distinctMaker, expectAnswers, expectOrderFree } from './rows-of-groups.ts';

test('COUNT(DISTINCT x) counts each value once a group, and no NULL', () => {
  expectAnswers(
    distinctMaker('count', STRING),
    [
      [0, 'a'],
      [0, 'b'],
      [0, 'a'],
      [1, 'a'],
      [1, null],
      [2, null],
    ],
    [2, 1, 0],
  );
});

test('numbers are distinct by value: 0 and -0 are one, NaN is one, 2^60 in both forms is one', () => {
  const count = distinctMaker('count', DYNAMIC);
  const rows = [0, -0, Number.NaN, Number.NaN, 2 ** 60, 2n ** 60n].map((value): Row => [0, value]);
  expectAnswers(count, rows, [3]);
  expectAnswers(
    count,
    [
      [0, 1],
      [0, '1'],
      [0, true],
      [0, 'true'],
    ],
    [4],
  );
});

test('other aggregates see each value once', () => {
  const rows: Row[] = [
    [0, 2],
    [0, 2],
    [0, 3.5],
    [1, 2],
    [1, null],
  ];
  expectAnswers(distinctMaker('sum', FLOAT64), rows, [5.5, 2]);
  expectAnswers(distinctMaker('avg', FLOAT64), rows, [2.75, 2]);
  expectAnswers(
    distinctMaker('sum', INT64),
    [
      [0, 2n ** 53n],
      [0, 2n ** 53n],
    ],
    [2n ** 53n],
  );
});

test('COUNTIF(DISTINCT condition) counts TRUE once, and nothing else', () => {
  const rows: Row[] = [
    [0, true],
    [0, false],
    [0, true],
    [1, false],
    [1, null],
  ];
  expectAnswers(distinctMaker('countif', BOOL), rows, [1, 0]);
});

test('equal codes of two dictionaries may mean different values', () => {
  const state = distinctMaker('count', STRING)();
  for (const words of [
    ['a', 'b'],
    ['b', 'c'],
  ]) {
    const dictionary = { size: 2, isDistinct: true, value: (code: number) => words[code]! };
    const vector = dictionaryVector(Int32Array.of(0, 1, 1, -1), 4, dictionary);
    state.update(Int32Array.of(0, 0, 0, 0), 4, 1, [vector]);
  }
  assert.equal(state.finalize(0), 3);
});

test('many groups and values are counted as a Set counts them', () => {
  const rows: Row[] = [];
  for (let index = 0; index < 60_000; index++) {
    rows.push([(index * 7919) % 3000, `${(index * 104_729) % 12_007}`]);
  }
  const expected = Array.from({ length: 3000 }, () => new Set<SqlValue>());
  for (const [group, value] of rows) expected[group]!.add(value);
  assert.deepEqual(
    answers(distinctMaker('count', STRING), rows, 3000),
    expected.map((values) => values.size),
  );
});

test('distinct aggregates do not depend on order, splits or forms of vectors', () => {
  const value = fc.oneof(
    fc.integer({ min: 0, max: 5 }),
    fc.double(),
    fc.constantFrom('a', 'b', true, null, 2 ** 60, 2n ** 60n, -0),
  );
  expectOrderFree(distinctMaker('count', DYNAMIC), value);
  expectOrderFree(distinctMaker('sum', FLOAT64), fc.double({ noNaN: true, min: -1e9, max: 1e9 }));
});

test('values are handed on some at a time, and none is left out at the edges', () => {
  for (const count of [0, 1, DISTINCT_FED_MAX - 1, DISTINCT_FED_MAX, DISTINCT_FED_MAX + 1]) {
    const values = Array.from({ length: count }, (_, index) => index + 1);
    const sum = count === 0 ? null : (count * (count + 1)) / 2;
    const rows = [...values, ...values].map((value): Row => [0, value]);
    assert.deepEqual(answers(distinctMaker('sum', INT64), rows, 1), [sum]);
    const texts = rows.map(([, value]): Row => [0, String(value)]);
    const greatest = values.map(String).toSorted().at(-1) ?? null;
    assert.deepEqual(answers(distinctMaker('max', STRING), texts, 1), [greatest]);
  }
});

/** More than a limit by count allowed once. */
const VALUE_COUNT = budgetOf('WEIR_DISTINCT_VALUES', { fast: 2_100_000, all: 5_000_000 });
const CHUNK_ROWS = 60_000;

test('millions of numbers are summed exactly, each once where two states have it', () => {
  const vectorOf = (first: number, count: number) =>
    numberVector(
      Float64Array.from({ length: count }, (_, index) => 7 * (first + index)),
      count,
    );
  const sum = distinctMaker('sum', INT64);
  const third = Math.floor(VALUE_COUNT / 3);
  const all = fed(sum(), [0, 2 * third], vectorOf);
  all.combine(fed(sum(), [third, VALUE_COUNT], vectorOf).partial(1), Int32Array.of(0), 1);
  assert.equal(all.finalize(0), (7 * VALUE_COUNT * (VALUE_COUNT - 1)) / 2);
});

test('millions of texts are counted exactly, by group', () => {
  const state = fed(distinctMaker('count', STRING)(), [0, VALUE_COUNT], textVector, GROUP_COUNT);
  // Those of the first chunk are met again, each in its group.
  fed(state, [0, CHUNK_ROWS], textVector, GROUP_COUNT);
  const perGroup = VALUE_COUNT / GROUP_COUNT;
  const expected = Array.from({ length: GROUP_COUNT }, () => perGroup);
  const found = expected.map((_, group) => state.finalize(group));
  assert.deepEqual(found, expected);
});

/** A divisor of all that the budget may be by default. */
const GROUP_COUNT = 20;

/** Adds the values [start, end) to a state; value `i` is of group `i % groupCount`. */
function fed(
  state: AggregateState,
  [start, end]: readonly [start: number, end: number],
  vectorOf: (first: number, count: number) => Vector,
  groupCount = 1,
): AggregateState {
  for (let first = start; first < end; first += CHUNK_ROWS) {
    const count = Math.min(CHUNK_ROWS, end - first);
    const groups = Int32Array.from({ length: count }, (_, index) => (first + index) % groupCount);
    state.update(groups, count, groupCount, [vectorOf(first, count)]);
  }
  return state;
}

/** Texts of eight letters, `count` of them from number `first` on. */
function textVector(first: number, count: number): Vector {
  const size = 8;
  const bytes = new Uint8Array(size * count);
  for (let code = 0; code < count; code++) {
    for (let at = 0, rest = first + code; at < size; at++, rest = Math.floor(rest / 26)) {
      bytes[size * code + at] = 0x61 + (rest % 26);
    }
  }
  const offsets = Uint32Array.from({ length: count + 1 }, (_, code) => size * code);
  const codes = Int32Array.from({ length: count }, (_, code) => code);
  const range = (code: number) => ({ bytes, start: offsets[code]!, end: offsets[code + 1]! });
  const value = (code: number) =>
    Buffer.from(bytes.subarray(offsets[code], offsets[code + 1])).toString();
  const dictionary = { size: count, isDistinct: true, strings: { bytes, offsets }, range, value };
  return dictionaryVector(codes, count, dictionary);
}
