import assert from 'node:assert/strict';
import { STATUS_CODES } from 'node:http';
import { test } from 'node:test';
import { ServiceError } from '../../../src/errors.ts';
import { zstdFrame } from '../../support/zstd-frame.ts';
import { ask, DEFAULT_SOURCE, fakeIntake, PUBLIC, post, withApp } from '../harness.ts';

const LOGS = '/api/v2/logs';
const NO_TOKEN = { 'X-API-KEY': undefined };

test('each path takes JSON, lines and Logplex, and answers as Datadog does', async () => {
  await withApp({}, async (app) => {
    for (const [path, status] of [
      [LOGS, 202],
      ['/v1/input', 200],
      [`/v1/input/${PUBLIC}`, 200],
    ] as const) {
      for (const [type, body] of [
        ['application/json', '[{"message":"a"}]'],
        ['text/plain;charset=UTF-8', '{"message":"a"}\n'],
        ['application/logplex-1', '<13>1 2026-01-15T11:55:00Z host app - - a\n'],
      ] as const) {
        const answer = await post(app, path, body, { 'Content-Type': type });
        assert.deepEqual([answer.status, answer.json], [status, {}], `${path} ${type}`);
      }
    }
    assert.deepEqual(
      app.stored.map(({ source, events }) => `${source} ${events.length}`),
      Array(9).fill(`${DEFAULT_SOURCE} 1`),
    );
    await post(app, `${LOGS}?source_name=postgres.logs&ddsource=nginx`, { message: 'a' });
    assert.deepEqual(app.stored.at(-1), {
      source: 'postgres.logs',
      events: [{ event_message: 'a', metadata: { ddsource: 'nginx' } }],
    });
  });
});

test('the token is accepted in the header, the URL and the path of Datadog’s senders', async () => {
  await withApp({}, async (app) => {
    for (const [path, key, status] of [
      [LOGS, PUBLIC, 202],
      [LOGS, 'wrong', 403],
      [`${LOGS}?dd-api-key=${PUBLIC}`, undefined, 202],
      [`${LOGS}?dd-api-key=wrong`, undefined, 403],
      [`${LOGS}?dd-api-key=wrong`, PUBLIC, 202],
      [`${LOGS}?dd-api-key=a&dd-api-key=b`, undefined, 400],
      [LOGS, ' ', 401],
      [LOGS, undefined, 401],
      [`/v1/input/${PUBLIC}`, undefined, 200],
      ['/v1/input/wrong', undefined, 403],
    ] as const) {
      const {
        status: got,
        json,
        text,
      } = await post(app, path, '{}', {
        ...NO_TOKEN,
        'DD-API-KEY': key,
      });
      assert.equal(got, status, `${path} ${key} ${text}`);
      if (status < 300) continue;
      const [{ detail, ...other }] = json.errors;
      assert.deepEqual(other, { status: String(status), title: STATUS_CODES[status] });
      assert.doesNotMatch(detail, /wrong/);
    }
    const headers = { ...NO_TOKEN, 'DD-API-KEY': PUBLIC };
    const valid = await ask(app, { path: '/api/v1/validate', headers });
    assert.deepEqual([valid.status, valid.json], [200, { valid: true }]);
    const wrong = { ...NO_TOKEN, 'DD-API-KEY': 'wrong' };
    assert.equal((await ask(app, { path: '/api/v1/validate', headers: wrong })).status, 403);
    assert.equal((await ask(app, { path: '/api/sources', headers })).status, 401);
  });
});

test('refused logs are a 400 that lists them, and the others are stored', async () => {
  await withApp({}, async (app) => {
    const { status, json } = await post(app, LOGS, '[{"message":"a"},5]');
    assert.equal(status, 400);
    assert.deepEqual(
      json.errors.map(({ detail }: { readonly detail: string }) => detail),
      ['1 event was refused; all others of the post are stored', 'event 1: must be an object'],
    );
    assert.equal(app.stored[0]?.events.length, 1);
    assert.equal((await post(app, LOGS, '{')).status, 400);
    // As newer agents send it.
    const zstd = { 'Content-Encoding': 'zstd' };
    const packed = zstdFrame(Buffer.from('[{"message":"b"}]'));
    assert.equal((await post(app, LOGS, packed, zstd)).status, 202);
    assert.equal(app.stored[1]?.events.length, 1);
    // The agent repeats a post after this, so a compression that weir does not know loses nothing.
    assert.equal((await post(app, LOGS, '{}', { 'Content-Encoding': 'lz4' })).status, 415);
  });
});

test('a failure may be repeated with 429 and 503, and a token in a path is never logged', async () => {
  for (const [code, status] of [
    ['quota_exceeded', 429],
    ['storage_failed', 503],
  ] as const) {
    const intake = {
      ...fakeIntake([]),
      check: (): never => {
        throw new ServiceError(code, 'later');
      },
    };
    await withApp({ intake, refusalWaitMs: 1 }, async (app) => {
      const answer = await post(app, `/v1/input/${PUBLIC}`, '[]', NO_TOKEN);
      assert.deepEqual([answer.status, answer.json.errors[0].detail], [status, 'later']);
      assert.match(String(answer.headers['retry-after']), /^\d+$/);
      const logged = JSON.stringify(app.entries);
      assert.doesNotMatch(logged, new RegExp(PUBLIC));
      assert.equal(logged.includes('/v1/input/…'), status === 503);
    });
  }
});
