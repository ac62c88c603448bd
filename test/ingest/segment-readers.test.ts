import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeSegments } from '../../engine/column/merge-segments.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { packImage } from '../../engine/column/packed-image.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { readFooter } from '../../engine/column/sealed-layout.ts';
import { SealedSegmentReader } from '../../engine/column/sealed-segment.ts';
import { BLOCK_NUMBERS, blocksWith } from '../../engine/column/segment-backing.ts';
import { MemoryBudget } from '../../ingest/memory-budget.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import { SealedSegments, type StorageFailure } from '../../ingest/sealed-segments.ts';
import type { SegmentFile } from '../../ingest/segment-file.ts';
import { SegmentFolder } from '../../ingest/segment-folder.ts';
import { summarizeSegment } from '../../ingest/segment-summary.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { batchOf } from '../column/batch-of.ts';
import { mergingOn } from '../support/merging.ts';
import { MemoryDisk } from './memory-disk.ts';

const DAY = 20_468;
const NOW_US = (DAY + 0.5) * PARTITION_US;
const KEY = { source: 'a', partition: DAY };
const EVERYTHING = { timestampUsStart: -Infinity, timestampUsEnd: Infinity };

/** Those who read files: they begin by `begin` and end by what it gives. */
class Readers {
  readonly #underWay = new Set<Promise<void>>();

  begin(): () => Promise<void> {
    let resolve = (): void => {};
    const promise = new Promise<void>((done) => {
      resolve = done;
    });
    this.#underWay.add(promise);
    return async () => {
      this.#underWay.delete(promise);
      resolve();
      // All that is done then is done in memory.
      await new Promise((done) => setImmediate(done));
    };
  }

  readonly done = (): Promise<void> | undefined => {
    return this.#underWay.size === 0 ? undefined : Promise.all(this.#underWay).then(() => {});
  };
}

type Opened = {
  readonly disk: MemoryDisk;
  readonly folder: SegmentFolder;
  readonly readers: Readers;
  readonly quarantined: string[];
};

async function openedOn(
  disk: MemoryDisk,
  pack = async (buffer: SharedArrayBuffer) => packImage(buffer),
): Promise<Opened> {
  const readers = new Readers();
  const quarantined: string[] = [];
  const { folder } = await SegmentFolder.recover({
    ...{ disk, path: '/data/segments', quarantinePath: '/data/quarantine' },
    ...{ retentionNowUs: NOW_US, retentionUs: 90 * PARTITION_US },
    pack,
    readersDone: readers.done,
    onQuarantined: (path) => quarantined.push(path),
  });
  return { disk, folder, readers, quarantined };
}

/** One row for each of the numbers [from, through]. */
function segmentOf(from: number, through = from): SharedArrayBuffer {
  const segment = new OpenSegment({ id: 1, arrivalBase: from });
  const events = Array.from({ length: through - from + 1 }, (_, index) => ({
    id: String(from + index),
    timestampUs: DAY * PARTITION_US + from + index,
    metadata: { n: from + index },
  }));
  segment.append(batchOf(events), 0, events.length);
  segment.publish();
  return sealSegment(segment.handle(), { partitionUs: PARTITION_US })[0]!;
}

function add({ folder }: Opened, from: number, through = from): Promise<SegmentFile> {
  const covered = [{ fromSequence: from, throughSequence: through }];
  return folder.add({ ...KEY, buffer: segmentOf(from, through), covered });
}

async function merge({ folder }: Opened, files: readonly SegmentFile[]): Promise<SegmentFile> {
  const buffers: SharedArrayBuffer[] = [];
  for (const file of files) buffers.push((await file.load()).buffer);
  return (await folder.replace(mergeSegments(buffers), files))!;
}

/** Rows of all files that count. */
async function rowCountOf({ folder }: Opened): Promise<number> {
  let count = 0;
  for (const file of folder.segments('a')) {
    count += SealedSegmentReader.open((await file.load()).buffer).rowCount;
  }
  return count;
}

/** Numbers of the files of the source that are on disk, and those in quarantine below zero. */
function idsOn(disk: MemoryDisk): number[] {
  return disk.paths().map((path) => {
    const id = Number(/\.(\d+)\.segment$/.exec(path)![1]);
    return path.startsWith('/data/quarantine/') ? -id : id;
  });
}

test('replaced files stay until all queries that began before have ended', async () => {
  const opened = await openedOn(new MemoryDisk());
  const { disk, readers } = opened;
  const [one, two] = [await add(opened, 1), await add(opened, 2)];
  const endFirst = readers.begin();
  const endSecond = readers.begin();
  await merge(opened, [one, two]);
  assert.deepEqual(idsOn(disk), [1, 2, 3]);
  // What begins now has another snapshot; what is changed now need not wait.
  const endThird = readers.begin();
  const later = await add(opened, 3);
  assert.deepEqual(idsOn(disk), [1, 2, 3, 4]);
  await endFirst();
  assert.deepEqual(idsOn(disk), [1, 2, 3, 4]);
  await endSecond();
  assert.deepEqual(idsOn(disk), [3, 4]);
  await endThird();
  assert.deepEqual(idsOn(disk), [3, 4]);
  await merge(opened, [opened.folder.segments('a')[0]!, later]);
  assert.deepEqual(idsOn(disk), [5]);
});

