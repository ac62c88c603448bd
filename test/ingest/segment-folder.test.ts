import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { mergeSegments } from '../../engine/column/merge-segments.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { packImage } from '../../engine/column/packed-image.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { readFooter } from '../../engine/column/sealed-layout.ts';
import { SealedSegmentReader } from '../../engine/column/sealed-segment.ts';
import { BLOCK_NUMBERS, blocksWith } from '../../engine/column/segment-backing.ts';
import { valueAt } from '../../engine/column/vector.ts';
import { type Disk, DiskError } from '../../ingest/disk/disk.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import type { SegmentFile } from '../../ingest/segment-file.ts';
import { SegmentFolder } from '../../ingest/segment-folder.ts';
import { coversSequence } from '../../ingest/sequence-intervals.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { batchOf } from '../column/batch-of.ts';
import { budgetOf, runsOf } from '../support/budget.ts';
import { ModelDisk } from '../support/model-disk.ts';
import { Crash, diskError, MemoryDisk } from './memory-disk.ts';

const DAY_US = 86_400_000_000;
const TODAY = 20_468;
const NOW_US = (TODAY + 0.5) * DAY_US;
const SOURCE = 'source-1';
const KEY = { source: SOURCE, partition: TODAY };

/** A segment with one row for each sequence, the sequence its id. */
function segmentOf(sequences: readonly number[], partition = TODAY): SharedArrayBuffer {
  const segment = new OpenSegment({ id: 1, arrivalBase: sequences[0]! });
  const events = sequences.map((sequence) => ({
    id: String(sequence),
    timestampUs: partition * DAY_US + sequence,
    metadata: { n: sequence },
  }));
  segment.append(batchOf(events), 0, events.length);
  segment.publish();
  return sealSegment(segment.handle(), { partitionUs: DAY_US })[0]!;
}

function range(from: number, through: number): number[] {
  return Array.from({ length: through - from + 1 }, (_, index) => from + index);
}

/** Sealed segments never change: each is made once. */
const sealed = new Map<string, SharedArrayBuffer>();

function newSegment(from: number, through: number, partition = TODAY) {
  const covered = [{ fromSequence: from, throughSequence: through }];
  const name = `${from} ${through} ${partition}`;
  const buffer = sealed.get(name) ?? segmentOf(range(from, through), partition);
  sealed.set(name, buffer);
  return { source: SOURCE, partition, buffer, covered };
}

function recover(disk: Disk, nowUs = NOW_US) {
  return SegmentFolder.recover({
    disk,
    path: '/data/segments',
    quarantinePath: '/data/quarantine',
    retentionNowUs: nowUs,
    retentionUs: 10 * DAY_US,
    pack: async (buffer) => packImage(buffer),
  });
}

async function folderOn(disk: Disk): Promise<SegmentFolder> {
  return (await recover(disk)).folder;
}

/** Ids of all rows of a source that count, ascending. */
async function rowsOf(folder: SegmentFolder): Promise<number[]> {
  const ids: number[] = [];
  for (const segment of folder.segments(SOURCE)) {
    const loaded = await folder.load(segment);
    assert.ok(loaded?.kind === 'whole');
    ids.push(...idsOf(loaded.buffer));
  }
  return ids.sort((left, right) => left - right);
}

function idsOf(buffer: SharedArrayBuffer): number[] {
  const reader = SealedSegmentReader.open(buffer);
  const ids = reader.ids(
    Int32Array.from({ length: reader.rowCount }, (_, row) => row),
    reader.rowCount,
  );
  return Array.from({ length: ids.count }, (_, index) => Number(valueAt(ids, index)));
}

/**
 * What the service would answer from: rows of files that count, and of the log those of sequences
 * that no file covers. `logged`: the sequences the log still has.
 */
async function answered(folder: SegmentFolder, logged: readonly number[]): Promise<number[]> {
  const coverage = folder.coverage(KEY);
  const replayed = logged.filter((sequence) => !coversSequence(coverage, sequence));
  return [...(await rowsOf(folder)), ...replayed].sort((left, right) => left - right);
}

async function merge(folder: SegmentFolder): Promise<void> {
  const segments = folder.segments(SOURCE);
  if (segments.length === 0) return;
  const buffers: SharedArrayBuffer[] = [];
  for (const segment of segments) buffers.push((await segment.load()).buffer);
  await folder.replace(mergeSegments(buffers), segments);
}

