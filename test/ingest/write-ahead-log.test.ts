import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { DiskError } from '../../ingest/disk/disk.ts';
import { StorageError } from '../../ingest/ingest-error.ts';
import {
  DISK_FREE_BYTES_ENOUGH,
  DISK_FREE_BYTES_LOW,
  LOG_GROUP_BYTES_MAX,
} from '../../ingest/limits.ts';
import { type LogEvent, WriteAheadLog } from '../../ingest/log/write-ahead-log.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { FOLDER, replayed } from '../crash/log-model.ts';
import { ModelDisk } from '../support/model-disk.ts';
import { smallBatch } from '../support/small-batch.ts';

type Opened = {
  readonly disk: ModelDisk;
  readonly log: WriteAheadLog;
  readonly events: LogEvent['kind'][];
};

async function opened(fileBytesMax?: number, nowMs?: () => number): Promise<Opened> {
  const disk = new ModelDisk(new Random(1));
  const events: LogEvent['kind'][] = [];
  const log = await WriteAheadLog.open({
    ...{ disk, folder: FOLDER, files: [], nextSequence: 1, durableBefore: 1, nextNumber: 1 },
    ...{ fileBytesMax, nowMs, onEvent: ({ kind }) => events.push(kind) },
  });
  return { disk, log, events };
}

function append(log: WriteAheadLog, id = 'x', timestampUs = 0): Promise<number> {
  const batch = smallBatch([id], timestampUs);
  return log.append({ source: 's', receivedUs: 0, arrivalBase: 0, batch });
}

async function sequencesIn(disk: ModelDisk): Promise<number[]> {
  return (await replayed(disk)).records.map((record) => record.sequence);
}

