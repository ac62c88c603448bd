import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueryError } from '../../../engine/query-error.ts';
import { ERROR_TABLE, fromQueryError, ServiceError } from '../../../src/errors.ts';
import { createLog } from '../../../src/log.ts';

test('every code has an error status, and a title without a final stop', () => {
  for (const [code, { status, title }] of ERROR_TABLE) {
    assert.match(code, /^[a-z]+(_[a-z]+)*$/);
    assert(status >= 400 && status < 600, code);
    assert.match(title, /^[A-Z].*[^.]$/);
  }
});

test('429 and 503 always have Retry-After', () => {
  for (const [code, { status, retryAfterS }] of ERROR_TABLE) {
    assert.equal(retryAfterS !== undefined, status === 429 || status === 503, code);
  }
});

test('a failure of a query keeps its code, message and position', () => {
  const span = { start: 5, end: 6, line: 2, column: 3 };
  const error = fromQueryError(new QueryError('query_limit', 'too many groups', span));
  assert(error instanceof ServiceError);
  assert.deepEqual(
    [error.code, error.status, error.message, error.details.line, error.details.column],
    ['query_limit', 422, 'too many groups', 2, 3],
  );
});

test('the log writes one line of JSON for each entry, whatever its text', () => {
  let text = '';
  const log = createLog(
    (line) => {
      text += line;
    },
    () => '2026-01-15T12:00:00.000Z',
  );
  log({ level: 'error', event: 'request_failed', path: '/a\n{"level":"info"}', status: 500 });
  assert.equal(text.split('\n').length, 2);
  assert.equal(JSON.parse(text).path, '/a\n{"level":"info"}');
});
