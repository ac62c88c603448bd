import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Chunk, VectorFunction } from '../../engine/column/chunk.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import { valueAt } from '../../engine/column/vector.ts';
import { JoinOperator, type JoinOptions, JoinTable } from '../../engine/operator/join.ts';
import { CollectSink, type Sink } from '../../engine/operator/sink.ts';
import { QueryError } from '../../engine/query-error.ts';
import { booleans, chunkOf, column, divisions, expectRows, type Row, RowSink } from './harness.ts';

function tableOf(rows: readonly Row[], width: number, keys: readonly VectorFunction[]): JoinTable {
  const sink = new CollectSink(width);
  for (const chunk of divisions(rows)[2]!) sink.push(chunk);
  return new JoinTable(sink.materialize(), keys);
}

function join(right: readonly Row[], options: Partial<JoinOptions> & { keyCount?: number }) {
  const keys = Array.from({ length: options.keyCount ?? 1 }, (_, index) => column(index));
  const table = tableOf(right, 2, keys);
  return {
    width: 4,
    make: (sink: Sink) =>
      new JoinOperator({ kind: 'inner', table, leftKeys: keys, leftWidth: 2, ...options }, sink),
  };
}

const LEFT: Row[] = [
  ['b', 1],
  [null, 2],
  ['a', 3],
  ['c', 4],
  ['a', 5],
];
const RIGHT: Row[] = [
  ['a', 10],
  ['b', 20],
  [null, 30],
  ['a', 40],
];

test('matches equal keys, never NULLs, in the order of the left rows, then of the right', () => {
  expectRows(join(RIGHT, {}), LEFT, [
    ['b', 1, 'b', 20],
    ['a', 3, 'a', 10],
    ['a', 3, 'a', 40],
    ['a', 5, 'a', 10],
    ['a', 5, 'a', 40],
  ]);
});

test('keeps left rows without a match in their place in a left join', () => {
  expectRows(join(RIGHT, { kind: 'left' }), LEFT, [
    ['b', 1, 'b', 20],
    [null, 2, null, null],
    ['a', 3, 'a', 10],
    ['a', 3, 'a', 40],
    ['c', 4, null, null],
    ['a', 5, 'a', 10],
    ['a', 5, 'a', 40],
  ]);
});

test('takes pairs that fail the rest of the condition for no matches', () => {
  const residual: VectorFunction = (chunk) =>
    booleans(
      Array.from(
        { length: chunk.count },
        (_, row) =>
          Number(valueAt(chunk.column(1), row)) * 10 <= Number(valueAt(chunk.column(3), row)),
      ),
    );
  expectRows(join(RIGHT, { kind: 'left', residual }), LEFT, [
    ['b', 1, 'b', 20],
    [null, 2, null, null],
    ['a', 3, 'a', 40],
    ['c', 4, null, null],
    ['a', 5, null, null],
  ]);
});

test('pairs every left row with every right row in a cross join', () => {
  expectRows(
    join(
      [
        [1, 2],
        [3, 4],
      ],
      { kind: 'cross', keyCount: 0, leftKeys: [] },
    ),
    [
      [5, 6],
      [7, 8],
    ],
    [
      [5, 6, 1, 2],
      [5, 6, 3, 4],
      [7, 8, 1, 2],
      [7, 8, 3, 4],
    ],
  );
});

test('joins with an empty right side: nothing, or NULLs for a left join', () => {
  expectRows(join([], {}), LEFT, []);
  expectRows(join([], { kind: 'cross', keyCount: 0, leftKeys: [] }), LEFT, []);
  expectRows(join([], { kind: 'left' }), [['a', 1]], [['a', 1, null, null]]);
});

test('tells values of different kinds apart, and takes equal numbers of any form for one', () => {
  const big = 2n ** 60n;
  expectRows(
    join(
      [
        ['1', 0],
        [1, 1],
        [true, 2],
        [big, 3],
        [Number.NaN, 4],
      ],
      {},
    ),
    [
      [1, 0],
      [Number(big), 0],
      [Number.NaN, 0],
      ['1', 0],
    ],
    [
      [1, 0, 1, 1],
      [Number(big), 0, big, 3],
      ['1', 0, '1', 0],
    ],
  );
});

test('splits its output at 2048 rows', () => {
  for (const count of [2047, 2048, 2049]) {
    const right = Array.from({ length: count }, (_, index) => ['a', index]);
    const sink = new RowSink(4);
    join(right, {}).make(sink).push(chunkOf(LEFT));
    assert.equal(sink.rows.length, 2 * count);
    assert.ok(sink.chunkSizes.every((size) => size <= 2048));
  }
});

