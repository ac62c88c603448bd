import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { edge, invocation, NOW, us } from '../../scripts/script.ts';
import { EDGE, GRANTS, Granted, type GrantName, makeToken, RELAY } from '../../support/granted.ts';
import type { HttpAnswer } from '../../support/http-client.ts';
import { ServiceUnderTest } from '../../support/service-under-test.ts';

const AT = '2026-01-15T11:30:00Z';

/** Counts the greetings of each source and project, by the source's rule. */
const GREETINGS = `-- id: 6f8f4f3a-3d1b-4f51-9a42-8a8c8d0c8f10
-- name: app.greetings

SELECT 'cloudflare.logs.prod' AS source, project, COUNT(*) AS n
FROM \`cloudflare.logs.prod\` WHERE event_message = 'hello' GROUP BY project
UNION ALL SELECT 'postgres.logs', project, COUNT(*)
FROM \`postgres.logs\` WHERE event_message = 'hello' GROUP BY project
UNION ALL SELECT 'deno-relay-logs', m.project_ref, COUNT(*)
FROM \`deno-relay-logs\`, UNNEST(metadata) AS m WHERE event_message = 'hello' GROUP BY m.project_ref
UNION ALL SELECT 'realtime.logs.prod', m.project, COUNT(*)
FROM \`realtime.logs.prod\`, UNNEST(metadata) AS m WHERE event_message = 'hello' GROUP BY m.project
`;

let folder: string;
let service: ServiceUnderTest;
let granted: Granted;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-access-'));
  await writeFile(join(folder, 'greetings.sql'), GREETINGS);
  service = await ServiceUnderTest.start({ CACHE_LIMIT: '64MiB', ENDPOINTS_DIR: folder });
  granted = await Granted.of(service);
  const projects = ['alpha', 'beta', 'gamma'];
  const edges = projects.map((project) => edge(AT, `/rest/${project}`, { project }));
  await service.post(EDGE, edges, us(NOW));
  const calls = projects.map((project_ref) => invocation(AT, { project_ref }, project_ref));
  await service.post(RELAY, calls, us(NOW));
});

