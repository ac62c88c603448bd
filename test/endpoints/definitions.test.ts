import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { parseDefinitionFile } from '../../src/definition/definition-file.ts';
import { packageRoot } from '../../src/package-root.ts';
import type { JsonObject, Row } from '../oracle/oracle.ts';
import { edge, invocation, NOW, us } from '../scripts/script.ts';
import { ServiceUnderTest } from '../support/service-under-test.ts';

const NOW_US = us(NOW);

/** Where each log of `logs.all` finds its project, and whether events without metadata count. */
const LOGS = [
  { log: 'edge_logs', source: 'cloudflare.logs.prod', projectIn: 'project' },
  { log: 'postgres_logs', source: 'postgres.logs', projectIn: 'project', hasBare: true },
  { log: 'function_edge_logs', source: 'deno-relay-logs', projectIn: 'metadata.project_ref' },
  { log: 'function_logs', source: 'deno-subhosting-events', projectIn: 'metadata.project_ref' },
  { log: 'auth_logs', source: 'gotrue.logs.prod', projectIn: 'project' },
  { log: 'realtime_logs', source: 'realtime.logs.prod', projectIn: 'metadata.project' },
  { log: 'storage_logs', source: 'storage.logs.prod.2', projectIn: 'metadata.project' },
  { log: 'postgrest_logs', source: 'postgREST.logs.prod', projectIn: 'project' },
  { log: 'pgbouncer_logs', source: 'pgbouncer.logs.prod', projectIn: 'project' },
] as const;

const SLOW_QUERIES = `-- id: 11111111-2222-4333-8444-000000000001
-- name: database.slow-queries
-- alias: db.slow
-- param: project string required
-- param: ms_min float64 default=100
-- param: limit int64 default=2

SELECT m.parsed.query_id, m.parsed.duration_ms, t.event_message AS query
FROM \`postgres.logs\` AS t
CROSS JOIN UNNEST(t.metadata) AS m
WHERE t.project = @project AND m.parsed.duration_ms >= @ms_min
ORDER BY m.parsed.duration_ms DESC
LIMIT @limit
`;

let folder: string;
let service: ServiceUnderTest;
let idCount = 0x100;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-definitions-'));
  await writeEdited('logs.all', 'logs.three', ['LIMIT 100', 'LIMIT 3']);
  await writeEdited('logs.all', 'logs.oldest', [
    'FROM edge_logs\nLIMIT 100',
    'FROM edge_logs\nORDER BY timestamp\nLIMIT 2',
  ]);
  for (const { log } of LOGS) {
    await writeEdited('logs.all', `logs.${log}`, ['FROM edge_logs\n', `FROM ${log}\n`]);
  }
  await writeEdited('usage.api-counts', 'usage.by-second', [
    "'hourly' THEN TIMESTAMP_TRUNC(t.timestamp, HOUR)",
    "'hourly' THEN TIMESTAMP_TRUNC(t.timestamp, SECOND)",
  ]);
  await writeEdited('usage.api-counts', 'usage.graphql', ["'/rest'", "'/graphql'"]);
  await writeEdited('functions.invocation-stats', 'functions.status-classes', [
    '  error_count\nFROM stats',
    '  error_count, status_2xx_count, status_5xx_count\nFROM stats',
  ]);
  await writeEdited('functions.invocation-stats', 'functions.median', [
    '[OFFSET(95)]',
    '[OFFSET(50)]',
  ]);
  await writeEdited('functions.invocation-stats', 'functions.first', [
    'max_rows: 1000',
    'max_rows: 1',
  ]);
  await writeFile(join(folder, 'slow-queries.sql'), SLOW_QUERIES);
  service = await ServiceUnderTest.start({ ENDPOINTS_DIR: folder });
});
after(async () => {
  await service?.stop();
  await rm(folder, { recursive: true });
});

