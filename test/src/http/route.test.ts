import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packageVersion } from '../../../src/version.ts';
import { ask, askRaw, PRIVATE, PUBLIC, post, STATS_ID, withApp } from '../harness.ts';

const CALL = '/api/endpoints/app.stats?project=p';
const LOGS = '/api/logs?source_name=postgres.logs';

test('a call and a post without a token are 401 and say how to send one', async () => {
  await withApp({}, async (app) => {
    for (const [method, path] of [
      ['GET', CALL],
      ['POST', CALL],
      ['POST', LOGS],
      ['GET', '/api/endpoints'],
      ['GET', `/api/endpoints/${STATS_ID}`],
      ['GET', '/api/endpoints/not-there'],
    ] as const) {
      const answer = await ask(app, { method, path, headers: { 'X-API-KEY': undefined } });
      assert.equal(answer.status, 401, path);
      assert.equal(answer.headers['www-authenticate'], 'Bearer realm="weir"');
      assert.equal(answer.json.error.code, 'unauthorized');
      assert.equal(answer.headers['cache-control'], 'no-store');
    }
  });
});

test('a token is taken from Authorization, then X-API-KEY, then api_key', async () => {
  await withApp({}, async (app) => {
    const status = async (headers: Record<string, string | undefined>, query = '') =>
      (await ask(app, { path: CALL + query, headers: { 'X-API-KEY': undefined, ...headers } }))
        .status;
    assert.equal(await status({ Authorization: `Bearer ${PRIVATE}` }), 200);
    assert.equal(await status({ Authorization: `bearer  ${PRIVATE} ` }), 200);
    assert.equal(await status({ 'X-API-KEY': PRIVATE }), 200);
    assert.equal(await status({}, `&api_key=${PRIVATE}`), 200);
    assert.equal(await status({ Authorization: 'Bearer no', 'X-API-KEY': PRIVATE }), 401);
    assert.equal(await status({ 'X-API-KEY': 'no' }, `&api_key=${PRIVATE}`), 401);
    assert.equal(await status({ Authorization: 'Basic eA==', 'X-API-KEY': PRIVATE }), 200);
    assert.equal(await status({ 'X-API-KEY': '' }, `&api_key=${PRIVATE}`), 200);
    assert.equal(await status({}, `&api_key=${PRIVATE}&api_key=${PRIVATE}`), 400);
    assert.equal(await status({}, `&api_key=${PRIVATE}x`), 401);
  });
});

test('api_key in the URL is accepted for calls and posts, not for management', async () => {
  await withApp({}, async (app) => {
    const headers = { 'X-API-KEY': undefined };
    const posted = await post(app, `${LOGS}&api_key=${PUBLIC}`, {}, headers);
    assert.equal(posted.status, 200);
    for (const path of ['/api/endpoints', `/api/endpoints/${STATS_ID}`, '/api/sources']) {
      const answer = await ask(app, { path: `${path}?api_key=${PRIVATE}`, headers });
      assert.equal(answer.status, 401, path);
    }
  });
});

test('definitions are listed and returned by id, for a token that may manage', async () => {
  await withApp({}, async (app) => {
    const list = await ask(app, { path: '/api/endpoints' });
    const one = await ask(app, { path: `/api/endpoints/${STATS_ID}` });
    assert.deepEqual(list.json.result, [one.json.result]);
    const { parameters, ...rest } = one.json.result;
    assert.deepEqual(rest, {
      id: STATS_ID,
      name: 'app.stats',
      alias: ['app.numbers'],
      description: 'Numbers of an app',
      max_rows: 7,
      cache: 'disabled',
      warm: 'disabled',
      sandbox: 'disabled',
      query: 'SELECT @project, @interval, @since, @count, @deep, @share',
      origin: 'folder',
      version: 1,
      selects_from: [],
      inherited_parameters: [],
    });
    assert.deepEqual(list.json.problems, []);
    assert.deepEqual(parameters.slice(0, 2), [
      { name: 'project', type: 'string', required: true, from: ['ref'] },
      { name: 'interval', type: 'string', required: false, enum: ['1hr', '1day'] },
    ]);
    const refused = await ask(app, { path: '/api/endpoints', headers: { 'X-API-KEY': PUBLIC } });
    assert.equal(refused.status, 403);
    const missing = await ask(app, { path: `/api/endpoints/${STATS_ID.replace('1', '2')}` });
    assert.equal(missing.status, 404);
  });
});

