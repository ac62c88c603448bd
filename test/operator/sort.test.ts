import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { VectorChunk } from '../../engine/column/chunk.ts';
import { TextBlock } from '../../engine/column/text-block.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import { dictionaryVector, valueVector } from '../../engine/column/vector.ts';
import { compareByKey } from '../../engine/function/comparison.ts';
import type { Sink } from '../../engine/operator/sink.ts';
import { type OrderKey, SortSink, TopSink } from '../../engine/operator/sort.ts';
import { QueryError } from '../../engine/query-error.ts';
import { chunkOf, column, emittedRows, expectRows, type Row, RowSink } from './harness.ts';

const asc = (index: number): OrderKey => ({
  expression: column(index),
  descending: false,
  nullsFirst: true,
});
const desc = (index: number): OrderKey => ({
  expression: column(index),
  descending: true,
  nullsFirst: false,
});

function sort(keys: readonly OrderKey[], width = 2) {
  return { width, make: (_: Sink) => new SortSink({ keys, width }) };
}

function top(count: number, keys: readonly OrderKey[], width = 2) {
  return { width, make: (_: Sink) => new TopSink({ keys, width, count }) };
}

const ROWS: Row[] = [
  [3, 'c'],
  [1, 'b'],
  [null, 'a'],
  [3, 'a'],
  [2, null],
];

test('sorts by its keys, rows equal in all of them as they came', () => {
  expectRows(sort([asc(0)]), ROWS, [
    [null, 'a'],
    [1, 'b'],
    [2, null],
    [3, 'c'],
    [3, 'a'],
  ]);
  expectRows(sort([desc(0), asc(1)]), ROWS, [
    [3, 'a'],
    [3, 'c'],
    [2, null],
    [1, 'b'],
    [null, 'a'],
  ]);
  expectRows(sort([desc(1)]), ROWS, [
    [3, 'c'],
    [1, 'b'],
    [null, 'a'],
    [3, 'a'],
    [2, null],
  ]);
});

test('puts NULLs where the key says, apart from its direction', () => {
  const key = { expression: column(0), descending: true, nullsFirst: true };
  expectRows(sort([key], 1), [[1], [null], [2]], [[null], [2], [1]]);
  expectRows(
    sort([{ ...key, descending: false, nullsFirst: false }], 1),
    [[1], [null], [0]],
    [[0], [1], [null]],
  );
});

test('sorts strings by code point, NaN before all numbers, and -0 with 0', () => {
  expectRows(
    sort([asc(0)], 1),
    [['😀'], ['z'], ['\uffff'], ['a']],
    [['a'], ['z'], ['\uffff'], ['😀']],
  );
  expectRows(
    sort([asc(0)]),
    [
      [0, 1],
      [Number.NaN, 2],
      [-0, 3],
      [Number.NEGATIVE_INFINITY, 4],
    ],
    [
      [Number.NaN, 2],
      [Number.NEGATIVE_INFINITY, 4],
      [0, 1],
      [0, 3],
    ],
  );
});

test('sorts no rows, and 2047, 2048 and 2049 rows', () => {
  expectRows(sort([asc(0)]), [], []);
  for (const count of [2047, 2048, 2049]) {
    const rows = Array.from({ length: count }, (_, index) => [(index * 7919) % count, index]);
    const sink = new RowSink(2);
    const sorting = new SortSink({ keys: [asc(0)], width: 2 });
    sorting.push(chunkOf(rows));
    sorting.emit(sink);
    assert.deepEqual(
      sink.rows.map(([key]) => key),
      Array.from({ length: count }, (_, index) => index),
    );
    assert.ok(sink.chunkSizes.every((size) => size <= 2048));
  }
});

test('keeps the first rows of the order', () => {
  expectRows(top(2, [desc(0), asc(1)]), ROWS, [
    [3, 'a'],
    [3, 'c'],
  ]);
  expectRows(top(3, [asc(0)]), ROWS, [
    [null, 'a'],
    [1, 'b'],
    [2, null],
  ]);
  expectRows(top(0, [asc(0)]), ROWS, []);
  expectRows(top(9, [asc(0), asc(1)]), ROWS, [
    [null, 'a'],
    [1, 'b'],
    [2, null],
    [3, 'a'],
    [3, 'c'],
  ]);
});

test('tells the worst first key once it is full, and wants no rows for a count of 0', () => {
  const sink = new TopSink({ keys: [desc(0)], width: 2, count: 2 });
  sink.push(chunkOf([[5, 'a']]));
  assert.equal(sink.floor(), undefined);
  sink.push(chunkOf([[3, 'b']]));
  assert.equal(sink.floor(), 3);
  sink.push(chunkOf([[1, 'c']]));
  assert.equal(sink.floor(), 3);
  sink.push(chunkOf([[4, 'd']]));
  assert.equal(sink.floor(), 4);
  assert.equal(new TopSink({ keys: [desc(0)], width: 2, count: 0 }).push(chunkOf(ROWS)), false);
});

