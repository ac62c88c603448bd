import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SEAL_AGE_US } from '../../ingest/limits.ts';
import { PARTITION_US, toPartition } from '../../ingest/partition.ts';
import { SegmentFile } from '../../ingest/segment-file.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { budgetOf } from '../support/budget.ts';
import { ModelDisk } from '../support/model-disk.ts';
import { smallBatch } from '../support/small-batch.ts';
import { allRows, openStore } from './opened-store.ts';
import { RETENTION_US } from './store-ledger.ts';
import { liveAndEnd, newTally, newWorld } from './store-model.ts';
import { rowsOfSealed, type StoredRow } from './stored-rows.ts';

/** One in so many bits of a segment file is flipped; `WEIR_FLIP_STEP=1` is the long form. */
const FLIP_STEP = budgetOf('WEIR_FLIP_STEP', { fast: 211, all: 41 });
/** `WEIR_DAMAGED_WORLDS=200` is the long form. */
const WORLDS = budgetOf('WEIR_DAMAGED_WORLDS', { fast: 1, all: 10 });
/** Of a world with many files so many are damaged, or a few more. */
const FILES_OF_WORLD = budgetOf('WEIR_DAMAGED_FILES', { fast: 6, all: 1_000 });
/** In so many, or in ten times as many, each kind of outcome is seen. */
const COVERING_WORLDS = 10;

const NOW_US = 20_000 * PARTITION_US + 14 * 3_600_000_000;

/** What a start on a disk finds, and what it says of it. */
async function foundOn(disk: ModelDisk, nowUs: number) {
  const opened = await openStore({ disk, nowUs });
  const lostAtStart = opened.damages.some(({ segmentsLost }) => (segmentsLost ?? 0) > 0);
  const rows = await allRows(opened);
  await opened.durable.close();
  const told = opened.entries.filter(({ event }) => /^(log|segment)_damaged$/.test(event));
  const count = (name: 'places' | 'columnsLost' | 'segmentsLost' | 'postsLost'): number =>
    opened.damages.reduce((sum, damage) => sum + (damage[name] ?? 0), 0);
  return { rows, told, count, lostAtStart };
}

function keysOf(rows: ReadonlyMap<string, readonly StoredRow[]>): Map<string, StoredRow> {
  return new Map(
    [...rows].flatMap(([source, some]) =>
      some.map((row) => [`${source} ${row.arrival}`, row] as const),
    ),
  );
}

/**
 * Holds what is found of damaged rows against what was there: each row once and as it was, but for an id
 * that was lost. Gives those that are missing, by source and arrival. A start that finds less of the
 * newest may measure the retention from an earlier time: then rows of days behind it may be back.
 */
function missingOf(
  before: ReadonlyMap<string, readonly StoredRow[]>,
  after: ReadonlyMap<string, readonly StoredRow[]>,
  { isIdLost, nowUs }: { readonly isIdLost: boolean; readonly nowUs: number },
): string[] {
  const oldest = toPartition(nowUs - RETENTION_US);
  const [wanted, got] = [keysOf(before), keysOf(after)];
  const count = [...after.values()].reduce((sum, rows) => sum + rows.length, 0);
  assert.equal(got.size, count, 'each row is there once');
  for (const [key, row] of got) {
    const was = wanted.get(key);
    if (was === undefined && toPartition(row.timestampUs) < oldest) continue;
    assert(was !== undefined, `row ${key} was there before`);
    const id = isIdLost && row.id === null ? null : was.id;
    assert.deepEqual(row, { ...was, id }, key);
  }
  return [...wanted.keys()].filter((key) => !got.has(key));
}

function withFlip(disk: ModelDisk, path: string, bit: number): ModelDisk {
  const copy = disk.afterKill();
  const bytes = copy.bytesOf(path).slice();
  bytes[bit >>> 3]! ^= 1 << (bit & 7);
  copy.put(path, bytes);
  return copy;
}

