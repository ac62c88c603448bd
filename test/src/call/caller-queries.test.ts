import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueryError } from '../../../engine/query-error.ts';
import { CallerQueries } from '../../../src/call/caller-queries.ts';
import { ServiceError } from '../../../src/errors.ts';
import { CALLER_QUERIES_BYTES_MAX, CALLER_SQL_LENGTH_MAX } from '../../../src/limits.ts';
import { fakeEndpoint, fakePrepareInPieces, STATS } from '../harness.ts';

const ENDPOINT = fakeEndpoint(STATS);

/** Binds whatever it is given, and counts the texts. */
function counting() {
  const bound: string[] = [];
  const queries = new CallerQueries({
    prepareInPieces: (text) => {
      bound.push(text);
      return fakePrepareInPieces(text);
    },
  });
  return { queries, bound };
}

test('a text is bound once as long as it is identical byte for byte', () => {
  const { queries, bound } = counting();
  const first = queries.prepare(ENDPOINT, 'SELECT 1');
  assert.equal(queries.prepare(ENDPOINT, 'SELECT 1'), first);
  assert.notEqual(queries.prepare(ENDPOINT, 'SELECT  1'), first);
  assert.deepEqual(bound, ['SELECT 1', 'SELECT  1']);
});

test('a text is bound again for another definition and for a changed one', () => {
  const { queries, bound } = counting();
  const first = queries.prepare(ENDPOINT, 'SELECT 1');
  assert.notEqual(queries.prepare(fakeEndpoint(STATS), 'SELECT 1'), first);
  assert.equal(queries.prepare(ENDPOINT, 'SELECT 1'), first);
  assert.equal(bound.length, 2);
});

test('a text is bound with the definition’s parameters and tables', () => {
  const callerTables: never[] = [];
  const endpoint = { ...ENDPOINT, callerTables };
  const queries = new CallerQueries({
    prepareInPieces: (text, parameters, within) => {
      assert.equal(within, callerTables);
      assert.deepEqual(parameters.slice(0, 3), [
        { name: 'project', type: { kind: 'STRING' } },
        { name: 'interval', type: { kind: 'STRING' } },
        { name: 'since', type: { kind: 'TIMESTAMP' } },
      ]);
      return fakePrepareInPieces(text);
    },
  });
  queries.prepare(endpoint, 'SELECT 1');
});

test('the least recently used text is evicted when the cache is full', () => {
  const { queries, bound } = counting();
  const textOf = (index: number) => `SELECT ${index} -- ${'x'.repeat(CALLER_SQL_LENGTH_MAX - 100)}`;
  const count = Math.ceil(CALLER_QUERIES_BYTES_MAX / CALLER_SQL_LENGTH_MAX);
  for (let index = 0; index < count; index += 1) {
    queries.prepare(ENDPOINT, textOf(index));
    queries.prepare(ENDPOINT, textOf(0));
  }
  assert.equal(bound.length, count);
  queries.prepare(ENDPOINT, textOf(1));
  assert.equal(bound.length, count + 1);
});

test('an error in a text has its position and is not cached', () => {
  let tries = 0;
  const queries = new CallerQueries({
    prepareInPieces: () => {
      tries += 1;
      const span = { start: 7, end: 11, line: 1, column: 8 };
      throw new QueryError('invalid_sql', 'there is no column oops', span);
    },
  });
  for (const time of [1, 2]) {
    assert.throws(
      () => queries.prepare(ENDPOINT, 'SELECT oops'),
      (error: unknown) => {
        assert.ok(error instanceof ServiceError);
        assert.equal(error.code, 'invalid_sql');
        assert.equal(error.details.caret, 'SELECT oops\n       ^');
        return true;
      },
    );
    assert.equal(tries, time);
  }
});
