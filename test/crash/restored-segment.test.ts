import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { test } from 'node:test';
import { SEAL_AGE_US } from '../../ingest/limits.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { FailingDisk } from '../support/failing-disk.ts';
import { ModelDisk } from '../support/model-disk.ts';
import { smallBatch } from '../support/small-batch.ts';
import { allRows, type OpenedStore, openStore, storePost } from './opened-store.ts';

const NOW_US = 20_000 * PARTITION_US + 14 * 3_600_000_000;

async function idsOf(opened: OpenedStore): Promise<string[]> {
  const rows = [...(await allRows(opened)).values()].flat();
  return rows.map(({ id }) => String(id)).sort();
}

/** Two segment files, the first of them in quarantine, and no log. */
async function diskWithOneSetAside() {
  const disk = new ModelDisk(new Random(1));
  await storePost(disk, NOW_US, 'first');
  await storePost(disk, NOW_US, 'second');
  const [path] = disk.paths().filter((name) => name.endsWith('.segment'));
  const aside = `/data/quarantine/a.${basename(path!)}`;
  const bytes = disk.bytesOf(path!);
  await disk.rename(path!, aside);
  for (const name of disk.paths()) if (name.startsWith('/data/log/')) await disk.remove(name);
  return { disk, path: path!, aside, bytes };
}

test('a start restores an intact segment file from quarantine, and its rows exist once', async () => {
  const { disk, path, aside } = await diskWithOneSetAside();
  for (let start = 1; start <= 2; start++) {
    const opened = await openStore({ disk, nowUs: NOW_US });
    assert.deepEqual(await idsOf(opened), ['first', 'second']);
    assert.deepEqual(opened.damages, []);
    const told = opened.entries.filter(({ event }) => event === 'segment_restored');
    assert.deepEqual(
      told.map(({ file }) => file),
      start === 1 ? [path] : [],
    );
    await opened.durable.close();
  }
  assert(disk.paths().includes(path) && !disk.paths().includes(aside));
});

test('a damaged or unreadable file stays in quarantine until it is repaired', async () => {
  const { disk, path, aside, bytes } = await diskWithOneSetAside();
  for (const at of [0, bytes.length >> 1, bytes.length - 1]) {
    const damaged = Buffer.from(bytes);
    damaged[at]! ^= 1;
    disk.put(aside, damaged);
    const opened = await openStore({ disk, nowUs: NOW_US });
    assert.deepEqual(await idsOf(opened), ['second'], `byte ${at}`);
    await opened.durable.close();
    assert.deepEqual(Buffer.from(disk.bytesOf(aside)), damaged);
  }
  disk.put(aside, bytes);
  const failing = new FailingDisk(disk);
  failing.faultOf = (step, name) => (step === 'read' && name === aside ? 'EIO' : undefined);
  const opened = await openStore({ disk: failing, nowUs: NOW_US });
  assert.deepEqual(await idsOf(opened), ['second']);
  await opened.durable.close();
  const well = await openStore({ disk, nowUs: NOW_US });
  assert.deepEqual(await idsOf(well), ['first', 'second']);
  await well.durable.close();
  assert(disk.paths().includes(path));
});

test('a file whose rows the log restored stays in quarantine, so that no row exists twice', async () => {
  const disk = new ModelDisk(new Random(1));
  await storePost(disk, NOW_US, 'first');
  const path = disk.paths().find((name) => name.endsWith('.segment'))!;
  const aside = `/data/quarantine/a.${basename(path)}`;
  const bytes = disk.bytesOf(path);
  await disk.remove(path);
  const damaged = Buffer.from(bytes);
  damaged[20]! ^= 1;
  disk.put(aside, damaged);
  // The log has the rows still; they are sealed again, in a file of another id.
  const again = await openStore({ disk, nowUs: NOW_US });
  again.durable.tick(NOW_US);
  again.durable.tick(NOW_US + SEAL_AGE_US);
  await again.durable.store.flush();
  await again.durable.store.settled();
  assert.deepEqual(await idsOf(again), ['first']);
  await again.durable.close();
  assert(!disk.paths().includes(path), 'ids of quarantine are not used again');
  disk.put(aside, bytes);
  const opened = await openStore({ disk, nowUs: NOW_US });
  assert.deepEqual(await idsOf(opened), ['first']);
  await opened.durable.close();
  assert(disk.paths().includes(aside));
});

test('records written while a file is in quarantine get new sequences, even if the log was lost', async () => {
  const disk = new ModelDisk(new Random(1));
  await storePost(disk, NOW_US, 'first');
  const path = disk.paths().find((name) => name.endsWith('.segment'))!;
  const aside = `/data/quarantine/a.${basename(path)}`;
  const bytes = disk.bytesOf(path);
  const damaged = Buffer.from(bytes);
  damaged[bytes.length >> 1]! ^= 1;
  for (const name of disk.paths()) await disk.remove(name);
  disk.put(aside, damaged);
  const second = await openStore({ disk, nowUs: NOW_US });
  await second.durable.store.append('a', smallBatch(['second'], NOW_US), NOW_US);
  await second.durable.close();
  disk.put(aside, bytes);
  const third = await openStore({ disk, nowUs: NOW_US });
  assert.deepEqual(await idsOf(third), ['first', 'second']);
  await third.durable.close();
});
