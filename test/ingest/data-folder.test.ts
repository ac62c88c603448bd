import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { DataFolder, findStorePath } from '../../ingest/data-folder.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { LockedError } from '../../ingest/lock-file.ts';
import { liveOnManyHosts } from '../support/many-hosts.ts';
import { StoppableDisk } from '../support/stoppable-disk.ts';

const NOW_US = Date.UTC(2026, 0, 15, 12) * 1000;

liveOnManyHosts();

/** Nobody shows a sign of life, so that whoever comes next takes the folder over. */
const SILENT = { beatMs: 2 ** 30, watchMs: 2, lookMs: 1 };

let path: string;
/** The signs of life alone do not keep a process running. */
let keptRunning: NodeJS.Timeout;

beforeEach(async () => {
  keptRunning = setInterval(() => {}, 1000);
  path = await mkdtemp(join(tmpdir(), 'weir-folder-'));
});

afterEach(async () => {
  clearInterval(keptRunning);
  await rm(path, { recursive: true });
});

function take(disk = new StoppableDisk(new NodeDisk())): Promise<DataFolder> {
  return DataFolder.take(path, NOW_US, { disk, timing: SILENT });
}

test('each owner has the store under a number of its own, with all that was in it', async () => {
  const first = await take();
  equal(first.storePath, join(path, 'store-1'));
  await writeFile(join(first.storePath, 'tokens.json'), 'hashes');
  await first.release();
  deepEqual((await readdir(path)).sort(), ['spare', 'store-1']);
  const second = await take();
  equal(second.storePath, join(path, 'store-2'));
  equal(await readFile(join(second.storePath, 'tokens.json'), 'utf8'), 'hashes');
  equal(await findStorePath(path), second.storePath);
  await second.release();
  deepEqual((await readdir(path)).sort(), ['spare', 'store-2']);
});

test('files of an earlier version in the data folder itself are moved, and duplicates are listed', async () => {
  equal(await findStorePath(path), path);
  await mkdir(join(path, 'log'));
  await writeFile(join(path, 'log', '00000001.log'), 'records');
  const first = await take();
  deepEqual([await readdir(first.storePath), first.unused], [['log'], []]);
  await first.release();
  await (await take()).release();
  for (const name of ['log', 'segments', 'store-1']) await mkdir(join(path, name));
  const second = await take();
  deepEqual(second.unused, ['store-1', 'log']);
  deepEqual((await readdir(second.storePath)).sort(), ['log', 'segments']);
  deepEqual(await readdir(join(second.storePath, 'log')), ['00000001.log']);
  await second.release();
});

test('a replaced owner has no valid path, and is notified of the new owner', async () => {
  const timing = { ...SILENT, beatMs: 5 };
  const first = await DataFolder.take(path, NOW_US, { timing });
  const second = DataFolder.take(path, NOW_US, { timing: { ...timing, watchMs: 0 } });
  match((await first.replaced).message, /in use by another weir: process \d+ on host-\d+/);
  await rejects(first.checkHeld(), LockedError);
  await (await second).checkHeld();
  await rejects(new NodeDisk().create(join(first.storePath, 'file')), { code: 'ENOENT' });
  await rejects(new NodeDisk().makeFolder(join(first.storePath, 'log')), { code: 'ENOENT' });
  await first.release();
  await (await second).checkHeld();
  await (await second).release();
});

for (const [step, before] of [
  ['list', 0],
  ['makeFolder', 0],
  ['list', 1],
  ['rename', 1],
] as const) {
  test(`a start that sleeps before its ${step} while ${before + 2} others come is refused when it wakes`, async () => {
    for (let count = 0; count < before; count++) await (await take()).release();
    const disk = new StoppableDisk(new NodeDisk());
    let sleeps = (): void => {};
    const asleep = new Promise<void>((resolve) => {
      sleeps = resolve;
    });
    disk.stopsAt = (name, isDone) => {
      const stops = name === step && isDone === (step === 'list');
      if (!stops) return false;
      disk.stopsAt = () => false;
      sleeps();
      return true;
    };
    const late = rejects(take(disk), LockedError);
    await asleep;
    await (await take()).release();
    const last = await take();
    disk.continue();
    await late;
    await last.checkHeld();
    equal(last.storePath, join(path, `store-${before + 2}`));
    equal(await findStorePath(path), last.storePath);
    await last.release();
  });
}
