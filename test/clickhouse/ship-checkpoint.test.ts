import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ShipCheckpoint, ShipCheckpointError } from '../../src/clickhouse/ship-checkpoint.ts';
import { diskError, MemoryDisk } from '../ingest/memory-disk.ts';

function open(disk: MemoryDisk, nextSequence = 100): Promise<ShipCheckpoint> {
  return ShipCheckpoint.open({ disk, folder: '/data', firstSequence: 5, nextSequence });
}

test('what is durable is what the next process goes on with', async () => {
  const disk = new MemoryDisk();
  const first = await open(disk);
  assert.deepEqual([first.shippedBefore, first.interval], [5, undefined]);
  const interval = await first.begin(9);
  assert.match(interval.token, new RegExp(`^${first.gateway} 5-8 [0-9a-f]{16}$`));
  const second = await open(disk);
  assert.deepEqual([second.gateway, second.shippedBefore], [first.gateway, 5]);
  assert.deepEqual(second.interval, interval);
  await second.end();
  const third = await open(disk);
  assert.deepEqual(
    [third.gateway, third.shippedBefore, third.interval],
    [first.gateway, 9, undefined],
  );
});

test('no two intervals have one token, also of the same records', async () => {
  const disk = new MemoryDisk();
  const tokens = new Set<string>();
  for (let round = 0; round < 3; round++) {
    const copy = disk.afterCrash(() => true);
    tokens.add((await (await open(copy)).begin(9)).token);
    await open(disk);
  }
  assert.equal(tokens.size, 3);
});

test('a file that cannot be written leaves the checkpoint as it was, or as it is to be', async () => {
  const disk = new MemoryDisk();
  const checkpoint = await open(disk);
  disk.before = (step) => {
    if (step.startsWith('rename')) throw diskError('EIO');
  };
  await assert.rejects(checkpoint.begin(9), { code: 'EIO' });
  assert.equal(checkpoint.interval, undefined);
  disk.before = () => {};
  const { token } = await checkpoint.begin(10);
  assert.equal((await open(disk)).interval?.token, token);
});

test('one damaged file is made good by the other; with both, nothing is guessed', async () => {
  const disk = new MemoryDisk();
  const { gateway } = await open(disk);
  const [copyPath, path] = disk.paths().reverse();
  const damaged = Buffer.from(disk.bytesOf(path!));
  damaged[70]! ^= 1;
  disk.put(path!, damaged);
  assert.equal((await open(disk)).gateway, gateway);
  disk.put(copyPath!, damaged);
  await assert.rejects(open(disk), ShipCheckpointError);
});

test('a log that ends before the checkpoint gets a new gateway, and what was begun ends with the log', async () => {
  const disk = new MemoryDisk();
  const before = await open(disk);
  const interval = await before.begin(50);
  const cut = await open(disk, 20);
  assert.notEqual(cut.gateway, before.gateway);
  assert.deepEqual([cut.shippedBefore, cut.interval], [5, { ...interval, end: 20 }]);
  await cut.end();
  assert.deepEqual([cut.shippedBefore, cut.interval], [20, undefined]);
  const empty = await open(disk, 1);
  assert.notEqual(empty.gateway, cut.gateway);
  assert.deepEqual([empty.shippedBefore, empty.interval], [1, undefined]);
});
