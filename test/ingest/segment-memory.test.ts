import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { packImage } from '../../engine/column/packed-image.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { readFooter, sealedSlicesOf } from '../../engine/column/sealed-layout.ts';
import type { AnyContent, SealedSegmentHandle } from '../../engine/column/segment.ts';
import {
  ABSENT,
  BLOCK_NUMBERS,
  blocksWith,
  GAUGE_LIMIT,
  GAUGE_RESIDENT,
  isFrequent,
  isRetired,
  KIB,
  newMemoryGauge,
  RESIDENT,
} from '../../engine/column/segment-backing.ts';
import { SegmentImage } from '../../engine/column/segment-image.ts';
import { OPEN_ROWS_MAX } from '../../engine/limits.ts';
import type { Disk } from '../../ingest/disk/disk.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { HeldSegment } from '../../ingest/held-segment.ts';
import { LogStore } from '../../ingest/log-store.ts';
import { MemoryBudget } from '../../ingest/memory-budget.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import type { SegmentDamage } from '../../ingest/sealed-segments.ts';
import { computeLastUse, measureResident } from '../../ingest/segment-blocks.ts';
import { SegmentFile } from '../../ingest/segment-file.ts';
import { SegmentFolder } from '../../ingest/segment-folder.ts';
import { packSegment } from '../../ingest/segment-packing.ts';
import { summarizeSegment } from '../../ingest/segment-summary.ts';
import { batchOf } from '../column/batch-of.ts';
import { edgeEvents } from '../column/edge-events.ts';
import { rowsOfSealed } from '../crash/stored-rows.ts';
import { mergingOn } from '../support/merging.ts';
import { smallBatch } from '../support/small-batch.ts';
import { wholeSegment } from '../support/whole-segment.ts';
import { MemoryDisk } from './memory-disk.ts';

const EVERYTHING = { timestampUsStart: -Infinity, timestampUsEnd: Infinity };
const NOW_US = 20_468.5 * PARTITION_US;
const RETENTION_US = 90 * PARTITION_US;

type Opened = {
  readonly store: LogStore;
  readonly folder: SegmentFolder;
  readonly damages: SegmentDamage[];
  readonly gone: AnyContent[];
};

/** A store over the segment files below `path`, without a log. */
async function opened(
  disk: Disk,
  budget: MemoryBudget | undefined = undefined,
  path = '/data',
): Promise<Opened> {
  const { folder } = await SegmentFolder.recover({
    ...{ disk, retentionNowUs: NOW_US, retentionUs: RETENTION_US },
    path: join(path, 'segments'),
    quarantinePath: join(path, 'quarantine'),
    pack: async (buffer) => packImage(buffer),
  });
  const gone: AnyContent[] = [];
  const store = new LogStore({
    ...{ sources: ['a'], retentionUs: RETENTION_US, budget, summarize: summarizeSegment },
    readers: () => ({
      releaseDropped: () => {},
      inherit: () => {},
      forget: (content) => gone.push(content),
    }),
    seal: async (handle) => sealSegment(handle, { partitionUs: PARTITION_US }),
  });
  for (const file of folder.segments('a')) store.restore('a', file, (await file.summary())!);
  const damages: SegmentDamage[] = [];
  store.useStorage({
    folder,
    ...mergingOn(disk),
    onFailure: ({ error }) => {
      throw error;
    },
    onDamage: (damage) => damages.push(damage),
  });
  return { store, folder, damages, gone };
}

/** Takes full events in and waits until they are in a file. */
async function fill({ store }: Opened, count = 500): Promise<void> {
  const events = edgeEvents(count, 7).map((event, n) => ({ ...event, timestampUs: NOW_US + n }));
  await store.append('a', batchOf(events));
  await store.flush();
  await store.settled();
}

function handlesOf({ store }: Opened): SealedSegmentHandle[] {
  return store.segments('a', EVERYTHING).map((handle) => {
    assert(handle.kind === 'sealed');
    return handle;
  });
}

function bytesOf(buffer: SharedArrayBuffer): Buffer {
  return Buffer.from(new Uint8Array(buffer, 0, buffer.byteLength));
}

function isAll({ backing }: SealedSegmentHandle, state: number): boolean {
  return backing?.states.every((one) => one === state) === true;
}

test('a stored segment is wholly in memory, and names the file of its blocks', async () => {
  const one = await opened(new MemoryDisk());
  await fill(one);
  const [handle] = handlesOf(one);
  const file = one.folder.segments('a')[0]!;
  assert.ok(isAll(handle!, RESIDENT));
  assert.equal(handle!.backing!.path, file.path);
  const { segmentBytes, residentCount } = one.store.memoryStats();
  assert.equal(residentCount, 1);
  assert.ok(Math.abs(segmentBytes - handle!.buffer.byteLength) < 8 * KIB, `${segmentBytes}`);
  // New rows stay in memory longer than what was read once.
  const { uses, states } = handle!.backing!;
  assert.ok(states.every((_, block) => isFrequent(uses, block)));
});

