import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { packImage } from '../../engine/column/packed-image.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { SealedSegmentReader } from '../../engine/column/sealed-segment.ts';
import { MERGE_RUNS_MIN } from '../../ingest/limits.ts';
import { MemoryBudget } from '../../ingest/memory-budget.ts';
import type { MergeBounds } from '../../ingest/merge-choice.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import { SealedSegments } from '../../ingest/sealed-segments.ts';
import { SegmentFolder } from '../../ingest/segment-folder.ts';
import { summarizeSegment } from '../../ingest/segment-summary.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { mergingOn } from '../support/merging.ts';
import { ModelDisk } from '../support/model-disk.ts';
import { smallBatch } from '../support/small-batch.ts';

const DAY = 20_468;
const EVERYTHING = { timestampUsStart: -Infinity, timestampUsEnd: Infinity };

const LARGE_ROWS = 400;
const PROJECTS = 10;
/** A merge takes the small segments and not the large ones. */
const BOUNDS: MergeBounds = {
  ...{ rowCount: 1000, byteSize: Number.POSITIVE_INFINITY },
  stepSize: Number.POSITIVE_INFINITY,
  runsMin: MERGE_RUNS_MIN,
};

class SmallMerges extends MemoryBudget {
  override get mergeBounds(): MergeBounds {
    return BOUNDS;
  }
}

function budgetOf(memoryBytesMax: number): MemoryBudget {
  return new SmallMerges({ memoryBytesMax, othersBytesMax: 0 });
}

/** Rows of one record of the log. */
function segmentOf(record: number, rowCount: number): SharedArrayBuffer {
  const segment = new OpenSegment({ id: 1, arrivalBase: record * LARGE_ROWS });
  const ids = Array.from({ length: rowCount }, (_, row) => `${record}-${row}`);
  segment.append(smallBatch(ids, DAY * PARTITION_US, PROJECTS), 0, rowCount);
  segment.publish();
  return sealSegment(segment.handle(), { partitionUs: PARTITION_US })[0]!;
}

async function folderOn(disk: ModelDisk): Promise<SegmentFolder> {
  const { folder } = await SegmentFolder.recover({
    ...{ disk, path: '/data/segments', quarantinePath: '/data/quarantine' },
    ...{ retentionNowUs: DAY * PARTITION_US, retentionUs: 90 * PARTITION_US },
    pack: async (buffer) => packImage(buffer),
  });
  return folder;
}

/** Rows and files that a start on this disk finds. */
async function foundOn(disk: ModelDisk): Promise<{ rowCount: number; fileCount: number }> {
  const files = (await folderOn(disk)).segments('a');
  let rowCount = 0;
  for (const file of files) {
    rowCount += SealedSegmentReader.open((await file.load()).buffer).rowCount;
  }
  return { rowCount, fileCount: files.length };
}

/** Segments that are due a division; `betweenSteps` is called before each of its parts. */
async function dueDivision(
  betweenSteps: (sealed: SealedSegments, totalBytes: number) => Promise<boolean>,
  budget: MemoryBudget = budgetOf(Number.POSITIVE_INFINITY),
) {
  const disk = new ModelDisk(new Random(1));
  let id = 0;
  const sealed: SealedSegments = new SealedSegments({
    source: 'a',
    summarize: summarizeSegment,
    ids: { next: () => ++id, drop: () => {}, became: () => {}, gone: () => {} },
    budget,
    onChange: () => {},
    betweenSteps: (totalBytes) => betweenSteps(sealed, totalBytes),
  });
  sealed.useStorage({
    folder: await folderOn(disk),
    ...mergingOn(disk),
    onFailure: ({ error }) => assert.fail(String(error)),
    onDamage: ({ path }) => assert.fail(path),
  });
  for (let record = 1; record <= MERGE_RUNS_MIN; record++) add(sealed, record, LARGE_ROWS);
  await sealed.settled();
  return { disk, sealed };
}

function add(sealed: SealedSegments, record: number, rowCount: number): void {
  const origin = { firstSequence: record, lastSequence: record };
  sealed.add([segmentOf(record, rowCount)], origin, rowCount);
}