/** A copy of a built-in definition under a name and id of its own, with one place changed. */
async function writeEdited(
  builtIn: string,
  name: string,
  [from, to]: readonly [string, string],
): Promise<void> {
  const text = await builtInText(builtIn);
  assert.equal(text.split(from).length, 2, `${builtIn} holds ${from} once`);
  const edited = text
    .replace(from, to)
    .replace(/^-- id: .*$/m, `-- id: ${newId()}`)
    .replace(/^-- name: .*$/m, `-- name: ${name}`);
  await writeFile(join(folder, `${name}.sql`), edited);
}

function newId(): string {
  return `11111111-2222-4333-8444-${String(idCount++).padStart(12, '0')}`;
}

function builtInText(name: string): Promise<string> {
  return readFile(join(packageRoot(), 'src', 'endpoints', `${name}.sql`), 'utf8');
}

function call(endpoint: string, parameters: Readonly<Record<string, string>>): Promise<Row[]> {
  return service.call(endpoint, parameters, NOW_US);
}

suite('the stored text is what runs', () => {
  before(async () => {
    const paths = ['/rest/a', '/graphql/b', '/rest/c', '/auth/d', '/graphql/e'];
    const edges = paths.map((path, second) =>
      edge(`2026-01-15T11:00:0${second}Z`, path, { id: path }),
    );
    await service.post('cloudflare.logs.prod', edges, NOW_US);
    const invocations = [200, 204, 500, 302, 599].map((status_code, index) =>
      invocation(`2026-01-15T1${index % 2}:00:00Z`, {
        execution_time_ms: 10 * (index + 1),
        response: { status_code },
      }),
    );
    await service.post('deno-relay-logs', invocations, NOW_US);
  });

  test('another LIMIT gives that many rows', async () => {
    const rows = await call('logs.three', { project: 'alpha' });
    assert.deepEqual(rows, (await call('logs.all', { project: 'alpha' })).slice(0, 3));
    assert.deepEqual(
      rows.map((row) => row['id']),
      ['/graphql/e', '/auth/d', '/rest/c'],
    );
  });

  test('another order gives other rows', async () => {
    const rows = await call('logs.oldest', { project: 'alpha' });
    assert.deepEqual(
      rows.map((row) => row['id']),
      ['/rest/a', '/graphql/b'],
    );
  });

  test('another bucket changes the groups', async () => {
    const rows = await call('usage.by-second', { project: 'alpha', interval: 'hourly' });
    assert.deepEqual(
      rows.map((row) => [row['timestamp'], row['total_rest_requests'], row['total_auth_requests']]),
      [
        ['2026-01-15T11:00:00', 1, 0],
        ['2026-01-15T11:00:01', 0, 0],
        ['2026-01-15T11:00:02', 1, 0],
        ['2026-01-15T11:00:03', 0, 1],
        ['2026-01-15T11:00:04', 0, 0],
      ],
    );
  });

  test('another search term counts other paths', async () => {
    const [row] = await call('usage.graphql', { project: 'alpha', interval: 'hourly' });
    assert.equal(row?.['total_rest_requests'], 2);
    assert.equal(row?.['total_auth_requests'], 1);
  });

  test('values that the text computes without selecting can be selected', async () => {
    const rows = await call('functions.status-classes', { project: 'alpha' });
    assert.deepEqual(
      rows.map((row) => [
        row['count'],
        row['error_count'],
        row['status_2xx_count'],
        row['status_5xx_count'],
      ]),
      [
        [3, 2, 1, 2],
        [2, 0, 1, 0],
      ],
    );
  });

  test('another element of the quantiles is another quantile', async () => {
    const rows = await call('functions.median', { project: 'alpha' });
    assert.deepEqual(
      rows.map((row) => row['p95_execution_time']),
      [30, 20],
    );
  });

  test('max_rows of the definition limits the rows', async () => {
    const parameters = { project: 'alpha' };
    const [first, ...others] = await call('functions.invocation-stats', parameters);
    assert.equal(others.length, 1);
    assert.deepEqual(await call('functions.first', parameters), [first]);
  });
});