test('a start reads only envelopes and project names of segment files', async () => {
  const disk = new MemoryDisk();
  await fill(await opened(disk), 3_000);
  let readSize = 0;
  const open = disk.open.bind(disk);
  disk.open = async (path) => {
    const reader = await open(path);
    const read: typeof reader.read = (target, offset) => {
      readSize += target.length;
      return reader.read(target, offset);
    };
    return { size: reader.size, close: () => reader.close(), read };
  };
  const again = await opened(disk);
  const { byteSize } = again.folder.segments('a')[0]!;
  assert.ok(readSize < byteSize / 10, `${readSize} of ${byteSize}`);
  assert.equal(again.store.memoryStats().segmentBytes, 0);
  const [handle] = handlesOf(again);
  assert.ok(isAll(handle!, ABSENT));
  assert.equal(handlesOf(again)[0], handle, 'the next snapshot has the same');
});

test('evicted blocks are read again with the same bytes', async () => {
  const path = await mkdtemp(join(tmpdir(), 'weir-memory-'));
  try {
    const whole = await opened(new MemoryDisk());
    await fill(whole);
    const written = bytesOf(handlesOf(whole)[0]!.buffer);
    const budget = new MemoryBudget({ memoryBytesMax: written.length, othersBytesMax: 0 });
    const one = await opened(new NodeDisk(), budget, path);
    await fill(one);
    const { evictedBlocks, segmentBytes } = one.store.memoryStats();
    assert.ok(evictedBlocks > 10 && segmentBytes === 0, `${evictedBlocks}, ${segmentBytes}`);
    const [handle] = handlesOf(one);
    assert.ok(isAll(handle!, ABSENT));
    assert.ok(!one.store.dropped().ids.includes(handle!.id));
    // As if all of it had room.
    const limitKib = budget.gauge[GAUGE_LIMIT]!;
    budget.gauge[GAUGE_LIMIT] = 2 ** 20;
    const image = SegmentImage.open(handle!);
    for (const slice of sealedSlicesOf(readFooter(image.buffer))) image.need(slice);
    assert.ok(isAll(handle!, RESIDENT));
    assert.ok(bytesOf(image.buffer).equals(written));
    assert.ok(budget.gauge[GAUGE_RESIDENT]! * KIB >= written.length - 4 * KIB);
    budget.gauge[GAUGE_LIMIT] = limitKib;
    // It is more than may be there: the next look lets go of it, and threads hear of that.
    one.store.tick(NOW_US);
    await one.store.settled();
    assert.equal(one.store.memoryStats().segmentBytes, 0);
    assert.equal(one.store.dropped().ids.at(-1), handle!.id);
    assert.deepEqual([isRetired(handle!.backing!), handle!.buffer.byteLength], [true, 0]);
    const again = SegmentImage.whole(handlesOf(one)[0]!);
    assert.ok(bytesOf(again).equals(written));
  } finally {
    await rm(path, { recursive: true, force: true });
  }
});

