import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VectorFunction } from '../../engine/column/chunk.ts';
import { VectorChunk } from '../../engine/column/chunk.ts';
import type { Nested, SqlValue } from '../../engine/column/value.ts';
import {
  constantVector,
  type NestedSource,
  type Vector,
  valueAt,
  valueVector,
} from '../../engine/column/vector.ts';
import type { Sink } from '../../engine/operator/sink.ts';
import type { UnnestOptions } from '../../engine/operator/unnest.ts';
import { UnnestOperator } from '../../engine/operator/unnest.ts';
import { booleans, chunkOf, column, expectRows, numbers, RowSink } from './harness.ts';

function unnest(options: Partial<UnnestOptions>, width: number) {
  return {
    width,
    make: (sink: Sink) =>
      new UnnestOperator(
        { array: column(1), inputWidth: 2, withOffset: false, outer: false, ...options },
        sink,
      ),
  };
}

/** Keeps elements above 10; column 2 is the element. */
const above10: VectorFunction = (chunk) =>
  booleans(
    Array.from({ length: chunk.count }, (_, row) => Number(valueAt(chunk.column(2), row)) > 10),
  );

const ROWS: [number, SqlValue][] = [
  [1, [10, 11]],
  [2, []],
  [3, null],
  [4, [5]],
  [5, [20]],
];

test('gives one row for each element, in order, and none for NULL or an empty list', () => {
  expectRows(unnest({}, 3), ROWS, [
    [1, [10, 11], 10],
    [1, [10, 11], 11],
    [4, [5], 5],
    [5, [20], 20],
  ]);
});

test('numbers the elements of each list from 0', () => {
  expectRows(unnest({ withOffset: true }, 4), ROWS, [
    [1, [10, 11], 10, 0],
    [1, [10, 11], 11, 1],
    [4, [5], 5, 0],
    [5, [20], 20, 0],
  ]);
});

test('keeps rows without elements in their place when outer, with NULLs', () => {
  expectRows(unnest({ withOffset: true, outer: true }, 4), ROWS, [
    [1, [10, 11], 10, 0],
    [1, [10, 11], 11, 1],
    [2, [], null, null],
    [3, null, null, null],
    [4, [5], 5, 0],
    [5, [20], 20, 0],
  ]);
});

test('counts elements for which the condition does not hold as none', () => {
  expectRows(unnest({ outer: true, on: above10 }, 3), ROWS, [
    [1, [10, 11], 11],
    [2, [], null],
    [3, null, null],
    [4, [5], null],
    [5, [20], 20],
  ]);
});

test('splits its output at 2048 rows, and keeps the order, around the edge', () => {
  for (const length of [2047, 2048, 2049, 5000]) {
    const list = Array.from({ length }, (_, index) => index);
    const sink = new RowSink(1);
    const operator = new UnnestOperator(
      {
        array: (chunk) => constantVector(list, chunk.count),
        inputWidth: 0,
        withOffset: false,
        outer: true,
      },
      sink,
    );
    operator.push(new VectorChunk([], 2));
    assert.deepEqual(
      sink.rows.map(([element]) => element),
      [...list, ...list],
    );
    assert.ok(sink.chunkSizes.every((size) => size > 0 && size <= 2048));
  }
});

test('keeps a row whose elements fail the condition in a later portion of the output', () => {
  const list = Array.from({ length: 5000 }, (_, index) => (index === 4999 ? 11 : 0));
  const sink = new RowSink(2);
  const operator = new UnnestOperator(
    {
      array: (chunk) => valueVector([list, [0], list].slice(0, chunk.count)),
      inputWidth: 1,
      withOffset: false,
      outer: true,
      on: (chunk) =>
        booleans(
          Array.from({ length: chunk.count }, (_, row) => valueAt(chunk.column(1), row) === 11),
        ),
    },
    sink,
  );
  operator.push(chunkOf([['a'], ['b'], ['c']]));
  assert.deepEqual(sink.rows, [
    ['a', 11],
    ['b', null],
    ['c', 11],
  ]);
});

