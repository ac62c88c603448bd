import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ask,
  failingRun,
  fakeAnswer,
  NOW_US,
  PUBLIC,
  post,
  STATS_ID,
  type TestApp,
  withApp,
} from '../harness.ts';

/** The values of the parameters that the engine got. */
async function valuesOf(app: TestApp, query: string): Promise<Record<string, unknown>> {
  const answer = await ask(app, { path: `/api/endpoints/app.stats?${query}` });
  assert.equal(answer.status, 200, answer.text);
  return answer.json.result[0];
}

async function expectError(
  app: TestApp,
  query: string,
  expected: { code: string; parameter: string; message: RegExp },
): Promise<void> {
  const answer = await ask(app, { path: `/api/endpoints/app.stats?${query}` });
  assert.equal(answer.status, 400, answer.text);
  assert.equal(answer.json.error.code, expected.code);
  assert.equal(answer.json.error.parameter, expected.parameter);
  assert.match(answer.json.error.message, expected.message);
}

test('every path gives the same answer, by id, name and alias, for GET and POST', async () => {
  await withApp({}, async (app) => {
    const paths = [
      `/api/endpoints/query/${STATS_ID}`,
      `/api/endpoints/query/${STATS_ID.toUpperCase()}`,
      '/api/endpoints/query/app.stats',
      '/api/endpoints/query/app%2Estats',
      '/api/endpoints/app.stats',
      '/api/endpoints/app.numbers',
      '/api/endpoints/query/name/app.stats',
      `/endpoints/query/${STATS_ID}`,
      '/endpoints/query/app.stats',
    ];
    const expected =
      '{"result":[{"project":"p","interval":null,"since":null,"count":5,"deep":null,"share":null,"nowUs":1768478400000000,"rowsMax":7}]}';
    for (const path of paths) {
      const got = await ask(app, { path: `${path}?project=p` });
      assert.equal(got.text, expected, path);
      assert.equal(got.headers['content-length'], String(expected.length));
      assert.equal((await post(app, path, { project: 'p' })).text, expected, path);
      assert.equal((await post(app, `${path}?project=p`, '')).text, expected, path);
    }
  });
});

test('no rows are an empty list', async () => {
  await withApp({ run: async () => fakeAnswer([]) }, async (app) => {
    const answer = await ask(app, { path: '/api/endpoints/app.stats?project=p' });
    assert.equal(answer.text, '{"result":[]}');
    assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
    assert.match(
      String(answer.headers['server-timing']),
      /^parse;dur=\d+\.\d{3}, plan;dur=.*, queue;dur=.*, run;dur=\d+\.\d{3}$/,
    );
    assert.equal(answer.headers['x-powered-by'], undefined);
    assert.equal(answer.headers['x-content-type-options'], 'nosniff');
  });
});

test('HEAD has the headers of GET and no body', async () => {
  await withApp({}, async (app) => {
    const path = '/api/endpoints/app.stats?project=p';
    const got = await ask(app, { path });
    const head = await ask(app, { path, method: 'HEAD' });
    assert.equal(head.status, 200);
    assert.equal(head.text, '');
    assert.equal(head.headers['content-length'], got.headers['content-length']);
    assert.equal(head.headers['content-type'], got.headers['content-type']);
  });
});

test('each type of parameter is parsed exactly', async () => {
  await withApp({}, async (app) => {
    const values = await valuesOf(
      app,
      'project=p&count=9007199254740991&deep=TRUE&share=-1.5e3&since=2026-01-15T12:00:00Z',
    );
    assert.deepEqual(values, {
      project: 'p',
      interval: null,
      since: NOW_US,
      count: 9_007_199_254_740_991,
      deep: true,
      share: -1500,
      nowUs: NOW_US,
      rowsMax: 7,
    });
  });
});

test('an int64 beyond 2^53 becomes a bigint, and one beyond 64 bits is refused', async () => {
  const seen: unknown[] = [];
  const run = async (
    _query: unknown,
    { parameters }: { parameters: ReadonlyMap<string, unknown> },
  ) => {
    seen.push(parameters.get('count'));
    return fakeAnswer([]);
  };
  await withApp({ run }, async (app) => {
    await ask(app, { path: '/api/endpoints/app.stats?project=p&count=9223372036854775807' });
    await ask(app, { path: '/api/endpoints/app.stats?project=p&count=-9223372036854775808' });
    assert.deepEqual(seen, [2n ** 63n - 1n, -(2n ** 63n)]);
    await expectError(app, 'project=p&count=9223372036854775808', {
      code: 'invalid_parameter',
      parameter: 'count',
      message: /within 64 bits; got "9223372036854775808"/,
    });
  });
});

