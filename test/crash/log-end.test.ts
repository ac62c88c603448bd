import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { FILE_HEADER_SIZE } from '../../ingest/log/log-layout.ts';
import { WriteAheadLog } from '../../ingest/log/write-ahead-log.ts';
import { surveyLog } from '../../ingest/log-survey.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { budgetOf } from '../support/budget.ts';
import { ModelDisk } from '../support/model-disk.ts';
import { smallBatch } from '../support/small-batch.ts';
import { FOLDER, replayed } from './log-model.ts';

/**
 * One in so many bits of a log is flipped, and one in so many of its bytes is a place to cut it, of the next commit others; 1
 * is the long form.
 */
const STEP = budgetOf('WEIR_LOG_END_STEP', { fast: 37, all: 5 });
const FIRST = fuzzSeed() % STEP;

const NEWEST = join(FOLDER, '00000001.log');
const END = '/data/log-end';

type Life = { readonly disk: ModelDisk; readonly log: WriteAheadLog };

/** A log of so many posts that goes on. */
async function logOf(postCount: number): Promise<Life> {
  const disk = new ModelDisk(new Random(1));
  const log = await WriteAheadLog.open({
    ...{ disk, folder: FOLDER, files: [], nextSequence: 1, durableBefore: 1, nextNumber: 1 },
    onEvent: ({ kind }) => assert.fail(kind),
  });
  for (let post = 0; post < postCount; post++) await append(log);
  return { disk, log };
}

function append(log: WriteAheadLog): Promise<number> {
  return log.append({ source: 's', receivedUs: 0, arrivalBase: 0, batch: smallBatch(['x']) });
}

async function stopped(postCount: number): Promise<ModelDisk> {
  const { disk, log } = await logOf(postCount);
  await log.close();
  return disk;
}

/** The same files, but for the newest file of the log. */
function withNewest(disk: ModelDisk, bytes: Uint8Array): ModelDisk {
  const other = new ModelDisk(new Random(1));
  other.put(NEWEST, bytes);
  other.put(END, disk.bytesOf(END));
  return other;
}

type Found = {
  readonly reasons: readonly string[];
  readonly recordsLost: number;
  readonly tailBytes: number;
};

/** What a look from outside finds, and then a start: they must agree. */
async function found(disk: ModelDisk): Promise<Found> {
  const reasons: string[] = [];
  const survey = await surveyLog({
    ...{ disk, dataDir: '/data', onRecord: () => {}, onProgress: () => {} },
    onDamage: (damage) => reasons.push(damage.kind === 'log' ? damage.reason : damage.kind),
  });
  const { recovered } = await replayed(disk);
  assert.deepEqual(
    recovered.damages.map(({ reason }) => reason),
    reasons,
  );
  assert.deepEqual(
    [recovered.recordsLost, recovered.tailBytes],
    [survey.recordsLost, survey.tailSize],
  );
  return { reasons, recordsLost: recovered.recordsLost, tailBytes: recovered.tailBytes };
}

test('a log that was stopped cleanly is complete', async () => {
  for (const postCount of [0, 1, 3]) {
    const outcome = await found(await stopped(postCount));
    assert.deepEqual(outcome, { reasons: [], recordsLost: 0, tailBytes: 0 });
  }
});

test('after a clean stop, a cut of the newest file is damage at any position', async () => {
  const disk = await stopped(3);
  const bytes = disk.bytesOf(NEWEST);
  const recordSize = (bytes.length - FILE_HEADER_SIZE) / 3;
  for (let size = FIRST; size < bytes.length; size += STEP) {
    const whole = Math.max(0, Math.floor((size - FILE_HEADER_SIZE) / recordSize));
    const { recordsLost, tailBytes } = await found(withNewest(disk, bytes.subarray(0, size)));
    assert.deepEqual([recordsLost, tailBytes], [3 - whole, 0], `cut at ${size}`);
  }
});

test('after a clean stop, a flipped bit in the last record is damage, and the next start continues after it', async () => {
  const disk = await stopped(2);
  const bytes = disk.bytesOf(NEWEST);
  const start = (FILE_HEADER_SIZE + bytes.length) / 2;
  for (let bit = start * 8 + FIRST; bit < bytes.length * 8; bit += STEP) {
    const flipped = bytes.slice();
    flipped[bit >>> 3]! ^= 1 << (bit & 7);
    const rotten = withNewest(disk, flipped);
    const outcome = await found(rotten);
    assert.deepEqual(outcome, { reasons: ['record'], recordsLost: 1, tailBytes: 0 }, `bit ${bit}`);
    const { recovered } = await replayed(rotten);
    assert.equal(recovered.nextSequence, 3, 'a sequence that was acknowledged is not used again');
  }
});