after(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

function resultOf({ text }: HttpAnswer): readonly Readonly<Record<string, unknown>>[] {
  return (JSON.parse(text) as { result: Record<string, unknown>[] }).result;
}

function codeOf({ text }: HttpAnswer): string | undefined {
  return (JSON.parse(text) as { error?: { code: string } }).error?.code;
}

const LOGS_ALL = '/api/endpoints/logs.all?project=alpha&project_tier=PRO';
const STATS = '/api/endpoints/functions.invocation-stats?project=alpha&interval=1hr';

/** A request of each route, and the scopes that it accepts. */
const ROUTES: readonly (readonly [method: string, path: string, scopes: readonly string[]])[] = [
  ['POST', `/api/logs?source_name=${EDGE}`, ['ingest']],
  ['POST', `/logs?source_name=${EDGE}`, ['ingest']],
  ['POST', `/v1/logs?source_name=${EDGE}`, ['ingest']],
  ['POST', `/v1/traces?source_name=${EDGE}`, ['ingest']],
  ['POST', `/v1/metrics?source_name=${EDGE}`, ['ingest']],
  ['POST', `/loki/api/v1/push?source_name=${EDGE}`, ['ingest']],
  ['POST', '/_bulk', ['ingest']],
  ['POST', `/upload?source_name=${EDGE}`, ['ingest']],
  ['POST', `/gelf?source_name=${EDGE}`, ['ingest']],
  ['POST', `/firehose?source_name=${EDGE}`, ['ingest']],
  ['POST', '/logs-2026/_doc', ['ingest']],
  ['GET', LOGS_ALL, ['query']],
  ['POST', LOGS_ALL, ['query']],
  ['GET', '/api/endpoints', ['manage']],
  ['GET', '/api/endpoints/2034724d-89c8-43a9-aabc-52f7404f4bdd', ['manage']],
  ['GET', '/api/tokens', ['manage']],
  ['POST', '/api/tokens', ['manage']],
  ['GET', '/api/tokens/none', ['manage']],
  ['DELETE', '/api/tokens/none', ['manage']],
  ['GET', '/metrics', ['manage']],
  ['GET', '/api/sources', ['ingest', 'query', 'manage']],
  ['PUT', `/api/sources/${EDGE}`, ['manage']],
  ['DELETE', '/api/endpoints/logs.all', ['manage']],
];

test('each route accepts its own scopes and no others', async () => {
  for (const [method, path, scopes] of ROUTES) {
    for (const [name, order] of Object.entries(GRANTS)) {
      const body = method === 'POST' && !scopes.includes('query') ? '[' : undefined;
      const answer = await granted.ask(name as GrantName, method, path, body);
      const isLetIn = order.scopes.some((scope) => scopes.includes(scope));
      // An accepted request may fail for other reasons: its body, or its id.
      if (isLetIn) doesNotMatch(answer.text, /needs a token with the scope/, `${name} ${path}`);
      else equal(answer.status, 403, `${name} ${path}`);
    }
  }
});

test('a reader bound to projects gets rows of these only, whatever the query', async () => {
  for (const project of ['alpha', 'beta', 'gamma']) {
    for (const name of [
      'query, all',
      'query, alpha',
      'query, alpha and gamma',
      'query, alpha',
    ] as const) {
      const isOwn = name === 'query, all' || name.includes(project);
      const what = `${name}: ${project}`;
      const parameters = `project=${project}&interval=1hr&project_tier=PRO`;
      const paths = ['logs.all', 'functions.invocation-stats'].map(
        (endpoint) => `/api/endpoints/${endpoint}?${parameters}`,
      );
      for (const path of paths) {
        const answer = await granted.ask(name, 'GET', path);
        if (isOwn) equal(resultOf(answer).length, 1, what);
        else deepEqual([answer.status, codeOf(answer)], [403, 'out_of_reach'], what);
      }
    }
  }
});

test('an expression that matches every request counts those of the reader’s projects only', async () => {
  const path = '/api/endpoints/usage.api-counts?project=.*&interval=hourly';
  // The second time, the answer may be a kept one, which belongs to one reach.
  for (const times of [1, 2]) {
    for (const [name, count] of [
      ['query, all', 3],
      ['query, alpha', 1],
      ['query, alpha and gamma', 2],
      ['query, edge', 3],
    ] as const) {
      const answer = await granted.ask(name, 'GET', path);
      equal(resultOf(answer)[0]?.['total_rest_requests'], count, `${name}, ${times}`);
      match(String(answer.headers['cache-status']), times === 1 ? /miss/ : /hit/);
      equal(answer.headers['cache-control'], 'private, max-age=900');
    }
  }
});

test('a token bound to endpoints calls these by every name and learns no other names', async () => {
  const ask = (path: string) => granted.ask('query, logs.all', 'GET', path);
  const query = 'project=alpha&project_tier=PRO';
  for (const path of ['logs.all', 'query/logs.all', 'query/2034724d-89c8-43a9-aabc-52f7404f4bdd']) {
    equal((await ask(`/api/endpoints/${path}?${query}`)).status, 200, path);
  }
  for (const path of [
    'usage.api-counts',
    'query/e1bf113c-6557-48e9-8b89-7fabf9638840',
    'nothing',
  ]) {
    const answer = await ask(`/api/endpoints/${path}?${query}`);
    deepEqual([answer.status, codeOf(answer)], [403, 'out_of_reach'], path);
  }
  const document = await ask('/api/openapi.json');
  match(document.text, /logs\.all/);
  doesNotMatch(document.text, /usage\.api-counts/);
});

test('errors to a token bound to sources name no other source, and its list has only its own', async () => {
  equal((await granted.ask('query, edge', 'GET', LOGS_ALL)).status, 200);
  const refused = await granted.ask('query, edge', 'GET', STATS);
  deepEqual([refused.status, codeOf(refused)], [403, 'out_of_reach']);
  match(
    refused.text,
    /the query reads a source that its caller may not read; its caller may read cloudflare\.logs\.prod/,
  );
  doesNotMatch(refused.text, new RegExp(RELAY));
  // This also holds if an answer is kept for others.
  equal((await granted.ask('query, all', 'GET', STATS)).status, 200);
  equal((await granted.ask('query, edge', 'GET', STATS)).status, 403);
  for (const name of ['query, edge', 'ingest, edge'] as const) {
    const sources = resultOf(await granted.ask(name, 'GET', '/api/sources'));
    deepEqual(
      sources.map((source) => source['name']),
      [EDGE],
    );
  }
});

test('a token bound to sources gets the same answer for other sources and for missing ones', async () => {
  const ndjson = { 'Content-Type': 'application/x-ndjson' };
  const bulk = (index: string) => `{"create":{"_index":"${index}"}}\n{"message":"hello"}\n`;
  /** An answer without the name, and without what differs for each request. */
  const said = ({ status, text }: HttpAnswer, name: string) => [
    status,
    text.replaceAll(name, 'NAME').replace(/"request_id":"[^"]*"/, ''),
  ];
  const asks: readonly ((name: string) => Promise<HttpAnswer>)[] = [
    (name) => granted.ask('query, edge', 'GET', `/api/sources/${name}/tail`),
    (name) => granted.ask('query, logs.all', 'GET', `/api/sources/${name}/tail`),
    ...['/api/logs', '/logs/json', '/v1/logs', '/loki/api/v1/push'].map(
      (path) => (name: string) =>
        granted.ask('ingest, edge', 'POST', `${path}?source_name=${name}`, '[]'),
    ),
    (name) =>
      granted.ask('ingest, edge', 'POST', '/api/logs', `{"source":"${name}","message":"hello"}`),
    (name) => granted.ask('ingest, edge', 'POST', `/${name}/_bulk`, bulk(EDGE), ndjson),
    (name) => granted.ask('ingest, edge', 'POST', `/${EDGE}/_bulk`, bulk(name), ndjson),
  ];
  for (const [index, ask] of asks.entries()) {
    const [there, absent] = [await ask('postgres.logs'), await ask('nothing')];
    equal(there.status, 403, `${index}: ${there.text}`);
    match(there.text, /the token .* is not for/, `${index}`);
    deepEqual(said(absent, 'nothing'), said(there, 'postgres.logs'), `${index}`);
  }
});

/** A post of one event without a project to each receiver. */
const POSTS: readonly (readonly [path: string, type: string, body: string])[] = [
  ['/api/logs', 'application/json', '[{"message":"hello"}]'],
  ['/logs/json', 'application/json', '{"message":"hello"}'],
  [
    '/v1/logs',
    'application/json',
    '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"hello"}}]}]}]}',
  ],
  [
    '/loki/api/v1/push',
    'application/json',
    `{"streams":[{"stream":{"project":"beta"},"values":[["${us(NOW)}000","hello"]]}]}`,
  ],
  ['/_bulk', 'application/x-ndjson', '{"create":{}}\n{"message":"hello","project":"beta"}\n'],
  ['/upload', 'application/vnd.fdo.journal', 'MESSAGE=hello\nPROJECT=beta\n'],
  ['/gelf', 'application/json', '{"short_message":"hello","_project":"beta"}'],
  // The record is hello.
  ['/firehose', 'application/json', '{"records":[{"data":"aGVsbG8="}]}'],
  ['/services/collector', 'application/json', '{"event":"hello","fields":{"project":"beta"}}'],
  ['/logs-2026/_doc', 'application/json', '{"message":"hello","project":"beta"}'],
  ['/api/v2/logs', 'application/json', '{"message":"hello","ddtags":"project:beta"}'],
];

test('events posted by a token of one project belong to it, at every receiver and by each source’s rule', async () => {
  for (const source of [EDGE, 'postgres.logs', RELAY, 'realtime.logs.prod']) {
    for (const [path, type, body] of POSTS) {
      const url = `${path}?source_name=${source}`;
      const answer = await granted.ask('ingest, alpha', 'POST', url, body, {
        'Content-Type': type,
      });
      equal(Math.floor(answer.status / 100), 2, `${url}: ${answer.text}`);
      doesNotMatch(answer.text, /"errors":true/);
    }
  }
  const path = '/api/endpoints/app.greetings';
  const counts = resultOf(await granted.ask('query, all', 'GET', path));
  deepEqual(
    counts.map((row) => Object.values(row)),
    [EDGE, 'postgres.logs', RELAY, 'realtime.logs.prod'].map((source) => [
      source,
      'alpha',
      POSTS.length,
    ]),
  );
  deepEqual(resultOf(await granted.ask('query, alpha', 'GET', path)), counts);
});

test('a token bound to sources does not learn the name of the default source', async () => {
  for (const path of ['/v1/logs', '/loki/api/v1/push', '/_bulk']) {
    const { status, text } = await granted.ask('ingest, edge', 'POST', path, '{}');
    equal(status, 403);
    match(text, /the token [^"]* is not for the source of posts that name none/);
  }
});

test('an event from a token of several projects must name one of them', async () => {
  const post = (event: object) =>
    granted.ask(
      'ingest, alpha and gamma',
      'POST',
      `/api/logs?source_name=${EDGE}`,
      JSON.stringify([event]),
    );
  equal((await post(edge(AT, '/auth', { project: 'gamma', id: 'of gamma' }))).status, 200);
  for (const [event, got] of [
    [edge(AT, '/auth', { project: 'beta' }), '\\\\"beta\\\\"'],
    [{ message: 'of nobody' }, 'none'],
  ] as const) {
    const { status, text } = await post(event);
    equal(status, 406);
    match(
      text,
      new RegExp(
        `event 0: project must be one of the projects that the token is bound to; got ${got}`,
      ),
    );
  }
});

test('a token bound to sources posts to these, and to its own default when a post names none', async () => {
  const post = (name: GrantName, path: string, body = '[{"message":"hello"}]') =>
    granted.ask(name, 'POST', path, body);
  equal((await post('ingest, edge', `/api/logs?source_name=${EDGE}`)).status, 200);
  for (const path of [
    '/api/logs?source_name=postgres.logs',
    '/v1/logs?source_name=postgres.logs',
    '/v1/logs',
  ]) {
    const answer = await post('ingest, edge', path, '{}');
    equal(answer.status, 403, `${path} ${answer.text}`);
  }
  const inBody = '{"source_name":"postgres.logs","message":"hello"}';
  equal((await post('ingest, edge', '/api/logs', inBody)).status, 403);
  const bulk = `{"create":{"_index":"${EDGE}"}}\n{"message":"first of two"}\n{"create":{"_index":"postgres.logs"}}\n{"message":"b"}\n`;
  const ndjson = { 'Content-Type': 'application/x-ndjson' };
  equal((await granted.ask('ingest, edge', 'POST', `/${EDGE}/_bulk`, bulk, ndjson)).status, 403);
  equal((await post('ingest, all', '/api/logs')).status, 400);
  equal((await post('ingest, edge by default', '/api/logs')).status, 200);
  const kept = await granted.ask(
    'ingest, edge by default',
    'POST',
    '/_bulk',
    '{"create":{}}\n{"message":"by default"}\n',
    ndjson,
  );
  equal(kept.status, 200);
  const sources = resultOf(await service.ask('GET', '/api/sources'));
  equal(sources.find(({ name }) => name === 'logs')?.['events'], 0);
});

test('tokens are created, listed without their texts, read and revoked, with effect from the next request', async () => {
  const { id, token } = await makeToken(service, 'for a while', { scopes: ['query'] });
  const headers = { 'X-API-KEY': token };
  equal((await service.ask('GET', LOGS_ALL, undefined, headers)).status, 200);
  const list = await service.ask('GET', '/api/tokens');
  const known = resultOf(list).find((one) => one['id'] === id);
  deepEqual(known, {
    id,
    name: 'for a while',
    scopes: ['query'],
    created_at: '2026-01-15T12:00:00.000Z',
    from: 'file',
  });
  doesNotMatch(list.text, /sha256|weir_/);
  deepEqual(JSON.parse((await service.ask('GET', `/api/tokens/${id}`)).text), { result: known });
  const revoked = await service.ask('DELETE', `/api/tokens/${id}`);
  deepEqual([revoked.status, revoked.text], [204, '']);
  const refused = await service.ask('GET', LOGS_ALL, undefined, headers);
  deepEqual([refused.status, codeOf(refused)], [401, 'unauthorized']);
  equal((await service.ask('DELETE', `/api/tokens/${id}`)).status, 404);
  equal((await service.ask('DELETE', '/api/tokens/settings-private')).status, 409);
});

test('a token expires by the machine’s clock even if the clock of queries stands still', async () => {
  const order = { scopes: ['query'], expires_at: '2026-01-15T12:00:10Z' } as const;
  const { token } = await makeToken(service, 'for ten seconds', order);
  const startMs = service.wall.ms;
  const ask = () => service.ask('GET', LOGS_ALL, undefined, { 'X-API-KEY': token });
  service.wall.ms = startMs + 9_999;
  equal((await ask()).status, 200);
  service.wall.ms = startMs + 10_000;
  const answer = await ask();
  service.wall.ms = startMs;
  equal(answer.status, 401);
  match(answer.text, /the access token has expired/);
});

test('an invalid request for a token, or one beyond the requester’s rights, is refused with a reason', async () => {
  const post = (name: GrantName, order: object) =>
    granted.ask(name, 'POST', '/api/tokens', JSON.stringify(order));
  const wrong = await post('manage', { name: 'a' });
  deepEqual([wrong.status, codeOf(wrong)], [400, 'invalid_body']);
  const wider = await post('manage', { name: 'a', scopes: ['query'] });
  deepEqual([wider.status, codeOf(wider)], [403, 'forbidden']);
  equal((await post('manage', { name: 'another', scopes: ['manage'] })).status, 201);
  const again = await post('manage', { name: 'another', scopes: ['manage'] });
  deepEqual([again.status, codeOf(again)], [409, 'token_conflict']);
  equal((await granted.ask('manage', 'POST', '/api/tokens', '{')).status, 400);
});

test('a mistyped token is distinguished from an unknown one, and neither is repeated or logged', async () => {
  const token = granted.token('query, alpha');
  const cut = token.slice(0, -1);
  for (const [given, message] of [
    [cut, /the access token is not whole/],
    ['some-token-of-others', /the access token is not known/],
  ] as const) {
    const answer = await service.ask('GET', LOGS_ALL, undefined, { 'X-API-KEY': given });
    equal(answer.status, 401);
    match(answer.text, message);
    equal(answer.text.includes(given), false);
  }
  // The token in the URL, of calls that succeed and fail.
  for (const path of [
    LOGS_ALL,
    '/api/endpoints/nothing?a=b',
    '/nothing?a=b',
    '/api/endpoints/%zz?a=b',
  ]) {
    const answer = await service.ask('GET', `${path}&api_key=${token}`, undefined, {
      'X-API-KEY': '',
    });
    equal(answer.text.includes(token), false);
    equal(JSON.stringify(answer.headers).includes(token), false);
  }
  equal(JSON.stringify(service.entries).includes('weir_'), false);
});

test('in the profile supabase, what a token may not access looks missing', async () => {
  const stack = await ServiceUnderTest.start({ PROFILE: 'supabase' });
  try {
    const bound = await Granted.of(stack);
    for (const [name, path] of [
      ['query, logs.all', '/api/endpoints/usage.api-counts?project=alpha&interval=hourly'],
      ['query, logs.all', '/api/endpoints/nothing'],
      ['query, edge', STATS],
      ['ingest, alpha', LOGS_ALL],
    ] as const) {
      const { status, text } = await bound.ask(name, 'GET', path);
      deepEqual([status, text], [401, '{"error":"Unauthorized"}'], `${name} ${path}`);
    }
    const posted = await bound.ask('ingest, edge', 'POST', `/api/logs?source_name=${RELAY}`, '[]');
    equal(posted.status, 401);
  } finally {
    await stack.stop();
  }
});
