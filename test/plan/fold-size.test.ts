import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainUnrun, prepareQuery } from '../../engine/engine.ts';
import { FOLDED_VALUE_SIZE_MAX } from '../../engine/limits.ts';

/** The optimised plan of a text that reads nothing, in one line. */
function optimized(sql: string): string {
  const environment = { sources: [], parameters: [] };
  const call = { parameters: new Map(), nowUs: 0, rowsMax: 10, sources: [] };
  return JSON.stringify(explainUnrun(prepareQuery(sql, environment), call).optimized);
}

test('a constant is computed while planning, up to a length', () => {
  assert.doesNotMatch(optimized(`SELECT REPEAT('x', ${FOLDED_VALUE_SIZE_MAX}) AS s`), /repeat/);
  assert.match(optimized(`SELECT REPEAT('x', ${FOLDED_VALUE_SIZE_MAX + 1}) AS s`), /repeat/);
});

test('a relation without a source that makes texts of any length is left to a worker', () => {
  const grown = (step: string) => `WITH t AS (SELECT x FROM UNNEST(['a', 'b']) AS x)
    SELECT ${step} AS s FROM t`;
  assert.match(optimized(grown('REPEAT(x, 1000000)')), /repeat/);
  assert.match(optimized(grown('LENGTH(REPEAT(x, 1000000))')), /repeat/);
  assert.doesNotMatch(optimized(grown('LENGTH(x)')), /length/);
});