test('stops making rows as soon as no more are wanted', () => {
  const sink = new RowSink(1, 1);
  const list = Array.from({ length: 1_000_000 }, (_, index) => index);
  const operator = new UnnestOperator(
    {
      array: (chunk) => constantVector(list, chunk.count),
      inputWidth: 0,
      withOffset: false,
      outer: false,
    },
    sink,
  );
  assert.equal(operator.push(new VectorChunk([], 2000)), false);
  assert.equal(sink.chunkSizes.length, 1);
});

/** Row `r` of the source is a list of `sizes[r]` numbers `r * 100 + offset`. */
function sourceOf(sizes: readonly number[]): NestedSource {
  return {
    field: () => assert.fail('not asked for'),
    nested: (row) => ({ isList: true, row }) as unknown as Nested,
    unnest: ({ rows, nodes, count }) => {
      const parents: number[] = [];
      const elements: number[] = [];
      for (let i = 0; i < count; i++) {
        for (let offset = 0; nodes[i]! >= 0 && offset < sizes[rows[i]!]!; offset++) {
          parents.push(i);
          elements.push(rows[i]! * 100 + offset);
        }
      }
      const isOneEach = parents.length === count && parents.every((parent, i) => parent === i);
      return {
        count: elements.length,
        parents: isOneEach ? undefined : Int32Array.from(parents),
        elements: numbers(elements),
      };
    },
  };
}

function nestedColumn(sizes: readonly number[]): Vector {
  const rows = Int32Array.from(sizes, (_, row) => row);
  const nodes = Int32Array.from(sizes, (size) => (size < 0 ? -1 : 0));
  return { kind: 'nested', count: sizes.length, source: sourceOf(sizes), rows, nodes };
}

test('asks a segment for the elements of its lists', () => {
  const run = (sizes: number[], options: Partial<UnnestOptions>) => {
    const sink = new RowSink(3);
    const input = new VectorChunk([numbers(sizes)], sizes.length);
    new UnnestOperator(
      {
        array: () => nestedColumn(sizes),
        inputWidth: 1,
        withOffset: true,
        outer: false,
        ...options,
      },
      sink,
    ).push(input);
    return sink.rows;
  };
  assert.deepEqual(run([1, 1], {}), [
    [1, 0, 0],
    [1, 100, 0],
  ]);
  assert.deepEqual(run([2, 0, -1, 1], {}), [
    [2, 0, 0],
    [2, 1, 1],
    [1, 300, 0],
  ]);
  assert.deepEqual(run([0, 1, -1], { outer: true }), [
    [0, null, null],
    [1, 100, 0],
    [-1, null, null],
  ]);
  assert.deepEqual(run([0], { outer: true }), [[0, null, null]]);
  assert.deepEqual(run([3000], {}).length, 3000);
  assert.deepEqual(run([3000, 0], { outer: true }).length, 3001);
});

test('passes the input through untouched when each list has one element', () => {
  const input = chunkOf([[7], [8]]);
  let pushed: unknown;
  new UnnestOperator(
    { array: () => nestedColumn([1, 1]), inputWidth: 1, withOffset: false, outer: true },
    {
      push: (chunk) => {
        pushed = chunk.column(0);
        return true;
      },
    },
  ).push(input);
  assert.equal(pushed, input.column(0));
});

test('takes scalars for values without elements', () => {
  for (const vector of [numbers([1, 2]), booleans([true, null]), valueVector(['a', 3])]) {
    const sink = new RowSink(1);
    new UnnestOperator(
      { array: () => vector, inputWidth: 0, withOffset: false, outer: false },
      sink,
    ).push(new VectorChunk([], 2));
    assert.deepEqual(sink.rows, []);
  }
});