/** A disk with one segment file, and the records of its rows, or none, in the log. */
async function diskWithSegment(isInLog: boolean): Promise<{ disk: ModelDisk; path: string }> {
  const disk = new ModelDisk(new Random(1));
  const { durable } = await openStore({ disk, nowUs: NOW_US });
  for (const ids of [['first', 'second'], ['third']]) {
    await durable.store.append('a', smallBatch(ids, NOW_US), NOW_US);
  }
  durable.tick(NOW_US);
  durable.tick(NOW_US + SEAL_AGE_US);
  await durable.store.flush();
  await durable.store.settled();
  await durable.close();
  if (!isInLog) {
    // The next start begins another file of the log; the first is let go of then.
    const again = await openStore({ disk, nowUs: NOW_US });
    await again.durable.store.append('b', smallBatch(['other'], NOW_US), NOW_US);
    again.durable.tick(NOW_US);
    await again.durable.close();
  }
  const segments = disk.paths().filter((path) => path.startsWith('/data/segments/'));
  const logs = disk.paths().filter((path) => path.startsWith('/data/log/'));
  assert.deepEqual([segments.length, logs.length], [1, 1]);
  return { disk, path: segments[0]! };
}

for (const isInLog of [true, false]) {
  const title = isInLog
    ? 'whichever bit of a segment file is flipped, what is missed at the start the log makes good'
    : 'whichever bit of a segment file is flipped, no row is wrong, and what is lost is told';
  test(title, async (context) => {
    const { disk, path } = await diskWithSegment(isInLog);
    const before = (await foundOn(disk.afterKill(), NOW_US)).rows;
    const outcomes = { rowsLost: 0, columnsLost: 0, nothingLost: 0 };
    const bitCount = disk.bytesOf(path).length * 8;
    for (let bit = 0; bit < bitCount; bit += FLIP_STEP) {
      const damaged = withFlip(disk, path, bit);
      const { rows, told, count, lostAtStart } = await foundOn(damaged, NOW_US);
      const missing = missingOf(before, rows, {
        isIdLost: count('columnsLost') > 0,
        nowUs: NOW_US,
      });
      assert(told.length > 0 && count('places') > 0, `bit ${bit} is told`);
      const isWhole = missing.length === 0;
      if (isInLog && lostAtStart) assert(isWhole, `bit ${bit}`);
      // The rows of the file, all or none; those of the log are there.
      if (!isWhole) {
        assert.deepEqual(missing, ['a 0', 'a 1', 'a 2'], `bit ${bit}`);
        assert.equal(count('segmentsLost'), 1, `bit ${bit}`);
      }
      if (!isWhole) outcomes.rowsLost++;
      else if (count('columnsLost') > 0) outcomes.columnsLost++;
      else outcomes.nothingLost++;
      // A second start finds what the first left, and no further damage but that of an envelope. What the
      // log still has it makes good now that the file does not count.
      const again = await foundOn(damaged, NOW_US);
      if (isWhole || !isInLog) assert.deepEqual(keysOf(again.rows), keysOf(rows), `bit ${bit}`);
      else assert.deepEqual(keysOf(again.rows), keysOf(before), `bit ${bit}`);
      assert.deepEqual([again.count('segmentsLost'), again.count('columnsLost')], [0, 0]);
    }
    context.diagnostic(`${bitCount} bits: ${JSON.stringify(outcomes)}`);
    assert(outcomes.columnsLost > 0 && outcomes.nothingLost > 0);
    if (!isInLog) assert(outcomes.rowsLost > 0);
  });
}

