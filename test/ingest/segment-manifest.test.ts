import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingFiles, readManifest, SegmentManifest } from '../../ingest/segment-manifest.ts';
import { diskError, MemoryDisk } from './memory-disk.ts';

const SEGMENTS = '/data/segments';
const ONE = 'a/2026-01-15.0000000001.segment';
const TWO = 'a/2026-01-15.0000000002.segment';

async function begin(disk: MemoryDisk): Promise<SegmentManifest> {
  return SegmentManifest.begin(disk, SEGMENTS, await readManifest(disk, SEGMENTS));
}

test('what was written is read again, and the same names are not written twice', async () => {
  const disk = new MemoryDisk();
  assert.equal(await readManifest(disk, SEGMENTS), undefined);
  const manifest = await begin(disk);
  await manifest.write(() => []);
  assert.deepEqual(disk.paths(), []);
  await manifest.write(() => [TWO, ONE]);
  const stepCount = disk.steps.length;
  await manifest.write(() => [ONE, TWO]);
  assert.equal(disk.steps.length, stepCount);
  const crashed = disk.afterCrash(() => false);
  assert.deepEqual(await readManifest(crashed, SEGMENTS), [ONE, TWO]);
});

test('a write that fails leaves every name of both versions possible, until one succeeds', async () => {
  const disk = new MemoryDisk();
  const manifest = await begin(disk);
  await manifest.write(() => [ONE]);
  disk.before = (step) => {
    if (step === 'sync folder data') throw diskError('EIO');
  };
  await assert.rejects(
    manifest.write(() => [TWO]),
    { code: 'EIO' },
  );
  assert.deepEqual([manifest.mayName(ONE), manifest.mayName(TWO)], [true, true]);
  assert.equal(manifest.isWritten, false);
  disk.before = () => {};
  await manifest.write(() => [TWO]);
  assert.deepEqual([manifest.mayName(ONE), manifest.mayName(TWO)], [false, true]);
});

test('a name is possible from the moment at which the write begins', async () => {
  const manifest = await begin(new MemoryDisk());
  const writing = manifest.write(() => [ONE]);
  assert.equal(manifest.mayName(ONE), false);
  await Promise.resolve();
  assert.equal(manifest.mayName(ONE), true);
  await writing;
});

test('a wait for the removal of a name ends after the write that omits it', async () => {
  const manifest = await begin(new MemoryDisk());
  assert.equal(manifest.unnamed([ONE]), undefined);
  await manifest.write(() => [ONE, TWO]);
  let isDone = false;
  const waiting = manifest.unnamed([ONE])?.then(() => {
    isDone = true;
  });
  await manifest.write(() => [ONE]);
  assert.equal(isDone, false);
  await manifest.write(() => [TWO]);
  await waiting;
  assert.equal(isDone, true);
});

test('on a full disk the manifest is removed', async () => {
  const disk = new MemoryDisk();
  const manifest = await begin(disk);
  await manifest.write(() => [ONE]);
  disk.before = (step) => {
    if (step.startsWith('write')) throw diskError('ENOSPC');
  };
  await manifest.writeOrRemove(() => []);
  assert.equal(manifest.mayName(ONE), false);
  assert.deepEqual(disk.afterCrash(() => false).paths(), []);
});

test('if the names that a killed process left cannot be made durable, any name is possible', async () => {
  const disk = new MemoryDisk();
  disk.before = () => {
    throw diskError('EIO');
  };
  const manifest = await begin(disk);
  assert.equal(manifest.mayName(ONE), true);
  disk.before = () => {};
  await manifest.write(() => [TWO]);
  assert.deepEqual([manifest.mayName(ONE), manifest.mayName(TWO)], [false, true]);
});

test('a damaged manifest is reported and rewritten', async () => {
  const disk = new MemoryDisk();
  await (await begin(disk)).write(() => [ONE]);
  disk.bytesOf('/data/segment-manifest')[70]! ^= 1;
  assert.equal(await readManifest(disk, SEGMENTS), 'damaged');
  await (await begin(disk)).write(() => [ONE]);
  assert.deepEqual(await readManifest(disk, SEGMENTS), [ONE]);
});

test('files are missing if they are named and not in the folder of their source', () => {
  const name = { partition: 20_468, id: 1 };
  assert.deepEqual(missingFiles([ONE, TWO], [{ ...name, source: 'a' }]), [
    { ...name, source: 'a', id: 2 },
  ]);
  assert.deepEqual(missingFiles([ONE], [{ ...name, source: 'b' }]), [{ ...name, source: 'a' }]);
});