test('a merge removes its sources at once if no query reads them, and no file that one reads', async () => {
  const opened = await openedOn(new MemoryDisk());
  const { disk, readers } = opened;
  const end = readers.begin();
  const merged = await merge(opened, [await add(opened, 1), await add(opened, 2)]);
  const endLater = readers.begin();
  await merge(opened, [merged, await add(opened, 3)]);
  assert.deepEqual(idsOn(disk), [1, 2, 3, 4, 5]);
  await end();
  assert.deepEqual(idsOn(disk), [3, 4, 5]);
  await endLater();
  assert.deepEqual(idsOn(disk), [5]);
  assert.equal(await rowCountOf(opened), 3);
});

test('a crash while replaced files are read doubles no row, and they are gone after the next start', async () => {
  for (const kept of [true, false]) {
    const opened = await openedOn(new MemoryDisk());
    opened.readers.begin();
    let merged = await merge(opened, [await add(opened, 1), await add(opened, 2)]);
    for (let row = 3; row <= 5; row++)
      merged = await merge(opened, [merged, await add(opened, row)]);
    assert.equal(idsOn(opened.disk).length, 9);
    const again = await openedOn(opened.disk.afterCrash(() => kept));
    assert.deepEqual(idsOn(again.disk), [merged.envelope.id]);
    assert.equal(await rowCountOf(again), 5);
  }
});

test('a crash at any step, while readers come and go, loses and doubles no stored row', async () => {
  const random = new Random(13);
  const chances = [() => false, () => true, () => random.below(2) === 0];
  for (const chance of chances) {
    const opened = await openedOn(new MemoryDisk());
    let stored = 0;
    const crashes: { readonly disk: MemoryDisk; readonly stored: number }[] = [];
    opened.disk.before = () => crashes.push({ disk: opened.disk.afterCrash(chance), stored });
    const ends: (() => Promise<void>)[] = [];
    for (let row = 1; row <= 8; row++) {
      if (row % 4 !== 0) ends.push(opened.readers.begin());
      await add(opened, row);
      stored = row;
      const files = opened.folder.segments('a');
      if (files.length > 1) await merge(opened, files);
      if (row % 2 === 0) await ends.shift()!();
    }
    for (const end of ends) await end();
    assert.equal(idsOn(opened.disk).length, 1);
    assert(crashes.length > 60, `${crashes.length}`);
    for (const [step, crash] of crashes.entries()) {
      const count = await rowCountOf(await openedOn(crash.disk));
      // The row that was being stored may be there or not.
      assert(count === crash.stored || count === crash.stored + 1, `step ${step}: ${count} rows`);
    }
  }
});

test('a closed folder touches no file when its readers end', async () => {
  const opened = await openedOn(new MemoryDisk());
  const end = opened.readers.begin();
  await merge(opened, [await add(opened, 1), await add(opened, 2)]);
  await opened.folder.close();
  const { length } = opened.disk.steps;
  await end();
  assert.equal(opened.disk.steps.length, length);
  assert.deepEqual(idsOn((await openedOn(opened.disk)).disk), [3]);
});

test('files whose last readers have just ended are removed before a folder is closed', async () => {
  const opened = await openedOn(new MemoryDisk());
  const end = opened.readers.begin();
  await merge(opened, [await add(opened, 1), await add(opened, 2)]);
  await end();
  await opened.folder.close();
  assert.deepEqual(idsOn(opened.disk), [3]);
});

/** Turns a bit of a column of the file. */
function damage(disk: MemoryDisk, { path, envelope }: SegmentFile): void {
  const bytes = Buffer.from(disk.bytesOf(path));
  const { blocks } = envelope;
  const [offset] = readFooter(segmentOf(1, 40)).leaves[0]!.numbers!.slice!;
  bytes[blocks[blocksWith(blocks, [offset, 1]).first * BLOCK_NUMBERS + 2]!]! ^= 4;
  disk.put(path, bytes);
}

test('a damaged file is quarantined when no query reads it, and its new path is reported', async () => {
  const opened = await openedOn(new MemoryDisk());
  const { disk, folder, readers, quarantined } = opened;
  const file = await add(opened, 1, 40);
  damage(disk, file);
  const end = readers.begin();
  assert.equal((await folder.load(file))?.kind, 'repaired');
  assert.deepEqual(idsOn(disk), [1, 2]);
  // Nor does the merge of another take it away.
  const other = await add(opened, 41);
  const endLater = readers.begin();
  await merge(opened, [folder.segments('a')[0]!, other]);
  assert.deepEqual([idsOn(disk), quarantined], [[1, 2, 3, 4], []]);
  await end();
  assert.deepEqual(idsOn(disk), [-1, 2, 3, 4]);
  assert.deepEqual(quarantined, ['/data/quarantine/a.2026-01-15.0000000001.segment']);
  await endLater();
  assert.deepEqual(idsOn(disk), [-1, 4]);
  assert.equal(await rowCountOf(opened), 41);
});

