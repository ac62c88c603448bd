import { test } from 'node:test';
import fc from 'fast-check';
import { BOOL, DYNAMIC, FLOAT64, INT64, STRING } from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import { anyCodePoint } from '../support/code-point.ts';
import type { Row } from './rows-of-groups.ts';
import { distinctMaker, expectAnswers, expectOrderFree, maker } from './rows-of-groups.ts';

function inOneGroup(values: readonly SqlValue[]): Row[] {
  return values.map((value) => [0, value]);
}

test('MIN and MAX leave NULLs out and give NULL for nothing', () => {
  const rows: Row[] = [
    [0, 5],
    [0, null],
    [0, -3],
    [1, null],
    [2, 7],
  ];
  expectAnswers(maker('min', INT64), rows, [-3, null, 7]);
  expectAnswers(maker('max', INT64), rows, [5, null, 7]);
  expectAnswers(maker('any_value', INT64), rows, [-3, null, 7]);
});

test('infinities are values like others, and one NaN makes all NaN', () => {
  const { POSITIVE_INFINITY: infinity, NaN: nan } = Number;
  const rows: Row[] = [
    [0, infinity],
    [1, -infinity],
    [2, 1],
    [2, nan],
    [2, 0],
    [3, infinity],
    [3, 4],
  ];
  expectAnswers(maker('min', FLOAT64), rows, [infinity, -infinity, nan, 4]);
  expectAnswers(maker('max', FLOAT64), rows, [infinity, -infinity, nan, infinity]);
});

test('of -0 and 0 the answer is 0', () => {
  for (const name of ['min', 'max']) {
    expectAnswers(maker(name, FLOAT64), inOneGroup([-0, 0]), [0]);
    expectAnswers(maker(name, FLOAT64), inOneGroup([-0]), [0]);
  }
});

test('integers beyond 2^53 are compared exactly', () => {
  const values = [2n ** 53n + 1n, 2n ** 53n, 5, -(2n ** 60n)];
  expectAnswers(maker('min', INT64), inOneGroup(values), [-(2n ** 60n)]);
  expectAnswers(maker('max', INT64), inOneGroup(values), [2n ** 53n + 1n]);
  expectAnswers(maker('max', DYNAMIC), inOneGroup([2 ** 60, 2n ** 60n]), [2n ** 60n]);
  expectAnswers(maker('max', DYNAMIC), inOneGroup([2 ** 60, 2n ** 60n - 1n]), [2 ** 60]);
});

test('strings are ordered by code point, not by UTF-16 unit', () => {
  const values = ['b', 'a', '', '\u{1f600}', '\uffee', 'ab'];
  expectAnswers(maker('min', STRING), inOneGroup(values), ['']);
  expectAnswers(maker('max', STRING), inOneGroup(values), ['\u{1f600}']);
});

test('FALSE is less than TRUE', () => {
  const rows: Row[] = [
    [0, true],
    [0, false],
    [1, true],
    [2, null],
  ];
  expectAnswers(maker('min', BOOL), rows, [false, true, null]);
  expectAnswers(maker('max', BOOL), rows, [true, true, null]);
});

test('a DYNAMIC group is ordered by its numbers, else its strings, else its booleans', () => {
  const rows: Row[] = [
    [0, 'zebra'],
    [0, 10],
    [0, true],
    [0, 9.5],
    [1, 'b'],
    [1, false],
    [1, 'a'],
    [2, true],
    [2, null],
    [3, null],
  ];
  expectAnswers(maker('min', DYNAMIC), rows, [9.5, 'a', true, null]);
  expectAnswers(maker('max', DYNAMIC), rows, [10, 'b', true, null]);
});

test('extremes do not depend on order, splits or forms of vectors', () => {
  const number = fc.oneof(
    fc.double(),
    fc.integer({ min: -3, max: 3 }),
    fc.bigInt({ min: 2n ** 53n, max: 2n ** 54n }),
    fc.constantFrom(2 ** 53, 2 ** 53 + 2, -0),
  );
  const any = fc.oneof(number, fc.string(), fc.boolean(), fc.constant(null));
  for (const name of ['min', 'max', 'any_value']) {
    expectOrderFree(maker(name, DYNAMIC), any);
    expectOrderFree(maker(name, FLOAT64), fc.double());
    expectOrderFree(maker(name, STRING), fc.option(fc.string({ unit: anyCodePoint })));
    expectOrderFree(maker(name, BOOL), fc.option(fc.boolean()));
    expectOrderFree(distinctMaker(name, DYNAMIC), any, 50);
  }
});
