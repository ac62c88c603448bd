import { deepEqual, equal } from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { type StartedService, startedOn } from '../../crash/started-service.ts';
import { ask, post } from '../harness.ts';

const POSTS = '/api/logs?source_name=cloudflare.logs.prod';

const CALL = '/api/endpoints/query/logs.all?project=p&project_tier=ENTERPRISE';

const REASON =
  'logs cannot be written to disk at present: the folder or the file of the log is gone';

let dataDir: string;
let logFolder: string;
let service: StartedService;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'weir-'));
  service = await startedOn(dataDir);
  logFolder = join(service.storePath, 'log');
});

afterEach(async () => {
  await service.service.stop();
  await rm(dataDir, { recursive: true });
});

async function send(message: string): Promise<number> {
  const event = { project: 'p', event_message: message, metadata: {} };
  const { status, json } = await post(service, POSTS, event);
  if (status === 200) return status;
  deepEqual(json.error, { ...json.error, code: 'storage_failed', message: REASON });
  return status;
}

async function messages(): Promise<readonly string[]> {
  const { json } = await ask(service, { path: CALL });
  return json.result.map(({ event_message: text }: { event_message: string }) => text);
}

/** Ticks until `/ready` has this status, because a real disk takes some time. */
async function untilReady(status: number): Promise<string | undefined> {
  for (;;) {
    service.backend.tick(service.clock.us);
    const ready = await ask(service, { path: '/ready', headers: {} });
    if (ready.status === status) return ready.json.reason;
  }
}

test('while the log folder is missing, posts are refused and calls answered, until it is back', async () => {
  equal(await send('one'), 200);
  await rename(logFolder, join(dataDir, 'away'));
  equal(await send('two'), 503);
  equal(await send('three'), 503);
  deepEqual(await messages(), ['one']);
  equal((await ask(service, { path: '/health' })).json.status, 'degraded');
  await rename(join(dataDir, 'away'), logFolder);
  equal(await untilReady(200), undefined);
  equal(await send('four'), 200);
  await service.service.stop();
  service = await startedOn(dataDir);
  deepEqual(await messages(), ['four', 'one']);
  equal((await ask(service, { path: '/health' })).json.status, 'ok');
});

test('a removed folder is noticed without a post, and a new one in its place is used', async () => {
  equal(await send('one'), 200);
  await rm(logFolder, { recursive: true });
  equal(await untilReady(503), `posts are refused: ${REASON}`);
  equal(await send('two'), 503);
  deepEqual(await messages(), ['one']);
  await mkdir(logFolder);
  equal(await untilReady(200), undefined);
  equal(await send('three'), 200);
});
