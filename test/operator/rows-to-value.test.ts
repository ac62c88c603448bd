import { deepEqual, equal, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { valueAt } from '../../engine/column/vector.ts';
import { LimitPerOperator } from '../../engine/operator/row-wise.ts';
import {
  AnyRows,
  ArrayRows,
  ExistsRows,
  type RowsToValue,
  ScalarRows,
} from '../../engine/plan/apply.ts';
import { QueryError } from '../../engine/query-error.ts';
import { chunkOf, type Row, RowSink } from './harness.ts';

/** Columns of all rows here: the value, then the ordinal. */
const COLUMNS = { value: 0, ordinal: 1 };

/** Expects the values of the rows outside, whether the rows come in one chunk or one by one. */
function expectValues(
  start: (options: { count: number; value: number; ordinal: number }) => RowsToValue,
  rows: readonly Row[],
  values: Row,
): void {
  for (const chunks of [[rows], rows.map((row) => [row])]) {
    const sink = start({ ...COLUMNS, count: values.length });
    for (const chunk of chunks) sink.push(chunkOf(chunk, 2));
    const vector = sink.finish();
    equal(vector.count, values.length);
    deepEqual(
      values.map((_, index) => valueAt(vector, index)),
      values,
    );
  }
}

const scalar = (options: ConstructorParameters<typeof ScalarRows>[0]) => new ScalarRows(options);
const array = (options: ConstructorParameters<typeof ArrayRows>[0]) => new ArrayRows(options);
const exists = (options: ConstructorParameters<typeof ExistsRows>[0]) => new ExistsRows(options);
const any = (options: ConstructorParameters<typeof AnyRows>[0]) => new AnyRows(options);

test('a row outside has the value of its only row, and NULL without one', () => {
  expectValues(
    scalar,
    [
      ['b', 2],
      ['a', 0],
    ],
    ['a', null, 'b'],
  );
  expectValues(scalar, [], [null, null]);
  expectValues(scalar, [[null, 1]], [null, null]);
});

test('two rows for one row outside are an error, also when they are equal or in two chunks', () => {
  const rows = [
    [7, 1],
    [7, 1],
  ];
  throws(() => expectValues(scalar, rows, [null, null]), QueryError);
  const sink = scalar({ ...COLUMNS, count: 2 });
  sink.push(chunkOf([[7, 1]]));
  throws(() => sink.push(chunkOf([[7, 1]])), /returned more than one row/);
});

test('an array has the values of its rows in their order, NULLs among them', () => {
  expectValues(
    array,
    [
      [3, 1],
      [1, 0],
      [null, 1],
      [2, 1],
    ],
    [[1], [3, null, 2], []],
  );
});

test('rows exist for the rows outside that have any, and no more are wanted when all have', () => {
  expectValues(exists, [[null, 1]], [false, true]);
  const sink = exists({ ...COLUMNS, count: 2 });
  equal(sink.push(chunkOf([[0, 1]])), true);
  equal(sink.push(chunkOf([[0, 1]])), true);
  equal(sink.push(chunkOf([[0, 0]])), false);
});

test('any is TRUE by one row, NULL by one that is unknown, FALSE without a row', () => {
  expectValues(
    any,
    [
      [false, 0],
      [true, 1],
      [null, 1],
      [null, 2],
      [false, 2],
    ],
    [false, true, null, false],
  );
});

test('without ordinals all rows are of the one row outside', () => {
  const sink = new ArrayRows({ count: 1, value: 0 });
  sink.push(chunkOf([[1], [2]]));
  deepEqual(valueAt(sink.finish(), 0), [1, 2]);
});

test('a limit counts the rows of each ordinal apart, however they mix', () => {
  const rows: readonly Row[] = [
    ['a', 0],
    ['p', 1],
    ['b', 0],
    ['c', 0],
    ['q', 1],
    ['d', 0],
  ];
  for (const chunks of [[rows], rows.map((row) => [row])]) {
    const sink = new RowSink(2);
    const limit = new LimitPerOperator({ count: 2, offset: 1, per: 1 }, sink);
    for (const chunk of chunks) limit.push(chunkOf(chunk, 2));
    deepEqual(sink.rows, [
      ['b', 0],
      ['c', 0],
      ['q', 1],
    ]);
  }
});

test('an offset alone passes on all rows behind it, and a limit of none passes none', () => {
  const rows: readonly Row[] = [
    ['a', 0],
    ['b', 0],
    ['p', 1],
  ];
  const kept = (count: number, offset: number) => {
    const sink = new RowSink(2);
    new LimitPerOperator({ count, offset, per: 1 }, sink).push(chunkOf(rows));
    return sink.rows;
  };
  deepEqual(kept(Infinity, 1), [['b', 0]]);
  deepEqual(kept(0, 0), []);
});
