import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packImage } from '../../engine/column/packed-image.ts';
import { DiskError } from '../../ingest/disk/disk.ts';
import { SEAL_AGE_US } from '../../ingest/limits.ts';
import { WriteAheadLog } from '../../ingest/log/write-ahead-log.ts';
import { MemoryBudget } from '../../ingest/memory-budget.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import { SealedSegments } from '../../ingest/sealed-segments.ts';
import { SegmentFolder } from '../../ingest/segment-folder.ts';
import { summarizeSegment } from '../../ingest/segment-summary.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { budgetOf } from '../support/budget.ts';
import { mergingOn } from '../support/merging.ts';
import { ModelDisk } from '../support/model-disk.ts';
import { smallBatch } from '../support/small-batch.ts';
import { wholeSegment } from '../support/whole-segment.ts';
import { FOLDER, replayed } from './log-model.ts';
import { type OpenedStore, openStore } from './opened-store.ts';
import { RETENTION_US } from './store-ledger.ts';
import { rowsOf, rowsOfSealed } from './stored-rows.ts';

const DAY = 20_000;
const NOW_US = DAY * PARTITION_US + 14 * 3_600_000_000;

function newDisk(): ModelDisk {
  return new ModelDisk(new Random(1));
}

async function idsOf({ durable, disk }: OpenedStore, source: string): Promise<(string | null)[]> {
  return (await rowsOf(durable.store, source, disk)).map(({ id }) => id).sort();
}

async function append(opened: OpenedStore, source: string, id: string, timestampUs = NOW_US) {
  await opened.durable.store.append(source, smallBatch([id], timestampUs), NOW_US);
}

/** Seals and stores all rows, and lets go of the log of them. */
async function storeAll({ durable }: OpenedStore, nowUs = NOW_US): Promise<void> {
  durable.tick(nowUs);
  durable.tick(nowUs + SEAL_AGE_US);
  await durable.store.flush();
  await durable.store.settled();
  durable.tick(nowUs + SEAL_AGE_US);
  await new Promise((resolve) => setImmediate(resolve));
}

test('the log keeps rows of a removed source until they are in segment files', async () => {
  const disk = newDisk();
  const first = await openStore({ disk, nowUs: NOW_US });
  await append(first, 'b', 'of b');
  await first.durable.close();
  // Without b, for two starts: the log of the first is let go of in the second at the latest.
  for (const id of ['1', '2']) {
    const without = await openStore({ disk, nowUs: NOW_US, sources: ['a'] });
    await append(without, 'a', id);
    await storeAll(without);
    await without.durable.close();
  }
  assert(!disk.paths().includes('/data/log/00000001.log'));
  const again = await openStore({ disk, nowUs: NOW_US });
  assert.deepEqual([await idsOf(again, 'a'), await idsOf(again, 'b')], [['1', '2'], ['of b']]);
});

/** Steps on disk that storing takes, and more. */
const OPERATIONS = 60;
/** The process is killed behind one in so many of them; with the next commit behind others. */
const KILL_STEP = budgetOf('WEIR_RECOVERY_KILL_STEP', { fast: 5, all: 1 });

test('what a killed process stored is synced before anything that it replaces is removed', async (context) => {
  const seed = fuzzSeed();
  context.diagnostic(`seed ${seed}: WEIR_FUZZ_SEED=${seed} repeats it`);
  const first = seed % KILL_STEP;
  let starts = 0;
  for (let operations = first; operations < OPERATIONS; operations += KILL_STEP) {
    const disk = newDisk();
    const first = await openStore({ disk, nowUs: NOW_US });
    await append(first, 'a', 'row');
    disk.crashAfter(operations);
    await Promise.race([storeAll(first), disk.crashed]);
    disk.crashNow();
    // The process is killed there, another one comes up and lets go of the log, then the power fails.
    const running = disk.afterKill();
    const second = await openStore({ disk: running, nowUs: NOW_US });
    second.durable.tick(NOW_US);
    await append(second, 'b', 'other');
    second.durable.tick(NOW_US);
    await second.durable.close();
    for (let state = 0; state < 8; state++) {
      const last = await openStore({ disk: running.afterCrash(), nowUs: NOW_US });
      assert.deepEqual(await idsOf(last, 'a'), ['row'], `after ${operations} operations`);
      starts++;
    }
  }
  assert.equal(starts, 8 * Math.ceil((OPERATIONS - first) / KILL_STEP));
});