test('an added segment is found again with its coverage', async () => {
  const disk = new MemoryDisk();
  const folder = await folderOn(disk);
  assert.deepEqual(folder.coverage(KEY), []);
  await folder.add(newSegment(1, 3));
  await folder.add(newSegment(4, 6));
  await folder.add(newSegment(9, 9, TODAY - 1));
  assert.deepEqual(disk.paths(), [
    '/data/segments/source-1/2026-01-14.0000000003.segment',
    '/data/segments/source-1/2026-01-15.0000000001.segment',
    '/data/segments/source-1/2026-01-15.0000000002.segment',
  ]);
  const { folder: again, report } = await recover(disk.afterCrash(() => false));
  assert.deepEqual(again.sources(), [SOURCE]);
  assert.deepEqual(
    again.segments(SOURCE).map(({ envelope }) => envelope.id),
    [3, 1, 2],
  );
  assert.deepEqual(again.coverage(KEY), [{ fromSequence: 1, throughSequence: 6 }]);
  assert.deepEqual(await rowsOf(again), [1, 2, 3, 4, 5, 6, 9]);
  assert.deepEqual(report.quarantined, []);
  assert.equal((await again.add(newSegment(7, 8))).envelope.id, 4);
});

test('a merged segment replaces its sources and has their coverage', async () => {
  const disk = new MemoryDisk();
  const folder = await folderOn(disk);
  await folder.add(newSegment(1, 3));
  await folder.add(newSegment(7, 9));
  await merge(folder);
  assert.equal(disk.paths().length, 1);
  const again = await folderOn(disk.afterCrash(() => false));
  assert.deepEqual(await rowsOf(again), [1, 2, 3, 7, 8, 9]);
  assert.deepEqual(again.coverage(KEY), [
    { fromSequence: 1, throughSequence: 3 },
    { fromSequence: 7, throughSequence: 9 },
  ]);
});

/**
 * Adds, merges and adds again on a disk that crashes or fails at one step; then a new process comes
 * up. `logged`: what the log has at each moment, as nothing acknowledged by the folder is needed there.
 */
async function work(disk: MemoryDisk): Promise<{ done: number[]; logged: number[] }> {
  const done: number[] = [];
  const logged = range(1, 12);
  const step = async (sequences: readonly number[], run: () => Promise<unknown>) => {
    await run();
    // Only once a segment is durable does the log let go of its records.
    for (const sequence of sequences) logged.splice(logged.indexOf(sequence), 1);
    done.push(...sequences);
  };
  try {
    const folder = await folderOn(disk);
    await step(range(1, 2), () => folder.add(newSegment(1, 2)));
    await step(range(3, 4), () => folder.add(newSegment(3, 4)));
    await step([], () => merge(folder));
    await step(range(5, 6), () => folder.add(newSegment(5, 6)));
    await step([], () => merge(folder));
    await step(range(7, 8), () => folder.add(newSegment(7, 8)));
  } catch (error) {
    if (!(error instanceof Crash)) throw error;
  }
  return { done, logged };
}

/** How often each step is the last; the first two times all of what is not synced stays or goes. */
const DICE = budgetOf('WEIR_FOLDER_DICE', { fast: 3, all: 5 });
/** How many lives the folder has on a disk that fails, and on one that crashes. */
const FAILING_LIVES = runsOf(80);
const CRASHING_LIVES = runsOf(100);

test('a crash at any step, losing any of what was not synced, loses and doubles no row', async () => {
  const dry = new MemoryDisk();
  await work(dry);
  const random = new Random(11);
  let crashes = 0;
  for (let at = 0; at <= dry.steps.length; at++) {
    for (let dice = 0; dice < DICE; dice++) {
      const disk = new MemoryDisk();
      disk.before = () => {
        if (disk.steps.length > at) throw new Crash();
      };
      const { logged } = await work(disk);
      // All of what is not synced is lost, none of it, or some.
      const chance =
        dice === 0 ? () => false : dice === 1 ? () => true : () => random.below(2) === 0;
      const after = disk.afterCrash(chance);
      // The process may die again while it comes up, and then once more.
      const dieAt = random.below(4);
      after.before = () => {
        if (after.steps.length > dieAt) throw new Crash();
      };
      await recover(after).catch((error: unknown) => assert.ok(error instanceof Crash));
      const last = after.afterCrash(chance);
      const folder = await folderOn(last);
      assert.deepEqual(await answered(folder, logged), range(1, 12), `step ${at}, dice ${dice}`);
      assert.ok(!last.paths().some((path) => path.endsWith('.tmp')));
      await merge(folder);
      assert.deepEqual(await answered(await folderOn(last), logged), range(1, 12));
      crashes++;
    }
  }
  assert.ok(crashes > 30 * DICE);
});

