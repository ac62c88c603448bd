import { deepEqual, equal, ok } from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { formatTemplate } from '../../../src/openapi/path-item.ts';
import { ApiDocument, type DocumentText } from '../../support/api-document.ts';
import { ServiceUnderTest } from '../../support/service-under-test.ts';
import { type Ask, ask, fakeEndpoint, withApp } from '../harness.ts';

const ID = '3d0f9a52-61c4-4d6f-9d6a-6f1f6a0f9b11';

const PRIVATE = 'a-private-token';
const PUBLIC = 'a-public-token';

const NO_TOKEN = { 'X-API-KEY': undefined };
const AS_JSON = { Accept: 'application/json' };
const AS_PROBLEM = { Accept: 'application/problem+json' };

const DEFINITION = `-- id: ${ID}
-- name: app.kinds
-- description: A value of each type
-- alias: app.types
-- max_rows: 5
-- cache: 60s
-- sandbox: enabled
-- param: project string required from=ref
-- param: level string enum(low, high) default=low
-- param: days int64 default=1
-- param: share float64
-- param: deep bool default=false
-- param: since timestamp default=2026-01-01T00:00:00Z
WITH kinds AS (
  SELECT @project AS project, @level AS level, @days AS days, @share AS share, @deep AS deep,
    @since AS since, DATETIME(@since) AS local, DATE(@since) AS day, TIME(@since) AS moment,
    b'ab' AS bytes, [1, 2] AS numbers, STRUCT(1 AS a, 'x' AS b) AS pair,
    [STRUCT(2 AS a)] AS pairs, IEEE_DIVIDE(1, 0) AS endless, 9223372036854775807 AS large,
    JSON '{"a": [1]}' AS json, STRUCT(CAST(NULL AS STRING) AS a, STRUCT(1 AS b) AS c) AS nested
)
SELECT * FROM kinds
`;

let folder: string;
let service: ServiceUnderTest;
let container: ServiceUnderTest;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  await writeFile(join(folder, 'kinds.sql'), DEFINITION);
  const settings = { ENDPOINTS_DIR: folder, PUBLIC_ACCESS_TOKEN: PUBLIC };
  service = await ServiceUnderTest.start(settings);
  container = await ServiceUnderTest.start({ ...settings, PROFILE: 'supabase' });
});

after(async () => {
  await service.stop();
  await container.stop();
  await rm(folder, { recursive: true });
});

async function documentOf(of: ServiceUnderTest, token?: string): Promise<DocumentText> {
  const port = Number(new URL(of.url).port);
  const answer = await ask(
    { port },
    { path: '/api/openapi.json', headers: { 'X-API-KEY': token } },
  );
  equal(answer.status, 200, answer.text);
  return answer.json;
}

for (const [profile, of] of [
  ['default', () => service],
  ['supabase', () => container],
] as const) {
  test(`in the profile ${profile} the document is valid OpenAPI 3.1, with definitions and without`, async () => {
    for (const token of [undefined, PRIVATE]) {
      const result = await new Validator().validate(await documentOf(of(), token));
      deepEqual(result, { valid: true });
    }
  });

  test(`in the profile ${profile} all schemas are valid and match their examples`, async () => {
    const document = new ApiDocument(await documentOf(of(), PRIVATE));
    let count = 0;
    for (const operation of document.operations) {
      const { object } = operation;
      const bodies = [
        ...Object.values(object.requestBody?.content ?? {}),
        ...[...document.responses(operation).values()].flatMap(({ content = {} }) =>
          Object.values(content),
        ),
      ];
      for (const { schema, example } of bodies) {
        // Throws for an unknown keyword or a dangling reference.
        const problem = document.problemOf(schema, example);
        if (example !== undefined) equal(problem, undefined, object.operationId);
        count += 1;
      }
      for (const { schema } of object.parameters ?? []) document.problemOf(schema, '');
    }
    ok(count > 500, `${count} bodies`);
  });
}

test('the document has every route with every method, and no other', async () => {
  await withApp({}, async (app) => {
    const { json } = await ask(app, { path: '/api/openapi.json' });
    const document = new ApiDocument(json);
    const documented = document.operations
      .filter(({ path }) => path !== '/api/endpoints/app.stats')
      .map(({ method, path }) => `${method} ${path}`);
    const served = app.routes.flatMap(({ path, operations }) =>
      Object.keys(operations).map((method) => `${method} ${formatTemplate(path)}`),
    );
    deepEqual([...new Set(documented)].sort(), [...new Set(served)].sort());
    equal(new Set(documented).size, documented.length);
  });
});

