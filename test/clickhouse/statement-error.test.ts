import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { ClickHouseError } from '@clickhouse/client';
import { QueryError } from '../../engine/query-error.ts';
import { toQueryError } from '../../src/clickhouse/statement-error.ts';

function codeOf(code: string, message: string): string {
  const error = toQueryError(new ClickHouseError({ code, message, type: 'BAD_ARGUMENTS' }), []);
  return error instanceof QueryError ? error.code : 'none';
}

test('a statement that is too large for ClickHouse comes to a limit; any other wrong argument is a fault of ours', () => {
  equal(codeOf('36', 'Query tree is too big. Maximum: 500000. '), 'query_limit');
  equal(codeOf('36', 'Wrong argument. '), 'none');
});