test('a step that fails loses and doubles no row, then or after a crash', async () => {
  const random = new Random(12);
  for (let round = 0; round < FAILING_LIVES; round++) {
    const disk = new MemoryDisk();
    // Some steps fail, with those after them; on some disks nothing can be removed.
    const starts = Array.from({ length: 4 }, () => random.below(80));
    const failing = new Set(starts.flatMap((start) => range(start, start + random.below(4))));
    const isStuck = round % 4 === 0;
    disk.before = (step) => {
      const isRefused = isStuck && step.startsWith('remove');
      const isRead = step.startsWith('read');
      if (isRefused || (!isRead && failing.has(disk.steps.length))) throw diskError('ENOSPC');
    };
    const folder = await folderOn(disk);
    const logged = range(1, 20);
    let from = 1;
    for (let change = 0; change < 8; change++) {
      try {
        if (random.below(3) === 0 && folder.segments(SOURCE).length > 1) await merge(folder);
        else {
          // What failed is sealed anew, sometimes with more rows.
          const through = from + random.below(2);
          await folder.add(newSegment(from, through));
          logged.splice(logged.indexOf(from), through - from + 1);
          from = through + 1;
        }
      } catch (error) {
        assert.match(String(error), /the disk is full/);
      }
      assert.deepEqual(await answered(folder, logged), range(1, 20), `round ${round}`);
      const after = disk.afterCrash(() => random.below(2) === 0);
      assert.deepEqual(
        await answered(await folderOn(after), logged),
        range(1, 20),
        `round ${round}`,
      );
    }
  }
});

/** Adds and merges, over failures, until the disk is dead. `logged`: as in `work`. */
async function workOn(disk: ModelDisk, random: Random, logged: number[]): Promise<void> {
  const folder = await folderOn(disk);
  for (let from = 1; from <= 20; ) {
    try {
      if (random.below(4) === 0) await merge(folder);
      else {
        const through = Math.min(20, from + random.below(3));
        await folder.add(newSegment(from, through));
        logged.splice(logged.indexOf(from), through - from + 1);
        from = through + 1;
      }
    } catch (error) {
      assert.ok(error instanceof DiskError, String(error));
    }
  }
}

test('on a disk that keeps no more than its promises, crashes lose and double no row', async () => {
  let crashes = 0;
  for (let round = 0; round < CRASHING_LIVES; round++) {
    const random = new Random(round);
    const faults = { write: 5, sync: 5, other: round % 3 === 0 ? 20 : 0 };
    const logged = range(1, 20);
    let disk = new ModelDisk(random);
    disk.faults = faults;
    disk.crashAfter(2 + random.below(120));
    const work = workOn(disk, random, logged).catch((error: unknown) => {
      // The start may fail, too.
      assert.ok(error instanceof DiskError, String(error));
    });
    await Promise.race([work, disk.crashed]);
    // It may crash again while it comes up.
    for (let start = 0; start < 3; start++) {
      disk = disk.afterCrash();
      disk.crashAfter(random.below(14));
      await Promise.race([recover(disk), disk.crashed]);
      crashes++;
    }
    const last = disk.afterCrash();
    const { folder, report } = await recover(last);
    assert.deepEqual(report.quarantined, [], `round ${round}`);
    assert.deepEqual(await answered(folder, logged), range(1, 20), `round ${round}`);
  }
  assert.equal(crashes, 3 * CRASHING_LIVES);
});

test('days older than the retention are removed without being read', async () => {
  const disk = new MemoryDisk();
  const folder = await folderOn(disk);
  for (const age of [12, 11, 10, 0]) await folder.add(newSegment(20 - age, 20 - age, TODAY - age));
  const opened: string[] = [];
  const open = disk.open.bind(disk);
  disk.open = (path) => {
    if (path.endsWith('.segment')) opened.push(path);
    return open(path);
  };
  // Ten days before noon is within the day that began ten and a half days before.
  const { folder: again, report } = await recover(disk);
  assert.equal(report.expiredCount, 2);
  assert.equal(opened.length, 2);
  assert.deepEqual(await rowsOf(again), [10, 20]);
  assert.equal(disk.paths().length, 2);
});