suite('each log of logs.all can be selected', () => {
  const at = '2026-01-15T10:00:00Z';
  const events: readonly JsonObject[] = [
    { id: 'in project', project: 'log', metadata: { n: 1 } },
    { id: 'in metadata.project', project: 'other', metadata: { project: 'log' } },
    { id: 'in metadata.project_ref', project: 'other', metadata: { project_ref: 'log' } },
    { id: 'in none', metadata: { n: 1, request: { project: 'log' } } },
    { id: 'bare', project: 'log' },
    { id: 'empty', project: 'log', metadata: [] },
    {
      id: 'twice',
      project: 'log',
      metadata: [1, 2].map((n) => ({ n, project: 'log', project_ref: 'log' })),
    },
    {
      id: 'one of two',
      project: 'other',
      metadata: ['log', 'other'].map((name) => ({ project: name, project_ref: name })),
    },
    { id: 'old', project: 'log', metadata: { project: 'log', project_ref: 'log' } },
  ].map((event) => ({ ...event, timestamp: event.id === 'old' ? '2026-01-14T12:00:00Z' : at }));

  before(async () => {
    for (const { source } of LOGS) await service.post(source, events, NOW_US);
  });

  for (const { log, projectIn, ...rule } of LOGS) {
    test(`${log} finds its project in ${projectIn}`, async () => {
      const rows = await call(`logs.${log}`, { project: 'log' });
      const isInMetadata = projectIn !== 'project';
      const isBare = 'hasBare' in rule;
      assert.deepEqual(
        rows.map((row) => row['id']),
        [
          ...(isInMetadata ? ['one of two'] : []),
          ...(isBare ? ['twice', 'empty', 'bare'] : ['twice', 'twice']),
          `in ${projectIn}`,
        ],
      );
      assert.deepEqual(Object.keys(rows[0]!), ['id', 'timestamp', 'event_message', 'metadata']);
      if (isBare) assert.deepEqual(rows[1]!['metadata'], [], 'no metadata is an empty list');
    });
  }
});

suite('a definition of the user', () => {
  before(() =>
    service.post(
      'postgres.logs',
      [
        { duration_ms: 250.5, query_id: -6203423456789012345n },
        { duration_ms: 99.9, query_id: 2 },
        { duration_ms: 1000, query_id: 3 },
        { duration_ms: '5000', query_id: 4 },
        { duration_ms: 100, query_id: null },
      ].map((parsed, index) => ({
        project: 'alpha',
        event_message: `select ${index}`,
        metadata: { parsed },
      })),
      NOW_US,
    ),
  );

  const ID = '11111111-2222-4333-8444-000000000001';
  const EXPECTED =
    '{"result":[{"query_id":3,"duration_ms":1000,"query":"select 2"},' +
    '{"query_id":-6203423456789012345,"duration_ms":250.5,"query":"select 0"}]}';

  test('can be called by its name, its alias and its id', async () => {
    for (const endpoint of ['database.slow-queries', 'db.slow', `query/${ID}`, 'query/db.slow']) {
      assert.equal(await service.callText(endpoint, { project: 'alpha' }), EXPECTED);
    }
  });

  test('parses each parameter by its type', async () => {
    const rows = await call('db.slow', { project: 'alpha', ms_min: '99.95', limit: '7' });
    assert.deepEqual(
      rows.map((row) => row['duration_ms']),
      [1000, 250.5, 100],
    );
    const answer = await service.ask('GET', '/api/endpoints/db.slow?project=alpha&limit=many');
    assert.equal(answer.status, 400);
    assert.match(answer.text, /limit must be a whole number within 64 bits; got .*many/);
  });
});

suite('the built-in definitions', () => {
  for (const name of ['logs.all', 'functions.invocation-stats', 'usage.api-counts']) {
    test(`${name} answers the same bytes by id and by name`, async () => {
      const { definition } = parseDefinitionFile(name, await builtInText(name));
      const parameters = { project: 'alpha', interval: 'daily' };
      const text = await service.callText(name, parameters);
      assert.notEqual(text, '{"result":[]}');
      for (const endpoint of [
        `query/${definition.id}`,
        `query/${definition.id.toUpperCase()}`,
        `query/${name}`,
      ]) {
        assert.equal(await service.callText(endpoint, parameters), text);
      }
    });
  }
});
