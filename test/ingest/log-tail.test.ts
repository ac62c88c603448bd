import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { logFileName } from '../../ingest/log/log-layout.ts';
import { LogMissingError, LogTail } from '../../ingest/log/log-tail.ts';
import { WriteAheadLog } from '../../ingest/log/write-ahead-log.ts';
import { idsOf, smallBatch } from '../support/small-batch.ts';
import { diskError, MemoryDisk } from './memory-disk.ts';

const FOLDER = '/data/log';
const FOREVER = Number.NEGATIVE_INFINITY;

async function opened(
  disk: MemoryDisk,
  fileBytesMax = 100_000,
): Promise<{ readonly log: WriteAheadLog; readonly tail: LogTail }> {
  const log = await WriteAheadLog.open({
    ...{ disk, folder: FOLDER, files: [], nextSequence: 1, durableBefore: 1, nextNumber: 1 },
    ...{ fileBytesMax, onEvent: () => {} },
  });
  return { log, tail: new LogTail(disk, FOLDER, 1) };
}

function append(log: WriteAheadLog, ...ids: readonly string[]): Promise<number> {
  return log.append({ source: 's', receivedUs: 0, arrivalBase: 0, batch: smallBatch(ids) });
}

async function read(tail: LogTail, end: number): Promise<string[]> {
  const found: string[] = [];
  for await (const { sequence, batch } of tail.read(end)) {
    found.push(`${sequence}: ${idsOf(batch()).join()}`);
  }
  return found;
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

test('reads what has been written since, over files that end and are trimmed', async () => {
  const { log, tail } = await opened(new MemoryDisk(), 500);
  for (let round = 0; round < 20; round++) {
    const first = log.nextSequence;
    await append(log, `a${round}`, `b${round}`);
    if (round % 3 === 0) await append(log, `c${round}`);
    const wanted = [`${first}: a${round},b${round}`];
    if (round % 3 === 0) wanted.push(`${first + 1}: c${round}`);
    assert.deepEqual(await read(tail, log.nextSequence), wanted);
    log.tick(FOREVER, tail.sequence);
    await settle();
  }
  assert.equal(log.stats().fileCount, 1);
  assert.deepEqual([tail.missingCount, await read(tail, log.nextSequence)], [0, []]);
});

test('stops before the end that is given, and goes on after a reader that stopped early', async () => {
  const { log, tail } = await opened(new MemoryDisk());
  for (const id of ['a', 'b', 'c', 'd']) await append(log, id);
  assert.deepEqual(await read(tail, 2), ['1: a']);
  for await (const { sequence } of tail.read(5)) {
    assert.equal(sequence, 2);
    break;
  }
  assert.equal(tail.sequence, 3);
  assert.deepEqual(await read(tail, 5), ['3: c', '4: d']);
});

test('records that a failed write left behind are void, and their sequences are read from the next file', async () => {
  const disk = new MemoryDisk();
  const { log, tail } = await opened(disk);
  await append(log, 'a');
  disk.before = (step) => {
    if (step === 'sync 00000001.log') throw diskError('EIO');
  };
  await assert.rejects(append(log, 'void'));
  await settle();
  await append(log, 'b');
  assert.deepEqual(await read(tail, log.nextSequence), ['1: a', '2: b']);
  const whole = new LogTail(disk, FOLDER, 1);
  assert.deepEqual(await read(whole, log.nextSequence), ['1: a', '2: b']);
});

test('a reader that begins later begins in the file that has its record', async () => {
  const disk = new MemoryDisk();
  const { log } = await opened(disk, 300);
  for (const id of 'abcdefgh') await append(log, id);
  for (let sequence = 1; sequence <= 8; sequence++) {
    const tail = new LogTail(disk, FOLDER, sequence);
    const found = await read(tail, 9);
    assert.deepEqual(
      [found.length, found[0]],
      [9 - sequence, `${sequence}: ${'abcdefgh'[sequence - 1]}`],
    );
  }
});

test('a damaged record is passed over and counted, and so is a file that is gone', async () => {
  const disk = new MemoryDisk();
  const { log, tail } = await opened(disk, 300);
  for (const id of 'abcdefgh') await append(log, id);
  const path = join(FOLDER, logFileName(1));
  const bytes = Buffer.from(disk.bytesOf(path));
  bytes[bytes.length - 1]! ^= 1;
  disk.put(path, bytes);
  await disk.remove(join(FOLDER, logFileName(3)));
  const found = await read(tail, 9);
  assert.deepEqual([found.length + tail.missingCount, tail.sequence], [8, 9]);
  assert(tail.missingCount >= 2, 'a record and a file are missing');
  assert.deepEqual(found.at(-1), '8: h');
});

test('a file with a damaged header is read by its records', async () => {
  const disk = new MemoryDisk();
  const { log, tail } = await opened(disk);
  await append(log, 'a');
  const path = join(FOLDER, logFileName(1));
  const bytes = Buffer.from(disk.bytesOf(path));
  bytes[9]! ^= 1;
  disk.put(path, bytes);
  assert.deepEqual(await read(tail, 2), ['1: a']);
});

test('a log without files is an error and not a loss', async () => {
  const tail = new LogTail(new MemoryDisk(), FOLDER, 1);
  await assert.rejects(read(tail, 2), LogMissingError);
  assert.deepEqual([tail.sequence, tail.missingCount], [1, 0]);
});

test('after a disk that failed, reading goes on behind the last record', async () => {
  const disk = new MemoryDisk();
  const { log, tail } = await opened(disk);
  for (const id of ['a', 'b']) await append(log, id);
  assert.deepEqual(await read(tail, 2), ['1: a']);
  let failures = 0;
  disk.before = (step) => {
    if (step.startsWith('read') && failures++ < 10) throw diskError('EIO');
  };
  await assert.rejects(read(tail, 3), { code: 'EIO' });
  failures = 10;
  assert.deepEqual(await read(tail, 3), ['2: b']);
});
