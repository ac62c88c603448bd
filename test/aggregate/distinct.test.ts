import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DYNAMIC, FLOAT64, INT64, STRING } from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import { dictionaryVector } from '../../engine/column/vector.ts';
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
