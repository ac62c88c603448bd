import { ok, throws } from 'node:assert/strict';
import test from 'node:test';
import { optimize } from '../../engine/plan/optimize/optimize.ts';
import { bindQuery } from '../../engine/plan/prepared-query.ts';
import { EVERYTHING } from '../../engine/plan/reach.ts';
import { parseQuery } from '../../engine/sql/query-parser.ts';
import { renderQuery } from '../../src/clickhouse/render/query-sql.ts';

const SOURCES = [{ name: 'logs', projectPath: ['project'] }];

/** The statement of a query over tables each of which `select` makes of the one below it, so many levels high. */
function statementOf(levelCount: number, select: (below: string) => string): string {
  const tables = ['t0 AS (SELECT id, COUNT(*) AS n FROM logs GROUP BY id)'];
  for (let level = 1; level <= levelCount; level++) {
    tables.push(`t${level} AS (${select(`t${level - 1}`)})`);
  }
  const text = `WITH ${tables.join(', ')} SELECT SUM(n) AS n FROM t${levelCount}`;
  const bound = bindQuery(parseQuery(text), { sources: SOURCES, parameters: [] });
  const call = { parameters: new Map(), nowUs: 0, rowsMax: 100, sources: SOURCES };
  return renderQuery(optimize(bound, call), bound.output, { reach: EVERYTHING }).sql;
}

test('a query whose statement would be of any length is refused', () => {
  const joined = (below: string) =>
    `SELECT a.id, a.n FROM ${below} AS a FULL JOIN ${below} AS b ON a.n < b.n`;
  ok(statementOf(2, joined).length < 120_000);
  for (const levelCount of [4, 12]) {
    throws(() => statementOf(levelCount, joined), {
      message:
        'the ClickHouse store does not support a query that becomes a statement of more than 120000 characters',
    });
  }
});

test('a short statement that ClickHouse would analyse for minutes is refused', () => {
  const correlated = (below: string) =>
    `SELECT a.id, (SELECT SUM(b.n) FROM ${below} AS b WHERE b.n < a.n) AS n FROM ${below} AS a`;
  ok(statementOf(2, correlated).length < 120_000);
  throws(() => statementOf(5, correlated), {
    message:
      'the ClickHouse store does not support a query that becomes a statement of more than 500000 characters with its subqueries written out',
  });
});
