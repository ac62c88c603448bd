import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QueryError } from '../../engine/query-error.ts';
import { BUILT_IN_SOURCES } from '../../ingest/source.ts';
import { EndpointClient } from '../../src/command/endpoint-client.ts';
import { ServiceClient } from '../../src/command/service-client.ts';
import { ServiceError } from '../../src/errors.ts';
import { HEADERS_WITH_SQL_BYTES_MAX } from '../../src/limits.ts';
import {
  ask,
  askRaw,
  failingRun,
  fakeIntake,
  PRIVATE,
  PUBLIC,
  post,
  STATS_ID,
  withApp,
} from './harness.ts';

const SUPABASE = { profile: 'supabase' } as const;
const CALL = '/api/endpoints/query/app.stats';
const LOGS = '/api/logs?source_name=postgres.logs';
const UNAUTHORIZED = { error: 'Unauthorized' };

test('a call that cannot be answered is a 200 with a message', async () => {
  await withApp(SUPABASE, async (app) => {
    for (const path of [CALL, '/endpoints/query/app.stats', '/api/endpoints/app.stats']) {
      const missing = await ask(app, { path });
      assert.deepEqual(
        [missing.status, missing.json],
        [200, { error: 'project must be text; got nothing' }],
      );
    }
    const odd = await ask(app, { path: `${CALL}?project=a&interval=2min` });
    assert.equal(odd.status, 200);
    assert.match(odd.json.error, /interval must be 1hr or 1day; got "2min"/);
    const broken = await post(app, CALL, '{"project"');
    assert.deepEqual([broken.status, Object.keys(broken.json)], [200, ['error']]);
  });
});

test('a path that does not decode is a 200 for a call, and a 400 for a change of a definition', async () => {
  await withApp(SUPABASE, async (app) => {
    for (const [method, status] of [
      ['GET', 200],
      ['POST', 200],
      ['PUT', 400],
      ['DELETE', 400],
    ] as const) {
      const answer = await ask(app, { path: '/api/endpoints/name%', method });
      assert.deepEqual(
        [answer.status, answer.json],
        [status, { error: 'a % in the path must begin UTF-8 in hexadecimal' }],
      );
    }
  });
});

test('failed queries are such 200s instead of 422 and 504, and 503 stays', async () => {
  const outcomes: [QueryError['code'], number][] = [
    ['query_failed', 200],
    ['query_limit', 200],
    ['answer_too_large', 200],
    ['invalid_regular_expression', 200],
    ['query_timeout', 200],
    ['overloaded', 503],
  ];
  for (const [code, status] of outcomes) {
    await withApp({ ...SUPABASE, run: failingRun(code, 'it went wrong') }, async (app) => {
      const answer = await ask(app, { path: `${CALL}?project=a` });
      assert.deepEqual([answer.status, answer.json], [status, { error: 'it went wrong' }]);
      assert.equal(answer.headers['retry-after'] !== undefined, status === 503);
    });
  }
});

test('forbidden and missing things get the same 401', async () => {
  await withApp(SUPABASE, async (app) => {
    const answers = [
      await ask(app, { path: CALL, headers: { 'X-API-KEY': undefined } }),
      await ask(app, { path: CALL, headers: { 'X-API-KEY': 'wrong' } }),
      await ask(app, { path: CALL, headers: { 'X-API-KEY': PUBLIC } }),
      await ask(app, { path: '/api/endpoints/query/no.such' }),
      await ask(app, { path: '/api/endpoints', headers: { 'X-API-KEY': PUBLIC } }),
      await post(app, '/api/logs?source_name=no.such', {}),
      await post(app, '/logs', { event_message: 'nowhere to' }),
      await post(app, LOGS, {}, { 'X-API-KEY': 'wrong' }),
    ];
    for (const { status, json, headers } of answers) {
      assert.deepEqual([status, json], [401, UNAUTHORIZED]);
      assert.match(headers['www-authenticate'] ?? '', /^Bearer/);
    }
  });
});

