import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { WORK_TURN_MS_MAX } from '../../src/limits.ts';
import type { HttpAnswer } from '../support/http-client.ts';
import { ServiceUnderTest } from '../support/service-under-test.ts';
import { HOSTILE_SANDBOX } from './texts.ts';

// In a process of its own: code that other tests have run often plans the long texts before a post is on disk.

const PATH = '/api/endpoints/hostile.any';

/** Of a file system in memory where there is one: a slow disk says nothing of turns. */
const PARENT_FOLDER = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

let folder: string;
let service: ServiceUnderTest;
/** Of another tenant than the one that all else is sent with. */
let otherToken: string;

before(async () => {
  folder = await mkdtemp(join(PARENT_FOLDER, 'weir-text-turns-'));
  await writeFile(join(folder, 'any.sql'), HOSTILE_SANDBOX);
  // Each look at the clock takes as long as a turn of the event loop has time for work: one piece of it.
  let nowMs = 0;
  const environment = { ENDPOINTS_DIR: folder, DATA_DIR: join(folder, 'data') };
  service = await ServiceUnderTest.start(environment, () => {
    nowMs += WORK_TURN_MS_MAX;
    return nowMs;
  });
  const order = { name: 'other', scopes: ['query', 'ingest'] };
  const made = await service.ask('POST', '/api/tokens', JSON.stringify(order));
  otherToken = JSON.parse(made.text).result.token;
});

after(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

function callWith(sql: string, token?: string): Promise<HttpAnswer> {
  const headers = token === undefined ? {} : { 'X-API-KEY': token };
  return service.ask('POST', PATH, JSON.stringify({ sql }), headers);
}

/** Texts that are all different, so that each is bound anew. */
function longText(index: number): string {
  const names = Array.from({ length: 300 }, (_, at) => `'${index} ${at}'`);
  return `SELECT id FROM entries WHERE id IN (${names.join()})`;
}

/** Each sends one text. */
const CONNECTION_COUNT = 20;

test('others are answered while one token sends long texts on twenty connections', async () => {
  const askAll = () => [
    service.ask('GET', '/health'),
    callWith('SELECT 1 AS one', otherToken),
    service.ask('POST', '/api/logs?source_name=postgres.logs', '[{"event_message":"a"}]', {
      'X-API-KEY': otherToken,
    }),
  ];
  // Connections that are open, and a thread that has started.
  await Promise.all(askAll());
  let longCount = 0;
  const long = Array.from({ length: CONNECTION_COUNT }, async (_, index) => {
    const { status, text } = await callWith(longText(index));
    assert.equal(status, 200, text);
    longCount += 1;
  });
  await Promise.race(long);
  const countBefore = longCount;
  const others = askAll().map(async (asked) => {
    const { status, text } = await asked;
    assert.equal(status, 200, text);
    return longCount;
  });
  const counts = await Promise.all(others);
  assert.ok(Math.max(...counts) < CONNECTION_COUNT, `${countBefore}, then behind ${counts}`);
  await Promise.all(long);
});