for (const [text, us] of [
  ['2026-01-15', 1_768_435_200_000_000],
  ['2026-01-15T12:00', NOW_US],
  ['2026-01-15T12:00:00', NOW_US],
  ['2026-01-15%2012:00:00', NOW_US],
  ['2026-01-15T14:00:00%2B02:00', NOW_US],
  ['2026-01-15T06:30:00-0530', NOW_US],
  ['2026-01-15T12:00:00.000001Z', NOW_US + 1],
  ['2026-01-15T12:00:00.000001999Z', NOW_US + 1],
] as const) {
  test(`${text} is a timestamp`, async () => {
    await withApp({}, async (app) => {
      assert.equal((await valuesOf(app, `project=p&since=${text}`))['since'], us);
    });
  });
}

for (const text of [
  'now',
  '2026-02-30',
  '2026-1-5',
  '1768478400',
  '2026-01-15T25:00Z',
  '2026-01-15T12Z',
]) {
  test(`${text} is not a timestamp`, async () => {
    await withApp({}, async (app) => {
      await expectError(app, `project=p&since=${text}`, {
        code: 'invalid_parameter',
        parameter: 'since',
        message: /ISO 8601/,
      });
    });
  });
}

test('an offset whose plus sign became a space is refused with a hint', async () => {
  await withApp({}, async (app) => {
    await expectError(app, 'project=p&since=2026-01-15T12:00:00+02:00', {
      code: 'invalid_parameter',
      parameter: 'since',
      message: /written %2B/,
    });
  });
});

test('an empty parameter that is not text counts as missing', async () => {
  await withApp({}, async (app) => {
    const values = await valuesOf(app, 'project=p&since=&count=&interval=&deep=');
    assert.deepEqual([values['since'], values['count'], values['interval']], [null, 5, null]);
  });
});

test('a required parameter that is missing or empty is refused, unless a fallback has a value', async () => {
  await withApp({}, async (app) => {
    const missing = { code: 'missing_parameter', parameter: 'project', message: /got nothing/ };
    await expectError(app, '', missing);
    await expectError(app, 'project=', missing);
    await expectError(app, 'Project=p', missing);
    assert.equal((await valuesOf(app, 'ref=r'))['project'], 'r');
    assert.equal((await valuesOf(app, 'project=&ref=r'))['project'], 'r');
    assert.equal((await valuesOf(app, 'project=p&ref=r'))['project'], 'p');
  });
});

test('a value outside the list is refused with the list, and the comparison is exact', async () => {
  await withApp({}, async (app) => {
    const message = /interval must be 1hr or 1day; got "1HR"/;
    await expectError(app, 'project=p&interval=1HR', {
      code: 'invalid_parameter',
      parameter: 'interval',
      message,
    });
  });
});

test('a repeated parameter is refused, and an undeclared one is ignored', async () => {
  await withApp({}, async (app) => {
    const repeated = { code: 'repeated_parameter', parameter: 'project', message: /got 2/ };
    await expectError(app, 'project=p&project=p', repeated);
    assert.equal((await valuesOf(app, 'project=p&other=1&other=2'))['project'], 'p');
    const answer = await post(app, '/api/endpoints/app.stats?project=p', { project: 'p' });
    assert.equal(answer.status, 400);
    assert.equal(answer.json.error.code, 'repeated_parameter');
  });
});

test('all wrong parameters are reported in one message', async () => {
  await withApp({}, async (app) => {
    await expectError(app, 'count=x&deep=1', {
      code: 'missing_parameter',
      parameter: 'project',
      message: /project must .*; count must be .*; deep must be true or false/,
    });
  });
});

test('a body has texts, numbers and booleans, and null counts as absent', async () => {
  await withApp({}, async (app) => {
    const body = { project: 'p', count: 7, deep: false, share: 0.5, interval: null };
    const { result } = (await post(app, '/api/endpoints/app.stats', body)).json;
    assert.equal(result[0].count, 7);
    assert.equal(result[0].deep, false);
    assert.equal(result[0].share, 0.5);
    assert.equal(result[0].interval, null);
  });
});

test('undeclared members of a body may have any value', async () => {
  await withApp({}, async (app) => {
    const body = '{"project":"p","deep-er":{"a":[1]},"__proto__":[],"other":12345678901234567890}';
    const answer = await post(app, '/api/endpoints/app.stats', body);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.json.result[0].project, 'p');
    const fallback = await post(app, '/api/endpoints/app.stats', { ref: ['p'] });
    assert.equal(fallback.json.error.parameter, 'ref');
  });
});

