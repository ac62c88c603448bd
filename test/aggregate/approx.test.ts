import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AggregateState, NO_MODIFIERS } from '../../engine/aggregate/aggregate-function.ts';
import { SKETCH_EXACT_MAX } from '../../engine/aggregate/approx-count-distinct.ts';
import { findAggregateFunction } from '../../engine/aggregate/registry.ts';
import { must } from '../../engine/assert.ts';
import { DYNAMIC, INT64, type SqlType, STRING } from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import { valueVector } from '../../engine/column/vector.ts';
import { QueryError } from '../../engine/query-error.ts';

function stateOf(
  name: string,
  types: readonly SqlType[],
  constants: readonly SqlValue[] = [],
): AggregateState {
  return must(findAggregateFunction(name)?.overloads[0]).create(types, constants, NO_MODIFIERS);
}

/** All rows in one group. */
function fed(state: AggregateState, ...columns: readonly (readonly SqlValue[])[]): AggregateState {
  const count = columns[0]!.length;
  state.update(new Int32Array(count), count, 1, columns.map(valueVector));
  return state;
}

function countDistinct(type: SqlType, values: readonly SqlValue[]): number {
  return Number(fed(stateOf('approx_count_distinct', [type]), values).finalize(0));
}

test('few distinct values are counted exactly, equal ones once in any form', () => {
  assert.equal(countDistinct(INT64, []), 0);
  assert.equal(countDistinct(INT64, [null, 1, 2, 1]), 2);
  assert.equal(countDistinct(DYNAMIC, [0, -0, Number.NaN, Number.NaN, 2 ** 60, 2n ** 60n]), 3);
  assert.equal(countDistinct(DYNAMIC, ['1', 1, true, 'true']), 4);
  const many = Array.from({ length: SKETCH_EXACT_MAX }, (_, index) => index);
  assert.equal(countDistinct(INT64, [...many, ...many]), SKETCH_EXACT_MAX);
});

test('many distinct values are counted within three standard errors', () => {
  for (const count of [2049, 5_000, 20_000, 100_000, 500_000]) {
    const kinds: readonly [SqlType, (index: number) => SqlValue][] = [
      [INT64, (index) => index],
      [INT64, (index) => index * 1_000_000],
      [STRING, (index) => `request-${index}`],
      [STRING, (index) => index.toString(16).padStart(32, '0')],
    ];
    for (const [type, make] of kinds) {
      const got = countDistinct(
        type,
        Array.from({ length: count }, (_, index) => make(index)),
      );
      assert.ok(Math.abs(got / count - 1) < 3 * 0.0082, `${got} of ${count}`);
    }
  }
});

test('sketches on either side of the bound combine to what one would be', () => {
  const part = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => `v${index + from}`);
  const whole = countDistinct(STRING, part(0, 9000));
  for (const bounds of [
    [0, 10, 9000],
    [0, 2000, 4000, 9000],
    [0, 5000, 9000],
  ]) {
    const state = stateOf('approx_count_distinct', [STRING]);
    for (let index = 1; index < bounds.length; index++) {
      const one = fed(
        stateOf('approx_count_distinct', [STRING]),
        part(bounds[index - 1]!, bounds[index]!),
      );
      state.combine(structuredClone(one.partial(1)), Int32Array.of(0), 1);
    }
    assert.equal(state.finalize(0), whole);
  }
});

test('the most frequent values come first, NULL among them, and equals by value', () => {
  const top = (count: number, values: readonly SqlValue[]) =>
    fed(stateOf('approx_top_count', [STRING], [count]), values).finalize(0);
  assert.deepEqual(top(2, ['b', 'a', 'b', null, null, null]), [
    [null, 3],
    ['b', 2],
  ]);
  assert.deepEqual(top(5, ['b', 'a']), [
    ['a', 1],
    ['b', 1],
  ]);
  assert.equal(top(5, []), null);
  assert.throws(() => top(0, []), QueryError);
});

test('values go by the sum of their weights, those without any last', () => {
  const top = (values: readonly SqlValue[], weights: readonly SqlValue[]) => {
    const state = stateOf('approx_top_sum', [STRING, INT64], [3]);
    return fed(state, values, weights).finalize(0);
  };
  assert.deepEqual(top(['apple', 'pear', 'pear'], [null, 0, null]), [
    ['pear', 0],
    ['apple', null],
  ]);
  assert.deepEqual(top(['a', 'b', null, 'a'], [1, 3, 4, 1]), [
    [null, 4],
    ['b', 3],
    ['a', 2],
  ]);
  assert.throws(() => top(['a'], [-1]), /must be from 0; got -1/);
  assert.throws(() => top(['a'], [Number.NaN]), /must be from 0; got NaN/);
});

test('quantiles leave NULLs out, and take them for the least when they are respected', () => {
  const quantiles = (values: readonly SqlValue[], nulls: 'ignore' | 'respect' | undefined) => {
    const { create } = must(findAggregateFunction('approx_quantiles')?.overloads[0]);
    return fed(create([INT64], [2], { order: [], nulls }), values).finalize(0);
  };
  assert.deepEqual(quantiles([3, null, 1, 2], undefined), [1, 2, 3]);
  assert.deepEqual(quantiles([3, null, 1, 2], 'ignore'), [1, 2, 3]);
  assert.deepEqual(quantiles([3, null, 1, 2], 'respect'), [null, 1, 3]);
  assert.deepEqual(quantiles([null], 'respect'), [null, null, null]);
  assert.equal(quantiles([], 'respect'), null);
});
