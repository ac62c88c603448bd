import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { encodeFileHeader, logFileName } from '../../ingest/log/log-layout.ts';
import { WriteAheadLog } from '../../ingest/log/write-ahead-log.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { budgetOf } from '../support/budget.ts';
import { ModelDisk } from '../support/model-disk.ts';
import { idsOf, smallBatch } from '../support/small-batch.ts';
import { FOLDER, replayed } from './log-model.ts';

/** Bytes at the end of a log, at each of which it is cut; `WEIR_CUT_BYTES=65536` is the long form. */
const CUT_BYTES = budgetOf('WEIR_CUT_BYTES', { fast: 300, all: 2_000 });

/** The files of a log of one post after another, by path; post `n` has the one event `ids[n]`. */
async function filesOf(
  ids: readonly string[],
  fileBytesMax = 2 ** 30,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const disk = new ModelDisk(new Random(1));
  const log = await WriteAheadLog.open({
    disk,
    folder: FOLDER,
    files: [],
    nextSequence: 1,
    durableBefore: 1,
    nextNumber: 1,
    fileBytesMax,
    onEvent: ({ kind }) => assert.fail(kind),
  });
  for (const [index, id] of ids.entries()) {
    const batch = smallBatch([id], index);
    await log.append({ source: 's', receivedUs: index, arrivalBase: index, batch });
  }
  await log.close();
  const names = await disk.list(FOLDER);
  const paths = names.toSorted().map((name) => join(FOLDER, name));
  return new Map(paths.map((path) => [path, disk.bytesOf(path)]));
}

type Outcome = {
  readonly ids: readonly string[];
  readonly damageCount: number;
  readonly recordsLost: number;
  readonly tailBytes: number;
};

/** What is read of a log in which one file is another. */
async function readWith(
  files: ReadonlyMap<string, Uint8Array>,
  path: string,
  bytes: Uint8Array,
): Promise<Outcome> {
  const disk = new ModelDisk(new Random(1));
  for (const [name, content] of files) disk.put(name, name === path ? bytes : content);
  const { recovered, records } = await replayed(disk);
  const ids = records.flatMap((record) => {
    const [id] = idsOf(record.batch());
    assert.deepEqual([record.source, record.rowCount], ['s', 1]);
    assert.deepEqual(
      [record.arrivalBase, record.receivedUs],
      [record.sequence - 1, record.sequence - 1],
    );
    return id!;
  });
  return { ids, ...recovered };
}

function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = bytes.slice();
  copy[bit >>> 3]! ^= 1 << (bit & 7);
  return copy;
}

/** One in so many bits of a log is flipped, of the next commit others; 1 is the long form. */
const FLIP_STEP = budgetOf('WEIR_LOG_FLIP_STEP', { fast: 101, all: 11 });

test('a flipped bit in a log loses at most its record, the others are unchanged, and it is reported', async () => {
  const ids = ['first', 'second, which is longer', '3'];
  // Two files: what is cut off at the end of the newest differs from what is lost amid the others.
  const files = await filesOf(ids, 800);
  assert.deepEqual([...files.keys()].length, 2);
  for (const [path, bytes] of files) {
    for (let bit = fuzzSeed() % FLIP_STEP; bit < bytes.length * 8; bit += FLIP_STEP) {
      const outcome = await readWith(files, path, flipped(bytes, bit));
      const place = `bit ${bit} of ${path}`;
      assert(outcome.ids.length >= ids.length - 1, place);
      const missing = ids.filter((id) => !outcome.ids.includes(id));
      assert.deepEqual(
        outcome.ids,
        ids.filter((id) => !missing.includes(id)),
        place,
      );
      assert(outcome.damageCount + outcome.tailBytes > 0, place);
      if (outcome.damageCount > 0) assert.equal(outcome.recordsLost, missing.length, place);
    }
  }
});

test('a log cut anywhere has the records before the cut, and a cut record is reported', async () => {
  const random = new Random(3);
  const ids = Array.from(
    { length: CUT_BYTES / 400 },
    (_, n) => `${n} ${random.hex(random.below(900))}`,
  );
  const files = await filesOf(ids);
  const [[path, bytes]] = [...files] as [[string, Uint8Array]];
  let before = -1;
  let endBefore = -1;
  for (let size = Math.max(64, bytes.length - CUT_BYTES); size <= bytes.length; size++) {
    const outcome = await readWith(files, path, bytes.subarray(0, size));
    assert.deepEqual(outcome.ids, ids.slice(0, outcome.ids.length), `cut at ${size}`);
    assert(outcome.ids.length >= before, `cut at ${size}`);
    before = outcome.ids.length;
    const end = size - outcome.tailBytes;
    // All cuts within one record leave the same.
    if (end !== endBefore) {
      const again = await readWith(files, path, bytes.subarray(0, end));
      assert.deepEqual([again.ids, again.tailBytes], [outcome.ids, 0], `cut at ${size}`);
    }
    endBefore = end;
  }
  assert.equal(before, ids.length);
});