test('each documented path accepts the documented methods and no others', async () => {
  const document = new ApiDocument(await documentOf(service, PRIVATE));
  const port = Number(new URL(service.url).port);
  const byId = document.text.paths['/api/endpoints/{idOrName}'] ?? {};
  for (const [path, item] of Object.entries(document.text.paths)) {
    // To other methods than HEAD, there is nothing at the path of an index.
    if (path.endsWith('/{index}')) continue;
    const allowed = new Set<string>();
    // This part of a path has two meanings, with different methods.
    for (const text of ['logs.all', ID]) {
      const { headers } = await ask(
        { port },
        { method: 'OPTIONS', path: path.replaceAll(/\{\w+\}/g, text) },
      );
      for (const method of String(headers.allow).split(', ')) allowed.add(method);
    }
    // The name of an endpoint may replace an id.
    const isName = /^\/api\/endpoints\/[^/{]+$/.test(path);
    const changing = isName ? Object.keys(byId).filter((method) => !/get|post/.test(method)) : [];
    const methods = [...Object.keys(item), ...changing].map((method) => method.toUpperCase());
    const wanted = new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS']);
    deepEqual([...allowed].sort(), [...wanted].sort(), path);
  }
});

test('operations have unique ids and described tags', async () => {
  const { operations } = new ApiDocument(await documentOf(service, PRIVATE));
  const ids = operations.map(({ object }) => object.operationId);
  equal(new Set(ids).size, ids.length);
  ok(operations.length > 30);
});

test('a definition is an operation with its parameters and its rows', async () => {
  const { paths } = await documentOf(service, PRIVATE);
  const { get } = paths['/api/endpoints/usage.api-counts']!;
  deepEqual(
    get!.parameters!.filter(({ name }) => name === 'project' || name === 'interval'),
    [
      {
        name: 'project',
        in: 'query',
        description: 'string.',
        required: true,
        schema: { type: 'string' },
      },
      {
        name: 'interval',
        in: 'query',
        description: 'string.',
        required: true,
        schema: { type: 'string', enum: ['hourly', 'daily', 'minutely'] },
      },
    ],
  );
});

test('parameters have their types, defaults and listed values, and names to fall back to', async () => {
  const { paths } = await documentOf(service, PRIVATE);
  const { get, post } = paths['/api/endpoints/app.kinds']!;
  deepEqual(
    get!.parameters!.map(({ name, required = false, schema }) => [name, required, schema]),
    [
      ['project', false, { type: 'string' }],
      ['ref', false, { type: 'string' }],
      ['level', false, { type: 'string', enum: ['low', 'high'], default: 'low' }],
      ['days', false, { type: 'integer', format: 'int64', default: 1 }],
      ['share', false, { type: 'number', format: 'double' }],
      ['deep', false, { type: 'boolean', default: false }],
      ['since', false, { type: 'string', format: 'date-time', default: '2026-01-01T00:00:00Z' }],
      ['sql', false, { type: 'string' }],
      ['explain', false, { type: 'string', enum: ['true', 'false'] }],
      ['columns', false, { type: 'string', enum: ['true', 'false'] }],
      ['Weir-Query-Id', false, { type: 'string', pattern: '^[A-Za-z0-9_-]{8,64}$' }],
      ['If-None-Match', false, { type: 'string' }],
    ],
  );
  const body = post!.requestBody!.content['application/json']!.schema;
  const names = ['sql', 'project', 'level', 'days', 'share', 'deep', 'since'];
  deepEqual(Object.keys(body['properties'] as object), names);
});

const JOURNAL = { 'Content-Type': 'application/vnd.fdo.journal' };

/** Requests and their statuses in the profile `default`. */
const REQUESTS: readonly (readonly [number, Ask & { readonly template?: string }])[] = [
  [200, { path: '/api/endpoints/app.kinds?project=a&share=0.5' }],
  [200, { path: '/api/endpoints/app.kinds?ref=a&explain=true' }],
  [200, { path: '/api/endpoints/app.kinds?ref=a&explain=true', headers: AS_JSON }],
  [200, { path: '/api/endpoints/app.kinds?ref=a&sql=SELECT%201%20AS%20b' }],
  [200, { path: '/api/endpoints/app.kinds', method: 'POST', body: '{"project":"a","days":2}' }],
  [400, { path: '/api/endpoints/app.kinds' }],
  [400, { path: '/api/endpoints/app.kinds?ref=a&days=many' }],
  [400, { path: '/api/endpoints/app.kinds?ref=a&days=many', headers: AS_PROBLEM }],
  [400, { path: '/api/endpoints/app.kinds?%' }],
  [401, { path: '/api/endpoints/app.kinds?ref=a', headers: NO_TOKEN }],
  [403, { path: '/api/endpoints/app.kinds?ref=a', headers: { 'X-API-KEY': PUBLIC } }],
  [
    415,
    {
      path: '/api/endpoints/app.kinds',
      method: 'POST',
      body: 'a',
      headers: { 'Content-Type': 'image/png' },
    },
  ],
  [422, { path: '/api/endpoints/app.kinds?ref=a&sql=SELEC' }],
  [200, { path: '/api/endpoints/logs.all?project=alpha', headers: { Accept: 'text/csv' } }],
  [200, { path: '/api/endpoints/app.kinds?ref=a', headers: { Accept: 'application/ndjson' } }],
  [
    406,
    { path: '/api/endpoints/logs.all?project=alpha', headers: { Accept: 'image/png, */*;q=0' } },
  ],
  [200, { path: '/api/endpoints/logs.all?project=alpha&project_tier=PRO' }],
  [200, { path: '/api/endpoints/functions.invocation-stats?project=alpha' }],
  [200, { path: '/api/endpoints/usage.api-counts?project=alpha&interval=hourly' }],
  [400, { path: '/api/endpoints/usage.api-counts?project=(&interval=hourly' }],
  [
    200,
    { path: '/api/endpoints/query/app.types?ref=a', template: '/api/endpoints/query/{idOrName}' },
  ],
  [404, { path: '/api/endpoints/nothing', template: '/api/endpoints/{idOrName}' }],
  [200, { path: `/api/endpoints/${ID}`, template: '/api/endpoints/{idOrName}' }],
  [200, { path: '/api/endpoints' }],
  [200, { path: '/api/sources' }],
  [200, { path: '/api/sources', headers: { 'X-API-KEY': PUBLIC } }],
  [200, { path: '/metrics' }],
  [200, { path: '/health' }],
  [200, { path: '/api/openapi.json' }],
  [401, { path: '/api/openapi.json', headers: { 'X-API-KEY': 'wrong' } }],
  [
    200,
    {
      path: '/api/logs?source_name=postgres.logs',
      method: 'POST',
      body: '{}',
      template: '/api/logs',
    },
  ],
  [
    406,
    {
      path: '/api/logs?source_name=postgres.logs',
      method: 'POST',
      body: '[{},5]',
      template: '/api/logs',
    },
  ],
  [
    400,
    {
      path: '/api/logs?source_name=postgres.logs',
      method: 'POST',
      body: '{',
      template: '/api/logs',
    },
  ],
  [400, { path: '/logs', method: 'POST', body: '{}' }],
  [404, { path: '/logs?source_name=nothing', method: 'POST', body: '{}', template: '/logs' }],
  [
    200,
    {
      path: '/v1/logs',
      method: 'POST',
      body: '{}',
      headers: { 'Content-Type': 'application/json' },
    },
  ],
  [
    400,
    {
      path: '/v1/logs',
      method: 'POST',
      body: '[]',
      headers: { 'Content-Type': 'application/json' },
    },
  ],
  [200, { path: '/v1/logs', method: 'POST', body: '' }],
  [
    200,
    {
      path: '/v1/traces',
      method: 'POST',
      body: '{"resourceSpans":[{"scopeSpans":[{"spans":[{}]}]}]}',
      headers: { 'Content-Type': 'application/json' },
    },
  ],
  [400, { path: '/v1/metrics', method: 'POST', body: 'a' }],
  [401, { path: '/v1/logs', method: 'POST', body: '', headers: NO_TOKEN }],
  [204, { path: '/loki/api/v1/push', method: 'POST', body: '{"streams":[]}' }],
  [
    400,
    {
      path: '/loki/api/v1/push',
      method: 'POST',
      body: '{"streams":[{"values":[["1000000000000000000","old"]]}]}',
    },
  ],
  [
    200,
    {
      path: '/firehose?source_name=postgres.logs',
      method: 'POST',
      body: '{"records":[{"data":"YQ=="},{"data":7}]}',
      template: '/firehose',
    },
  ],
  [400, { path: '/firehose', method: 'POST', body: '{"records":[{"data":"YQ=="}]}' }],
  [202, { path: '/gelf', method: 'POST', body: '{"short_message":"a"}' }],
  [406, { path: '/gelf', method: 'POST', body: '{"short_message":"a"}\n7' }],
  [202, { path: '/upload', method: 'POST', body: 'MESSAGE=a\n', headers: JOURNAL }],
  [400, { path: '/upload', method: 'POST', body: 'hello', headers: JOURNAL }],
  [200, { path: '/_bulk', method: 'POST', body: '{"index":{}}\n{}\n{"delete":{}}\n' }],
  [400, { path: '/_bulk', method: 'POST', body: '{"index":{}}\n' }],
  [200, { path: '/services/collector/event', method: 'POST', body: '{"event":"a"}{"event":""}' }],
  [400, { path: '/services/collector/event', method: 'POST', body: '{"event":""}' }],
  [200, { path: '/services/collector/raw?channel=a', method: 'POST', body: 'a' }],
  [401, { path: '/services/collector', method: 'POST', body: 'a', headers: NO_TOKEN }],
  [403, { path: '/services/collector', method: 'POST', body: 'a', headers: { 'X-API-KEY': 'a' } }],
  [200, { path: '/services/collector/ack', method: 'POST', body: '{"acks":[1]}' }],
  [200, { path: '/services/collector/health', headers: NO_TOKEN }],
  [202, { path: '/api/v2/logs', method: 'POST', body: '[{"message":"a"}]' }],
  [400, { path: '/api/v2/logs', method: 'POST', body: '[{"message":"a"},5]' }],
  [403, { path: '/v1/input', method: 'POST', body: '{}', headers: { 'X-API-KEY': 'a' } }],
  [200, { path: '/api/v1/validate' }],
  [401, { path: '/api/v1/validate', headers: NO_TOKEN }],
  [403, { path: '/api/v1/validate?dd-api-key=a', headers: NO_TOKEN }],
  [
    200,
    { path: '/_bulk?filter_path=errors,items.*.status', method: 'POST', body: '{"delete":{}}\n' },
  ],
  [201, { path: '/logs/_doc/7', method: 'POST', body: '{}', template: '/{index}/_doc/{id}' }],
  [400, { path: '/logs/_doc', method: 'POST', body: '[]', template: '/{index}/_doc' }],
  [200, { path: '/_index_template/a', method: 'PUT', template: '/_index_template/{name}' }],
  [200, { path: '/_cat/health?filter_path=none', template: '/_cat/health' }],
  [400, { path: '/_license?filter_path=a&filter_path=b', template: '/_license' }],
  [200, { path: '/elasticsearch?filter_path=version.number' }],
  [200, { path: '/', headers: NO_TOKEN }],
];

for (const [profile, of] of [
  ['default', () => service],
  ['supabase', () => container],
] as const) {
  test(`in the profile ${profile} answers and failures match their schemas`, async () => {
    const document = new ApiDocument(await documentOf(of(), PRIVATE));
    const port = Number(new URL(of().url).port);
    for (const [status, { template, ...what }] of REQUESTS) {
      const { path, method = 'GET' } = what;
      const headers = { 'X-API-KEY': PRIVATE, ...what.headers };
      const answer = await ask({ port }, { ...what, headers });
      if (profile === 'default') equal(answer.status, status, `${path} ${answer.text}`);
      const operation = document.operations.find(
        (other) => other.method === method && other.path === (template ?? path.replace(/\?.*/, '')),
      );
      ok(operation !== undefined, `${method} ${path} is in the document`);
      const given = { ...answer, contentType: answer.headers['content-type'] };
      equal(document.answerProblem(operation, given), undefined, `${path} ${answer.text}`);
    }
  });
}

test('definitions are visible only to a token that may call or manage them', async () => {
  const isTold = async (token?: string) =>
    '/api/endpoints/logs.all' in (await documentOf(service, token)).paths;
  deepEqual([await isTold(), await isTold(PUBLIC), await isTold(PRIVATE)], [false, false, true]);
});

test('an unchanged document is a 304, until a definition is added', async () => {
  await withApp({}, async (app) => {
    const path = '/api/openapi.json';
    const { etag } = (await ask(app, { path })).headers;
    ok(etag !== undefined);
    const headers = { 'If-None-Match': etag };
    equal((await ask(app, { path, headers })).status, 304);
    const open = await ask(app, { path, headers: { ...headers, ...NO_TOKEN } });
    equal(open.status, 200);
    ok(open.headers.etag !== etag);
    const added = fakeEndpoint(`-- id: ${ID}\n-- name: app.more\nSELECT 1`);
    app.catalogue.replace([...app.catalogue.list(), added]);
    const changed = await ask(app, { path, headers });
    equal(changed.status, 200);
    ok('/api/endpoints/app.more' in changed.json.paths);
  });
});

test('the check detects a schema that is too narrow or too wide', async () => {
  const document = new ApiDocument(await documentOf(service, PRIVATE));
  const operation = document.operations.find(({ path }) => path === '/api/endpoints/logs.all')!;
  const json = 'application/json; charset=utf-8';
  for (const [status, contentType, text] of [
    [200, json, '{"result":[{"id":"a","timestamp":1,"event_message":null}]}'],
    [200, json, '{"error":"no"}'],
    [200, 'text/html', '<p>'],
    [418, json, '{}'],
    [404, json, '{"error":{"code":"unknown_endpoint","message":"a"}}'],
    [400, json, '{"error":{"code":"no_code","message":"a"}}'],
  ] as const) {
    ok(document.answerProblem(operation, { status, contentType, text }) !== undefined, text);
  }
});
