import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SqlValue } from '../../engine/column/value.ts';
import { dictionaryVector, valueAt } from '../../engine/column/vector.ts';
import { PredicateCache, ValueCache } from '../../engine/plan/evaluator/lift.ts';
import { QueryError, RunStoppedError } from '../../engine/query-error.ts';

const DICTIONARY = { size: 1, value: () => 'a', isDistinct: true };

/** One row with the only entry of a dictionary. */
const ROW = dictionaryVector(new Int32Array(1), 1, DICTIONARY);

/** Throws the error when it is called first, and gives a value then. */
function failingOnce(error: Error): () => SqlValue {
  let callCount = 0;
  return () => {
    callCount += 1;
    if (callCount === 1) throw error;
    return true;
  };
}

const KINDS = [
  ['ValueCache', (evaluate: () => SqlValue) => new ValueCache(1, evaluate)],
  ['PredicateCache', (evaluate: () => SqlValue) => new PredicateCache(1, evaluate)],
] as const;

for (const [name, memoOf] of KINDS) {
  test(`a ${name} remembers the error of an entry`, () => {
    const cache = memoOf(failingOnce(new QueryError('query_failed', 'division by zero')));
    for (let run = 0; run < 2; run++) assert.throws(() => cache.apply(ROW), /division by zero/);
  });

  test(`a ${name} does not remember that a run was stopped at an entry`, () => {
    const cache = memoOf(failingOnce(new RunStoppedError('query_cancelled', 'the caller left')));
    assert.throws(() => cache.apply(ROW), /the caller left/);
    assert.equal(valueAt(cache.apply(ROW), 0), true);
  });
}
