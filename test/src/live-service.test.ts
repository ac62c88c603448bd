import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type Service, startService } from '../../src/service.ts';
import { parseSettings } from '../../src/settings.ts';
import { openBackend } from '../../src/store/log-backend.ts';
import { type Answer, ask, NOW_US, PRIVATE, post } from './harness.ts';

/**
 * Hostile input to the whole service with the real engine and store. Each test has its own
 * projects.
 */
let service: Service;
let folder: string;
let app: { readonly port: number };

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-'));
  const settings = parseSettings({
    PORT: '0',
    DATA_DIR: folder,
    PRIVATE_ACCESS_TOKEN: PRIVATE,
    WORKERS: '1',
  });
  const log = (): void => {};
  const clock = { nowUs: () => NOW_US, monotonicMs: () => 0, wallMs: () => Date.now() };
  service = await startService({
    ...{ settings, clock, log },
    openBackend: (stored) => openBackend({ settings: stored, log }),
  });
  app = { port: Number(new URL(service.url).port) };
});

after(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

const LOGS = '/api/logs?source_name=cloudflare.logs.prod';

type Row = {
  readonly id: string;
  readonly timestamp: number;
  readonly event_message: string | null;
};

async function rowsOf(project: string): Promise<readonly (Row & Record<string, unknown>)[]> {
  const answer = await read(project);
  assert.equal(answer.status, 200, answer.text.slice(0, 1000));
  return answer.json.result;
}

function read(project: string): Promise<Answer> {
  const path = `/api/endpoints/logs.all?project_tier=ENTERPRISE&project=${encodeURIComponent(project)}`;
  return ask(app, { path });
}

test('an event is first in the answer of the very next call', async () => {
  for (let turn = 0; turn < 25; turn++) {
    const event = { project: 'fresh', event_message: `turn ${turn}`, metadata: {} };
    assert.equal((await post(app, LOGS, event)).status, 200);
    assert.equal((await rowsOf('fresh'))[0]?.event_message, `turn ${turn}`);
  }
});

/** 2026-01-15T11:55:00Z, five minutes ago. */
const THEN_US = NOW_US - 300_000_000;

for (const [json, wantedUs] of [
  ['1768478100', THEN_US],
  ['1768478100123', THEN_US + 123_000],
  ['1768478100123456', THEN_US + 123_456],
  ['1768478100123456789', THEN_US + 123_456],
  ['"1768478100123456789"', THEN_US + 123_456],
  ['1768478100.5', THEN_US + 500_000],
  ['"1768478100.5"', THEN_US + 500_000],
  ['1768478100123.4', THEN_US + 123_400],
  ['"2026-01-15T12:55:00.000001+01:00"', THEN_US + 1],
  ['"2026-01-15 11:55:00.123456789"', THEN_US + 123_456],
  ['-1', NOW_US],
  ['"yesterday"', NOW_US],
  ['[]', NOW_US],
] as const) {
  test(`the timestamp ${json} is read as ${wantedUs}`, async () => {
    const project = `time ${json}`;
    const event = `[{"project":${JSON.stringify(project)},"metadata":{},"timestamp":${json}}]`;
    assert.equal((await post(app, LOGS, event)).status, 200);
    assert.deepEqual(
      (await rowsOf(project)).map(({ timestamp }) => timestamp),
      [wantedUs],
    );
  });
}

test('valid events beside invalid ones are stored, in every form of body', async () => {
  const good = '{"project":"half","metadata":{}}';
  const late = '{"project":"half","metadata":{},"timestamp":"2001-01-01"}';
  const forms: [string, string][] = [
    [`[${good},5,${late},${good}]`, 'application/json'],
    [`{"batch":[${good},5,${late},${good}]}`, 'application/json'],
    [`${good}\n5\n\r\n${late}\r\n${good}`, 'application/x-ndjson'],
  ];
  for (const [body, type] of forms) {
    const answer = await post(app, LOGS, body, { 'Content-Type': type });
    assert.equal(answer.status, 406);
    const { details } = answer.json.error;
    assert.equal(details.length, 2);
    assert.match(details[0], /^event 1: /);
    assert.match(details[1], /^event 2: timestamp 2001-01-01T.* RETENTION_DAYS keeps$/);
  }
  assert.equal((await rowsOf('half')).length, 6);
});

test('metadata is returned as it was sent, in lists of one', async () => {
  const sent =
    '{"z":1,"a":[],"n":null,"big":-9223372036854775808,"u":18446744073709551615,"m":{},"s":"\\u0000é😀\\ud800"}';
  await post(app, LOGS, `{"project":"exact","metadata":${sent}}`);
  const wanted = sent.replace('"m":{}', '"m":[{}]');
  assert((await read('exact')).text.endsWith(`"metadata":[${wanted}]}]}`));
});

for (const project of ['é😀', '%', 'a&b=c', '\u0000', "' OR 1=1 --", '\\', 'x'.repeat(3_000)]) {
  test(`a project may be named ${JSON.stringify(project.slice(0, 20))}`, async () => {
    await post(app, LOGS, { project, metadata: {}, event_message: 'mine' });
    assert.deepEqual(
      (await rowsOf(project)).map(({ event_message }) => event_message),
      ['mine'],
    );
  });
}

test('a string as long as a body, a million levels and a bomb do no harm', async () => {
  const long = `{"project":"long","metadata":{},"event_message":"`;
  const message = 'x'.repeat(12_000_000 - long.length - 2);
  assert.equal((await post(app, LOGS, `${long}${message}"}`)).status, 200);
  assert.equal((await rowsOf('long'))[0]?.event_message, message);

  const deep = `${'{"a":'.repeat(1_000_000)}1${'}'.repeat(1_000_000)}`;
  assert.equal((await post(app, LOGS, `{"project":"deep","metadata":${deep}}`)).status, 200);
  assert.equal((await rowsOf('deep')).length, 1);

  const bomb = gzipSync(Buffer.alloc(100_000_000), { level: 1 });
  assert.equal((await post(app, LOGS, bomb, { 'Content-Encoding': 'gzip' })).status, 413);
  assert.equal((await ask(app, { path: '/health' })).status, 200);
});
