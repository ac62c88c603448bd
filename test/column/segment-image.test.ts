import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { EXTRACT_IMAGE_BYTES_MIN } from '../../engine/column/extract/segment-extract.ts';
import { readFooter } from '../../engine/column/sealed-layout.ts';
import type { SealedSegmentHandle, Segment } from '../../engine/column/segment.ts';
import {
  ABSENT,
  BLOCK_NUMBERS,
  type BlockTable,
  GAUGE_LIMIT,
  GAUGE_PASSING,
  GAUGE_RESIDENT,
  KIB,
  newMemoryGauge,
  RESIDENT,
  retire,
} from '../../engine/column/segment-backing.ts';
import {
  bytesReadInParts,
  SegmentDamagedError,
  SegmentGoneError,
  SegmentImage,
} from '../../engine/column/segment-image.ts';
import { endReading, isReadingPassing, readSegment } from '../../engine/column/segment-reader.ts';
import { partsOfVersion2 } from '../ingest/file-version-2.ts';
import { budgetOf } from '../support/budget.ts';
import { edgeEvents } from './edge-events.ts';
import {
  inFolder,
  newSegmentId,
  ROOM_FOR_ALL,
  rowsOfProject,
  sealedOf,
  stored,
} from './stored-segment.ts';
import { textsOf } from './vector-texts.ts';

const ROW_COUNT = 300;

function sealed(seed: number): SharedArrayBuffer {
  return sealedOf(edgeEvents(ROW_COUNT, seed));
}

const ROWS = Int32Array.from({ length: ROW_COUNT }, (_, row) => row);

function rowsOf(segment: Segment): unknown {
  const read = [segment.timestamps, segment.arrivals, segment.ids, segment.messages] as const;
  return [
    ...read.map((column) => textsOf(column.call(segment, ROWS, ROW_COUNT))),
    textsOf(segment.projects(ROWS, ROW_COUNT)),
    textsOf(segment.roots(ROWS, ROW_COUNT)),
    segment.runs(undefined),
    segment.runs('nobody'),
  ];
}

function sizeOf(blocks: BlockTable, block: number): number {
  return blocks[block * BLOCK_NUMBERS + 1]!;
}

function residentCount({ backing }: SealedSegmentHandle): number {
  return backing!.states.filter((state) => state === RESIDENT).length;
}

test('a segment of which nothing is in memory reads as the whole one does, and is in memory then', async () => {
  await inFolder(async (folder) => {
    const buffer = sealed(1);
    const gauge = newMemoryGauge(ROOM_FOR_ALL);
    const handle = await stored(folder, buffer, gauge);
    const whole = readSegment({ kind: 'sealed', id: newSegmentId(), buffer });
    assert.deepEqual(rowsOf(readSegment(handle)), rowsOf(whole));
    assert.equal(isReadingPassing(), false);
    assert(gauge[GAUGE_RESIDENT]! > 0);
    assert.equal(gauge[GAUGE_PASSING], 0);
    // What came back is where it was, to the byte.
    const { blocks, states } = handle.backing!;
    for (let block = 0; block < states.length - 1; block++) {
      if (states[block] !== RESIDENT) continue;
      const [offset, size] = [blocks[block * BLOCK_NUMBERS]!, blocks[block * BLOCK_NUMBERS + 1]!];
      const bytes = (from: SharedArrayBuffer) => Buffer.from(new Uint8Array(from, offset, size));
      assert(bytes(handle.buffer).equals(bytes(buffer)), `block ${block}`);
    }
    const before = gauge[GAUGE_RESIDENT]!;
    rowsOf(readSegment(handle));
    assert.equal(gauge[GAUGE_RESIDENT], before, 'nothing is read twice');
  });
});