test('an older file that is cut, empty or missing is reported with the number of lost records', async () => {
  const ids = Array.from({ length: 9 }, (_, n) => `post ${n}`);
  const [single] = [...(await filesOf(['post 0'])).values()];
  const perRecord = single!.length - 64;
  const files = await filesOf(ids, 64 + 3 * perRecord);
  const paths = [...files.keys()];
  assert.equal(paths.length, 3);
  const middle = files.get(paths[1]!)!;
  const cut = await readWith(files, paths[1]!, middle.subarray(0, 64 + 2 * perRecord));
  assert.deepEqual([cut.ids.length, cut.recordsLost, cut.damageCount], [8, 1, 1]);
  const torn = await readWith(files, paths[1]!, middle.subarray(0, 64 + 2 * perRecord + 8));
  assert.deepEqual([torn.ids.length, torn.recordsLost, torn.damageCount], [8, 1, 1]);
  const empty = await readWith(files, paths[1]!, middle.subarray(0, 0));
  assert.deepEqual([empty.ids.length, empty.recordsLost, empty.damageCount], [6, 3, 1]);
  const rest = new Map([...files].filter(([path]) => path !== paths[1]));
  const gone = await readWith(rest, '', middle);
  assert.deepEqual([gone.ids.length, gone.recordsLost, gone.damageCount], [6, 3, 1]);
});

test('a file that was never used before a crash is no loss, at any position', async () => {
  const header = encodeFileHeader({ number: 2, firstSequence: 13, id: 7n, durableBefore: 13 });
  const junk = header.subarray(0, 57);
  const path = (number: number) => join(FOLDER, logFileName(number));
  for (const [first, second] of [
    [junk, header],
    [header, junk],
    [junk, junk],
  ] as const) {
    const files = new Map([
      [path(first === header ? 2 : 1), first],
      [path(first === header ? 3 : 2), second],
    ]);
    const outcome = await readWith(files, '', junk);
    const { ids, damageCount, recordsLost, tailBytes } = outcome;
    assert.deepEqual([ids, damageCount, recordsLost, tailBytes], [[], 0, 0, 0]);
  }
});

test('a string that looks like a record does not become one when the record around it is damaged', async () => {
  const inner = await filesOf(['forged']);
  const [record] = [...inner.values()].map((bytes) => bytes.subarray(64));
  const disk = new ModelDisk(new Random(1));
  const log = await WriteAheadLog.open({
    ...{ disk, folder: FOLDER, files: [], nextSequence: 1, durableBefore: 1, nextNumber: 1 },
    onEvent: ({ kind }) => assert.fail(kind),
  });
  // At an offset where records may begin, whatever comes before it.
  for (let shift = 0; shift < 8; shift++) {
    const batch = smallBatch(['x'.repeat(shift)]);
    const bytes = Buffer.concat([Buffer.alloc(shift), record!]);
    await log.append({
      source: 's',
      receivedUs: 0,
      arrivalBase: shift,
      batch: { ...batch, bytes },
    });
  }
  await log.close();
  const path = join(FOLDER, logFileName(1));
  const bytes = disk.bytesOf(path).slice();
  for (let at = 64; at < bytes.length; at += 8) {
    // Damages the header of each record: the search goes through all that is in them.
    if (Buffer.from(bytes.subarray(at, at + 4)).toString() === 'wrec') bytes[at + 8]! ^= 1;
  }
  disk.put(path, bytes);
  const { records } = await replayed(disk);
  assert.deepEqual(
    records.map((found) => found.sequence),
    [],
  );
});

test('a damaged part is copied to the quarantine once, under a name that gives its position', async () => {
  const files = await filesOf(['first', 'second', 'third']);
  const [[path, bytes]] = [...files] as [[string, Uint8Array]];
  const disk = new ModelDisk(new Random(1));
  const size = (bytes.length - 64) / 3;
  disk.put(path, flipped(bytes, 8 * (64 + size + 60)));
  for (let start = 0; start < 2; start++) {
    const { recovered } = await replayed(disk);
    const copy = `/data/quarantine/00000001.log.at-${64 + size}.${size}-bytes`;
    assert.deepEqual(recovered.damages, [
      { file: '00000001.log', offset: 64 + size, size, reason: 'record', quarantined: copy },
    ]);
    assert.deepEqual(disk.bytesOf(copy), disk.bytesOf(path).slice(64 + size, 64 + 2 * size));
    assert.deepEqual((await disk.list('/data/quarantine')).length, 1);
  }
});

test('a log of an unknown version fails the start with file and version', async () => {
  const bytes = encodeFileHeader({ number: 1, firstSequence: 1, id: 7n, durableBefore: 1 });
  const view = new DataView(bytes.buffer);
  view.setUint32(8, 2, true);
  view.setUint32(60, crc32(bytes.subarray(0, 60)), true);
  const disk = new ModelDisk(new Random(1));
  disk.put(join(FOLDER, logFileName(1)), bytes);
  await assert.rejects(replayed(disk), {
    name: 'LogVersionError',
    message: '/data/log/00000001.log must be of version 1; got version 2',
  });
});
