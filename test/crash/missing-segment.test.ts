import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PARTITION_US } from '../../ingest/partition.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { ModelDisk } from '../support/model-disk.ts';
import { openStore, storePost } from './opened-store.ts';

const DAY = 20_000;
const NOW_US = DAY * PARTITION_US + 14 * 3_600_000_000;
const ALL_TIME = { timestampUsStart: 0, timestampUsEnd: Number.POSITIVE_INFINITY };
const MANIFEST = '/data/segment-manifest';

/** Two segment files of one day. */
async function diskWithSegments(): Promise<{ disk: ModelDisk; paths: readonly string[] }> {
  const disk = new ModelDisk(new Random(1));
  await storePost(disk, NOW_US, 'first');
  await storePost(disk, NOW_US, 'second');
  const paths = disk.paths().filter((name) => name.endsWith('.segment'));
  assert.equal(paths.length, 2);
  return { disk, paths };
}

/** What a start reports as missing, which days it takes for lost, and what it counts as damage. */
async function startOn(disk: ModelDisk) {
  const { durable, damages, entries } = await openStore({ disk, nowUs: NOW_US });
  const lostDays = durable.store.lostDays('a', ALL_TIME);
  await durable.close();
  const missing = entries.filter(({ event }) => event === 'segment_missing');
  return { damages, missing: missing.map(({ file }) => file), lostDays, entries };
}

test('a start reports each missing segment file once, and counts its day as lost', async () => {
  const { disk, paths } = await diskWithSegments();
  const [path] = paths;
  await disk.remove(path!);
  const first = await startOn(disk);
  assert.deepEqual(first.missing, [path]);
  assert.deepEqual(first.damages, [{ kind: 'segment', places: 1, segmentsLost: 1 }]);
  assert.deepEqual(first.lostDays, [DAY]);
  const second = await startOn(disk);
  assert.deepEqual([second.missing, second.damages, second.lostDays], [[], [], []]);
});

test('if a start dies before it has reported everything, the next one reports', async () => {
  const { disk, paths } = await diskWithSegments();
  await disk.remove(paths[0]!);
  await openStore({ disk, nowUs: NOW_US });
  assert.deepEqual((await startOn(disk.afterKill())).missing, [paths[0]]);
});

test('a start reports a missing folder of segments', async () => {
  const { disk, paths } = await diskWithSegments();
  for (const path of paths) await disk.remove(path);
  const { missing, damages } = await startOn(disk);
  assert.deepEqual(missing, paths);
  assert.deepEqual(damages, [{ kind: 'segment', places: 2, segmentsLost: 2 }]);
});

test('an unnamed file in the folder counts, and is named from then on', async () => {
  const { disk, paths } = await diskWithSegments();
  await disk.remove(MANIFEST);
  const { missing, damages } = await startOn(disk);
  assert.deepEqual([missing, damages], [[], []]);
  await disk.remove(paths[1]!);
  assert.deepEqual((await startOn(disk)).missing, [paths[1]]);
});

test('a damaged manifest is reported once, and no file is reported as missing', async () => {
  const { disk } = await diskWithSegments();
  const bytes = disk.bytesOf(MANIFEST).slice();
  bytes[70]! ^= 1;
  disk.put(MANIFEST, bytes);
  const { missing, damages, entries } = await startOn(disk);
  assert.deepEqual([missing, damages], [[], [{ kind: 'segment', places: 1 }]]);
  assert.ok(entries.some(({ event }) => event === 'segment_manifest_damaged'));
  assert.deepEqual((await startOn(disk)).damages, []);
});