/** The rows that may be missing when a file is damaged, as sets of which one may be. */
async function lossesOf(
  disk: ModelDisk,
  path: string,
  rows: ReadonlyMap<string, readonly StoredRow[]>,
): Promise<readonly ReadonlySet<string>[]> {
  if (path.startsWith('/data/segments/')) {
    const file = await SegmentFile.open(disk, path);
    const { buffer } = await file.load();
    return [
      new Set(rowsOfSealed(buffer).map(({ arrival }) => `${file.envelope.source} ${arrival}`)),
    ];
  }
  const posts = new Map<string, Set<string>>();
  for (const [key, { id }] of keysOf(rows)) {
    const post = id!.split('-')[0]!;
    posts.set(post, (posts.get(post) ?? new Set()).add(key));
  }
  return [...posts.values()];
}

/** A segment file that somebody removes is reported once, and costs its rows alone. */
async function checkRemoved(
  disk: ModelDisk,
  path: string,
  { before, nowUs }: { before: ReadonlyMap<string, readonly StoredRow[]>; nowUs: number },
): Promise<void> {
  const [losses] = await lossesOf(disk, path, before);
  const removed = disk.afterKill();
  await removed.remove(path);
  const { rows, count } = await foundOn(removed, nowUs);
  assert.deepEqual([count('places'), count('segmentsLost')], [1, 1]);
  const missing = missingOf(before, rows, { isIdLost: false, nowUs });
  assert(missing.every((key) => losses!.has(key)));
  assert.equal((await foundOn(removed, nowUs)).count('places'), 0);
}

test('after any history, damage or loss of one file loses at most its contents, and is reported', async (context) => {
  const seed = fuzzSeed();
  const outcomes = { damaged: 0, harmless: 0, rowsLost: 0, idsLost: 0, removed: 0 };
  // Some lives more where chance has left a kind of outcome out.
  const isComplete = (): boolean =>
    WORLDS < COVERING_WORLDS || Object.values(outcomes).every((count) => count > 0);
  for (let number = 0; number < WORLDS || (number < 10 * WORLDS && !isComplete()); number++) {
    const random = new Random(seed + number);
    const world = newWorld(random, newTally());
    const disk = await liveAndEnd(world);
    const before = (await foundOn(disk, world.nowUs)).rows;
    const files = disk.paths().filter((path) => /^\/data\/(log|segments)\//.test(path));
    const step = Math.ceil(files.length / FILES_OF_WORLD);
    const some = files.filter((_, index) => index % step === seed % step);
    for (const path of some) {
      const bit = random.below(disk.bytesOf(path).length * 8);
      const place = `seed ${seed + number}: bit ${bit} of ${path}`;
      try {
        if (path.startsWith('/data/segments/')) {
          await checkRemoved(disk, path, { before, nowUs: world.nowUs });
          outcomes.removed++;
        }
        const losses = await lossesOf(disk, path, before);
        const damaged = withFlip(disk, path, bit);
        const { rows, told, count } = await foundOn(damaged, world.nowUs);
        const loss = { isIdLost: count('columnsLost') > 0, nowUs: world.nowUs };
        const missing = missingOf(before, rows, loss);
        const isMinor = losses.some((keys) => missing.every((key) => keys.has(key)));
        assert(missing.length === 0 || isMinor, `${missing.length} rows are missing`);
        if (missing.length > 0 || count('columnsLost') > 0) assert(told.length > 0);
        // A second start finds no less: what the log still has it may make good.
        const again = await foundOn(damaged, world.nowUs);
        const stillMissing = missingOf(before, again.rows, loss);
        assert(
          stillMissing.every((key) => missing.includes(key)),
          'nothing more is missing',
        );
        outcomes.damaged++;
        if (missing.length > 0) outcomes.rowsLost++;
        else if (count('columnsLost') > 0) outcomes.idsLost++;
        else outcomes.harmless++;
      } catch (cause) {
        throw new Error(place, { cause });
      }
    }
  }
  context.diagnostic(`seed ${seed}: ${JSON.stringify(outcomes)}`);
  assert(isComplete(), `each kind of outcome is seen: ${JSON.stringify(outcomes)}`);
});