test('a post that was not stored is never a 200, which would make its sender discard the events', async () => {
  await withApp(SUPABASE, async (app) => {
    const broken = await post(app, LOGS, '{"a":');
    assert.deepEqual([broken.status, typeof broken.json.error], [400, 'string']);
    const wrongType = await post(app, LOGS, '', { 'Content-Type': 'text/csv' });
    assert.equal(wrongType.status, 415);
    const refused = await post(app, LOGS, [{}, 1]);
    const message = ['event 1: must be an object'];
    assert.deepEqual([refused.status, refused.json], [406, { message }]);
    const taken = await post(app, LOGS, [{}], { 'X-API-KEY': PUBLIC });
    assert.deepEqual([taken.status, taken.json], [200, { message: 'Logged!' }]);
  });
});

test('a sender that must wait gets the message that it knows', async () => {
  const intake = fakeIntake([]);
  const full = {
    ...intake,
    decode: () => Promise.reject(new ServiceError('ingest_overloaded', 'more than can be taken')),
  };
  await withApp({ ...SUPABASE, intake: full }, async (app) => {
    const { status, json, headers } = await post(app, LOGS, [{}]);
    assert.deepEqual([status, json], [429, { error: 'Buffer Full: Too Many Requests' }]);
    assert.equal(headers['retry-after'], '3');
  });
});

test('a caller that asks for a problem document gets code, status and position', async () => {
  await withApp(SUPABASE, async (app) => {
    const headers = { Accept: 'application/problem+json' };
    const { status, json } = await ask(app, { path: CALL, headers });
    assert.deepEqual([status, json.code, json.parameter], [400, 'missing_parameter', 'project']);
  });
});

test('a URL of nearly 64 KiB is accepted, and a longer one refused with the limit', async () => {
  await withApp(SUPABASE, async (app) => {
    const path = (length: number) => `${CALL}?project=a&sql=${'x'.repeat(length)}`;
    assert.equal((await ask(app, { path: path(HEADERS_WITH_SQL_BYTES_MAX - 1_000) })).status, 200);
    const long = await askRaw(app, `GET ${path(HEADERS_WITH_SQL_BYTES_MAX)} HTTP/1.1\r\n\r\n`);
    assert.match(long, /^HTTP\/1\.1 431 /);
    assert.match(
      long,
      /\r\n\r\n\{"error":"the URL and the headers may have 65536 bytes; got more"\}$/,
    );
  });
});

test('health has what the health check of the stack reads', async () => {
  await withApp(SUPABASE, async (app) => {
    const { status, json } = await ask(app, {
      path: '/health',
      headers: { 'X-API-KEY': undefined },
    });
    assert.deepEqual(
      [status, json],
      [200, { status: 'ok', nodes_count: 1, memory_utilization: 'ok' }],
    );
  });
  await withApp({ ...SUPABASE, isStarting: true }, async (app) => {
    const { status, json } = await ask(app, { path: '/health' });
    assert.deepEqual([status, json.status], [503, 'coming_up']);
    const call = await ask(app, { path: CALL });
    assert.deepEqual([call.status, typeof call.json.error], [503, 'string']);
  });
});

test('weir explain reports errors in this profile, too', async () => {
  await withApp(SUPABASE, async (app) => {
    const client = new EndpointClient(new ServiceClient(`http://127.0.0.1:${app.port}`, PRIVATE));
    const call = { id: STATS_ID, parameters: new Map(), sql: undefined, isJson: false };
    await assert.rejects(client.explain(call), { code: 'missing_parameter' });
    const stranger = new EndpointClient(new ServiceClient(`http://127.0.0.1:${app.port}`, 'wrong'));
    await assert.rejects(stranger.list(), { code: 'unauthorized' });
  });
});

test('the list of sources has no envelope, UUIDs named tokens, and fixed numbers', async () => {
  await withApp(SUPABASE, async (app) => {
    const { json } = await ask(app, { path: '/api/sources', headers: { 'X-API-KEY': PUBLIC } });
    const named = (name: string) => json.find((source: { name: string }) => source.name === name);
    assert.deepEqual(named('postgres.logs'), {
      id: 1181678342,
      token: BUILT_IN_SOURCES.find(({ name }) => name === 'postgres.logs')!.id,
      name: 'postgres.logs',
      project: 'project',
    });
    assert.equal(new Set(json.map(({ id }: { id: number }) => id)).size, json.length);
  });
});
