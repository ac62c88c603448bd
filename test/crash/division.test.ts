import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { DiskError } from '../../ingest/disk/disk.ts';
import { PARTITION_QUIET_US, SEAL_AGE_US } from '../../ingest/limits.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import { SegmentListing } from '../../ingest/segment-listing.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { budgetOf } from '../support/budget.ts';
import { ModelDisk } from '../support/model-disk.ts';
import { smallBatch } from '../support/small-batch.ts';
import { DATA, type OpenedStore, openStore } from './opened-store.ts';
import { rowsOf } from './stored-rows.ts';

/** A crash may leave any of the names that were changed since a sync: so many of them are looked at, at an operation; 30 is the long form. */
const CRASHES = budgetOf('WEIR_DIVISION_CRASHES', { fast: 1, all: 6 });
/** At one in so many operations; of the next commit others. */
const CRASH_STEP = budgetOf('WEIR_DIVISION_CRASH_STEP', { fast: 3, all: 1 });

/** One in so many operations of a division fails, of the next commit others; 1 is the long form. */
const FAILURE_STEP = budgetOf('WEIR_DIVISION_STEP', { fast: 17, all: 3 });

const NOW_US = 20_000 * PARTITION_US + 14 * 3_600_000_000;
/** The day is over, and no row is expected any more. */
const QUIET_US = 20_001 * PARTITION_US + PARTITION_QUIET_US + 60e6;
const SEGMENTS = 5;
const PROJECTS = 6;

/** In memory may be so little that a day is divided. */
const SEGMENT_BYTES_MAX = 20_000;

const random = new Random(1);
/** With segments of one day, each too large to be merged with all others. */
let stored: ModelDisk;
let wanted: readonly (string | null)[];

function opened(disk: ModelDisk, nowUs: number): Promise<OpenedStore> {
  return openStore({ disk, nowUs, segmentBytesMax: SEGMENT_BYTES_MAX });
}

async function idsOn({ durable, disk }: OpenedStore): Promise<(string | null)[]> {
  return (await rowsOf(durable.store, 'a', disk)).map(({ id }) => id).sort();
}

async function partsOn(disk: ModelDisk): Promise<number> {
  const { segments } = await new SegmentListing(disk, DATA).read();
  return segments.filter(({ envelope }) => envelope.awaits.length > 0).length;
}

/** Lets the day grow old, so that its rows are divided, and stops. */
async function divide(disk: ModelDisk): Promise<void> {
  const store = await opened(disk, QUIET_US);
  store.durable.tick(QUIET_US);
  await store.durable.store.settled();
  await store.durable.close();
}

async function expectAllRows(disk: ModelDisk, when: string): Promise<void> {
  const again = await opened(disk, NOW_US);
  assert.deepEqual(await idsOn(again), wanted, when);
  assert.deepEqual(again.damages, [], when);
  await again.durable.close();
  // What the start has removed is not missed by the next.
  const third = await opened(disk.afterKill(), NOW_US);
  assert.deepEqual(await idsOn(third), wanted, when);
  await third.durable.close();
}

before(async () => {
  stored = new ModelDisk(random);
  for (let segment = 0; segment < SEGMENTS; segment++) {
    // With memory for all of it, so that it is not divided yet.
    const store = await openStore({ disk: stored, nowUs: NOW_US });
    const ids = Array.from(
      { length: PROJECTS },
      (_, row) => `${row}-${segment}-${'.'.repeat(300)}`,
    );
    await store.durable.store.append('a', smallBatch(ids, NOW_US, PROJECTS), NOW_US);
    store.durable.tick(NOW_US);
    store.durable.tick(NOW_US + SEAL_AGE_US);
    await store.durable.store.flush();
    await store.durable.store.settled();
    store.durable.tick(NOW_US + SEAL_AGE_US);
    await store.durable.close();
  }
  const store = await opened(stored, NOW_US);
  wanted = await idsOn(store);
  await store.durable.close();
  assert.equal(wanted.length, PROJECTS * SEGMENTS);
});

test('a divided day has the same rows', async () => {
  const disk = stored.afterKill();
  assert.equal(await partsOn(disk), 0);
  await divide(disk);
  assert(2 <= (await partsOn(disk)), 'there are parts');
  await expectAllRows(disk, 'after the division');
});

test('if the machine or process dies at any operation of a division, each row exists once', async () => {
  const disk = stored.afterKill();
  const ends: { readonly disk: ModelDisk; readonly when: string }[] = [];
  let operations = fuzzSeed() % CRASH_STEP;
  disk.onOperation = () => {
    if (operations++ % CRASH_STEP > 0) return;
    const when = `after ${disk.journal.length} operations, the last ${disk.journal.at(-1)}`;
    ends.push({ disk: disk.afterKill(), when: `killed ${when}` });
    for (let crash = 0; crash < CRASHES; crash++) {
      ends.push({ disk: disk.afterCrash(), when: `crashed ${when}` });
    }
  };
  await divide(disk);
  const partCounts = new Set<number>();
  for (const end of ends) {
    await expectAllRows(end.disk, end.when);
    partCounts.add(await partsOn(end.disk));
  }
  assert(partCounts.size > 1, 'the division was undone by some ends, and stood at others');
});

test('if any operation of a division fails, each row exists once, and the next start divides', async () => {
  let failed = 0;
  for (let at = fuzzSeed() % FAILURE_STEP; ; at += FAILURE_STEP) {
    const disk = stored.afterKill();
    const store = await opened(disk, QUIET_US);
    let left = at;
    const ends: ModelDisk[] = [];
    for (const method of ['rename', 'syncFolder', 'create', 'remove'] as const) {
      const call = disk[method].bind(disk) as (path: string, to: string) => Promise<never>;
      disk[method] = async (path: string, to?: string): Promise<never> => {
        if (left-- === 0) {
          // What is done about the failure may be cut off, too.
          disk.onOperation = () => void ends.push(disk.afterCrash());
          throw new DiskError('used', path, { code: 'EIO' });
        }
        return call(path, to ?? '');
      };
    }
    store.durable.tick(QUIET_US);
    await store.durable.store.settled();
    assert.deepEqual(await idsOn(store), wanted, `operation ${at} failed`);
    await store.durable.close();
    if (left >= 0) break;
    failed += FAILURE_STEP;
    for (const end of [disk.afterKill(), ...ends]) {
      await expectAllRows(end, `operation ${at} failed`);
    }
    await divide(disk);
    assert((await partsOn(disk)) >= 2);
    await expectAllRows(disk, `operation ${at} failed, and divided since`);
  }
  assert(failed > 10, `${failed} operations failed`);
});