/** Paths that a start reports as missing. */
async function missingOn(disk: Disk, nowUs = NOW_US): Promise<readonly string[]> {
  return (await recover(disk, nowUs)).report.missing.map(({ path }) => path);
}

test('a file that somebody removed is missing until the manifest is written again, or its day is over', async () => {
  const disk = new MemoryDisk();
  const folder = await folderOn(disk);
  const { path, envelope } = await folder.add(newSegment(1, 3));
  await folder.writeManifest();
  await disk.remove(path);
  assert.deepEqual(await missingOn(disk), [path]);
  assert.deepEqual(await missingOn(disk, NOW_US + 11 * DAY_US), []);
  const again = await folderOn(disk);
  const added = await again.add(newSegment(4, 6));
  assert.ok(added.envelope.id > envelope.id, 'the id of what is missing is not used again');
  await again.writeManifest();
  assert.deepEqual(await missingOn(disk), []);
});

test('a merged file that the manifest names stays until the next write, and is never missing', async () => {
  const disk = new MemoryDisk();
  const folder = await folderOn(disk);
  const files = [await folder.add(newSegment(1, 3)), await folder.add(newSegment(4, 6))];
  await folder.writeManifest();
  await merge(folder);
  assert.ok(files.every(({ path }) => disk.paths().includes(path)));
  assert.deepEqual(await missingOn(disk.afterCrash(() => true)), []);
  await folder.writeManifest();
  await folder.close();
  const stored = disk.paths().filter((path) => path.endsWith('.segment'));
  assert.deepEqual(
    stored,
    folder.segments(SOURCE).map(({ path }) => path),
  );
  assert.deepEqual(await missingOn(disk), []);
});

test('a day is dropped though the manifest cannot be written, and nothing is missing then', async () => {
  const disk = new MemoryDisk();
  const folder = await folderOn(disk);
  await folder.add(newSegment(1, 2));
  await folder.writeManifest();
  disk.before = (step) => {
    if (step.startsWith('write')) throw diskError('ENOSPC');
  };
  await folder.dropPartition(KEY);
  assert.deepEqual(disk.paths(), []);
  disk.before = () => {};
  assert.deepEqual(await missingOn(disk.afterCrash(() => false)), []);
});

test('a start removes no file that the manifest names and cannot omit', async () => {
  const disk = new MemoryDisk();
  const folder = await folderOn(disk);
  const { path } = await folder.add(newSegment(1, 2));
  await folder.writeManifest();
  disk.before = (step) => {
    if (/segment-manifest/.test(step)) throw diskError('EIO');
  };
  const later = NOW_US + 11 * DAY_US;
  await recover(disk, later);
  assert.ok(disk.paths().includes(path));
  disk.before = () => {};
  await recover(disk, later);
  assert.ok(!disk.paths().includes(path));
  assert.deepEqual(await missingOn(disk), []);
});

test('a file that the manifest cannot omit stays through later merges, too', async () => {
  const disk = new MemoryDisk();
  const folder = await folderOn(disk);
  const files = [await folder.add(newSegment(1, 3)), await folder.add(newSegment(4, 6))];
  await folder.writeManifest();
  await merge(folder);
  disk.before = (step) => {
    if (/segment-manifest/.test(step)) throw diskError('EIO');
  };
  const again = await folderOn(disk);
  // No write has named these two, so their removal waits for none.
  const later = [await again.add(newSegment(7, 7)), await again.add(newSegment(8, 8))];
  await again.replace(segmentOf([7, 8]), later);
  assert.ok(later.every(({ path }) => !disk.paths().includes(path)));
  assert.ok(files.every(({ path }) => disk.paths().includes(path)));
  disk.before = () => {};
  assert.deepEqual(await missingOn(disk.afterCrash(() => true)), []);
});

test('a dropped day is gone, and a failed removal is reported', async () => {
  const disk = new MemoryDisk();
  const folder = await folderOn(disk);
  await folder.add(newSegment(1, 2));
  await folder.add(newSegment(3, 4, TODAY - 1));
  disk.before = (step) => {
    if (step.startsWith('remove')) throw diskError('EIO');
  };
  await assert.rejects(folder.dropPartition({ ...KEY, partition: TODAY - 1 }), { code: 'EIO' });
  assert.deepEqual(await rowsOf(folder), [1, 2]);
  disk.before = () => {};
  await folder.dropPartition({ ...KEY, partition: TODAY - 1 });
  assert.equal(disk.paths().length, 1);
  assert.deepEqual(folder.coverage({ ...KEY, partition: TODAY - 1 }), []);
});

