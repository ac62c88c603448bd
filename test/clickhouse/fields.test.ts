// In a process of its own: chDB has one folder open at a time.
import { deepEqual, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { NOW_US } from '../../bench/workload/clock.ts';
import { bindQuery } from '../../engine/plan/prepared-query.ts';
import { parseQuery } from '../../engine/sql/query-parser.ts';
import { UNSUPPORTED } from '../../src/clickhouse/render/refusal.ts';
import { SHIPPED_COLUMNS } from '../../src/clickhouse/shipped-row.ts';
import type { BothStores } from './both-stores.ts';
import { missingChdb } from './chdb.ts';
import { filledStores } from './fixture.ts';

const skip = missingChdb();

/** Over the elements of metadata, whose fields have values of all kinds. */
const QUERIES: readonly string[] = [
  "m.odd, m.ODD AS b, m.Odd AS c, m.missing, m.`it's` AS d | ORDER BY t.id",
  'm.odd, COUNT(*) AS n | GROUP BY m.odd ORDER BY n DESC, m.odd',
  'COUNT(DISTINCT m.odd) AS n, MIN(m.odd) AS least, MAX(m.odd) AS greatest |',
  'm.region, MIN(m.odd) AS least, MAX(m.odd) AS greatest | GROUP BY m.region ORDER BY m.region',
  'm.odd | ORDER BY m.odd DESC, t.id',
  'm.odd | WHERE m.odd > 100 ORDER BY t.id',
  'm.odd | WHERE m.odd = 9007199254740993 ORDER BY t.id',
  "m.odd | WHERE m.odd = '200' ORDER BY t.id",
  "m.odd | WHERE m.odd IN (200, 'x', TRUE) ORDER BY t.id",
  'm.odd | WHERE m.odd ORDER BY t.id',
  'm.odd | WHERE m.odd IS NULL OR NOT m.odd ORDER BY t.id',
  'm.odd = m.ODD AS same, m.odd != m.ODD AS other | ORDER BY t.id',
  'CAST(m.odd AS STRING) AS x | ORDER BY t.id',
  'LENGTH(m.odd) AS n, UPPER(m.odd) AS x, CONCAT(m.odd, "-", m.ODD) AS y | ORDER BY t.id',
  "m.odd LIKE '%0%' AS x, REGEXP_CONTAINS(m.odd, r'^\\d+$') AS y, STARTS_WITH(m.odd, '2') AS z | ORDER BY t.id",
  'm.size + 1 AS x, m.size * m.size AS y, m.size / 2 AS z, -m.size AS w | ORDER BY t.id',
  'SUM(m.size) AS x, AVG(m.size) AS y, SUM(m.responseTime) AS z |',
  'APPROX_QUANTILES(m.odd, 4) AS x, APPROX_QUANTILES(m.region, 2) AS y |',
  'COALESCE(m.odd, m.ODD, "none") AS x, IF(m.size > 1, m.odd, 0) AS y | ORDER BY t.id',
  'ARRAY_LENGTH(m.odd) AS n, m.odd[SAFE_OFFSET(0)] AS first | ORDER BY t.id',
  'm.response.status_code AS x, m.Response.Status_Code AS y | ORDER BY t.id',
  'GREATEST(m.size, 2) AS x, NULLIF(m.size, 2) AS y | ORDER BY t.id',
  'ARRAY_AGG(m.odd IGNORE NULLS ORDER BY t.id LIMIT 5) AS x, STRING_AGG(t.id ORDER BY t.id DESC) AS y |',
  'ROW_NUMBER() OVER (PARTITION BY m.region ORDER BY m.odd, t.id) AS n, t.id | ORDER BY t.id',
  'MOD(m.size, 2) AS x, DIV(m.execution_time_ms, 7) AS y | ORDER BY t.id',
  't.identifier AS a, t.Identifier AS b, t.project, t.event_message | ORDER BY t.id',
  'm.odd, n.odd AS other, n.size | , UNNEST(t.metadata) AS n ORDER BY t.id',
  'COUNT(*) AS n | , UNNEST(t.metadata) AS n WHERE m.region = n.region AND n.size > 1',
  'COUNT(CAST(e.size AS INT64)) AS n | , UNNEST(m.missing) AS e',
  'm.region, r.status_code, s.status_code AS other | , UNNEST(m.response) AS r, UNNEST(m.response) AS s WHERE r.status_code > 200 ORDER BY t.id',
];

/** Some are refused; most must not be. */
const REFUSED_MAX = 2;

const MESSAGE_LENGTH_MAX = 1000;

let stores: BothStores;

before(async () => {
  if (skip === false) stores = await filledStores();
});

after(() => stores?.close());

/** Of the list of a SELECT and what stands behind its FROM. */
function textOf(query: string): string {
  const [list, rest] = query.split(' |') as [string, string];
  return `SELECT ${list} FROM \`deno-relay-logs\` AS t, UNNEST(t.metadata) AS m${rest}`;
}

test('fields of all kinds are read alike in both stores, from JSON and from columns, or refused', {
  skip,
}, () => {
  const refused: string[] = [];
  const differing: string[] = [];
  for (const query of QUERIES) {
    const sql = textOf(query);
    const bound = bindQuery(parseQuery(sql), { sources: stores.sources, parameters: [] });
    const call = { parameters: new Map(), nowUs: NOW_US, rowsMax: 10_000 };
    const plan = stores.optimized(bound, call);
    const engine = stores.fromEngine(plan, bound.output);
    try {
      deepEqual(stores.fromClickHouse(plan, bound.output), engine);
      const findField = stores.addFieldColumns(plan, bound.output);
      deepEqual(stores.fromClickHouse(plan, bound.output, { findField }), engine);
    } catch (error) {
      const { message } = error as Error;
      const isRefused = message.startsWith(UNSUPPORTED);
      (isRefused ? refused : differing).push(`${sql}\n${message.slice(0, MESSAGE_LENGTH_MAX)}`);
    }
  }
  deepEqual(differing, []);
  ok(refused.length <= REFUSED_MAX, refused.join('\n'));
});

test('columns have the same values of events that come in as of those that are there', {
  skip,
}, () => {
  const { clickHouse } = stores;
  const columns = clickHouse
    .rows<[string]>(
      "SELECT name FROM system.columns WHERE table = 'events' AND name LIKE 'field_%'",
    )
    .map(([name]) => name);
  ok(columns.length > QUERIES.length / 2);
  clickHouse.run('CREATE TABLE copied_events AS events');
  const shipped = SHIPPED_COLUMNS.join();
  clickHouse.run(`INSERT INTO copied_events (${shipped}) SELECT ${shipped} FROM events`);
  const rowsOf = (table: string) =>
    clickHouse.rows(`SELECT id, ${columns.join()} FROM ${table} ORDER BY ALL`);
  deepEqual(rowsOf('copied_events'), rowsOf('events'));
});
