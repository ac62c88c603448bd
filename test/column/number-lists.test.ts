import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NumberLists } from '../../engine/column/number-vectors.ts';
import { arrayOf, FLOAT64, INT64 } from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import { constantVector, type Vector, valueAt, valueVector } from '../../engine/column/vector.ts';
import { boundOverload } from '../../engine/plan/call-facts.ts';
import { liftOverVectors } from '../../engine/plan/evaluator/lift.ts';

const LISTS = new NumberLists(
  Float64Array.of(1, 2, 0, 0, 5, Number.NaN),
  { count: 3, length: 2 },
  Uint8Array.of(0, 1, 0),
);

/** What `name` gives for each list at a position, or the message of its error. */
function elements(name: string, lists: Vector, position: number): readonly SqlValue[] | string {
  const overload = boundOverload(name, [arrayOf(FLOAT64), INT64]);
  const evaluate = liftOverVectors({ ...overload, type: FLOAT64 }, 2);
  try {
    const vector = evaluate([lists, constantVector(position, 3)], 3);
    return [0, 1, 2].map((row) => valueAt(vector, row));
  } catch (error) {
    return (error as Error).message;
  }
}

test('lists of one length are the lists they stand for', () => {
  assert.deepEqual(LISTS.values, [[1, 2], null, [5, Number.NaN]]);
});

test('elements of lists of one length are those of the same lists one by one', () => {
  const plain = valueVector(LISTS.values);
  for (const name of ['array_offset', 'array_safe_offset', 'array_ordinal', 'array_safe_ordinal']) {
    for (const position of [-1, 0, 1, 2, 3]) {
      const got = elements(name, LISTS, position);
      assert.deepEqual(got, elements(name, plain, position), `${name} ${position}`);
    }
  }
});
