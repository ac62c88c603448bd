import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ColumnSource, VectorFunction } from '../../engine/column/chunk.ts';
import { LazyChunk } from '../../engine/column/chunk.ts';
import { constantVector, valueAt } from '../../engine/column/vector.ts';
import { FilterOperator, LimitOperator, ProjectOperator } from '../../engine/operator/row-wise.ts';
import type { Sink } from '../../engine/operator/sink.ts';
import { booleans, chunkOf, column, expectRows, numbers, RowSink } from './harness.ts';

test('keeps the rows for which every conjunct is TRUE, and none where one is NULL', () => {
  expectRows(
    { width: 2, make: (sink) => new FilterOperator([column(1), column(2)], sink) },
    [
      [1, true, true],
      [2, true, false],
      [3, true, null],
      [4, null, true],
      [5, true, true],
    ],
    [
      [1, true],
      [5, true],
    ],
  );
});

test('evaluates a later conjunct on the rows that passed the earlier ones only', () => {
  const seen: unknown[] = [];
  const spy: VectorFunction = (chunk) => {
    for (let row = 0; row < chunk.count; row++) seen.push(valueAt(chunk.column(0), row));
    return constantVector(true, chunk.count);
  };
  const sink = new RowSink(1);
  new FilterOperator([column(1), spy], sink).push(
    chunkOf([
      [1, false],
      [2, true],
      [3, false],
      [4, true],
    ]),
  );
  assert.deepEqual(seen, [2, 4]);
  assert.deepEqual(sink.rows, [[2], [4]]);
});

test('takes constants as verdicts: TRUE passes the chunk itself, NULL and FALSE nothing', () => {
  const chunk = chunkOf([[1], [2]]);
  for (const [value, rows] of [
    [true, [[1], [2]]],
    [false, []],
    [null, []],
  ] as const) {
    const sink = new RowSink(1);
    new FilterOperator([(input) => constantVector(value, input.count)], sink).push(chunk);
    assert.deepEqual(sink.rows, rows);
  }
});

test('reads a column of a lazy chunk once, and after a filter for the rows left only', () => {
  const reads: string[] = [];
  const columnsOf = (rows: readonly number[]): ColumnSource => ({
    column: (index) => {
      reads.push(`${index}: ${rows.join(' ')}`);
      return index === 0 ? booleans(rows.map((row) => row % 2 === 0)) : numbers(rows);
    },
    select: (positions, count) =>
      columnsOf(Array.from(positions.subarray(0, count), (position) => rows[position]!)),
  });
  const sink = new RowSink(2);
  new FilterOperator([column(0), column(0)], sink).push(new LazyChunk(columnsOf([0, 1, 2, 3]), 4));
  assert.deepEqual(sink.rows, [
    [true, 0],
    [true, 2],
  ]);
  assert.deepEqual(reads, ['0: 0 1 2 3', '1: 0 2']);
});

test('computes a projected column when it is read, for the rows it is read for', () => {
  let evaluatedRows = 0;
  const spy: VectorFunction = (chunk) => {
    evaluatedRows += chunk.count;
    return chunk.column(0);
  };
  const sink = new RowSink(1);
  const filter = new FilterOperator([column(1)], sink);
  const project = new ProjectOperator([spy, column(1)], filter);
  project.push(
    chunkOf([
      [1, false],
      [2, true],
      [3, false],
    ]),
  );
  assert.deepEqual(sink.rows, [[2]]);
  assert.equal(evaluatedRows, 1);
});

test('skips the offset, passes the count, and then wants no more', () => {
  const rows = [[1], [2], [3], [4], [5]];
  const limit = (count: number, offset: number) => ({
    width: 1,
    make: (sink: Sink) => new LimitOperator({ count, offset }, sink),
  });
  expectRows(limit(2, 1), rows, [[2], [3]]);
  expectRows(limit(0, 0), rows, []);
  expectRows(limit(9, 3), rows, [[4], [5]]);
  expectRows(limit(Number.POSITIVE_INFINITY, 4), rows, [[5]]);
  expectRows(limit(2, 5), rows, []);

  const operator = new LimitOperator({ count: 2, offset: 1 }, new RowSink(1));
  assert.equal(operator.push(chunkOf([[1], [2]])), true);
  assert.equal(operator.push(chunkOf([[3], [4]])), false);
  assert.equal(operator.push(chunkOf([[5]])), false);
});

test('asks for no more when the sink behind a limit wants none', () => {
  const operator = new LimitOperator({ count: 10, offset: 0 }, new RowSink(1, 1));
  assert.equal(operator.push(chunkOf([[1]])), false);
});
