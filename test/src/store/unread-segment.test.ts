import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { SegmentReadError } from '../../../engine/column/segment-image.ts';
import { startedOn } from '../../crash/started-service.ts';
import { storeAll } from '../../support/store-all.ts';
import { ask, post } from '../harness.ts';

const EDGE = '/api/logs?source_name=cloudflare.logs.prod';
const CALL = { path: '/api/endpoints/logs.all?project=p&project_tier=PRO' };

test('an unreadable segment fails the query with 503 and loses nothing, and the next query reads it again', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-unread-'));
  try {
    const first = await startedOn(dataDir);
    for (let n = 0; n < 3; n++) {
      const body = { project: 'p', event_message: `message ${n}`, metadata: {} };
      assert.equal((await post(first, EDGE, body)).status, 200);
      await storeAll(first.backend, first.clock.us);
    }
    const whole = (await ask(first, CALL)).text;
    await first.service.stop();
    // After a start, no stored block is in memory, as after an eviction.
    const { service, entries, backend, storePath, ...app } = await startedOn(dataDir);
    const folder = join(storePath, 'segments', 'cloudflare.logs.prod');
    const names = (await readdir(folder)).sort();
    const bytes = await Promise.all(names.map((name) => readFile(join(folder, name))));
    // The system opens a folder like a file, and refuses to read it.
    const path = join(folder, names[0]!);
    await rename(path, join(dataDir, 'aside'));
    await mkdir(path);
    for (let times = 0; times < 2; times++) {
      const answer = await ask(app, CALL);
      assert.deepEqual([answer.status, answer.json.error.code], [503, 'storage_failed']);
      assert.match(answer.json.error.message, /^stored logs cannot be read at present: EISDIR; /);
      assert(Number(answer.headers['retry-after']) > 0);
    }
    // Each failed query is counted, and the first is logged with the path.
    const told = entries.filter(({ event }) => event === 'segment_read_failed');
    assert.deepEqual(
      told.map(({ level, file }) => [level, file]),
      [['error', path]],
    );
    assert.equal(backend.stats().engine.queriesFailed.get('storage_failed'), 2);
    await rmdir(path);
    await rename(join(dataDir, 'aside'), path);
    assert.equal((await ask(app, CALL)).text, whole);
    assert.equal((await ask(app, { path: '/health' })).json.damage, undefined);
    await service.stop();
    assert.deepEqual((await readdir(folder)).sort(), names);
    for (const [index, name] of names.entries()) {
      assert.deepEqual(await readFile(join(folder, name)), bytes[index]);
    }
    const again = await startedOn(dataDir);
    assert.equal((await ask(again, CALL)).text, whole);
    await again.service.stop();
  } finally {
    await rm(dataDir, { recursive: true });
  }
});

test('the message for callers gives the reason without a path', () => {
  const messageOf = (reason: string) => new SegmentReadError(1, '/data/x', reason).message;
  assert.equal(
    messageOf('EMFILE'),
    'stored logs cannot be read at present: the service has as many files open as it may, and its limit should be raised (EMFILE); try again later',
  );
  assert.match(
    messageOf('ENFILE'),
    /the system has as many files open as it may, and its limit should be raised \(ENFILE\)/,
  );
  assert.match(messageOf('EIO'), /the disk reports an error \(EIO\)/);
});