for (const [title, body, code] of [
  ['a list', [1], 'invalid_body'],
  ['no JSON', '{"project":', 'invalid_body'],
  ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'invalid_body'],
  ['a parameter that is a map', { project: {} }, 'invalid_parameter'],
  ['a number that lost digits', '{"project":"p","count":9223372036854775807}', 'invalid_parameter'],
] as const) {
  test(`a body of ${title} is refused`, async () => {
    await withApp({}, async (app) => {
      const answer = await post(app, '/api/endpoints/app.stats', body);
      assert.equal(answer.status, 400);
      assert.equal(answer.json.error.code, code);
    });
  });
}

test('a body of another type is 415, one that is too large is 413', async () => {
  await withApp({}, async (app) => {
    const headers = { 'Content-Type': 'text/plain' };
    const typed = await post(app, '/api/endpoints/app.stats', 'project=p', headers);
    assert.equal(typed.status, 415);
    const text = JSON.stringify({ project: 'x'.repeat(1_000_000) });
    const large = await post(app, '/api/endpoints/app.stats', text);
    assert.equal(large.status, 413);
  });
});

for (const query of ['project=%', 'project=%zz', 'project=%FF', '%E0%A4%A=1']) {
  test(`a query string of ${query} is refused`, async () => {
    await withApp({}, async (app) => {
      const answer = await ask(app, { path: `/api/endpoints/app.stats?${query}` });
      assert.equal(answer.status, 400);
      assert.equal(answer.json.error.code, 'invalid_request');
    });
  });
}

test('a path that does not decode is refused', async () => {
  await withApp({}, async (app) => {
    const answer = await ask(app, { path: '/api/endpoints/%FF?project=p' });
    assert.equal(answer.status, 400);
    assert.equal(answer.json.error.code, 'invalid_request');
  });
});

test('a missing endpoint is 404: an unknown UUID, a part of a UUID, a name', async () => {
  await withApp({}, async (app) => {
    for (const name of [
      '22222222-2222-4333-8444-555555555555',
      STATS_ID.slice(0, 35),
      'App.stats',
      'query',
    ]) {
      const answer = await ask(app, { path: `/api/endpoints/query/${name}?project=p` });
      assert.equal(answer.status, 404);
      assert.equal(answer.json.error.code, 'unknown_endpoint');
      assert.match(answer.json.error.message, new RegExp(name));
    }
  });
});

for (const [code, status] of [
  ['invalid_regular_expression', 400],
  ['invalid_sql', 422],
  ['query_failed', 422],
  ['query_limit', 422],
  ['answer_too_large', 422],
  ['query_timeout', 504],
] as const) {
  test(`a query that fails with ${code} is ${status}, with its position`, async () => {
    const run = failingRun(code, 'told by the engine', { start: 3, end: 4, line: 2, column: 1 });
    await withApp({ run }, async (app) => {
      const answer = await ask(app, { path: '/api/endpoints/app.stats?project=p' });
      assert.equal(answer.status, status);
      const { request_id, ...error } = answer.json.error;
      assert.deepEqual(error, { code, message: 'told by the engine', line: 2, column: 1 });
      assert.equal(request_id, answer.headers['x-request-id']);
    });
  });
}

test('a query that exceeds its time is 504, even if the engine does not stop', async () => {
  let isAborted = false;
  const run = (_query: unknown, { signal }: { signal?: AbortSignal | undefined }) => {
    signal?.addEventListener('abort', () => {
      isAborted = true;
    });
    return new Promise<never>(() => {});
  };
  await withApp({ run, queryMsMax: 5 }, async (app) => {
    const answer = await ask(app, { path: '/api/endpoints/app.stats?project=p' });
    assert.equal(answer.status, 504);
    assert.match(answer.json.error.message, /5 ms/);
    assert(isAborted);
  });
});

test('a caller that disconnects stops the query', async () => {
  let stopped = (): void => {};
  const whenStopped = new Promise<void>((resolve) => {
    stopped = resolve;
  });
  let begun = (): void => {};
  const whenBegun = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const run = (_query: unknown, { signal }: { signal?: AbortSignal | undefined }) => {
    signal?.addEventListener('abort', () => stopped());
    begun();
    return new Promise<never>(() => {});
  };
  await withApp({ run }, async (app) => {
    const gone = new AbortController();
    const call = fetch(`http://127.0.0.1:${app.port}/api/endpoints/app.stats?project=p`, {
      headers: { 'X-API-KEY': 'private-token' },
      signal: gone.signal,
    });
    await whenBegun;
    gone.abort();
    await assert.rejects(call);
    await whenStopped;
  });
});

