import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../../../src/service.ts';
import { parseSettings } from '../../../src/settings.ts';
import { openBackend } from '../../../src/store/log-backend.ts';
import { type Answer, ask, NOW_US, PRIVATE, post } from '../harness.ts';

/**
 * The built-in definitions on the whole service. Its time of day stands still, while ages advance.
 */
let service: Service;
let folder: string;
let app: { readonly port: number };
let monotonicMs = 0;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-'));
  const settings = parseSettings({
    PORT: '0',
    DATA_DIR: folder,
    PRIVATE_ACCESS_TOKEN: PRIVATE,
    FROZEN_NOW: '2026-01-15T12:00:00Z',
    WORKERS: '1',
  });
  const log = (): void => {};
  const clock = { nowUs: () => NOW_US, monotonicMs: () => monotonicMs, wallMs: () => Date.now() };
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

async function invoke(project: string): Promise<void> {
  const event = {
    metadata: { project_ref: project, execution_time_ms: 5, response: { status_code: 200 } },
  };
  assert.equal((await post(app, '/api/logs?source_name=deno-relay-logs', event)).status, 200);
}

async function stats(project: string, interval = '1day'): Promise<Answer> {
  const path = `/api/endpoints/functions.invocation-stats?project=${project}&interval=${interval}`;
  const answer = await ask(app, { path });
  assert.equal(answer.status, 200, answer.text);
  return answer;
}

test('an event posted later appears after the kept answer has expired, whose age was given', async () => {
  await invoke('late');
  const first = await stats('late');
  assert.equal(first.headers['age'], '0');
  await invoke('late');
  monotonicMs += 899_999;
  const kept = await stats('late');
  assert.equal(kept.text, first.text);
  assert.equal(kept.headers['age'], '899');
  monotonicMs += 1;
  const fresh = await stats('late');
  assert.equal(fresh.headers['age'], '0');
  assert.equal(fresh.json.result[0].count, 2);
  assert.notEqual(fresh.headers['etag'], first.headers['etag']);
});

test('kept bytes do not change while the workers write other answers', async () => {
  for (const project of ['one', 'two']) await invoke(project);
  const one = await stats('one');
  for (let turn = 0; turn < 40; turn++) await stats('two', `other-${turn}`);
  const again = await stats('one');
  assert.match(String(again.headers['cache-status']), /hit/);
  assert.equal(again.text, one.text);
});

test('logs.all is not kept, so the very next call sees an event', async () => {
  const path = '/api/endpoints/logs.all?project=fresh';
  for (let count = 1; count <= 3; count++) {
    const event = { project: 'fresh', metadata: {} };
    await post(app, '/api/logs?source_name=cloudflare.logs.prod', event);
    const answer = await ask(app, { path });
    assert.equal(answer.json.result.length, count);
    assert.equal(answer.headers['cache-status'], 'weir; fwd=bypass');
    const headers = { 'If-None-Match': String(answer.headers['etag']) };
    assert.equal((await ask(app, { path, headers })).status, 304);
  }
});