test('a file that cannot be read is not damaged, one that is too short is', async () => {
  await inFolder(async (folder) => {
    const handle = await stored(folder, sealed(2), newMemoryGauge(ROOM_FOR_ALL));
    const whole = rowsOf(readSegment(handle));
    const { path, ...backing } = (await stored(folder, sealed(2), newMemoryGauge(ROOM_FOR_ALL)))
      .backing!;
    // The system opens a folder as it does a file, and refuses to read it.
    const unread = { ...handle, id: newSegmentId(), backing: { ...backing, path: folder } };
    assert.throws(() => SegmentImage.whole(unread), {
      name: 'SegmentReadError',
      code: 'storage_failed',
      reason: 'EISDIR',
      path: folder,
    });
    const short = {
      ...handle,
      id: newSegmentId(),
      backing: { ...backing, path: join(folder, 'short') },
    };
    await writeFile(short.backing.path, (await readFile(path)).subarray(0, 100));
    assert.throws(() => SegmentImage.whole(short), { name: 'SegmentDamagedError' });
    assert.deepEqual(rowsOf(readSegment(handle)), whole);
  });
});

test('only the columns that are asked for are read', async () => {
  await inFolder(async (folder) => {
    const handle = await stored(folder, sealed(2), newMemoryGauge(ROOM_FOR_ALL));
    const segment = readSegment(handle);
    assert.equal(segment.rowCount, ROW_COUNT);
    assert.equal(residentCount(handle), 0, 'what a scan asks first is known without reading');
    segment.timestamps(ROWS, ROW_COUNT);
    const structure = residentCount(handle);
    segment.ids(ROWS, ROW_COUNT);
    assert.equal(residentCount(handle), structure + 1);
    assert(residentCount(handle) < handle.backing!.states.length / 2);
  });
});

test('rows of a project are taken out of a large segment, and little else is read', async () => {
  await inFolder(async (folder) => {
    const events = edgeEvents(10_000, 4).map((event, n) => ({ ...event, project: `p${n % 250}` }));
    const buffer = sealedOf(events);
    assert.ok(buffer.byteLength > EXTRACT_IMAGE_BYTES_MIN);
    const gauge = newMemoryGauge(0);
    const handle = await stored(folder, buffer, gauge);
    const whole = readSegment({ kind: 'sealed', id: newSegmentId(), buffer });
    const segment = readSegment(handle);
    const own = segment.ofProject!('p7');
    assert.notEqual(own, segment);
    assert.deepEqual(rowsOfProject(own, 'p7'), rowsOfProject(whole, 'p7'));
    const readBytes = bytesReadInParts(handle.backing!);
    const columnCount = readFooter(buffer).leaves.length;
    // A block of each column, or two, and what the texts of some are made of.
    assert.ok(
      readBytes < 2 * columnCount * 32 * 1024,
      `${readBytes} bytes of ${buffer.byteLength}`,
    );
    assert.ok(readBytes < buffer.byteLength / 3);
    // Nearly all of the rows, and none of them.
    assert.equal(segment.ofProject!('nobody'), segment);

    // What the rows of several projects need comes where all threads share it, if there is room.
    const roomy = await stored(folder, buffer, newMemoryGauge(ROOM_FOR_ALL));
    const readOfEach = ['p3', 'p90', 'p170', 'p240'].map((project) => {
      const before = bytesReadInParts(roomy.backing!);
      assert.deepEqual(
        rowsOfProject(readSegment(roomy).ofProject!(project), project),
        rowsOfProject(whole, project),
      );
      return bytesReadInParts(roomy.backing!) - before;
    });
    assert.ok(readOfEach[3]! < 0.75 * readOfEach[0]!, `${readOfEach} bytes`);
    assert.ok(residentCount(roomy) < roomy.backing!.states.length / 3);

    // Rows that are taken out of memory alone count little of what it costs to read all columns where they lie, and not
    // where there is no room for these.
    const copiesUntilScanned = (limit: number): number => {
      roomy.backing!.gauge[GAUGE_LIMIT] = limit;
      const again = readSegment(roomy);
      for (let count = 0; count < 200; count++) {
        const taken = again.ofProject!('p3');
        if (taken === again) return count;
        rowsOfProject(taken, 'p3');
        endReading();
      }
      return Number.POSITIVE_INFINITY;
    };
    const count = copiesUntilScanned(ROOM_FOR_ALL / KIB);
    assert.ok(count > 5 && count < 100, `${count} copies`);
    assert.deepEqual(rowsOfProject(readSegment(roomy), 'p3'), rowsOfProject(whole, 'p3'));
    assert.equal(copiesUntilScanned(0), Number.POSITIVE_INFINITY);
  });
});