test('gives what nested loops give, whatever the keys', () => {
  const key = fc.constantFrom<SqlValue>(null, 1, 2, 'x', 'y');
  const rows = fc.array(fc.tuple(key, key), { maxLength: 12 });
  fc.assert(
    fc.property(rows, rows, fc.boolean(), (left, right, isLeft) => {
      const matches = (one: Row, other: Row) =>
        one.every((value, index) => value !== null && value === other[index]);
      const expected = left.flatMap((row) => {
        const found = right.filter((other) => matches(row, other));
        if (found.length === 0 && isLeft) return [[...row, null, null]];
        return found.map((other) => [...row, ...other]);
      });
      if (left.length > 0) {
        expectRows(join(right, { kind: isLeft ? 'left' : 'inner', keyCount: 2 }), left, expected);
      }
    }),
    { numRuns: 60 },
  );
});

/** The rows of a full join of what is pushed chunk by chunk, those of its end included. */
function fullJoin(
  left: readonly Chunk[],
  right: readonly Row[],
  options: Partial<JoinOptions> = {},
) {
  const sink = new RowSink(4);
  const operator = join(right, { kind: 'full', ...options }).make(sink);
  for (const chunk of left) operator.push(chunk);
  operator.finish();
  return sink.rows;
}

test('a full join ends with the right rows that have had no partner', () => {
  const rows = fullJoin([chunkOf(LEFT.slice(2, 4)), chunkOf(LEFT.slice(1, 2))], RIGHT);
  assert.deepEqual(rows, [
    ['a', 3, 'a', 10],
    ['a', 3, 'a', 40],
    ['c', 4, null, null],
    [null, 2, null, null],
    [null, null, 'b', 20],
    [null, null, null, 30],
  ]);
});

test('a pair of a full join that fails the rest of the condition is none for either side', () => {
  const never: VectorFunction = (chunk) => booleans(Array(chunk.count).fill(false));
  const rows = fullJoin([chunkOf([['a', 1]])], [['a', 10]], { residual: never });
  assert.deepEqual(rows, [
    ['a', 1, null, null],
    [null, null, 'a', 10],
  ]);
});

test('a full join with an empty side gives the other', () => {
  assert.deepEqual(fullJoin([], [['a', 10]]), [[null, null, 'a', 10]]);
  assert.deepEqual(fullJoin([chunkOf([['a', 1]])], []), [['a', 1, null, null]]);
  assert.deepEqual(fullJoin([], []), []);
});

test('a full join stops at its end, too, when no more rows are wanted', () => {
  const sink = new RowSink(4, 1);
  const operator = join(RIGHT, { kind: 'full' }).make(sink);
  operator.push(chunkOf([['x', 1]]));
  assert.equal(operator.finish(), false);
  assert.deepEqual(sink.rows, [['x', 1, null, null]]);
});

test('refuses to hold more rows than allowed, naming the limit', () => {
  const sink = new CollectSink(1, 3);
  const chunk: Chunk = chunkOf([[1], [2]]);
  assert.equal(sink.push(chunk), true);
  assert.throws(
    () => sink.push(chunk),
    (error) =>
      error instanceof QueryError && error.code === 'query_limit' && /3 rows/.test(error.message),
  );
});

test('a table in the making stops when the query is to stop', () => {
  const rows = new CollectSink(1);
  rows.push(chunkOf(Array.from({ length: 5000 }, (_, row): Row => [row])));
  let count = 0;
  const stop = () => {
    if (++count === 2) throw new QueryError('query_cancelled', 'stop');
  };
  const table = new JoinTable(rows.materialize(), [column(0)], stop);
  const looked = rows.materialize();
  assert.throws(() => table.firstMatches([looked.column(0)], looked.count), { message: 'stop' });
});

test('a table forgets the keys of rows that found nothing, and finds the same as before', () => {
  const rows = new CollectSink(1);
  rows.push(chunkOf([['a'], [null], ['b'], [Number.NaN], ['a']]));
  const table = new JoinTable(rows.materialize(), [column(0)]);
  const wanted = chunkOf([['b'], ['a'], [null], [Number.NaN], ['c']]).column(0);
  const matches = () => [...table.firstMatches([wanted], wanted.count)];
  assert.deepEqual(matches(), [2, 0, -1, -1, -1]);
  for (let start = 0; start < 200_000; start += 2_000) {
    const strange = Array.from({ length: 2_000 }, (_, index): Row => [start + index]);
    const found = table.firstMatches([chunkOf(strange).column(0)], strange.length);
    assert.ok(found.every((row) => row === -1));
  }
  assert.deepEqual(matches(), [2, 0, -1, -1, -1]);
  assert.deepEqual([table.nextMatch(0), table.nextMatch(4)], [4, -1]);
});