test('calls beyond the limit are 503 with Retry-After, until there is room again', async () => {
  const finish: (() => void)[] = [];
  const run = () =>
    new Promise<ReturnType<typeof fakeAnswer>>((resolve) => {
      finish.push(() => resolve(fakeAnswer([])));
    });
  await withApp({ run, callsMax: 1 }, async (app) => {
    const path = '/api/endpoints/app.stats?project=p';
    const first = ask(app, { path });
    while (finish.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const second = await ask(app, { path });
    assert.equal(second.status, 503);
    assert.equal(second.json.error.code, 'overloaded');
    assert.equal(second.headers['retry-after'], '3');
    finish.shift()!();
    assert.equal((await first).status, 200);
    const third = ask(app, { path });
    while (finish.length === 0) await new Promise((resolve) => setImmediate(resolve));
    finish.shift()!();
    assert.equal((await third).status, 200);
  });
});

test('a run whose caller has gone counts until the engine has finished it', async () => {
  const finish: (() => void)[] = [];
  const run = () =>
    new Promise<ReturnType<typeof fakeAnswer>>((resolve) => {
      finish.push(() => resolve(fakeAnswer([])));
    });
  await withApp({ run, callsMax: 1, queryMsMax: 5 }, async (app) => {
    const path = '/api/endpoints/app.stats?project=p';
    assert.equal((await ask(app, { path })).status, 504);
    assert.equal((await ask(app, { path })).status, 503);
    finish.shift()!();
    assert.equal((await ask(app, { path })).status, 504);
  });
});

test('a bug is a 500 without details, which are in the log only', async () => {
  const run = () => Promise.reject(new TypeError('secret internals'));
  await withApp({ run }, async (app) => {
    const path = '/api/endpoints/app.stats?project=p&api_key=private-token';
    const headers = { 'X-API-KEY': undefined, 'X-Request-Id': 'mine-1' };
    const answer = await ask(app, { path, headers });
    assert.equal(answer.status, 500);
    assert.equal(answer.json.error.code, 'internal');
    assert.doesNotMatch(answer.text, /secret|TypeError|\.ts/);
    assert.match(answer.json.error.message, /mine-1/);
    const [entry] = app.entries;
    assert.equal(entry?.['request_id'], 'mine-1');
    assert.match(String(entry?.['error']), /TypeError: secret internals/);
    assert.doesNotMatch(JSON.stringify(app.entries), /private-token/);
  });
});

test('problem+json is sent to callers that prefer it', async () => {
  await withApp({}, async (app) => {
    const path = '/api/endpoints/app.stats';
    const typeFor = async (accept: string) =>
      (await ask(app, { path, headers: { Accept: accept } })).headers['content-type'];
    const json = 'application/json; charset=utf-8';
    const problem = 'application/problem+json; charset=utf-8';
    assert.equal(await typeFor('application/problem+json'), problem);
    assert.equal(await typeFor('application/json, application/problem+json'), problem);
    assert.equal(await typeFor('application/json, application/problem+json;q=0.5'), json);
    assert.equal(await typeFor('application/problem+json;q=0'), json);
    assert.equal(await typeFor('*/*'), json);
    const answer = await ask(app, { path, headers: { Accept: 'application/problem+json' } });
    assert.deepEqual(answer.json, {
      type: 'urn:weir:error:missing_parameter',
      title: 'A required parameter is missing or empty',
      status: 400,
      detail: 'project must be text; got nothing',
      code: 'missing_parameter',
      parameter: 'project',
      request_id: answer.headers['x-request-id'],
    });
  });
});

test('a valid request id of the caller is used, else a new UUID', async () => {
  await withApp({}, async (app) => {
    const idFor = async (id: string) =>
      (await ask(app, { path: '/health', headers: { 'X-Request-Id': id } })).headers[
        'x-request-id'
      ];
    assert.equal(await idFor('a-b.c:1'), 'a-b.c:1');
    assert.match(String(await idFor('has space')), /^[0-9a-f-]{36}$/);
    assert.match(String(await idFor('x'.repeat(129))), /^[0-9a-f-]{36}$/);
  });
});

test('a token that may only ingest may not query', async () => {
  await withApp({}, async (app) => {
    const path = '/api/endpoints/app.stats?project=p';
    const answer = await ask(app, { path, headers: { 'X-API-KEY': PUBLIC } });
    assert.equal(answer.status, 403);
    assert.equal(answer.json.error.code, 'forbidden');
  });
});