test('rows of a project are taken out of a file of version 2, too, and columns are read whole', async () => {
  await inFolder(async (folder) => {
    const events = edgeEvents(10_000, 4).map((event, n) => ({ ...event, project: `p${n % 250}` }));
    const buffer = sealedOf(events);
    const whole = readSegment({ kind: 'sealed', id: newSegmentId(), buffer });
    const old = await stored(folder, buffer, newMemoryGauge(0), partsOfVersion2);
    const own = readSegment(old).ofProject!('p7');
    assert.deepEqual(rowsOfProject(own, 'p7'), rowsOfProject(whole, 'p7'));
    endReading();
    assert.deepEqual(rowsOfProject(readSegment(old), 'p9'), rowsOfProject(whole, 'p9'));
    endReading();
    const bytes = (from: SharedArrayBuffer) => Buffer.from(new Uint8Array(from));
    assert(bytes(SegmentImage.whole(old)).equals(bytes(buffer)));
  });
});

test('damage costs the rows that need its block, and no others that are read with it', async () => {
  await inFolder(async (folder) => {
    const events = edgeEvents(10_000, 4).map((event, n) => ({ ...event, project: `p${n % 250}` }));
    const buffer = sealedOf(events);
    const whole = readSegment({ kind: 'sealed', id: newSegmentId(), buffer });
    const wanted = rowsOfProject(whole, 'p7');
    const handle = await stored(folder, buffer, newMemoryGauge(0));
    const bytes = await readFile(handle.path);
    const { blocks } = handle.backing!;
    let damaged = 0;
    for (let block = 0; block < blocks.length / BLOCK_NUMBERS; block += 25) {
      const [storedOffset, storedSize] = blocks.subarray(block * BLOCK_NUMBERS + 2);
      const turned = Buffer.from(bytes);
      turned[storedOffset! + (storedSize! >> 1)]! ^= 1;
      await writeFile(handle.path, turned);
      const other = { ...handle, id: newSegmentId() };
      try {
        assert.deepEqual(rowsOfProject(readSegment(other).ofProject!('p7'), 'p7'), wanted);
      } catch (error) {
        assert(error instanceof SegmentDamagedError, String(error));
        assert.ok(error.reason.includes(String(storedOffset)), error.reason);
        damaged++;
      }
      endReading();
    }
    const count = blocks.length / BLOCK_NUMBERS / 25;
    assert.ok(damaged > 0 && damaged < count / 3, `${damaged} of ${count}`);
  });
});

test('the newest rows of a project are taken out first, and others when they are asked for', async () => {
  // 128, 256, 512 and the rest of 1,000; of 8,000 none has more than a quarter of the segment.
  await expectNewestParts({ busyRows: 1_000, rowCounts: [128, 256, 512, 104] });
  await expectNewestParts({
    busyRows: 8_000,
    rowCounts: [128, 256, 512, 1_024, 2_048, 2_500, 1_532],
  });
});

async function expectNewestParts(of: {
  readonly busyRows: number;
  readonly rowCounts: readonly number[];
}): Promise<void> {
  await inFolder(async (folder) => {
    const events = edgeEvents(10_000, 4).map((event, n) => ({
      ...event,
      project: n < of.busyRows ? 'busy' : `p${n % 250}`,
    }));
    const buffer = sealedOf(events);
    const handle = await stored(folder, buffer, newMemoryGauge(ROOM_FOR_ALL));
    const whole = readSegment({ kind: 'sealed', id: newSegmentId(), buffer });
    const rowTexts: unknown[] = [];
    const readBytes: number[] = [];
    const rowCounts: number[] = [];
    for (const part of readSegment(handle).newestOf!('busy')) {
      const [run] = part.runs('busy');
      assert.deepEqual([part.runs('busy').length, part.runs(undefined)[0]!.count], [1, run!.count]);
      for (let row = run!.start + run!.count - 1; row >= run!.start; row--) {
        const rows = Int32Array.of(row);
        rowTexts.push([textsOf(part.timestamps(rows, 1)), textsOf(part.roots(rows, 1))]);
      }
      readBytes.push(bytesReadInParts(handle.backing!));
      rowCounts.push(run!.count);
    }
    const [run] = whole.runs('busy');
    const wanted = Array.from({ length: run!.count }, (_, n) => {
      const rows = Int32Array.of(run!.start + run!.count - 1 - n);
      return [textsOf(whole.timestamps(rows, 1)), textsOf(whole.roots(rows, 1))];
    });
    assert.deepEqual(rowTexts, wanted);
    assert.deepEqual(rowCounts, of.rowCounts);
    assert.ok(readBytes[0]! < readBytes.at(-1)! / 2, `${readBytes} bytes`);
    assert.deepEqual([...readSegment(handle).newestOf!('nobody')].length, 1);
  });
}