/** The files that a query for one project reads. */
function readBy(sealed: SealedSegments, projectKey: string): number {
  return sealed.handles({ ...EVERYTHING, projectKey }).length;
}

test('small segments that come while rows are divided are merged meanwhile, and at any end each row exists once', async () => {
  const ends: ModelDisk[] = [];
  let steps = 0;
  const { disk, sealed } = await dueDivision(async (sealed, totalBytes) => {
    if (steps++ !== 1) return true;
    for (let small = 1; small <= MERGE_RUNS_MIN; small++) add(sealed, MERGE_RUNS_MIN + small, 1);
    while (sealed.storing() !== undefined) await sealed.storing();
    disk.onOperation = () => ends.push(disk.afterKill(), disk.afterCrash());
    const merging = sealed.mergeSome(-Infinity, { totalBelow: totalBytes / 2 });
    assert(merging !== undefined, 'the small ones are merged');
    await merging;
    assert.equal(sealed.mergeSome(-Infinity, { totalBelow: totalBytes / 2 }), undefined);
    return true;
  });
  assert.equal(readBy(sealed, '0'), MERGE_RUNS_MIN);
  await sealed.mergeSome(-Infinity);
  await sealed.settled();
  disk.onOperation = () => {};
  assert.deepEqual(
    // Small ones have rows of seven of the projects.
    [sealed.stats().mergeCount, readBy(sealed, '0'), readBy(sealed, '9')],
    [2, 2, 1],
  );
  const rowCount = MERGE_RUNS_MIN * (LARGE_ROWS + 1);
  assert(ends.length > 20, `${ends.length} ends`);
  const counts = new Set<number>();
  for (const end of [...ends, disk.afterKill()]) {
    const found = await foundOn(end);
    assert.equal(found.rowCount, rowCount);
    counts.add(found.fileCount);
  }
  assert(counts.size >= 3, 'before the small ones were merged, after, and when all was divided');
});

test('a division leaves no more in memory than it found, and the budget as it was', async () => {
  for (const isResident of [true, false]) {
    const budget = budgetOf(1024 * 1024 * 1024);
    const { sealed } = await dueDivision(async () => true, budget);
    const sizeOf = (): number =>
      [...sealed.segments()].reduce((sum, { residentSize }) => sum + residentSize, 0);
    for (const segment of sealed.segments()) {
      if (!isResident) await segment.letGo(segment.blocks!, 'all');
    }
    const [foundSize, limit] = [sizeOf(), budget.segmentBytesMax];
    await sealed.mergeSome(-Infinity);
    await sealed.settled();
    assert.equal(readBy(sealed, '0'), 1);
    const leftSize = sizeOf();
    assert.ok(leftSize <= foundSize && leftSize > 0 === isResident, `${leftSize} of ${foundSize}`);
    assert.equal(budget.segmentBytesMax, limit);
  }
});

test('a division that is stopped between its parts changes nothing', async () => {
  let steps = 0;
  const { disk, sealed } = await dueDivision(async () => steps++ < 2);
  const paths = disk.paths();
  await sealed.mergeSome(-Infinity);
  assert.deepEqual([steps, sealed.stats().mergeCount], [3, 0]);
  assert.deepEqual(disk.paths(), paths);
  assert.equal(sealed.handles(EVERYTHING).length, MERGE_RUNS_MIN);
});

test('the parts of a division are in memory as far as there is room', async () => {
  const goOn = () => Promise.resolve(true);
  const areResident = async (memoryBytesMax: number): Promise<readonly boolean[]> => {
    const { sealed } = await dueDivision(goOn, budgetOf(memoryBytesMax));
    await sealed.mergeSome(-Infinity);
    partBytes = Math.max(...Array.from(sealed.segments(), ({ summary }) => summary.byteSize));
    return Array.from(sealed.segments(), ({ residentSize }) => residentSize > 0);
  };
  let partBytes = 0;
  const all = await areResident(Number.POSITIVE_INFINITY);
  assert.ok(all.length > 2);
  assert.deepEqual(new Set(all), new Set([true]));
  const some = await areResident(1.5 * partBytes);
  assert.deepEqual(some, [true, ...some.slice(1).map(() => false)]);
});