test('a start removes days past the retention, and none where the time is not trusted', async () => {
  const disk = new MemoryDisk();
  await (await folderOn(disk)).add(newSegment(1, 2));
  const { folder, report } = await recover(disk, Number.NEGATIVE_INFINITY);
  assert.equal(report.expiredCount, 0);
  assert.deepEqual(await rowsOf(folder), [1, 2]);
  const { folder: later, report: laterReport } = await recover(disk, NOW_US + 11 * DAY_US);
  assert.equal(laterReport.expiredCount, 1);
  assert.deepEqual(await rowsOf(later), []);
});

test('a file without a whole envelope goes to quarantine, and no other file is lost', async () => {
  const disk = new MemoryDisk();
  const folder = await folderOn(disk);
  await folder.add(newSegment(1, 2));
  const { path } = await folder.add(newSegment(3, 4));
  disk.put(path, disk.bytesOf(path).subarray(0, 100));
  const { folder: again, report } = await recover(disk);
  assert.deepEqual(await answered(again, [3]), [1, 2, 3]);
  assert.match(report.quarantined[0]!.reason, /2026-01-15.0000000002.segment is damaged: neither/);
  assert.ok(disk.paths().includes('/data/quarantine/source-1.2026-01-15.0000000002.segment'));
  assert.equal((await recover(disk)).report.quarantined.length, 0);
  assert.equal((await again.add(newSegment(5, 5))).envelope.id, 3);
});

test('if a merged file is damaged, its sources count again if they still exist', async () => {
  const disk = new MemoryDisk();
  const folder = await folderOn(disk);
  await folder.add(newSegment(1, 2));
  disk.before = (step) => {
    if (step.startsWith('remove')) throw diskError('EIO');
  };
  await folder.add(newSegment(3, 4));
  await merge(folder);
  disk.before = () => {};
  const [merged] = folder.segments(SOURCE);
  disk.put(merged!.path, new Uint8Array(10));
  assert.deepEqual(await rowsOf(await folderOn(disk)), [1, 2, 3, 4]);
});

test('a copy of a file under another name does not count', async () => {
  const disk = new MemoryDisk();
  const { path } = await (await folderOn(disk)).add(newSegment(1, 2));
  disk.put('/data/segments/source-1/2026-01-15.0000000077.segment', disk.bytesOf(path));
  disk.put('/data/segments/source-1/notes.txt', Buffer.from('by a person'));
  const { folder, report } = await recover(disk);
  assert.deepEqual(await rowsOf(folder), [1, 2]);
  assert.match(report.quarantined[0]!.reason, /copy of segment 1/);
  assert.deepEqual(report.unknown, ['/data/segments/source-1/notes.txt']);
});

test('a file of a newer version stops the start, and nothing is touched before', async () => {
  const disk = new MemoryDisk();
  const folder = await folderOn(disk);
  await folder.add(newSegment(1, 2));
  const { path } = await folder.add(newSegment(3, 4));
  disk.put('/data/segments/source-1/2026-01-15.0000000009.segment.tmp', new Uint8Array(3));
  const { crc32 } = await import('node:zlib');
  const bytes = Buffer.from(disk.bytesOf(path));
  bytes.writeUInt32LE(9, 4);
  const envelope = bytes.subarray(16, 16 + bytes.readUInt32LE(8));
  bytes.writeUInt32LE(crc32(envelope, crc32(bytes.subarray(0, 12))), 12);
  disk.put(path, bytes);
  const before = disk.paths();
  await assert.rejects(recover(disk), /0000000002\.segment is a segment file of version 9/);
  assert.deepEqual(disk.paths(), before);
});