test('with no room, a segment is read into memory of its own, which goes with the task', async () => {
  await inFolder(async (folder) => {
    const buffer = sealed(3);
    const gauge = newMemoryGauge(0);
    const handle = await stored(folder, buffer, gauge);
    const whole = readSegment({ kind: 'sealed', id: newSegmentId(), buffer });
    assert.deepEqual(rowsOf(readSegment(handle)), rowsOf(whole));
    assert.equal(isReadingPassing(), true);
    assert.deepEqual([residentCount(handle), gauge[GAUGE_RESIDENT]], [0, 0]);
    assert(gauge[GAUGE_PASSING]! * KIB > 10_000);
    endReading();
    assert.equal(isReadingPassing(), false);
    gauge[GAUGE_LIMIT] = 2 ** 20;
    assert.deepEqual(rowsOf(readSegment(handle)), rowsOf(whole));
    assert(residentCount(handle) > 0, 'with room again, all threads share what is read');
  });
});

test('when there is room no more, what is there is read where it is, and the rest apart', async () => {
  await inFolder(async (folder) => {
    const buffer = sealed(7);
    const gauge = newMemoryGauge(ROOM_FOR_ALL);
    const handle = await stored(folder, buffer, gauge);
    const whole = rowsOf(readSegment({ kind: 'sealed', id: newSegmentId(), buffer }));
    readSegment(handle).ids(ROWS, ROW_COUNT);
    // What tells fields apart may have a little more room than there is.
    assert.equal(readSegment(handle).roots(ROWS, ROW_COUNT).nodes.length, ROW_COUNT);
    const shared = residentCount(handle);
    gauge[GAUGE_LIMIT] = gauge[GAUGE_RESIDENT]!;
    readSegment(handle).ids(ROWS, ROW_COUNT);
    assert.equal(gauge[GAUGE_PASSING], 0, 'it is all there');
    assert.deepEqual(rowsOf(readSegment(handle)), whole);
    assert.equal(residentCount(handle), shared, 'not a block more than there was room for');
    assert.equal(gauge[GAUGE_RESIDENT], gauge[GAUGE_LIMIT]);
    assert(gauge[GAUGE_PASSING]! > 0);
    const passed = gauge[GAUGE_PASSING]!;
    assert.deepEqual(rowsOf(readSegment(handle)), whole);
    assert.equal(gauge[GAUGE_PASSING], passed, 'nothing is read twice in one task');
    endReading();
    assert.deepEqual(rowsOf(readSegment(handle)), whole);
    assert.equal(gauge[GAUGE_PASSING], 2 * passed, 'the next task reads it again');
  });
});

test('there is room for a block as long as it fits, and not for one byte more', async () => {
  await inFolder(async (folder) => {
    const buffer = sealed(8);
    const gauge = newMemoryGauge(ROOM_FOR_ALL);
    const handle = await stored(folder, buffer, gauge);
    const { blocks, states } = handle.backing!;
    const image = SegmentImage.open(handle);
    const largest = Array.from({ length: states.length - 1 }, (_, block) => block).reduce(
      (one, other) => (sizeOf(blocks, other) > sizeOf(blocks, one) ? other : one),
    );
    const slice = [blocks[largest * BLOCK_NUMBERS]!, sizeOf(blocks, largest)] as const;
    const kib = Math.ceil(slice[1] / KIB);
    assert(kib > 1);
    gauge[GAUGE_LIMIT] = gauge[GAUGE_RESIDENT]! + kib - 1;
    assert.notEqual(image.need(slice), handle.buffer);
    assert.equal(image.passingSize, slice[1]);
    gauge[GAUGE_LIMIT]! += 1;
    assert.equal(SegmentImage.open(handle).need(slice), handle.buffer);
    assert.equal(gauge[GAUGE_RESIDENT], gauge[GAUGE_LIMIT]);
    // Who has read it apart finds it where all share it, too.
    assert.equal(image.need(slice), handle.buffer);
  });
});