for (const [path, method, allow] of [
  ['/api/endpoints', 'POST', 'GET, HEAD, OPTIONS'],
  ['/api/endpoints/app.stats', 'PUT', 'GET, HEAD, POST, OPTIONS'],
  [`/api/endpoints/${STATS_ID}`, 'POST', 'GET, HEAD, OPTIONS'],
  ['/api/endpoints/query/app.stats', 'DELETE', 'GET, HEAD, POST, OPTIONS'],
  ['/api/logs', 'GET', 'POST, OPTIONS'],
  ['/logs', 'HEAD', 'POST, OPTIONS'],
  ['/api/events', 'PATCH', 'POST, OPTIONS'],
  ['/api/sources', 'POST', 'GET, HEAD, OPTIONS'],
  ['/health', 'POST', 'GET, HEAD, OPTIONS'],
  ['/', 'POST', 'GET, HEAD, OPTIONS'],
] as const) {
  test(`${method} ${path} is 405 with Allow, and OPTIONS lists the same methods`, async () => {
    await withApp({}, async (app) => {
      const refused = await ask(app, { method, path });
      assert.equal(refused.status, 405);
      assert.equal(refused.headers.allow, allow);
      const headers = { 'X-API-KEY': undefined, Origin: 'https://a.example' };
      const options = await ask(app, { method: 'OPTIONS', path, headers });
      assert.equal(options.status, 204);
      assert.equal(options.text, '');
      assert.equal(options.headers.allow, allow);
      assert.equal(options.headers['access-control-allow-methods'], allow);
      assert.equal(options.headers['access-control-allow-origin'], '*');
      const allowed = String(options.headers['access-control-allow-headers']);
      assert.match(allowed, /Authorization, X-API-KEY, Content-Type/);
    });
  });
}

test('a page of any origin may read answers, errors and weir’s headers', async () => {
  await withApp({}, async (app) => {
    for (const path of [CALL, '/api/endpoints/app.stats', '/nowhere']) {
      const { headers } = await ask(app, { path });
      assert.equal(headers['access-control-allow-origin'], '*');
      assert.match(String(headers['access-control-expose-headers']), /X-Request-Id/);
    }
  });
});

test('the root describes the service and its paths, without a token, also during the start', async () => {
  await withApp({ isStarting: true }, async (app) => {
    const answer = await ask(app, { path: '/', headers: { 'X-API-KEY': undefined } });
    assert.equal(answer.status, 200);
    const { name, weir_version, links, documentation } = answer.json;
    assert.deepEqual([name, weir_version], ['weir', packageVersion()]);
    assert.match(documentation, /docs\/getting-started\.md/);
    assert.deepEqual(Object.keys(links), ['api', 'health', 'ready']);
    app.readiness.becomeReady();
    for (const path of Object.values<string>(links)) {
      const linked = await ask(app, { path, headers: { 'X-API-KEY': undefined } });
      assert.equal(linked.status, 200, path);
    }
    // A wrong token gives the same answer.
    const wrong = await ask(app, { path: '/', headers: { 'X-API-KEY': 'wrong' } });
    assert.deepEqual(wrong.json, answer.json);
  });
});

