import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { findStorePath } from '../../ingest/data-folder.ts';
import { ReadError } from '../../ingest/disk/disk.ts';
import { SEAL_AGE_US } from '../../ingest/limits.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import { Quarantine } from '../../ingest/quarantine.ts';
import { systemReason } from '../../ingest/system-reason.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { ask, post } from '../src/harness.ts';
import { budgetOf } from '../support/budget.ts';
import { FailingDisk, READ_FAULTS } from '../support/failing-disk.ts';
import { ModelDisk } from '../support/model-disk.ts';
import { smallBatch } from '../support/small-batch.ts';
import { allRows, type OpenedStore, openStore } from './opened-store.ts';
import { startedOn } from './started-service.ts';

const NOW_US = 20_000 * PARTITION_US + 14 * 3_600_000_000;
const POSTS = 24;

/** Every file of a disk, byte for byte. */
function contentOf(disk: ModelDisk): Map<string, Buffer> {
  return new Map(disk.paths().map((path) => [path, Buffer.from(disk.bytesOf(path))]));
}

async function idsOf(opened: OpenedStore): Promise<string[]> {
  const rows = [...(await allRows(opened)).values()].flat();
  return rows.map(({ id }) => String(id)).sort();
}

/** A disk whose first posts are in segment files alone, the others in several files of the log, and their ids. */
async function filledDisk(): Promise<{ disk: ModelDisk; ids: string[] }> {
  const disk = new ModelDisk(new Random(1));
  const ids: string[] = [];
  const appendSome = async ({ durable }: OpenedStore, count: number): Promise<void> => {
    for (let n = 0; n < count; n++) {
      const id = `post-${String(ids.length).padStart(3, '0')}`;
      ids.push(id);
      const source = ids.length % 2 === 0 ? 'a' : 'b';
      await durable.store.append(source, smallBatch([id], NOW_US), NOW_US);
    }
  };
  const first = await openStore({ disk, nowUs: NOW_US });
  await appendSome(first, POSTS);
  first.durable.tick(NOW_US);
  first.durable.tick(NOW_US + SEAL_AGE_US);
  await first.durable.store.flush();
  await first.durable.store.settled();
  first.durable.tick(NOW_US + SEAL_AGE_US);
  await appendSome(first, POSTS);
  await first.durable.close();
  return { disk, ids };
}

/** One in so many pairs of a file and a fault is tried; of the next commit others. */
const FAULT_STEP = budgetOf('WEIR_READ_FAULT_STEP', { fast: 3, all: 1 });

test('if a start cannot read a file for any reason, it fails and changes nothing, and a repaired disk has everything', async (context) => {
  const { disk, ids } = await filledDisk();
  const files = disk.paths();
  const logs = files.filter((path) => path.startsWith('/data/log/'));
  assert(logs.length > 2 && files.some((path) => path.startsWith('/data/segments/')));
  const seed = fuzzSeed();
  context.diagnostic(`seed ${seed}: WEIR_FUZZ_SEED=${seed} repeats it`);
  let number = seed;
  for (const fault of READ_FAULTS) {
    for (const path of files) {
      for (const step of ['open', 'read'] as const) {
        if (step === 'open' && fault === 'short') continue;
        if (number++ % FAULT_STEP !== 0) continue;
        const found = disk.afterKill();
        const before = contentOf(found);
        const failing = new FailingDisk(found);
        failing.faultOf = (each, where) => (each === step && where === path ? fault : undefined);
        await assert.rejects(openStore({ disk: failing, nowUs: NOW_US }), (error) => {
          assert(error instanceof Error && error.name === 'StartError', String(error));
          assert(
            error.message.startsWith(`${path} cannot be ${step === 'open' ? 'opened' : 'read'}: `),
          );
          if (fault !== 'short') {
            const cause = Object.assign(new Error(fault), { code: fault });
            assert(error.message.includes(`: ${systemReason(cause)}. `), error.message);
          }
          const advice = fault.endsWith('FILE') ? /[Rr]aise the limit/ : /Check the disk/;
          assert.match(error.message, advice);
          assert.match(error.message, /Nothing was changed on disk\. /);
          return true;
        });
        assert(failing.failureCount > 1, 'it is tried again before the start is refused');
        assert.deepEqual(contentOf(found), before, `${fault} at ${path}`);
        const well = await openStore({ disk: found, nowUs: NOW_US });
        assert.deepEqual(await idsOf(well), ids, `${fault} at ${path}`);
        assert.deepEqual(well.damages, []);
        await well.durable.close();
      }
    }
  }
});

test('a folder that cannot be listed fails a start, and nothing is changed', async () => {
  const { disk } = await filledDisk();
  for (const folder of ['/data/log', '/data/segments', '/data/segments/a']) {
    const found = disk.afterKill();
    const before = contentOf(found);
    const failing = new FailingDisk(found);
    failing.faultOf = (step, path) => (step === 'list' && path === folder ? 'EIO' : undefined);
    const message = new RegExp(
      `^${folder} cannot be listed: the disk reports an error\\. Nothing was changed`,
    );
    await assert.rejects(openStore({ disk: failing, nowUs: NOW_US }), { message });
    assert.deepEqual(contentOf(found), before);
  }
});

