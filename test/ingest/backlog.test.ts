import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packImage } from '../../engine/column/packed-image.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import type { Disk } from '../../ingest/disk/disk.ts';
import { OverloadError } from '../../ingest/ingest-error.ts';
import { MERGE_RUNS_MIN } from '../../ingest/limits.ts';
import { LogStore } from '../../ingest/log-store.ts';
import { MemoryBudget } from '../../ingest/memory-budget.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import type { StorageFailure } from '../../ingest/sealed-segments.ts';
import { SegmentFolder } from '../../ingest/segment-folder.ts';
import { summarizeSegment } from '../../ingest/segment-summary.ts';
import { mergingOn } from '../support/merging.ts';
import { smallBatch } from '../support/small-batch.ts';
import { MemoryDisk } from './memory-disk.ts';

const NOW_US = 20_468.5 * PARTITION_US;
const RETENTION_US = 90 * PARTITION_US;
const EVERYTHING = { timestampUsStart: -Infinity, timestampUsEnd: Infinity };
const MIB = 1024 * 1024;
const LIMIT = 64 * MIB;

/** A disk on which segment files are made when the test says so, or cannot be made. */
class SlowDisk {
  readonly disk: Disk = new MemoryDisk();
  isBroken = false;
  #isHeld = false;
  #release = (): void => {};
  #held: Promise<void> = Promise.resolve();

