import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_MODIFIERS } from '../../engine/aggregate/aggregate-function.ts';
import { aggregateFunctionNames, findAggregateFunction } from '../../engine/aggregate/registry.ts';
import { must } from '../../engine/assert.ts';
import { BOOL, DYNAMIC, INT64 } from '../../engine/column/type.ts';
import { numberVector } from '../../engine/column/vector.ts';
import { expectAnswers, maker } from './rows-of-groups.ts';

test('aggregates are found in any case, unknown ones are not', () => {
  assert.equal(findAggregateFunction('Approx_Quantiles')?.name, 'approx_quantiles');
  assert.equal(findAggregateFunction('median'), undefined);
  assert.deepEqual(aggregateFunctionNames().slice(0, 2), ['any_value', 'approx_count_distinct']);
});

test('COUNT(*) counts rows, and is 0 where there are none', () => {
  const state = must(findAggregateFunction('count')).overloads[0]!.create([], [], NO_MODIFIERS);
  assert.equal(state.finalize(0), 0);
  state.update(Int32Array.of(0, 2, 0), 3, 3, []);
  assert.deepEqual(
    [0, 1, 2].map((group) => state.finalize(group)),
    [2, 0, 1],
  );
});

test('COUNT(x) leaves NULLs out', () => {
  expectAnswers(
    maker('count', INT64),
    [
      [0, 5],
      [0, null],
      [1, null],
      [2, 0],
      [2, 5],
    ],
    [1, 0, 2],
  );
  expectAnswers(
    maker('count', DYNAMIC),
    [
      [0, 'a'],
      [0, false],
      [1, null],
      [1, 7n ** 30n],
    ],
    [2, 1],
  );
});

test('COUNTIF counts what is TRUE, neither FALSE nor NULL', () => {
  expectAnswers(
    maker('countif', BOOL),
    [
      [0, true],
      [0, false],
      [0, null],
      [1, true],
      [1, true],
    ],
    [1, 2],
  );
});

test('counts over runs of groups are those of scattered rows', () => {
  const count = 2048;
  const nulls = Uint8Array.from({ length: count }, (_, row) => (row % 3 === 0 ? 1 : 0));
  for (const groupOf of [(row: number) => row >> 8, (row: number) => row & 7]) {
    const groups = Int32Array.from({ length: count }, (_, row) => groupOf(row));
    const expected = new Array<number>(8).fill(0);
    for (let row = 0; row < count; row++) expected[groups[row]!]! += 1 - nulls[row]!;
    const state = maker('count', INT64)();
    state.update(groups, count, 8, [numberVector(new Float64Array(count), count, nulls)]);
    assert.deepEqual(
      expected.map((_, group) => state.finalize(group)),
      expected,
    );
  }
});
