import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { NOW, us } from '../../scripts/script.ts';
import { ServiceUnderTest } from '../../support/service-under-test.ts';

const HOSTED = `-- id: 11111111-2222-4333-8444-555555555555
-- name: logs.hosted
-- extends: logs.all
-- param: project string required
WITH
supavisor_logs AS (
  SELECT t.id, t.timestamp, t.event_message, t.metadata FROM \`supavisor.logs\` AS t
  WHERE t.project = @project
),
pooler_logs AS (SELECT s.id FROM supavisor_logs AS s)
SELECT COUNT(*) AS entries FROM pooler_logs
`;

const OTHER = {
  id: '22222222-2222-4333-8444-555555555555',
  name: 'logs.other',
  extends: 'logs.all',
  parameters: [{ name: 'project', type: 'string', required: true }],
  query:
    'WITH more_logs AS (SELECT t.id FROM `pg_upgrade_logs` AS t WHERE t.project = @project) ' +
    'SELECT id FROM more_logs',
};

let folder: string;
let service: ServiceUnderTest;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-extended-'));
  await writeFile(join(folder, 'hosted.sql'), HOSTED);
  service = await ServiceUnderTest.start({
    ENDPOINTS_DIR: folder,
    SOURCES: 'supavisor.logs,pg_upgrade_logs',
    PROFILE: 'supabase',
    CACHE_LIMIT: '64MiB',
  });
  const event = (id: string, project: string) => ({ id, project, timestamp: NOW, metadata: {} });
  await service.post('supavisor.logs', [event('s1', 'alpha'), event('s2', 'beta')], us(NOW));
  await service.post('pg_upgrade_logs', [event('u1', 'alpha'), event('u2', 'alpha')], us(NOW));
  await service.post('cloudflare.logs.prod', [event('c1', 'alpha'), event('c2', 'alpha')], us(NOW));
});

after(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

/** The ids that a caller's text selects, or the error. */
async function idsOf(sql: string, endpoint = 'logs.all'): Promise<unknown> {
  const query = new URLSearchParams({ project: 'alpha', sql });
  const { text } = await service.ask('GET', `/api/endpoints/${endpoint}?${query}`);
  const { result, error } = JSON.parse(text);
  return result?.map(({ id }: { id: string }) => id) ?? error;
}

async function send(method: string, path: string, body?: object) {
  const headers = { 'Content-Type': 'application/json', 'If-Match': '*' };
  const text = body && JSON.stringify(body);
  return service.ask(method, `/api/endpoints${path}`, text, headers);
}

test('callers of a definition see the tables of one that extends it, beside its own', async () => {
  assert.deepEqual(await idsOf('SELECT id FROM supavisor_logs'), ['s1']);
  assert.deepEqual(await idsOf('SELECT id FROM pooler_logs'), ['s1']);
  const both = 'SELECT s.id FROM supavisor_logs AS s UNION ALL SELECT e.id FROM edge_logs AS e';
  assert.deepEqual(await idsOf(`SELECT id FROM (${both}) ORDER BY id`), ['c1', 'c2', 's1']);
  assert.match(String(await idsOf('SELECT id FROM `supavisor.logs`')), /no table supavisor\.logs/);
});

test('each definition can be called alone, and others do not see its tables', async () => {
  const { text } = await service.ask('GET', '/api/endpoints/logs.hosted?project=alpha');
  assert.deepEqual(JSON.parse(text).result, [{ entries: 1 }]);
  const said = await idsOf('SELECT id FROM supavisor_logs', 'functions.invocation-stats');
  assert.match(String(said), /no table supavisor_logs/);
});

test('tables come and go with the extending definition', async () => {
  const sql = 'SELECT id FROM more_logs ORDER BY id';
  assert.match(String(await idsOf(sql)), /no table more_logs/);
  const made = await send('POST', '', OTHER);
  assert.equal(made.status, 201, made.text);
  assert.equal(JSON.parse(made.text).result?.extends ?? JSON.parse(made.text).extends, 'logs.all');
  assert.deepEqual(await idsOf(sql), ['u1', 'u2']);
  assert.deepEqual(await idsOf('SELECT id FROM supavisor_logs'), ['s1']);
  const query = OTHER.query.replace('@project', "@project AND t.id = 'u2'");
  assert.equal((await send('PUT', `/${OTHER.id}`, { ...OTHER, query })).status, 200);
  assert.deepEqual(await idsOf(sql), ['u2']);
  await send('DELETE', `/${OTHER.id}`);
  assert.match(String(await idsOf(sql)), /no table more_logs/);
});

test('an impossible extension is refused with the reason', async () => {
  const project = OTHER.parameters[0]!;
  const cases: readonly [object, RegExp][] = [
    [{ extends: 'logs.none' }, /it cannot extend logs\.none: there is no definition of that name/],
    [
      { query: OTHER.query.replaceAll('more_logs', 'Edge_Logs') },
      /there is a table Edge_Logs already/,
    ],
    [{ query: OTHER.query.replaceAll('more_logs', 'pooler_logs') }, /a table pooler_logs already/],
    [{ parameters: [], query: 'SELECT 1 AS id' }, /has no WITH/],
    [
      {
        parameters: [project, { name: 'level', type: 'string' }],
        query: OTHER.query.replace('@project', '@project AND t.id > @level'),
      },
      /calls of that give no parameter level of type string/,
    ],
  ];
  for (const [change, message] of cases) {
    const { status, text } = await send('POST', '', { ...OTHER, ...change });
    assert.notEqual(status, 201, text);
    assert.match(text, message);
  }
});