test('a log file that could be neither started nor removed does not count as lost records', async () => {
  const disk = newDisk();
  const options = { files: [], nextSequence: 1, durableBefore: 1, nextNumber: 1, fileBytesMax: 1 };
  const log = await WriteAheadLog.open({ disk, folder: FOLDER, ...options, onEvent: () => {} });
  const append = (arrivalBase: number): Promise<number> =>
    log.append({ source: 's', receivedUs: 0, arrivalBase, batch: smallBatch(['row']) });
  await append(0);
  const { syncFolder, remove } = disk;
  const refuse = async (path: string): Promise<never> => {
    Object.assign(disk, { syncFolder });
    throw new DiskError('changed', path, Object.assign(new Error('EIO'), { code: 'EIO' }));
  };
  Object.assign(disk, { syncFolder: refuse, remove: refuse });
  await assert.rejects(append(1), { name: 'StorageError' });
  Object.assign(disk, { remove });
  while (log.refusal !== undefined) await new Promise((resolve) => setImmediate(resolve));
  for (let post = 2; post < 6; post++) await append(post);
  assert(disk.paths().includes(`${FOLDER}/00000002.log`));
  log.tick(Number.NEGATIVE_INFINITY, 4);
  await log.close();
  const { recovered, records } = await replayed(disk);
  assert.deepEqual([recovered.damages, recovered.recordsLost], [[], 0]);
  assert.deepEqual(
    records.map(({ sequence }) => sequence),
    [4, 5],
  );
});

test('a damaged file is in quarantine after a crash', async () => {
  const disk = newDisk();
  const first = await openStore({ disk, nowUs: NOW_US });
  await append(first, 'a', 'row');
  await storeAll(first);
  await first.durable.close();
  const path = disk.paths().find((name) => name.endsWith('.segment'))!;
  disk.put(path, new Uint8Array(100));
  await (await openStore({ disk, nowUs: NOW_US })).durable.close();
  for (let state = 0; state < 20; state++) {
    const names = disk.afterCrash().paths();
    assert(
      names.some((name) => name.startsWith('/data/quarantine/a.')),
      names.join(' '),
    );
  }
});

test('a start with a clock years ahead drops no day that the right clock would keep', async () => {
  const disk = newDisk();
  const first = await openStore({ disk, nowUs: NOW_US });
  // The newest event is of this morning; the oldest day ends a moment behind the retention.
  await append(first, 'a', 'new', NOW_US);
  await append(first, 'a', 'old', NOW_US - RETENTION_US);
  await storeAll(first);
  await first.durable.close();
  // The next start lets go of the log.
  const second = await openStore({ disk, nowUs: NOW_US });
  await append(second, 'b', 'other');
  second.durable.tick(NOW_US);
  await second.durable.close();
  assert(!disk.paths().includes('/data/log/00000001.log'));
  const ahead = await openStore({ disk, nowUs: NOW_US + 1000 * PARTITION_US });
  await ahead.durable.close();
  const again = await openStore({ disk, nowUs: NOW_US });
  assert.deepEqual(await idsOf(again, 'a'), ['new', 'old']);
});

/** Sealed segments of one row each. */
async function sealedRows(ids: readonly string[]): Promise<SharedArrayBuffer[]> {
  const { durable, disk } = await openStore({ disk: newDisk(), nowUs: NOW_US });
  for (const id of ids) {
    await durable.store.append('a', smallBatch([id], NOW_US), NOW_US);
    await durable.store.flush();
  }
  const handles = durable.store.segments('a', EVERYTHING);
  return Promise.all(
    handles.map((handle) => {
      assert(handle.kind === 'sealed');
      return wholeSegment(disk, handle);
    }),
  );
}

test('a merge that ends after its day was dropped does not remove late rows of that day', async () => {
  const [first, second, late] = await sealedRows(['1', '2', 'late']);
  const disk = newDisk();
  const { folder } = await SegmentFolder.recover({
    ...{ disk, path: '/data/segments', quarantinePath: '/data/quarantine' },
    ...{ retentionNowUs: NOW_US, retentionUs: RETENTION_US },
    pack: async (buffer) => packImage(buffer),
  });
  let nextId = 0;
  const sealed = new SealedSegments({
    source: 'a',
    summarize: summarizeSegment,
    ids: { next: () => ++nextId, drop: () => {}, became: () => {}, gone: () => {} },
    budget: MemoryBudget.unlimited(),
    onChange: () => {},
  });
  sealed.useStorage({
    folder,
    ...mergingOn(disk),
    onFailure: ({ error }) => assert.fail(String(error)),
    onDamage: ({ path }) => assert.fail(path),
  });
  sealed.add([first!, second!], { firstSequence: 1, lastSequence: 2 }, 2);
  await sealed.settled();
  const rename = disk.rename.bind(disk);
  disk.rename = async (from, to) => {
    disk.rename = rename;
    // While the merged file gets its name, the day ends, and then rows come that were sealed late.
    sealed.tick(NOW_US, (DAY + 1) * PARTITION_US);
    sealed.add([late!], { firstSequence: 3, lastSequence: 3 }, 1);
    await rename(from, to);
  };
  assert(sealed.mergeSome(Number.POSITIVE_INFINITY) !== undefined);
  await sealed.settled();
  const ids: (string | null)[] = [];
  for (const handle of sealed.handles(EVERYTHING)) {
    ids.push(...rowsOfSealed(await wholeSegment(disk, handle)).map(({ id }) => id));
  }
  assert.deepEqual(ids, ['late']);
});

const EVERYTHING = { timestampUsStart: -Infinity, timestampUsEnd: Infinity };