/** Some turns of the event loop: on the model of a disk everything ends within a few. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}

test('concurrent posts share a sync, and each is acknowledged after the sync of its bytes', async () => {
  const { disk, log } = await opened();
  const before = log.stats().syncCount;
  const sequences = await Promise.all(Array.from({ length: 200 }, () => append(log)));
  assert.deepEqual(
    sequences,
    Array.from({ length: 200 }, (_, index) => index + 1),
  );
  assert.equal(log.stats().syncCount - before, 1);
  const one = append(log);
  await Promise.resolve();
  await Promise.resolve();
  const others = Array.from({ length: 50 }, () => append(log));
  await one;
  assert.equal(log.stats().syncCount - before, 2, 'the others wait for the sync after');
  await Promise.all(others);
  assert.equal(log.stats().syncCount - before, 3);
  const size = disk.bytesOf(join(FOLDER, '00000001.log')).length;
  assert.equal(disk.journal.at(-1), `synced ${size}`);
});

test('a group holds a megabyte, or one record that is longer', async () => {
  const { disk, log } = await opened();
  const large = 'x'.repeat(LOG_GROUP_BYTES_MAX / 2);
  const ids = [large, large, 'x'.repeat(2 * LOG_GROUP_BYTES_MAX), 'small', large];
  await Promise.all(ids.map((id) => append(log, id)));
  assert.equal(log.stats().syncCount, 4);
  assert.deepEqual(await sequencesIn(disk), [1, 2, 3, 4, 5]);
});

test('it measures how long recent groups took', async () => {
  let nowMs = 0;
  // Each group looks at the clock when it begins and when it is on disk.
  const { log } = await opened(undefined, () => (nowMs += 5));
  assert.equal(log.stats().groupMs, 0);
  const groups: number[] = [];
  for (let group = 0; group < 60; group++) {
    await append(log);
    groups.push(log.stats().groupMs);
  }
  assert.ok(
    groups.every((ms, index) => ms < 5 && (index === 0 || ms > groups[index - 1]!)),
    String(groups),
  );
  assert.ok(groups.at(-1)! > 4.8);
});

test('acknowledged records are on disk at any moment', async () => {
  const { disk, log } = await opened();
  for (let sequence = 1; sequence <= 5; sequence++) {
    const acknowledged = await append(log);
    void append(log);
    assert((await sequencesIn(disk.afterCrash())).includes(acknowledged));
  }
});

test('a failed sync rejects all waiting posts, and the next one goes to a new file', async () => {
  const { disk, log, events } = await opened();
  await append(log);
  disk.faults = { write: 0, sync: 100, other: 0 };
  const outcomes = await Promise.allSettled([append(log), append(log)]);
  for (const outcome of outcomes) {
    assert(outcome.status === 'rejected' && outcome.reason instanceof StorageError);
    assert(outcome.reason.cause instanceof DiskError && outcome.reason.cause.code === 'EIO');
  }
  await assert.rejects(append(log), { name: 'StorageError' });
  await settle();
  // The new file could not be made durable either.
  assert.deepEqual(events, ['write_failed']);
  disk.faults = { write: 0, sync: 0, other: 0 };
  await assert.rejects(append(log), { name: 'StorageError' });
  log.tick(0);
  await settle();
  assert.deepEqual(events, ['write_failed', 'write_resumed']);
  assert.equal(await append(log), 2, 'sequences of what was refused are used again');
  const { recovered, records } = await replayed(disk);
  assert.deepEqual([records.map((record) => record.sequence), recovered.damageCount], [[1, 2], 0]);
});

test('a new file is tried at every tick, however long it has failed', async () => {
  const { disk, log } = await opened();
  disk.faults = { write: 100, sync: 0, other: 0 };
  await assert.rejects(append(log), { name: 'StorageError' });
  await settle();
  const ticksBetween: number[] = [];
  for (let attempt = 0; attempt < 8; attempt++) {
    const before = disk.journal.filter((name) => name === 'create').length;
    let ticks = 0;
    while (disk.journal.filter((name) => name === 'create').length === before) {
      log.tick(0);
      ticks++;
      await settle();
    }
    ticksBetween.push(ticks);
  }
  disk.faults = { write: 0, sync: 0, other: 0 };
  await assert.rejects(append(log), {
    message:
      /^logs cannot be written to disk at present: (?:the disk reports an error|the disk is full)$/,
  });
  log.tick(0);
  await settle();
  assert.equal(await append(log), 1);
  assert.deepEqual(ticksBetween, [1, 1, 1, 1, 1, 1, 1, 1]);
});

const GONE = 'logs cannot be written to disk at present: the folder or the file of the log is gone';

test('a post whose file was removed is rejected, and the next one goes to a new file', async () => {
  const { disk, log, events } = await opened();
  assert.equal(await append(log), 1);
  await disk.remove(join(FOLDER, '00000001.log'));
  await assert.rejects(append(log), { name: 'StorageError', message: GONE });
  await settle();
  assert.deepEqual(events, ['write_failed', 'write_resumed']);
  assert.equal(await append(log), 2);
  assert.deepEqual(await sequencesIn(disk.afterKill()), [2]);
});

test('a file that was renamed or replaced is noticed at a tick, without a post', async () => {
  const { disk, log, events } = await opened();
  await append(log);
  log.tick(0);
  await settle();
  assert.deepEqual(events, [], 'one that is in its place is left alone');
  const path = join(FOLDER, '00000001.log');
  await disk.rename(path, `${path}.away`);
  await (await disk.create(path)).close();
  log.tick(0);
  await settle();
  assert.deepEqual(events, ['write_failed', 'write_resumed']);
  assert.equal(await append(log), 2);
});

test('posts are refused while the disk is nearly full, and taken again when it has room', async () => {
  const { disk, log, events } = await opened();
  const isTaken = async (freeBytes: number): Promise<boolean> => {
    disk.free = freeBytes;
    log.tick(0);
    await settle();
    return log.refusal === undefined;
  };
  assert.equal(await isTaken(DISK_FREE_BYTES_LOW), true);
  assert.equal(await isTaken(DISK_FREE_BYTES_LOW - 1), false);
  await assert.rejects(append(log), { message: /the disk is nearly full/ });
  assert.equal(await isTaken(DISK_FREE_BYTES_LOW), false);
  assert.equal(await isTaken(DISK_FREE_BYTES_ENOUGH - 1), false);
  assert.equal(await isTaken(DISK_FREE_BYTES_ENOUGH), true);
  assert.deepEqual(events, ['disk_low', 'disk_enough']);
  await append(log);
});

test('a file that is full is followed by another, and the name of that is durable before it is used', async () => {
  const { disk, log } = await opened(1_000);
  for (let post = 0; post < 10; post++) {
    const acknowledged = await append(log);
    assert((await sequencesIn(disk.afterCrash())).includes(acknowledged));
  }
  assert(log.stats().fileCount > 3);
  assert.deepEqual(await sequencesIn(disk), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test('files are removed, oldest first, when all their records are before a sequence or a time', async () => {
  const { disk, log } = await opened(1);
  for (let time = 1; time <= 6; time++) await append(log, 'x', time);
  const after = async (oldestUs: number, beforeSequence?: number): Promise<number[]> => {
    log.tick(oldestUs, beforeSequence);
    await settle();
    return sequencesIn(disk);
  };
  assert.deepEqual(await after(0, 1), [1, 2, 3, 4, 5, 6]);
  assert.deepEqual(await after(0, 2), [2, 3, 4, 5, 6]);
  assert.deepEqual(await after(3), [3, 4, 5, 6]);
  assert.deepEqual(await after(4), [4, 5, 6]);
  // The newest file is closed for it, so that a quiet source is forgotten, too.
  await after(7);
  assert.deepEqual(await after(7), []);
  assert.equal(await append(log), 7);
  assert.deepEqual(await sequencesIn(disk), [7]);
});

test('a closed log has written all accepted records, and accepts no more', async () => {
  const { disk, log } = await opened();
  const last = append(log);
  const closed = log.close();
  await assert.rejects(append(log), { message: 'the log is closed' });
  await closed;
  assert.equal(await last, 1);
  assert.deepEqual(await sequencesIn(disk.afterCrash()), [1]);
});