test('damage of a column loses its values: the segment is stored without it, and the file is quarantined', async () => {
  const disk = new MemoryDisk();
  const folder = await folderOn(disk);
  const added = await folder.add(newSegment(1, 40));
  const offset = readFooter(segmentOf(range(1, 40))).leaves[0]!.numbers!.slice![0];
  turnBit(disk, added, offset);
  const again = await folderOn(disk);
  const loaded = await again.load(again.segments(SOURCE)[0]!);
  assert.ok(loaded?.kind === 'repaired');
  assert.deepEqual(loaded.lostColumns, [0]);
  assert.deepEqual(idsOf(loaded.buffer), range(1, 40));
  const reader = SealedSegmentReader.open(loaded.buffer);
  const roots = reader.roots(Int32Array.of(0), 1);
  const metadata = roots.source.field(roots, 'metadata');
  assert.ok(metadata.kind === 'nested');
  assert.equal(valueAt(metadata.source.field(metadata, 'n'), 0), null);
  assert.deepEqual(disk.paths(), [
    '/data/quarantine/source-1.2026-01-15.0000000001.segment',
    '/data/segments/source-1/2026-01-15.0000000002.segment',
  ]);
  const last = await folderOn(disk.afterCrash(() => false));
  assert.deepEqual(await answered(last, range(39, 42)), range(1, 42));
});

test('damage of the data that separates rows loses the file, and the log restores what it still has', async () => {
  const disk = new MemoryDisk();
  const folder = await folderOn(disk);
  const added = await folder.add(newSegment(1, 40));
  turnBit(disk, added, readFooter(segmentOf(range(1, 40))).timestampsUs.slice![0]);
  const loaded = await folder.load(added);
  assert.deepEqual(loaded, { kind: 'lost', path: added.path });
  assert.deepEqual(await answered(folder, range(35, 41)), range(35, 41));
  assert.deepEqual(disk.paths(), ['/data/quarantine/source-1.2026-01-15.0000000001.segment']);
});

/** Turns a bit of the block that holds the slice at this place in memory. */
function turnBit(disk: MemoryDisk, file: SegmentFile, sliceOffset: number): void {
  const bytes = Buffer.from(disk.bytesOf(file.path));
  const { blocks } = file.envelope;
  bytes[blocks[blocksWith(blocks, [sliceOffset, 1]).first * BLOCK_NUMBERS + 2]!]! ^= 4;
  disk.put(file.path, bytes);
}

test('changes of one partition that overlap in time lose and double nothing', async () => {
  const disk = new MemoryDisk();
  const folder = await folderOn(disk);
  const first = await folder.add(newSegment(1, 40));
  const second = await folder.add(newSegment(41, 42));
  turnBit(disk, first, readFooter(segmentOf(range(1, 40))).leaves[0]!.numbers!.slice![0]);
  const merged = segmentOf(range(1, 42));
  const outcomes = await Promise.all([
    folder.load(first),
    folder.replace(merged, [first, second]),
    folder.load(first),
    folder.add(newSegment(43, 44)),
    folder.replace(segmentOf(range(41, 42)), [second]),
    folder.replace(merged, [second]),
  ]);
  assert.equal(outcomes[0]?.kind, 'repaired');
  assert.deepEqual([outcomes[1], outcomes[2], outcomes[5]], [undefined, undefined, undefined]);
  assert.deepEqual(await rowsOf(folder), range(1, 44));
  assert.deepEqual(await rowsOf(await folderOn(disk)), range(1, 44));
  const all = folder.segments(SOURCE);
  const [, late] = await Promise.all([folder.dropPartition(KEY), folder.replace(merged, all)]);
  assert.equal(late, undefined);
  assert.deepEqual(await rowsOf(await folderOn(disk)), []);
});

test('on the machine’s own disk, segments are found by the next process', async () => {
  const top = await mkdtemp(join(tmpdir(), 'weir-segments-'));
  try {
    const options = {
      disk: new NodeDisk(),
      path: join(top, 'segments'),
      quarantinePath: join(top, 'quarantine'),
      retentionNowUs: NOW_US,
      retentionUs: 10 * DAY_US,
      pack: async (buffer: SharedArrayBuffer) => packImage(buffer),
    };
    const { folder } = await SegmentFolder.recover(options);
    await folder.add(newSegment(1, 40));
    await folder.add(newSegment(41, 80));
    await merge(folder);
    const { path } = await folder.add(newSegment(81, 82));
    await writeFile(path, 'not a segment');
    const stray = join(options.path, '.DS_Store');
    await writeFile(stray, 'left by something else, among the folders of sources');
    const { folder: again, report } = await SegmentFolder.recover(options);
    assert.deepEqual(await rowsOf(again), range(1, 80));
    assert.equal(report.quarantined.length, 1);
    assert.deepEqual(report.unknown, [stray]);
    assert.equal((await readdir(join(options.path, SOURCE))).length, 1);
    assert.equal((await readdir(options.quarantinePath)).length, 1);
  } finally {
    await rm(top, { recursive: true });
  }
});