test('reads that fail temporarily are retried, and the start has everything', async () => {
  const { disk, ids } = await filledDisk();
  const failing = new FailingDisk(disk);
  let count = 0;
  failing.faultOf = () => (++count % 3 === 0 ? READ_FAULTS[count % READ_FAULTS.length] : undefined);
  const opened = await openStore({ disk: failing, nowUs: NOW_US });
  assert(failing.failureCount > 5);
  failing.faultOf = () => undefined;
  assert.deepEqual(await idsOf(opened), ids);
  assert.deepEqual(opened.damages, []);
  await opened.durable.close();
});

test('the end of the log is cut off after its copy was verified, and stays without a copy', async () => {
  const disk = new ModelDisk(new Random(1));
  const first = await openStore({ disk, nowUs: NOW_US });
  await first.durable.store.append('a', smallBatch(['whole'], NOW_US), NOW_US);
  await first.durable.close();
  const path = '/data/log/00000001.log';
  const whole = Buffer.from(disk.bytesOf(path));
  const tail = Buffer.alloc(104, 7);
  disk.put(path, Buffer.concat([whole, tail]));
  const before = disk.afterKill();
  const copy = `/data/quarantine/00000001.log.at-${whole.length}.104-bytes`;
  // Of a start that died while it copied; another start gives it no trust.
  before.put(copy, new Uint8Array(0));
  const again = before.afterKill();
  await (await openStore({ disk: again, nowUs: NOW_US })).durable.close();
  assert.deepEqual(Buffer.from(again.bytesOf(`${copy}.2`)), tail);
  assert.deepEqual(Buffer.from(again.bytesOf(path)), whole);
  // A copy that cannot be made: the bytes stay where they are, and the next start finds the same rows.
  const full = before.afterKill();
  const failing = new FailingDisk(full);
  const create = failing.create.bind(failing);
  failing.create = async (name) => {
    if (name.includes('/quarantine/')) throw new ReadError('created', name, new Error('ENOSPC'));
    return create(name);
  };
  const opened = await openStore({ disk: failing, nowUs: NOW_US });
  assert.deepEqual(await idsOf(opened), ['whole']);
  await opened.durable.close();
  assert.deepEqual(Buffer.from(full.bytesOf(path)), Buffer.concat([whole, tail]));
  const next = await openStore({ disk: full, nowUs: NOW_US });
  assert.deepEqual([await idsOf(next), next.damages], [['whole'], []]);
  await next.durable.close();
});

test('a copy in quarantine with other bytes does not count as a copy', async () => {
  const disk = new ModelDisk(new Random(1));
  const bytes = Buffer.from('eight and eight.');
  disk.put('/data/log/1', bytes);
  const quarantine = new Quarantine(disk, '/data/quarantine');
  const reader = await disk.open('/data/log/1');
  const place = { file: '1', offset: 0, size: bytes.length };
  const first = await quarantine.copy(reader, place);
  assert.equal(await quarantine.copy(reader, place), first);
  disk.put(first, Buffer.from('eight and EIGHT.'));
  const second = await quarantine.copy(reader, place);
  assert.equal(second, `${first}.2`);
  assert.deepEqual(Buffer.from(disk.bytesOf(second)), bytes);
});

const EDGE = '/api/logs?source_name=cloudflare.logs.prod';
const CALL = { path: '/api/endpoints/logs.all?project=p&project_tier=PRO' };

/** All files of a folder, byte for byte, by their paths in it. */
async function filesOf(folder: string): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) files.set(relative(folder, path), await readFile(path));
  }
  return files;
}

test('a service whose log is unreadable fails with the file and the reason, and later has everything', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-unread-'));
  try {
    const first = await startedOn(dataDir);
    const body = { project: 'p', event_message: 'hello', metadata: {} };
    for (let n = 0; n < 3; n++) assert.equal((await post(first, EDGE, body)).status, 200);
    await first.service.stop();
    const name = join('log', '00000001.log');
    const path = join(first.storePath, name);
    // The system opens a folder as it does a file, and refuses to read it.
    await rename(path, join(first.storePath, 'aside'));
    await mkdir(path);
    const before = await filesOf(first.storePath);
    assert(before.has('aside'));
    await assert.rejects(startedOn(dataDir), (error: Error) => {
      assert.equal(error.name, 'StartError');
      assert.match(
        error.message,
        /00000001\.log cannot be read: it is a folder\. Nothing was changed/,
      );
      return true;
    });
    const storePath = await findStorePath(dataDir);
    assert.deepEqual(await filesOf(storePath), before);
    await rmdir(join(storePath, name));
    await rename(join(storePath, 'aside'), join(storePath, name));
    const second = await startedOn(dataDir);
    assert.equal((await ask(second, CALL)).json.result.length, 3);
    assert.equal((await ask(second, { path: '/health' })).json.damage, undefined);
    await second.service.stop();
  } finally {
    await rm(dataDir, { recursive: true });
  }
});
