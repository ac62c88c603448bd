import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { ServiceUnderTest } from '../support/service-under-test.ts';

/** Noon; windows below are told from here. */
const NOW = '2026-01-15T12:00:00Z';
const NOW_US = 1_768_478_400_000_000;
const MINUTE_US = 60_000_000;

type Row = Readonly<Record<string, unknown>>;

/** What the gateway's sender posts of one request: no URL, no host. */
function gatewayRequest(path: string, timestamp: string): object {
  return {
    appname: 'gateway',
    event_message: `"GET ${path} HTTP/1.1" 200`,
    metadata: {
      request: { headers: { user_agent: 'node' }, method: 'GET', path, protocol: 'HTTP/1.1' },
      response: { status_code: 200 },
    },
    project: 'default',
    timestamp,
  };
}

suite('in the profile supabase', () => {
  let service: ServiceUnderTest;

  before(async () => {
    service = await ServiceUnderTest.start({ PROFILE: 'supabase', FROZEN_NOW: NOW });
    await service.postText(
      'cloudflare.logs.prod',
      JSON.stringify([
        gatewayRequest('/rest/v1/todos?select=*', '2026-01-15T11:55:00Z'),
        gatewayRequest('/auth/v1/token', '2026-01-15T11:55:30Z'),
        gatewayRequest('/storage/v1/bucket', '2026-01-14T13:10:00Z'),
        gatewayRequest('/rest/v1/todos', '2026-01-10T08:00:00Z'),
        { ...gatewayRequest('/rest/v1/other', '2026-01-15T11:56:00Z'), project: 'other' },
      ]),
    );
    await service.postText(
      'postgres.logs',
      JSON.stringify([
        { event_message: 'one', project: 'default', identifier: 'primary', metadata: {} },
        { event_message: 'two', project: 'default' },
      ]),
    );
  });

  after(() => service.stop());

  async function rows(endpoint: string, parameters: Record<string, string> = {}): Promise<Row[]> {
    const path = `/api/endpoints/query/${endpoint}?${new URLSearchParams(parameters)}`;
    const { status, text } = await service.ask('GET', path);
    assert.equal(status, 200);
    const { result } = JSON.parse(text) as { result?: Row[] };
    assert(result !== undefined, text);
    return result;
  }

  async function errorOf(endpoint: string, parameters: Record<string, string>): Promise<string> {
    const path = `/api/endpoints/query/${endpoint}?${new URLSearchParams(parameters)}`;
    const { status, text } = await service.ask('GET', path);
    assert.equal(status, 200);
    return (JSON.parse(text) as { error: string }).error;
  }

  test('without a project, ref is the project, and without either it is default', async () => {
    assert.equal((await rows('logs.all')).length, 4);
    assert.equal((await rows('logs.all', { project: '' })).length, 4);
    assert.equal((await rows('logs.all', { ref: 'other' })).length, 1);
    assert.equal((await rows('logs.all', { project: 'other', ref: 'default' })).length, 1);
    // Without a tier all ninety days are seen; the names of tiers mean what they mean elsewhere.
    assert.equal((await rows('logs.all', { project_tier: 'FREE' })).length, 3);
    assert.equal((await rows('logs.all', { project_tier: '' })).length, 4);
  });

  test('a request of the gateway gets a URL when it is stored', async () => {
    const [newest] = await rows('logs.all');
    assert.deepEqual(newest!['metadata'], [
      {
        request: [
          {
            headers: [{ user_agent: 'node' }],
            method: 'GET',
            path: '/auth/v1/token',
            protocol: 'HTTP/1.1',
            url: 'http://default/auth/v1/token',
          },
        ],
        response: [{ status_code: 200 }],
      },
    ]);
  });

  const counts = (rest: number, storage: number, auth: number) => ({
    total_rest_requests: rest,
    total_storage_requests: storage,
    total_auth_requests: auth,
    total_realtime_requests: 0,
  });

  test('usage.api-counts accepts the intervals of the charts, beside its own', async () => {
    const minutely = [{ timestamp: '2026-01-15T11:55:00', ...counts(1, 0, 1) }];
    assert.deepEqual(await rows('usage.api-counts', { interval: 'minutely' }), minutely);
    assert.deepEqual(await rows('usage.api-counts', { interval: '1hr' }), minutely);
    assert.deepEqual(await rows('usage.api-counts', { interval: '1day' }), [
      { timestamp: '2026-01-14T13:00:00', ...counts(0, 1, 0) },
      { timestamp: '2026-01-15T11:00:00', ...counts(1, 0, 1) },
    ]);
    const daily = [
      { timestamp: '2026-01-10T00:00:00', ...counts(1, 0, 0) },
      { timestamp: '2026-01-14T00:00:00', ...counts(0, 1, 0) },
      { timestamp: '2026-01-15T00:00:00', ...counts(1, 0, 1) },
    ];
    assert.deepEqual(await rows('usage.api-counts', { interval: '7day' }), daily);
    assert.deepEqual(await rows('usage.api-counts', { interval: 'daily' }), daily);
    assert.match(
      await errorOf('usage.api-counts', { interval: '2min' }),
      /interval must be hourly, daily, minutely, 1hr, 1day or 7day; got "2min"/,
    );
  });

  test('functions.inv-stats is another name of functions.invocation-stats', async () => {
    assert.deepEqual(await rows('functions.inv-stats', { interval: '1hr' }), []);
    assert.deepEqual(await rows('functions.invocation-stats', { interval: '1hr' }), []);
  });

  test('a reader sends its own SQL over nine logs, each with an identifier', async () => {
    const sql = `SELECT id IS NOT NULL AS has_id, event_message, identifier
      FROM postgres_logs ORDER BY event_message`;
    assert.deepEqual(await rows('logs.all', { sql }), [
      { has_id: true, event_message: 'one', identifier: 'primary' },
      { has_id: true, event_message: 'two', identifier: null },
    ]);
    for (const log of ['edge', 'function_edge', 'function', 'auth', 'realtime', 'storage']) {
      await rows('logs.all', { sql: `SELECT identifier FROM ${log}_logs` });
    }
    for (const log of ['postgrest', 'pgbouncer']) {
      await rows('logs.all', { sql: `SELECT identifier FROM ${log}_logs` });
    }
    const error = await errorOf('logs.all', { sql: 'SELECT 1 FROM\n no_such_logs' });
    assert.match(error, /no_such_logs.*\(line 2, column 2\)$/);
  });

  test('an event posted alone gets a new id and the time of receipt', async () => {
    const event = {
      id: 'mine',
      timestamp: '2026-01-01T00:00:00Z',
      event_message: 'alone',
      project: 'single',
      metadata: { a: 1 },
    };
    await service.postText('cloudflare.logs.prod', JSON.stringify(event), NOW_US + MINUTE_US);
    const [row] = await rows('logs.all', { project: 'single' });
    assert.notEqual(row!['id'], 'mine');
    assert.equal(row!['timestamp'], NOW_US + MINUTE_US);
  });
});

test('none of this applies in the default profile', async () => {
  const service = await ServiceUnderTest.start({ FROZEN_NOW: NOW });
  try {
    const request = gatewayRequest('/rest/v1/todos', '2026-01-15T11:55:00Z');
    await service.postText('cloudflare.logs.prod', JSON.stringify({ ...request, id: 'mine' }));
    const { text } = await service.ask('GET', '/api/endpoints/logs.all?project=default');
    const [row] = (JSON.parse(text) as { result: Row[] }).result;
    assert.equal(row!['id'], 'mine');
    assert.doesNotMatch(text, /"url"/);
    for (const path of [
      '/api/endpoints/logs.all?ref=default',
      '/api/endpoints/usage.api-counts?project=default&interval=1hr',
    ]) {
      assert.equal((await service.ask('GET', path)).status, 400);
    }
    const alias = await service.ask('GET', '/api/endpoints/functions.inv-stats?project=default');
    assert.equal(alias.status, 404);
  } finally {
    await service.stop();
  }
});
