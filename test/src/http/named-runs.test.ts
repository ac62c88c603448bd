import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { NOW, us } from '../../scripts/script.ts';
import { makeToken } from '../../support/granted.ts';
import type { HttpAnswer } from '../../support/http-client.ts';
import { ServiceUnderTest } from '../../support/service-under-test.ts';

const ROWS = 5_000;

let service: ServiceUnderTest;

before(async () => {
  service = await ServiceUnderTest.start({}, () => performance.now());
  const events = Array.from({ length: ROWS }, (_, index) => ({
    id: `e${index}`,
    project: 'alpha',
    timestamp: '2026-01-15T11:00:00Z',
    event_message: `message ${index}`,
  }));
  await service.post('gotrue.logs.prod', events, us(NOW));
});

after(() => service.stop());

/** Looks at each pair of rows: it takes much longer than a test waits. */
const PAIRS =
  'SELECT COUNT(*) AS n FROM `gotrue.logs.prod` AS a JOIN UNNEST(GENERATE_ARRAY(1, 100000)) AS b ON LENGTH(a.id) = b + 100';

/** A condition that takes about a millisecond for each event. */
const SLOW =
  'EXISTS (SELECT 1 FROM UNNEST(GENERATE_ARRAY(1, 100000)) AS b WHERE LENGTH(t.id) = b + 100)';

function begin(sql: string, id: string, token?: string): Promise<HttpAnswer> {
  return service.ask('POST', '/api/query', JSON.stringify({ sql }), {
    'Weir-Query-Id': id,
    ...(token !== undefined && { 'X-API-KEY': token }),
  });
}

function ask(method: 'GET' | 'DELETE', id: string, token?: string): Promise<HttpAnswer> {
  const headers = token === undefined ? {} : { 'X-API-KEY': token };
  return service.ask(method, `/api/query/runs/${id}`, undefined, headers);
}

/** How far a call is, once a thread has looked at rows for it. */
async function whenRunning(id: string): Promise<Record<string, number | string>> {
  for (;;) {
    const { status, text } = await ask('GET', id);
    const run = status === 200 ? JSON.parse(text) : {};
    if (run.rows_done > 0) return run;
    await sleep(10);
  }
}

test('a named call says how far it is, and is cancelled by its name', async () => {
  const answering = begin(PAIRS, 'pairs-of-rows');
  const run = await whenRunning('pairs-of-rows');
  equal(run['id'], 'pairs-of-rows');
  equal(run['state'], 'running');
  equal(run['rows_total'], ROWS);
  ok(Number(run['rows_done']) <= ROWS);
  equal(run['share'], Number(run['rows_done']) / ROWS);
  equal((await ask('DELETE', 'pairs-of-rows')).status, 204);
  const answer = await answering;
  deepEqual([answer.status, JSON.parse(answer.text).error.code], [499, 'query_cancelled']);
  const over = await ask('GET', 'pairs-of-rows');
  deepEqual([over.status, JSON.parse(over.text).error.code], [404, 'unknown_run']);
});

test('only the token that made a call sees it', async () => {
  const { token } = await makeToken(service, 'another', { scopes: ['explore'] });
  const answering = begin(PAIRS, 'not-for-others');
  await whenRunning('not-for-others');
  for (const method of ['GET', 'DELETE'] as const) {
    const { status, text } = await ask(method, 'not-for-others', token);
    deepEqual([status, JSON.parse(text).error.code], [404, 'unknown_run']);
  }
  const same = begin('SELECT 1 AS one', 'not-for-others', token);
  equal((await same).text, '{"result":[{"one":1}]}');
  await ask('DELETE', 'not-for-others');
  equal((await answering).status, 499);
});

test('an id is for one call at a time, and has its form', async () => {
  const answering = begin(PAIRS, 'used-twice');
  await whenRunning('used-twice');
  const twice = await begin('SELECT 1 AS one', 'used-twice');
  match(JSON.parse(twice.text).error.message, /^Weir-Query-Id must be new/);
  await ask('DELETE', 'used-twice');
  await answering;
  equal((await begin('SELECT 1 AS one', 'used-twice')).status, 200);
  for (const id of ['short', 'x'.repeat(65), 'with space in it']) {
    const { status, text } = await begin('SELECT 1 AS one', id);
    deepEqual([status, JSON.parse(text).error.code], [400, 'invalid_parameter']);
  }
});

test('a saved query is cancelled by its name, too', async () => {
  const query = JSON.stringify({ name: 'app.pairs', query: PAIRS });
  equal((await service.ask('POST', '/api/endpoints', query)).status, 201);
  const answering = service.ask('GET', '/api/endpoints/app.pairs', undefined, {
    'Weir-Query-Id': 'saved-pairs',
  });
  await whenRunning('saved-pairs');
  equal((await ask('DELETE', 'saved-pairs')).status, 204);
  equal((await answering).status, 499);
});

test('exploring is cancelled by its name, too', async () => {
  const order = { source: 'gotrue.logs.prod', where: SLOW, from: '2026-01-15', to: 'now' };
  const headers = { 'Weir-Query-Id': 'explored-rows' };
  const answering = service.ask('POST', '/api/explore', JSON.stringify(order), headers);
  const run = await whenRunning('explored-rows');
  deepEqual([run['state'], run['rows_total']], ['running', ROWS]);
  equal((await ask('DELETE', 'explored-rows')).status, 204);
  await rejects(answering, 'its first line has left, so the connection is closed');
  equal((await ask('GET', 'explored-rows')).status, 404);
});