  constructor() {
    const create = this.disk.create.bind(this.disk);
    this.disk.create = async (path) => {
      if (this.#isHeld) await this.#held;
      if (this.isBroken) throw new Error('no segment can be written');
      return create(path);
    };
  }

  hold(): void {
    this.#isHeld = true;
    this.#held = new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  release(): void {
    this.#isHeld = false;
    this.#release();
  }
}

type Opened = {
  readonly store: LogStore;
  readonly slow: SlowDisk;
  readonly failures: StorageFailure[];
  readonly merges: { count: number };
};

async function opened(budget?: MemoryBudget): Promise<Opened> {
  const slow = new SlowDisk();
  const { disk } = slow;
  const { folder } = await SegmentFolder.recover({
    ...{ disk, path: '/segments', quarantinePath: '/quarantine' },
    ...{ retentionNowUs: NOW_US, retentionUs: RETENTION_US },
    pack: async (buffer) => packImage(buffer),
  });
  const store = new LogStore({
    ...{ sources: ['a', 'b'], retentionUs: RETENTION_US, budget, summarize: summarizeSegment },
    seal: async (handle) => sealSegment(handle, { partitionUs: PARTITION_US }),
  });
  const failures: StorageFailure[] = [];
  const merges = { count: 0 };
  store.useStorage({
    folder,
    ...mergingOn(disk, async () => {
      merges.count += 1;
    }),
    onFailure: (failure) => failures.push(failure),
    onDamage: () => assert.fail('nothing is damaged'),
  });
  return { store, slow, failures, merges };
}

function limited(memoryBytesMax = LIMIT): MemoryBudget {
  return new MemoryBudget({ memoryBytesMax, othersBytesMax: 0 });
}

let textNext = 0;

/** Takes in rows that no segment makes small: `rowCount` of a hundred random digits. */
function append(store: LogStore, source = 'a', rowCount = 10_000): Promise<void> {
  const texts = Array.from({ length: rowCount }, () => {
    let text = '';
    while (text.length < 100) text += String(Math.imul(textNext++, 2_654_435_761) >>> 0);
    return text;
  });
  return store.append(source, smallBatch(texts, NOW_US));
}

/** Takes in until the store refuses; how often it did not. */
async function appendUntilRefused(store: LogStore): Promise<number> {
  for (let count = 0; count < 200; count++) {
    try {
      await append(store);
    } catch (error) {
      assert(error instanceof OverloadError, String(error));
      assert.match(error.message, /^at most \d+ bytes of events may be in memory/);
      return count;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  return assert.fail('the store takes in without end');
}

function rowCountOf(store: LogStore): number {
  return store.stats().reduce((sum, { rowCount }) => sum + rowCount, 0);
}

test('while segments cannot be written, only as much is accepted as fits; afterwards posts are accepted again', async () => {
  const { store, slow } = await opened(limited());
  slow.hold();
  const count = await appendUntilRefused(store);
  assert(count > 1, `${count} were taken in`);
  assert.equal(rowCountOf(store), count * 10_000, 'what was refused is not there');
  const unstored = store.stats()[0]!.segments;
  const size = unstored.frozen.byteSize + unstored.sealed.byteSize + unstored.open.byteSize;
  assert(size < LIMIT / 2, `${size} bytes`);
  assert(store.segments('a', EVERYTHING).length > 0, 'what there is can be asked for');
  await assert.rejects(append(store, 'b', 1), OverloadError);
  slow.release();
  await store.settled();
  await append(store);
  await append(store, 'b', 1);
  assert.equal(rowCountOf(store), (count + 1) * 10_000 + 1);
});

test('while the disk refuses segments the store refuses posts, and no row is lost', async () => {
  const { store, slow, failures } = await opened(limited());
  slow.isBroken = true;
  const count = await appendUntilRefused(store);
  store.tick(NOW_US);
  await store.settled();
  await assert.rejects(append(store), OverloadError);
  assert.deepEqual(
    failures.map(({ step }) => step),
    ['store'],
  );
  slow.isBroken = false;
  store.tick(NOW_US);
  await store.settled();
  await append(store);
  assert.equal(rowCountOf(store), (count + 1) * 10_000);
});

test('without a limit every post is accepted, whatever the disk does', async () => {
  const { store, slow } = await opened();
  slow.hold();
  for (let count = 0; count < 20; count++) await append(store);
  await store.flush();
  assert.equal(rowCountOf(store), 200_000);
  slow.release();
  await store.settled();
});

test('open segments are sealed, largest first, when all together are large', async () => {
  const budget = limited();
  const { store } = await opened(budget);
  const openSizes = (): number[] => store.stats().map(({ segments }) => segments.open.count);
  await append(store, 'b', 10);
  let count = 0;
  while (store.stats()[0]!.sealedCount === 0) {
    assert(count++ < 50, 'the open segment is sealed before it is full');
    await append(store, 'a', 2_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert(count > 1, `${count} batches`);
  assert.equal(openSizes()[1], 1, 'the small one stays open');
  const { sealed } = store.stats()[0]!.segments;
  assert(sealed.byteSize < budget.openBytesMax, `${sealed.byteSize}`);
});

/** Small segments in files, enough for a merge. */
async function addSmallSegments(store: LogStore): Promise<void> {
  for (let count = 0; count < 20; count++) {
    await append(store, 'a', 100);
    await store.flush();
  }
  await store.settled();
}

test('small segments are merged while the backlog is large but not full', async () => {
  const full = await opened(limited());
  full.slow.hold();
  const refusedAfter = await appendUntilRefused(full.store);
  full.slow.release();
  const { store, slow, merges } = await opened(limited());
  await addSmallSegments(store);
  slow.hold();
  for (let count = 0; count < refusedAfter * 0.75; count++) await append(store);
  void store.flush();
  store.tick(NOW_US);
  await new Promise((resolve) => setImmediate(resolve));
  assert(merges.count > 0);
  slow.release();
  await store.settled();
});

test('sealing is urgent as soon as a merge of the most bytes would find no room', async () => {
  const budget = limited();
  const { store, slow } = await opened(budget);
  const { backlogBytesMax, mergeBounds } = budget;
  slow.hold();
  let roomBytes = backlogBytesMax;
  while (!store.isSealUrgent) {
    assert(roomBytes >= mergeBounds.byteSize, `${roomBytes} of ${mergeBounds.byteSize} bytes`);
    await append(store, 'a', 1_000);
    await new Promise((resolve) => setImmediate(resolve));
    // Measures.
    store.tick(NOW_US);
    const { open, queued, unstored } = store.memoryStats().held;
    roomBytes = backlogBytesMax - open - queued - unstored;
  }
  assert(roomBytes > 0);
  slow.release();
  await store.settled();
});

test('small segments are merged while the backlog is full, in memory that sealed segments have', async () => {
  const budget = limited();
  const { store, slow, merges } = await opened(budget);
  await addSmallSegments(store);
  slow.hold();
  await appendUntilRefused(store);
  const { segmentBytesMax } = budget;
  store.tick(NOW_US);
  await new Promise((resolve) => setImmediate(resolve));
  assert(merges.count > 0);
  assert(budget.segmentBytesMax < segmentBytesMax);
  slow.release();
  await store.settled();
  const countOf = (): number => store.stats()[0]!.stored.count;
  store.tick(NOW_US);
  await store.settled();
  assert(countOf() <= 2 * MERGE_RUNS_MIN, `${countOf()} segments of a day`);
});