test('an unknown path is 404 in JSON, whatever the method', async () => {
  await withApp({}, async (app) => {
    for (const path of ['/api', '/api/Endpoints', '/api/endpoints/a/b', '/favicon.ico']) {
      const answer = await ask(app, { path });
      assert.equal(answer.status, 404, path);
      assert.equal(answer.json.error.code, 'unknown_route');
    }
    assert.equal((await ask(app, { path: '/nowhere', method: 'OPTIONS' })).status, 404);
    assert.equal((await post(app, '/nowhere', {})).status, 404);
  });
});

test('until the service is ready, health and ready are 503 with a reason, and calls 503 with Retry-After', async () => {
  await withApp({ isStarting: true }, async (app) => {
    const headers = { 'X-API-KEY': undefined };
    const health = await ask(app, { path: '/health', headers });
    assert.equal(health.status, 503);
    assert.equal(health.json.status, 'coming_up');
    assert.match(health.json.reason, /starting/);
    assert.equal((await ask(app, { path: '/ready', headers })).json.status, 'not_ready');
    for (const answer of [await ask(app, { path: CALL }), await post(app, LOGS, {})]) {
      assert.equal(answer.status, 503);
      assert.equal(answer.json.error.code, 'not_ready');
      assert.equal(answer.headers['retry-after'], '3');
    }
    assert.deepEqual(app.stored, []);

    app.readiness.becomeReady();
    const ready = await ask(app, { path: '/ready', headers });
    assert.deepEqual([ready.status, ready.text], [200, '{"status":"ready"}']);
    assert.equal((await ask(app, { path: '/health', headers })).text, '{"status":"ok"}');
    assert.equal((await ask(app, { path: CALL })).status, 200);

    app.readiness.beginDraining();
    assert.equal((await ask(app, { path: '/health', headers })).status, 503);
    assert.equal((await ask(app, { path: CALL })).json.error.code, 'draining');
  });
});

test('bytes that are not HTTP are 400 in JSON, and headers without end 431', async () => {
  await withApp({}, async (app) => {
    const bad = await askRaw(app, 'GET nowhere\r\n\r\n');
    assert.match(bad, /^HTTP\/1\.1 400 Bad Request\r\n/);
    assert.match(bad, /"code":"invalid_request"/);
    const long = `GET /health HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(17_000)}\r\n\r\n`;
    const refused = await askRaw(app, long);
    assert.match(refused, /^HTTP\/1\.1 431 /);
    assert.match(refused, /"code":"headers_too_large"/);
  });
});

test('headers up to their limit are accepted', async () => {
  await withApp({}, async (app) => {
    const answer = await ask(app, { path: '/health', headers: { 'X-Long': 'x'.repeat(16_000) } });
    assert.equal(answer.status, 200);
  });
});

test('a malformed chunked body is 400 and stores nothing', async () => {
  await withApp({}, async (app) => {
    const text = await askRaw(
      app,
      `POST ${LOGS} HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${PUBLIC}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
    );
    assert.match(text, /^HTTP\/1\.1 400 /);
    assert.deepEqual(app.stored, []);
  });
});

test('a header after a thousand others is read', async () => {
  await withApp({}, async (app) => {
    const others = Array.from({ length: 1_200 }, (_, index) => `h${index}: 1\r\n`).join('');
    const text = await askRaw(
      app,
      `GET ${CALL} HTTP/1.1\r\nHost: x\r\n${others}X-API-KEY: ${PRIVATE}\r\nConnection: close\r\n\r\n`,
    );
    assert.match(text, /^HTTP\/1\.1 200 /);
  });
});

test('any expectation except 100-continue is refused in JSON', async () => {
  await withApp({}, async (app) => {
    const text = await askRaw(
      app,
      `POST ${LOGS} HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${PUBLIC}\r\nExpect: the-best\r\nContent-Length: 2\r\n\r\n[]`,
    );
    assert.match(text, /^HTTP\/1\.1 400 .*"code":"invalid_request".*got \\"the-best\\"/s);
    assert.deepEqual(app.stored, []);
  });
});
