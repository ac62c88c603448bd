import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainQuery } from '../../engine/plan/explanation.ts';
import { FOLDED_VALUE_SIZE_MAX } from '../../engine/plan/optimize/fold.ts';
import { prepareQuery } from '../../engine/plan/prepared-query.ts';

/** The optimised plan of a text that reads nothing, in one line. */
function optimized(sql: string): string {
  const environment = { sources: [], parameters: [] };
  const call = { parameters: new Map(), nowUs: 0, rowsMax: 10, sources: [] };
  return JSON.stringify(explainQuery(prepareQuery(sql, environment), call).optimized);
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

test('planning computes so much and no more, and leaves the rest to a worker', () => {
  const distances = (count: number, length: number) => {
    const columns = Array.from(
      { length: count },
      (_, index) => `EDIT_DISTANCE(REPEAT('ab', ${length}), REPEAT('cd', ${length})) AS c${index}`,
    );
    return optimized(`SELECT ${columns.join(', ')}`);
  };
  assert.doesNotMatch(distances(100, 10), /edit_distance/);
  assert.match(distances(1, 1000), /edit_distance/);
  assert.match(distances(100, 200), /edit_distance/);
});

test('a pattern is refused while planning as long as there is time to look at it', () => {
  const patterns = (count: number) => {
    const columns = Array.from(
      { length: count },
      (_, index) => `REGEXP_CONTAINS(x, 'a{1000}${index}') AS c${index}`,
    );
    return optimized(
      `SELECT ${columns.join(', ')}, REGEXP_CONTAINS(x, '(') AS bad FROM UNNEST(['a']) AS x`,
    );
  };
  assert.throws(() => patterns(3), /regular expression "\(" is not valid/);
  assert.match(patterns(30), /regexp_contains/);
});