test('after a crash, missing records that were noted are damage, and a later cut is a tail', async () => {
  const { disk, log } = await logOf(2);
  log.tick(Number.NEGATIVE_INFINITY);
  await new Promise((resolve) => setImmediate(resolve));
  const noted = disk.bytesOf(NEWEST);
  await append(log);
  const later = disk.bytesOf(NEWEST);
  const torn = await found(withNewest(disk, later.subarray(0, later.length - 8)));
  assert.deepEqual([torn.reasons, torn.recordsLost], [[], 0]);
  assert.ok(torn.tailBytes > 0);
  const lost = await found(withNewest(disk, noted.subarray(0, noted.length - 8)));
  assert.deepEqual(lost, { reasons: ['record'], recordsLost: 1, tailBytes: 0 });
});

test('a log without its folder has lost its records', async () => {
  const disk = await stopped(3);
  const empty = new ModelDisk(new Random(1));
  empty.put(END, disk.bytesOf(END));
  assert.deepEqual(await found(empty), { reasons: ['missing'], recordsLost: 3, tailBytes: 0 });
  const { recovered } = await replayed(empty);
  assert.deepEqual([recovered.nextSequence, recovered.nextNumber], [4, 2]);
});

test('if the end of the log is unknown, this is reported and every record is read', async () => {
  const disk = await stopped(3);
  const rotten = disk.bytesOf(END).slice();
  rotten[70]! ^= 1;
  disk.put(END, rotten);
  assert.deepEqual(await found(disk), { reasons: ['log_end'], recordsLost: 0, tailBytes: 0 });
  assert.equal((await replayed(disk)).records.length, 3);
});

test('the end is noted once for all posts between two ticks, and not again without posts', async () => {
  const { disk, log } = await logOf(50);
  const notes = () => disk.journal.filter((name) => name === 'rename').length;
  const tick = async (): Promise<void> => {
    log.tick(Number.NEGATIVE_INFINITY);
    await new Promise((resolve) => setImmediate(resolve));
  };
  assert.equal(notes(), 0);
  await tick();
  assert.equal(notes(), 1);
  await tick();
  assert.equal(notes(), 1);
  await append(log);
  await tick();
  assert.equal(notes(), 2);
});

test('a log that cannot note its end accepts posts, and reports the failure once', async () => {
  const events: string[] = [];
  const disk = new ModelDisk(new Random(1));
  const log = await WriteAheadLog.open({
    ...{ disk, folder: FOLDER, files: [], nextSequence: 1, durableBefore: 1, nextNumber: 1 },
    onEvent: ({ kind }) => events.push(kind),
  });
  disk.rename = () => disk.open('/nowhere').then(() => {});
  for (let post = 1; post <= 3; post++) {
    assert.equal(await append(log), post);
    log.tick(Number.NEGATIVE_INFINITY);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(events, ['end_failed']);
});

test('a missing log loses nothing that was in segment files at the stop', async () => {
  const { disk, log } = await logOf(3);
  await log.close(3);
  const empty = new ModelDisk(new Random(1));
  empty.put(END, disk.bytesOf(END));
  assert.deepEqual(await found(empty), { reasons: ['missing'], recordsLost: 1, tailBytes: 0 });
  const stored = await logOf(3);
  await stored.log.close(4);
  empty.put(END, stored.disk.bytesOf(END));
  assert.deepEqual(await found(empty), { reasons: [], recordsLost: 0, tailBytes: 0 });
});

test('while no new file can be made, the newest one stays, so that a start does not report losses', async () => {
  const disk = new ModelDisk(new Random(1));
  const log = await WriteAheadLog.open({
    ...{ disk, folder: FOLDER, files: [], nextSequence: 1, durableBefore: 1, nextNumber: 1 },
    onEvent: () => {},
  });
  const tick = async (beforeSequence: number): Promise<void> => {
    log.tick(Number.NEGATIVE_INFINITY, beforeSequence);
    await new Promise((resolve) => setImmediate(resolve));
  };
  await append(log);
  await append(log);
  await tick(1);
  const remove = disk.remove.bind(disk);
  disk.remove = () => disk.open('/nowhere').then(() => {});
  disk.faults = { write: 100, sync: 0, other: 0 };
  await assert.rejects(append(log), { name: 'StorageError' });
  await new Promise((resolve) => setImmediate(resolve));
  disk.remove = remove;
  await tick(3);
  assert(disk.paths().includes(NEWEST));
  assert(disk.paths().some((path) => path > NEWEST && path.endsWith('.log')));
  const { reasons, recordsLost } = await found(disk.afterKill());
  assert.deepEqual([reasons.filter((reason) => reason !== 'tail'), recordsLost], [[], 0]);
});
