import { deepEqual, equal, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { VectorChunk } from '../../engine/column/chunk.ts';
import { BOOL, INT64 } from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import { type Dictionary, dictionaryVector, valueAt } from '../../engine/column/vector.ts';
import { liftFunction } from '../../engine/plan/evaluator/lift.ts';
import { QueryError } from '../../engine/query-error.ts';

const ENTRIES = 5000;

/** Entry `code` is its number; the last has no answer. */
const DICTIONARY: Dictionary = {
  size: ENTRIES,
  isDistinct: true,
  value: (code) => code,
};

let evaluations = 0;

function half(value: SqlValue): SqlValue {
  evaluations++;
  if (value === ENTRIES - 1) throw new QueryError('query_failed', 'the last has no half');
  return Math.floor(Number(value) / 2);
}

const HALF = liftFunction({ nulls: 'propagate', evaluate: half, kernel: undefined, type: INT64 }, [
  (chunk) => chunk.column(0),
]);
const IS_ODD = liftFunction(
  {
    nulls: 'propagate',
    evaluate: (value) => {
      evaluations++;
      return Number(value) % 2 === 1;
    },
    kernel: undefined,
    type: BOOL,
  },
  [(chunk) => chunk.column(0)],
);

function chunkOf(codes: readonly number[]): VectorChunk {
  return new VectorChunk(
    [dictionaryVector(Int32Array.from(codes), codes.length, DICTIONARY)],
    codes.length,
  );
}

function valuesOf(codes: readonly number[], compute: typeof HALF): readonly SqlValue[] {
  const chunk = chunkOf(codes);
  const vector = compute(chunk);
  return codes.map((_, row) => valueAt(vector, row));
}

test('few rows of a large dictionary are computed one by one, many once for each entry', () => {
  const codes = [7, -1, 7, 4000];
  evaluations = 0;
  deepEqual(valuesOf(codes, HALF), [3, null, 3, 2000]);
  deepEqual(valuesOf(codes, IS_ODD), [true, null, true, false]);
  equal(evaluations, 6);
  const many = Array.from({ length: 300 }, (_, row) => codes[row % codes.length]!);
  evaluations = 0;
  deepEqual(valuesOf(many, HALF).slice(0, 4), [3, null, 3, 2000]);
  deepEqual(valuesOf(many, IS_ODD).slice(0, 4), [true, null, true, false]);
  equal(evaluations, 4);
});

test('an entry without an answer fails where a row carries it, and nowhere else', () => {
  deepEqual(valuesOf([ENTRIES - 2], HALF), [ENTRIES / 2 - 1]);
  throws(() => valuesOf([1, ENTRIES - 1], HALF), QueryError);
});