test('reads other columns than the keys for the winners only', () => {
  let readRows = 0;
  const rows = Array.from({ length: 300 }, (_, index) => [index]);
  const sink = new TopSink({ keys: [desc(0)], width: 2, count: 2 });
  const inner = chunkOf(rows);
  const lazily = (chunk: typeof inner): typeof inner => ({
    count: chunk.count,
    column: (index) => {
      if (index === 1) readRows += chunk.count;
      return chunk.column(0);
    },
    select: (positions, count) => lazily(chunk.select(positions, count)),
  });
  sink.push(lazily(inner));
  assert.deepEqual(emittedRows(sink, 2), [
    [299, 299],
    [298, 298],
  ]);
  assert.equal(readRows, 2);
});

test('gives the rows of one chunk after those of another as they are, and mixed ones in one', () => {
  const parts = (chunkOfRow: (row: number) => number): number[] => {
    const sink = new TopSink({ keys: [desc(0)], width: 1, count: 60 });
    for (const chunk of [0, 1]) {
      const rows = Array.from({ length: 100 }, (_, row) => [row]);
      sink.push(chunkOf(rows.filter(([row]) => chunkOfRow(row!) === chunk)));
    }
    const out = new RowSink(1);
    sink.emit(out);
    assert.deepEqual(
      out.rows.map(([row]) => row),
      Array.from({ length: 60 }, (_, index) => 99 - index),
    );
    return out.chunkSizes;
  };
  assert.deepEqual(
    parts((row) => (row < 70 ? 0 : 1)),
    [30, 30],
  );
  assert.deepEqual(
    parts((row) => row % 2),
    [60],
  );
});

test('refuses to keep more first rows than may be held', () => {
  const sink = new TopSink({ keys: [desc(0)], width: 1, count: 5, rowsMax: 3 });
  sink.push(chunkOf([[1], [2], [3]]));
  assert.throws(
    () => sink.push(chunkOf([[0]])),
    (error) => error instanceof QueryError && error.code === 'query_limit',
  );
});

test('holds on to few chunks when every chunk brings a winner', () => {
  const sink = new TopSink({ keys: [desc(0)], width: 2, count: 1000 });
  for (let index = 0; index < 3000; index++) sink.push(chunkOf([[index, `row ${index}`]]));
  const rows = emittedRows(sink, 2);
  assert.equal(rows.length, 1000);
  assert.deepEqual(rows[0], [2999, 'row 2999']);
  assert.deepEqual(rows[999], [2000, 'row 2000']);
});

test('gives the same top whole, in pieces, and from the tops of two halves', () => {
  const value = fc.constantFrom<SqlValue>(null, 1, 2, 3, 'a', 'b', true, 2n ** 60n);
  const rows = fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 30 });
  const direction = fc.record({ descending: fc.boolean(), nullsFirst: fc.boolean() });
  fc.assert(
    fc.property(rows, direction, direction, fc.nat(12), (values, one, other, count) => {
      const numbered: Row[] = values.map((row, index) => [...row, index]);
      const keys = [{ expression: column(0), ...one }, { expression: column(1), ...other }, asc(2)];
      const expected = numbered
        .toSorted(
          (left, right) =>
            compareByKey(one, left[0]!, right[0]!) ||
            compareByKey(other, left[1]!, right[1]!) ||
            Number(left[2]) - Number(right[2]),
        )
        .slice(0, count);
      expectRows(top(count, keys, 3), numbered, expected);
      expectRows(sort(keys, 3), numbered, sortedWhole(keys, numbered));
      const half = values.length >> 1;
      const merged = new TopSink({ keys, width: 3, count });
      for (const part of [numbered.slice(half), numbered.slice(0, half)]) {
        const partTop = new TopSink({ keys, width: 3, count });
        partTop.push(chunkOf(part, 3));
        partTop.emit(merged);
      }
      assert.deepEqual(emittedRows(merged, 3), expected);
    }),
    { numRuns: 150 },
  );
});

function sortedWhole(keys: readonly OrderKey[], rows: readonly Row[]): Row[] {
  return rows.toSorted((left, right) => {
    for (const [index, key] of keys.entries()) {
      const order = compareByKey(key, left[index]!, right[index]!);
      if (order !== 0) return order;
    }
    return 0;
  });
}

test('strings as bytes are sorted, and are the first, as they are as texts', () => {
  const text = fc.option(fc.constantFrom('', 'a', 'aa', 'ab', 'é', '\uffee', '😀', '\ud83d', 'z'));
  fc.assert(
    fc.property(fc.array(text, { minLength: 1 }), fc.boolean(), (texts, isDescending) => {
      const block = new TextBlock(texts.length);
      const codes = Int32Array.from(texts, (each) => (each === null ? -1 : block.addText(each)));
      const bytes = dictionaryVector(codes, texts.length, block.dictionary());
      const key = isDescending ? desc(0) : asc(0);
      const answers = [bytes, valueVector(texts)].map((vector) =>
        [
          new SortSink({ keys: [key], width: 1 }),
          new TopSink({ keys: [key], width: 1, count: 3 }),
        ].map((sink) => {
          sink.push(new VectorChunk([vector], texts.length));
          return emittedRows(sink, 1);
        }),
      );
      assert.deepEqual(answers[0], answers[1]);
    }),
  );
});