test('a dropped day is gone at once, even if queries read it', async () => {
  const opened = await openedOn(new MemoryDisk());
  const { disk, folder, readers, quarantined } = opened;
  const file = await add(opened, 1, 40);
  damage(disk, file);
  const end = readers.begin();
  await folder.load(file);
  await merge(opened, [folder.segments('a')[0]!, await add(opened, 41)]);
  await folder.dropPartition(KEY);
  assert.deepEqual(idsOn(disk), []);
  await end();
  assert.deepEqual([idsOn(disk), quarantined], [[], []]);
});

/** The segments of two files, before each merge of which `before` happens, and what was told to fail. */
async function restoredOf(before: (sealed: SealedSegments, opened: Opened) => Promise<void>) {
  const opened = await openedOn(new MemoryDisk());
  const { disk, folder } = opened;
  for (const row of [1, 2]) await add(opened, row);
  const failures: StorageFailure[] = [];
  let id = 0;
  const sealed = new SealedSegments({
    source: 'a',
    summarize: summarizeSegment,
    ids: { next: () => ++id, drop: () => {}, became: () => {}, gone: () => {} },
    budget: MemoryBudget.unlimited(),
    onChange: () => {},
  });
  for (const file of folder.segments('a')) sealed.restore(file, (await file.summary())!);
  sealed.useStorage({
    folder,
    ...mergingOn(disk, () => before(sealed, opened)),
    onFailure: (failure) => failures.push(failure),
    onDamage: ({ path }) => assert.fail(path),
  });
  return { failures, sealed, disk };
}

/** The same when they have been merged. */
async function mergeAfter(before: (sealed: SealedSegments, opened: Opened) => Promise<void>) {
  const restored = await restoredOf(before);
  await restored.sealed.mergeSome(Number.POSITIVE_INFINITY);
  return restored;
}

test('the rest of a day is merged when no row has come for long, even if the day is not over', async () => {
  const { sealed, disk, failures } = await restoredOf(async () => {});
  sealed.tick(NOW_US, 0);
  // Who starts does not know for how long none has come.
  assert.equal(sealed.mergeSome(NOW_US), undefined);
  sealed.add([segmentOf(3)], { firstSequence: 3, lastSequence: 3 }, 1);
  await sealed.settled();
  assert.equal(sealed.mergeSome(NOW_US), undefined);
  sealed.tick(NOW_US, 0);
  assert.equal(sealed.mergeSome(NOW_US - 1), undefined);
  await sealed.mergeSome(NOW_US);
  assert.deepEqual([idsOn(disk), sealed.stats().mergeCount, failures], [[4], 1, []]);
  assert.equal(sealed.stats().rowCount, 3);
});

test('the segments of a day that a start found are merged when the day is over', async () => {
  const { sealed, disk } = await restoredOf(async () => {});
  sealed.tick((DAY + 1) * PARTITION_US, 0);
  assert.equal(sealed.mergeSome((DAY + 1) * PARTITION_US - 1), undefined);
  await sealed.mergeSome((DAY + 1) * PARTITION_US);
  assert.deepEqual(idsOn(disk), [3]);
});

test('a day that is dropped while it is merged is no failure of the merge', async () => {
  const { failures, sealed, disk } = await mergeAfter(async (sealed, { folder }) => {
    sealed.tick(NOW_US, (DAY + 1) * PARTITION_US);
    // After the dropping, in the order of changes.
    await folder.dropPartition(KEY);
  });
  assert.deepEqual(failures, []);
  assert.deepEqual([idsOn(disk), sealed.handles(EVERYTHING)], [[], []]);
  const { mergeCount, storageFailureCount } = sealed.stats();
  assert.deepEqual([mergeCount, storageFailureCount], [0, 0]);
});

test('a file that disappears in another way while it is merged is reported', async () => {
  const { failures, sealed } = await mergeAfter(async (_, { disk, folder }) => {
    await disk.remove(folder.segments('a')[0]!.path);
  });
  assert.deepEqual(
    failures.map(({ step, error }) => [step, (error as Error).name]),
    [['merge', 'SegmentGoneError']],
  );
  assert.equal(sealed.stats().storageFailureCount, 1);
});

test('a sealed segment is stored while a merge of its day is being packed', async () => {
  let isHeld = false;
  let release = (): void => {};
  const opened = await openedOn(new MemoryDisk(), async (buffer) => {
    if (isHeld) {
      isHeld = false;
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    }
    return packImage(buffer);
  });
  const files = [await add(opened, 1), await add(opened, 2)];
  isHeld = true;
  const merged = opened.folder.replace(segmentOf(1, 2), files);
  await add(opened, 3);
  release();
  assert.ok((await merged) !== undefined);
  assert.equal(await rowCountOf(opened), 3);
});