test('an eviction copies the blocks that stay, and none of the others', async () => {
  const whole = await opened(new MemoryDisk());
  await fill(whole);
  const { buffer } = handlesOf(whole)[0]!;
  const { parts } = packSegment(packImage(buffer), {
    ...{ id: 1, source: 'a', partition: 20_468, covered: [], replaced: [], awaits: [] },
  });
  const disk = new MemoryDisk();
  disk.put('/a/1', Buffer.concat(parts));
  const file = await SegmentFile.open(disk, '/a/1');
  const dropped: number[] = [];
  const gone: AnyContent[] = [];
  let id = 0;
  const held = HeldSegment.stored(
    {
      summary: summarizeSegment(buffer),
      ids: {
        next: () => ++id,
        drop: (dropId) => dropped.push(dropId),
        became: () => {},
        gone: (content) => gone.push(content),
      },
      gauge: newMemoryGauge(1e9),
    },
    file,
  );
  held.becomeStored(file, { buffer, usedAt: 5 });
  assert.deepEqual([held.id, held.lastUse], [1, 5]);
  const blocks = held.blocks!;
  const { content } = held.handle();
  const { timestampsUs, ids } = readFooter(buffer);
  const stays = new Set(
    [
      timestampsUs.slice!,
      ...(ids.strings.packing.kind === 'uuid' ? [ids.strings.packing.bytes] : []),
    ].map((slice) => blocksWith(blocks.backing.blocks, slice).first),
  );
  const count = blocks.backing.states.length - 1;
  const leaving = new Set([...Array(count).keys()].filter((block) => !stays.has(block)));
  assert.equal(await held.letGo(blocks, leaving), true);
  assert.deepEqual([held.id, dropped], [2, [1]]);
  const left = held.blocks!;
  assert.deepEqual(readFooter(left.buffer), readFooter(buffer), 'the footer stays with any block');
  let size = 0;
  for (let block = 0; block < count; block++) {
    const [offset, length] = left.backing.blocks.subarray(block * BLOCK_NUMBERS);
    const bytes = bytesOf(left.buffer).subarray(offset, offset! + length!);
    assert.equal(left.backing.states[block], stays.has(block) ? RESIDENT : ABSENT);
    if (stays.has(block)) {
      size += length!;
      assert.ok(bytes.equals(bytesOf(buffer).subarray(offset, offset! + length!)));
    } else assert.ok(bytes.every((byte) => byte === 0));
  }
  const frameSize = measureResident(left) - size;
  assert.ok(size > 0 && frameSize > 0 && frameSize < 64 * KIB, `${frameSize}`);
  assert.equal(computeLastUse(left.backing), 5);
  // Another buffer is in its place: what was decided of the old one does not hold any more.
  assert.equal(await held.letGo(blocks, 'all'), false);
  assert.equal(await held.letGo(left, 'all'), true);
  assert.deepEqual([held.id, held.residentSize, dropped], [undefined, 0, [1, 2]]);
  // Dropped while what stays is copied: nothing comes in its place.
  held.becomeStored(file, { buffer, usedAt: 5 });
  const lettingGo = held.letGo(held.blocks!, leaving);
  held.drop();
  assert.equal(await lettingGo, false);
  assert.deepEqual([held.id, dropped], [undefined, [1, 2, 3]]);
  assert.equal(gone.length, 1);
  assert.ok(content !== undefined && gone[0] === content, 'the rows were the same all along');
});

test('a segment that lost values has another content', async () => {
  const disk = new MemoryDisk();
  const first = await opened(disk);
  await fill(first);
  const { ids } = readFooter(handlesOf(first)[0]!.buffer);
  const store = await opened(disk);
  const whole = handlesOf(store)[0]!;
  const [slice] = ids.strings.packing.kind === 'uuid' ? [ids.strings.packing.bytes] : [];
  damage(disk, store.folder.segments('a')[0]!, slice![0]);
  assert.equal(await store.store.repair(whole.id), true);
  const mended = handlesOf(store)[0]!;
  assert.notEqual(mended.content, whole.content);
  assert.deepEqual(store.gone, [whole.content]);
});

/** Turns a bit of a stored segment, in the block that begins at `offset` of the segment. */
function damage(disk: MemoryDisk, { path, envelope }: SegmentFile, offset: number): void {
  const bytes = Buffer.from(disk.bytesOf(path));
  const block = blocksWith(envelope.blocks, [offset, 1]).first;
  bytes[envelope.blocks[block * BLOCK_NUMBERS + 2]!]! ^= 4;
  disk.put(path, bytes);
}

test('a damaged segment is replaced by one without the lost values, which is reported once', async () => {
  const disk = new MemoryDisk();
  const first = await opened(disk);
  await fill(first);
  const { ids } = readFooter(handlesOf(first)[0]!.buffer);
  const [slice] = ids.strings.packing.kind === 'uuid' ? [ids.strings.packing.bytes] : [];
  const again = await opened(disk);
  damage(disk, again.folder.segments('a')[0]!, slice![0]);
  const { id } = handlesOf(again)[0]!;
  // Queries of many find it at the same time.
  const repairs = [again.store.repair(id), again.store.repair(id)];
  assert.deepEqual(await Promise.all(repairs), [true, true]);
  assert.deepEqual(
    again.damages.map(({ load }) => (load.kind === 'repaired' ? load.lostColumns : load.kind)),
    [['id']],
  );
  const [handle] = handlesOf(again);
  assert.notEqual(handle!.id, id);
  assert.ok(again.store.dropped().ids.includes(id));
  const rows = rowsOfSealed(handle!.buffer);
  assert.deepEqual([rows.length, rows.every((row) => row.id === null)], [500, true]);
  // Who comes later has an old snapshot.
  assert.equal(await again.store.repair(id), true);
  assert.equal(again.damages.length, 1);
});

test('a segment whose rows cannot be separated any more is dropped', async () => {
  const disk = new MemoryDisk();
  const first = await opened(disk);
  await fill(first);
  const { timestampsUs } = readFooter(handlesOf(first)[0]!.buffer);
  const again = await opened(disk);
  damage(disk, again.folder.segments('a')[0]!, timestampsUs.slice![0]);
  const { id } = handlesOf(again)[0]!;
  assert.equal(await again.store.repair(id), true);
  assert.deepEqual(
    again.damages.map(({ load }) => load.kind),
    ['lost'],
  );
  assert.deepEqual([handlesOf(again), again.store.stats()[0]!.rowCount], [[], 0]);
});

