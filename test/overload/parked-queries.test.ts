import { deepEqual, equal, match } from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { rows } from '../../bench/workload/query-bombs.ts';
import { makeToken } from '../support/granted.ts';
import { ServiceUnderTest, TOKEN } from '../support/service-under-test.ts';

/** Takes any query of its callers. */
const ANY = `-- id: 00000000-0000-4000-8000-000000000000
-- name: test.any
-- sandbox: enabled
WITH one AS (SELECT 1 AS a) SELECT a FROM one
`;

const WORKERS = 2;

let folder: string;
let service: ServiceUnderTest;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-parked-'));
  await writeFile(join(folder, 'any.sql'), ANY);
  service = await ServiceUnderTest.start({ ENDPOINTS_DIR: folder, WORKERS: String(WORKERS) });
});

after(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A text that no worker is done with while a test runs. */
function endless(number: number): string {
  return `SELECT COUNT(*) AS n FROM ${rows(1_000_000)} AS a, ${rows(1_000_000)} AS b WHERE a + b != ${number}`;
}

async function ask(token: string, text: string, signal?: AbortSignal): Promise<unknown> {
  const query = new URLSearchParams({ sql: text });
  const url = `${service.url}/api/endpoints/test.any?${query}`;
  const answer = await fetch(url, { headers: { 'X-API-KEY': token }, signal: signal ?? null });
  const json = (await answer.json()) as { readonly result: unknown };
  equal(answer.status, 200, JSON.stringify(json));
  return json.result;
}

async function metric(name: string): Promise<number> {
  const { text } = await service.ask('GET', '/metrics');
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
}

test('endless queries of one token delay no other, nor a long query of another', {
  timeout: 120_000,
}, async () => {
  const { token } = await makeToken(service, 'other', { scopes: ['query'] });
  const callers = new AbortController();
  const noisy = [1, 2, 3].map((number) => ask(TOKEN, endless(number), callers.signal));
  const left = Promise.allSettled(noisy);
  while ((await metric('weir_work_tasks{kind="call",state="running"}')) < WORKERS);
  for (let call = 1; call <= 3; call++) {
    const text = `SELECT COUNT(*) AS n FROM ${rows(100_000)} AS a WHERE a > ${call}`;
    deepEqual(await ask(token, text), [{ n: 100_000 - call }]);
  }
  const long = `SELECT COUNT(*) AS n FROM ${rows(2_000)} AS a, ${rows(2_000)} AS b WHERE a != b`;
  deepEqual(await ask(token, long), [{ n: 2_000 * 1_999 }]);
  equal(await metric('weir_work_tasks{kind="call",state="running"}'), WORKERS);
  callers.abort();
  for (const { status } of await left) match(status, /rejected/);
  while ((await metric('weir_work_tasks{kind="call",state="running"}')) > 0);
  equal(await metric('weir_work_tasks{kind="call",state="parked"}'), 0);
  equal(await metric('weir_workers_ended_total'), 0);
});
