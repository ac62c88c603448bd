import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Granted, makeToken } from '../../support/granted.ts';
import type { HttpAnswer } from '../../support/http-client.ts';
import { ServiceUnderTest } from '../../support/service-under-test.ts';

const POST = ['POST', '/api/logs?source_name=postgres.log', '{}'] as const;
const TAIL = ['GET', '/api/sources/postgres.log/tail'] as const;
const CALL = ['GET', '/api/endpoints/usage.api-count?project=a'] as const;

let service: ServiceUnderTest;
let granted: Granted;

before(async () => {
  service = await ServiceUnderTest.start();
  granted = await Granted.of(service);
});

after(() => service.stop());

function failureOf({ status, text }: HttpAnswer): readonly [number, string] {
  return [status, JSON.parse(text).error.message];
}

test('an unknown name is reported with the nearest known one', async () => {
  for (const [name, what, meant] of [
    ['ingest, all', POST, 'postgres.logs'],
    ['query, all', TAIL, 'postgres.logs'],
    ['query, all', CALL, 'usage.api-counts'],
    // The list is complete, except for the rows of other projects.
    ['query, alpha', CALL, 'usage.api-counts'],
  ] as const) {
    const [method, path, body] = what;
    const [status, message] = failureOf(await granted.ask(name, method, path, body));
    assert.equal(status, 404);
    assert.ok(message.includes(`; did you mean ${meant}?`), message);
  }
  const far = await service.ask('GET', '/api/endpoints/frobnicate');
  assert.deepEqual(failureOf(far), [404, 'there is no saved query "frobnicate"']);
});

test('a token bound to sources or endpoints learns no other names', async () => {
  const both = await makeToken(service, 'both', {
    scopes: ['ingest', 'query'],
    endpoints: ['logs.all'],
  });
  const asks: readonly (readonly [string, readonly [string, string, string?], number])[] = [
    ...(['ingest, edge', 'ingest, edge by default'] as const).map(
      (name) => [granted.token(name), POST, name === 'ingest, edge' ? 403 : 404] as const,
    ),
    [granted.token('query, edge'), TAIL, 403],
    [granted.token('query, edge'), CALL, 404],
    [granted.token('query, logs.all'), TAIL, 403],
    [granted.token('query, logs.all'), CALL, 403],
    [both.token, POST, 404],
  ];
  for (const [token, [method, path, body], expected] of asks) {
    const answer = await service.ask(method, path, body, { 'X-API-KEY': token });
    const [status, message] = failureOf(answer);
    assert.equal(status, expected, message);
    const isBound = token !== granted.token('ingest, edge by default');
    if (isBound) assert.doesNotMatch(message, /did you mean|postgres\.logs|api-counts/);
  }
});

test('in the profile supabase, nobody learns names', async () => {
  const other = await ServiceUnderTest.start({ PROFILE: 'supabase' });
  try {
    for (const [method, path, ...body] of [POST, TAIL, CALL]) {
      const { text } = await other.ask(method, path, ...body);
      assert.deepEqual(JSON.parse(text), { error: 'Unauthorized' });
    }
  } finally {
    await other.stop();
  }
});

test('a missing parameter is reported with a similar unused one', async () => {
  const names: readonly (readonly [string, string])[] = [
    ['projct=alpha', 'project must be text; got nothing; did you mean project by "projct"?'],
    ['Project=alpha', 'project must be text; got nothing; did you mean project by "Project"?'],
    ['interval=alpha', 'project must be text; got nothing'],
  ];
  for (const [query, message] of names) {
    const answer = await service.ask('GET', `/api/endpoints/functions.invocation-stats?${query}`);
    assert.deepEqual(failureOf(answer), [400, message]);
  }
});

test('a misspelled table, function or definition in a definition is reported with the nearest name', async () => {
  const wrong: readonly (readonly [object, RegExp])[] = [
    [
      { query: 'SELECT 1 AS n FROM `postgres.log`' },
      /no table postgres\.log; did you mean postgres\.logs\?/,
    ],
    [{ query: 'SELECT 1 AS n FROM `logs.al`' }, /no table logs\.al; did you mean logs\.all\?/],
    [{ query: 'SELECT COUNTIFF(TRUE) AS n' }, /no function COUNTIFF; did you mean COUNTIF\?/],
    [
      { query: 'WITH a AS (SELECT 1 AS number) SELECT nmber FROM a' },
      /no column nmber here; did you mean number\?/,
    ],
    [
      { query: 'WITH a AS (SELECT 1 AS n) SELECT n FROM a', extends: 'logs.al' },
      /did you mean logs\.all\?/,
    ],
  ];
  for (const [definition, message] of wrong) {
    const body = JSON.stringify({ name: 'near', ...definition });
    const answer = await service.ask('POST', '/api/endpoints', body);
    assert.match(failureOf(answer)[1], message);
  }
});