test('a segment without a file cannot be repaired, and a dropped one need not be', async () => {
  const store = new LogStore({
    ...{ sources: ['a'], retentionUs: RETENTION_US, summarize: summarizeSegment },
    seal: async (handle) => sealSegment(handle, { partitionUs: PARTITION_US }),
  });
  await store.append('a', batchOf([{ timestampUs: NOW_US }]));
  await store.flush();
  const [handle] = store.segments('a', EVERYTHING);
  assert.equal(await store.repair(handle!.id), false);
  assert.equal(await store.repair(handle!.id + 1_000), true);
});

test('a segment that is whole when it is read again is read from its file', async () => {
  const disk = new MemoryDisk();
  await fill(await opened(disk));
  const again = await opened(disk);
  const { id } = handlesOf(again)[0]!;
  assert.equal(await again.store.repair(id), true);
  const [handle] = handlesOf(again);
  assert.ok(handle!.id !== id && isAll(handle!, RESIDENT));
  assert.deepEqual(again.damages, []);
});

test('memory stays within the budget however much is sealed, and queries see all rows', async () => {
  const disk = new MemoryDisk();
  const budget = new MemoryBudget({ memoryBytesMax: 2_000 * KIB, othersBytesMax: 0 });
  const one = await opened(disk, budget);
  let rowCount = 0;
  for (let day = 0; day < 12; day++) {
    const events = edgeEvents(700, day).map((event, n) => ({
      ...event,
      timestampUs: NOW_US - day * PARTITION_US + n,
    }));
    await one.store.append('a', batchOf(events));
    rowCount += events.length;
    await one.store.flush();
    one.store.tick(NOW_US);
    await one.store.settled();
    const { segmentBytes, segmentBytesMax } = one.store.memoryStats();
    assert.ok(segmentBytes <= segmentBytesMax, `${segmentBytes} of ${segmentBytesMax}`);
  }
  assert.ok(one.store.memoryStats().evictedBlocks > 0);
  const handles = handlesOf(one);
  const buffers = await Promise.all(handles.map((handle) => wholeSegment(disk, handle)));
  assert.equal(buffers.flatMap(rowsOfSealed).length, rowCount);
  const sizeOfAll = handles.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
  assert.ok(sizeOfAll > 1.5 * one.store.memoryStats().segmentBytesMax, 'it was too much');
});

test('replay waits for memory while segments cannot be written', async () => {
  const disk = new MemoryDisk();
  const create = disk.create.bind(disk);
  let letWrite = (): void => {};
  const isWritable = new Promise<void>((resolve) => {
    letWrite = resolve;
  });
  disk.create = (path) => isWritable.then(() => create(path));
  const budget = new MemoryBudget({ memoryBytesMax: 4 * KIB * KIB, othersBytesMax: 0 });
  const { store } = await opened(disk, budget);
  // No two of them fit into one open segment.
  const rowCount = OPEN_ROWS_MAX / 2 + 1;
  const batch = smallBatch(
    Array.from({ length: rowCount }, (_, row) => String((row * 2_654_435_761) % 2 ** 32)),
    NOW_US,
  );
  let replayedCount = 0;
  const replaying = (async () => {
    for (let sequence = 1; sequence <= 7; sequence++) {
      const record = {
        ...{ source: 'a', sequence, arrivalBase: sequence * rowCount, rowCount, receivedUs: 0 },
        ...{ timestampUsMin: NOW_US, timestampUsMax: NOW_US, byteSize: 1, batch: () => batch },
      };
      const options = { nowUs: NOW_US, retentionNowUs: NOW_US, isCovered: () => false };
      await store.replay(record, options);
      replayedCount = sequence;
    }
  })();
  for (let turns = 0; turns < 3_000; turns++) {
    const before = replayedCount;
    await new Promise((resolve) => setImmediate(resolve));
    if (replayedCount > before) turns = 0;
  }
  const sizes = store.segments('a', EVERYTHING).map((handle) => {
    return handle.kind === 'sealed' ? handle.buffer.byteLength : 0;
  });
  const size = Math.max(...sizes);
  const { segmentBytesMax } = store.memoryStats();
  // One that waits to be sealed, one that was begun, and one that was being sealed.
  const countMax = segmentBytesMax / size + 3;
  assert.ok(replayedCount > 1 && replayedCount <= countMax, `${replayedCount} of ${countMax}`);
  assert.ok(countMax < 7, `${countMax} are less than all`);
  letWrite();
  await replaying;
  await store.flush();
  await store.settled();
  assert.equal(store.stats()[0]!.rowCount, 7 * rowCount);
  const after = store.memoryStats();
  assert.ok(after.evictedBlocks > 0 && after.segmentBytes <= after.segmentBytesMax);
});
