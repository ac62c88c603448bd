import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { edge, invocation, NOW, us } from '../scripts/script.ts';
import type { HttpAnswer } from '../support/http-client.ts';
import { sandboxedDefinition } from '../support/sandboxed-definition.ts';
import { ServiceUnderTest } from '../support/service-under-test.ts';

/** Whatever of another project's gets into an answer holds this. */
const SECRET = 'secret-of-beta';

const EDGE = 'cloudflare.logs.prod';

let folder: string;
let service: ServiceUnderTest;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-sandbox-'));
  await writeFile(join(folder, 'logs.sql'), sandboxedDefinition());
  service = await ServiceUnderTest.start({ ENDPOINTS_DIR: folder });
  const of = (project: string, word: string) => ({
    ...edge('2026-01-15T11:30:00Z', `/${word}`, { project }),
    event_message: word,
  });
  await service.post(EDGE, [of('alpha', 'a'), of('alpha', 'b'), of('beta', SECRET)], us(NOW));
  const call = (project_ref: string, function_id: string) => ({
    ...invocation('2026-01-15T11:30:00Z', { project_ref, function_id }),
    event_message: function_id,
  });
  await service.post('deno-relay-logs', [call('alpha', 'f'), call('beta', SECRET)], us(NOW));
});

after(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

function send(sql: string): Promise<HttpAnswer> {
  const body = JSON.stringify({ project: 'alpha', project_tier: 'PRO', sql });
  return service.ask('POST', '/api/endpoints/logs.sandboxed', body);
}

/** Each puts the source where a table may stand. */
const PLACES: readonly ((source: string) => string)[] = [
  (source) => `SELECT event_message FROM ${source}`,
  (source) => `SELECT x.event_message FROM edge_logs, ${source} AS x`,
  (source) => `SELECT x.event_message FROM edge_logs CROSS JOIN ${source} AS x`,
  (source) => `SELECT x.event_message FROM edge_logs AS e LEFT JOIN ${source} AS x ON TRUE`,
  (source) => `SELECT x.event_message FROM edge_logs AS e JOIN ${source} AS x USING (timestamp)`,
  (source) => `SELECT event_message FROM (SELECT event_message FROM ${source})`,
  (source) => `SELECT event_message FROM ((SELECT event_message FROM ${source}) LIMIT 1)`,
  (source) => `SELECT id FROM edge_logs UNION ALL SELECT event_message FROM ${source}`,
  (source) => `SELECT event_message FROM ${source} UNION ALL SELECT id FROM edge_logs`,
  (source) => `SELECT id FROM edge_logs EXCEPT DISTINCT SELECT id FROM ${source}`,
  (source) =>
    `WITH edge_logs AS (SELECT event_message FROM ${source}) SELECT event_message FROM edge_logs`,
  (source) => `WITH a AS (SELECT event_message FROM ${source}) SELECT id FROM edge_logs`,
  (source) => `WITH a AS (WITH b AS (SELECT id FROM ${source}) SELECT id FROM b) SELECT id FROM a`,
  (source) => `SELECT (SELECT MAX(event_message) FROM ${source}) AS x`,
  (source) => `SELECT ARRAY(SELECT event_message FROM ${source}) AS x`,
  (source) => `SELECT EXISTS(SELECT 1 FROM ${source}) AS x`,
  (source) => `SELECT id FROM edge_logs WHERE id IN (SELECT id FROM ${source})`,
  (source) => `SELECT id FROM edge_logs WHERE EXISTS(SELECT 1 FROM ${source})`,
  (source) =>
    `SELECT id FROM edge_logs AS e WHERE EXISTS(SELECT 1 FROM ${source} AS x WHERE x.id != e.id)`,
  (source) => `SELECT IF((SELECT COUNT(*) FROM ${source}) > 2, 1, 0) AS x FROM edge_logs`,
  (source) => `SELECT COUNT(*) AS n FROM edge_logs GROUP BY (SELECT COUNT(*) FROM ${source})`,
  (source) =>
    `SELECT COUNT(*) AS n FROM edge_logs HAVING COUNT(*) < (SELECT COUNT(*) FROM ${source})`,
  (source) => `SELECT id FROM edge_logs ORDER BY (SELECT COUNT(*) FROM ${source})`,
  (source) => `SELECT id FROM edge_logs LIMIT (SELECT COUNT(*) FROM ${source})`,
  (source) => `SELECT x FROM UNNEST(ARRAY(SELECT event_message FROM ${source})) AS x`,
  (source) =>
    `SELECT e.id FROM edge_logs AS e JOIN edge_logs AS f ON e.id IN (SELECT id FROM ${source})`,
  (source) => `SELECT id FROM edge_logs, ${source}.metadata`,
  (source) => `SELECT id FROM edge_logs; SELECT event_message FROM ${source}`,
  (source) => `/* SELECT id FROM edge_logs -- */ SELECT event_message FROM ${source} # ;`,
  (source) => `TABLE ${source}`,
  (source) => `FROM ${source}`,
];

const SOURCES = [
  `\`${EDGE}\``,
  EDGE,
  '`CLOUDFLARE.LOGS.PROD`',
  'cloudflare.`logs`.prod',
  '`default`.`cloudflare.logs.prod`',
  '`deno-relay-logs`',
];

for (const [index, place] of PLACES.entries()) {
  test(`a query cannot read a source from place ${index + 1}: ${place('…')}`, async () => {
    for (const source of SOURCES) {
      const sql = place(source);
      const answer = await send(sql);
      assert.equal(answer.status, 422, `${sql}: ${answer.text}`);
      assert.equal(JSON.parse(answer.text).error.code, 'invalid_sql', sql);
      assert.ok(!answer.text.includes(SECRET), sql);
    }
  });
}

test('no table has the rows of another project, whatever the query', async () => {
  for (const [sql, rows] of [
    ['SELECT COUNT(*) AS n FROM edge_logs', [{ n: 2 }]],
    ['SELECT COUNT(*) AS n FROM edge_logs WHERE TRUE OR id IS NULL', [{ n: 2 }]],
    ["SELECT COUNT(*) AS n FROM edge_logs WHERE event_message LIKE 'secret%'", [{ n: 0 }]],
    ['SELECT COUNT(*) AS n FROM edge_logs, UNNEST(metadata) AS m', [{ n: 2 }]],
    ['SELECT COUNT(*) AS n FROM edge_logs AS a LEFT JOIN edge_logs AS b ON TRUE', [{ n: 4 }]],
    ['SELECT MAX(event_message) AS x FROM function_edge_logs', [{ x: 'f' }]],
    ["WITH edge_logs AS (SELECT 'mine' AS id) SELECT id FROM edge_logs", [{ id: 'mine' }]],
    [
      "SELECT 'beta' AS project, COUNT(*) AS n FROM edge_logs GROUP BY project",
      [{ project: 'beta', n: 2 }],
    ],
    [
      'SELECT @project AS project, MAX(event_message) AS x FROM edge_logs',
      [{ project: 'alpha', x: 'b' }],
    ],
  ] as const) {
    const answer = await send(sql);
    assert.deepEqual(JSON.parse(answer.text), { result: rows }, sql);
  }
});

test('the project of a call comes from its parameter, and a text cannot set it', async () => {
  for (const sql of [
    "SET @project = 'beta'; SELECT id FROM edge_logs",
    "DECLARE project STRING DEFAULT 'beta'; SELECT id FROM edge_logs",
    "SELECT id FROM edge_logs WHERE (@project := 'beta') IS NOT NULL",
    'SELECT @@project AS x',
  ]) {
    const answer = await send(sql);
    assert.equal(answer.status, 422, `${sql}: ${answer.text}`);
  }
});

test('no text stops the service, and each refusal has its reason', async () => {
  const bomb = (step: (name: string) => string, first: string, last: string) => {
    const tables = [`t0 AS (${first})`];
    for (let level = 1; level < 40; level += 1) {
      tables.push(`t${level} AS (${step(`t${level - 1}`)})`);
    }
    return `WITH ${tables.join(', ')} ${last.replace('LAST', 't39')}`;
  };
  const joined = bomb(
    (table) => `SELECT a.id FROM ${table} AS a, ${table} AS b`,
    'SELECT id FROM edge_logs',
    'SELECT COUNT(*) AS n FROM LAST',
  );
  const grown = bomb(
    (table) => `SELECT CONCAT(s, s, s, s) AS s FROM ${table}`,
    "SELECT 'xxxx' AS s",
    'SELECT LENGTH(s) AS n FROM LAST',
  );
  const nested = `SELECT ${'('.repeat(9_000)}1${')'.repeat(9_000)} AS x`;
  const deepSubqueries = `${'SELECT x FROM ('.repeat(2_000)}SELECT 1 AS x${')'.repeat(2_000)}`;
  const chain = `SELECT ${'1 + '.repeat(9_000)}1 AS x`;
  const wide = `SELECT ${'1, '.repeat(2_001)}1`;
  for (const sql of [joined, grown, nested, deepSubqueries, chain, wide]) {
    const answer = await send(sql);
    assert.equal(answer.status, 422, `${sql.slice(0, 80)}: ${answer.text.slice(0, 200)}`);
    assert.equal(JSON.parse(answer.text).error.code, 'query_limit', answer.text.slice(0, 200));
  }
  assert.equal((await send('SELECT 1 AS one')).text, '{"result":[{"one":1}]}');
  assert.deepEqual(
    service.entries.filter(({ level }) => level === 'error'),
    [],
  );
});