test('a task goes on with a segment that was let go meanwhile, and lets go of its memory', async () => {
  await inFolder(async (folder) => {
    const buffer = sealed(9);
    const gauge = newMemoryGauge(ROOM_FOR_ALL);
    const handle = await stored(folder, buffer, gauge);
    const whole = rowsOf(readSegment({ kind: 'sealed', id: newSegmentId(), buffer }));
    const segment = readSegment(handle);
    const begun = segment.roots(ROWS, ROW_COUNT);
    const resident = gauge[GAUGE_RESIDENT]!;
    retire(handle.backing!);
    // What was begun goes on; nothing more goes where it would be of no use to others.
    assert.deepEqual(textsOf(begun), (whole as string[][])[5]);
    assert.equal(gauge[GAUGE_RESIDENT], resident);
    assert.deepEqual(rowsOf(segment), whole);
    assert.equal(handle.buffer.byteLength, 0);
    assert.equal(gauge[GAUGE_RESIDENT], resident);
    endReading();
    // Another task that got the handle before.
    assert.deepEqual(rowsOf(readSegment(handle)), whole);
    await rm(handle.path);
    endReading();
    assert.throws(() => rowsOf(readSegment(handle)), SegmentGoneError);
  });
});

/** In how many places a file is damaged, one at a time. */
const DAMAGES = budgetOf('WEIR_IMAGE_DAMAGES', { fast: 50, all: 150 });

test('whatever byte of the file is damaged, the segment reads as it was or says that it is damaged', async () => {
  await inFolder(async (folder) => {
    const buffer = sealed(4);
    const wanted = rowsOf(readSegment({ kind: 'sealed', id: newSegmentId(), buffer }));
    const gauge = newMemoryGauge(ROOM_FOR_ALL);
    const first = await stored(folder, buffer, gauge);
    const bytes = await readFile(first.path);
    let damaged = 0;
    for (let at = 0; at < bytes.length; at += Math.ceil(bytes.length / DAMAGES)) {
      const turned = Buffer.from(bytes);
      turned[at]! ^= 1 << (at % 8);
      await writeFile(first.path, turned);
      const { backing, ...rest } = first;
      const states = new Int32Array(backing!.states.length);
      const bytesNow = new SharedArrayBuffer(buffer.byteLength);
      const handle = {
        ...rest,
        id: newSegmentId(),
        buffer: bytesNow,
        backing: { ...backing!, states },
      };
      try {
        assert.deepEqual(rowsOf(readSegment(handle)), wanted, `byte ${at}`);
      } catch (error) {
        assert(error instanceof SegmentDamagedError, String(error));
        assert.equal(error.segmentId, handle.id);
        damaged++;
      }
    }
    assert(damaged > DAMAGES / 3, `${damaged} damages were found`);
  });
});

test('a file that is cut off is damaged, one that has gone is gone', async () => {
  await inFolder(async (folder) => {
    const handle = await stored(folder, sealed(5), newMemoryGauge(ROOM_FOR_ALL));
    const bytes = await readFile(handle.path);
    await writeFile(handle.path, bytes.subarray(0, bytes.length >> 2));
    assert.throws(() => rowsOf(readSegment(handle)), SegmentDamagedError);
    endReading();
    await rm(handle.path);
    const other = { ...handle, id: newSegmentId() };
    assert.throws(() => rowsOf(readSegment(other)), SegmentGoneError);
  });
});

test('a whole image has every byte, and what all threads share stays as it was', async () => {
  await inFolder(async (folder) => {
    const buffer = sealed(6);
    const gauge = newMemoryGauge(ROOM_FOR_ALL);
    const handle = await stored(folder, buffer, gauge);
    const whole = Buffer.from(new Uint8Array(SegmentImage.whole(handle)));
    assert(whole.equals(Buffer.from(new Uint8Array(buffer))));
    assert.equal(residentCount(handle), 0);
    assert.equal(SegmentImage.whole({ kind: 'sealed', id: 1, buffer }), buffer);
    assert.equal(handle.backing!.states[0], ABSENT);
  });
});
