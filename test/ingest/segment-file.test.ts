import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliCompressSync, crc32 } from 'node:zlib';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { type PackedBlock, packImage } from '../../engine/column/packed-image.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import {
  readFooter,
  type SealedColumnName,
  sealedColumnsOf,
  sealedSlicesOf,
} from '../../engine/column/sealed-layout.ts';
import { BLOCK_NUMBERS, blocksWith } from '../../engine/column/segment-backing.ts';
import {
  decodeSegmentEnvelope,
  encodeSegmentEnvelope,
  listBlocks,
} from '../../ingest/segment-envelope.ts';
import { SegmentFile } from '../../ingest/segment-file.ts';
import {
  createHead,
  SegmentDamageError,
  SegmentVersionError,
} from '../../ingest/segment-layout.ts';
import { formatSegmentName, parseSegmentName } from '../../ingest/segment-name.ts';
import { packSegment } from '../../ingest/segment-packing.ts';
import { coversSequence, unionOfIntervals } from '../../ingest/sequence-intervals.ts';
import { batchOf, type TestEvent } from '../column/batch-of.ts';
import { edgeEvents } from '../column/edge-events.ts';
import { budgetOf } from '../support/budget.ts';
import { envelopeOfVersion1 } from './envelope-version-1.ts';
import { partsOfVersion2 } from './file-version-2.ts';
import { diskError, MemoryDisk } from './memory-disk.ts';

const PATH = '/segments/source/one.segment';

/** One block of a large file in so many is damaged. */
const LARGE_BLOCK_STEP = budgetOf('WEIR_FILE_BLOCK_STEP', { fast: 201, all: 11 });

const ORIGIN = {
  id: 7,
  source: 'source',
  partition: 20_468,
  covered: [{ fromSequence: 3, throughSequence: 9 }],
  replaced: [4, 5],
  awaits: [6],
};

function sealedOf(events: readonly TestEvent[]): SharedArrayBuffer {
  const segment = new OpenSegment({ id: 1, arrivalBase: 100 });
  segment.append(batchOf(events), 0, events.length);
  segment.publish();
  return sealSegment(segment.handle(), { partitionUs: 1e15 })[0]!;
}

function bytesOf(buffer: SharedArrayBuffer): Buffer {
  return Buffer.from(new Uint8Array(buffer));
}

async function fileOf(buffer: SharedArrayBuffer): Promise<{ disk: MemoryDisk; bytes: Buffer }> {
  const { parts } = packSegment(packImage(buffer), ORIGIN);
  const disk = new MemoryDisk();
  const bytes = Buffer.concat(parts);
  disk.put(PATH, bytes);
  return { disk, bytes };
}

/** Sixteen rows: enough for leaf columns, few enough for each bit of them. */
const FEW = Array.from({ length: 16 }, (_, n) => ({
  timestampUs: 1000 + n,
  project: `p${n % 2}`,
  event_message: `message ${n}`,
  metadata: { status: 200 + n, path: '/a/rather/long/path/that/compresses/well'.slice(0, 9 + n) },
}));

test('a segment file returns the bytes and the metadata of its segment', async () => {
  for (const events of [FEW, [{ timestampUs: 5 }], edgeEvents(500, 3)]) {
    const buffer = sealedOf(events);
    const { disk, bytes } = await fileOf(buffer);
    const file = await SegmentFile.open(disk, PATH);
    const { id, source, partition, covered, replaced, awaits } = file.envelope;
    assert.deepEqual({ id, source, partition, covered, replaced, awaits }, ORIGIN);
    const { rowCount, arrivalMin } = file.envelope;
    assert.deepEqual([rowCount, arrivalMin, file.byteSize], [events.length, 100, bytes.length]);
    const loaded = await file.load();
    assert.deepEqual(loaded.damagedColumns, []);
    assert.ok(bytesOf(loaded.buffer).equals(bytesOf(buffer)));
    assert.deepEqual(await file.footer(), readFooter(buffer));
  }
});

/** As a program wrote it that made a block of each slice. */
function partsOfVersion1(buffer: SharedArrayBuffer): readonly Uint8Array[] {
  const blocks: PackedBlock[] = [];
  const stored = sealedSlicesOf(readFooter(buffer)).map(([offset, size]) => {
    const slice = Buffer.from(new Uint8Array(buffer, offset, size));
    const packed = brotliCompressSync(slice);
    const bytes = packed.length < size ? packed : slice;
    blocks.push({ offset, size, storedSize: bytes.length, crc: crc32(bytes) });
    return bytes;
  });
  const envelope = envelopeOfVersion1(packImage(buffer), blocks, ORIGIN);
  const head = Buffer.from(createHead(envelope));
  head.writeUInt32LE(1, 4);
  head.writeUInt32LE(crc32(envelope, crc32(head.subarray(0, 12))), 12);
  return [head, envelope, ...stored, envelope, head];
}

/** A large segment, whose blocks do not lie as in memory. */
const LARGE = sealedOf(
  edgeEvents(10_000, 4).map((event, n) => ({ ...event, project: `p${n % 250}` })),
);

test('a file of an older version is read as it is, whole and column by column', async () => {
  for (const buffer of [sealedOf(edgeEvents(500, 8)), LARGE]) {
    const { disk: newDisk } = await fileOf(buffer);
    const newFile = await SegmentFile.open(newDisk, PATH);
    assert.equal(newFile.envelope.areBlocksWhole, false);
    for (const [version, parts] of [
      [1, partsOfVersion1(buffer)],
      [2, partsOfVersion2(packImage(buffer), ORIGIN)],
    ] as const) {
      const disk = new MemoryDisk();
      disk.put(PATH, Buffer.concat(parts));
      const file = await SegmentFile.open(disk, PATH);
      const { buffer: loaded, damagedColumns } = await file.load();
      assert.deepEqual(damagedColumns, []);
      assert.equal(file.envelope.areBlocksWhole, version === 1);
      assert.deepEqual(file.envelope.awaits, version === 1 ? [] : ORIGIN.awaits);
      assert.ok(bytesOf(loaded).equals(bytesOf(buffer)));
      const offsets = listBlocks(file.envelope).map(({ storedOffset }) => storedOffset);
      assert.deepEqual(
        offsets,
        offsets.toSorted((one, other) => one - other),
      );
      for (const { column } of sealedColumnsOf(readFooter(buffer))) {
        const slices = await file.readColumn(column);
        const newSlices = await newFile.readColumn(column);
        assert.deepEqual(slices!.map(Buffer.from), newSlices!.map(Buffer.from));
      }
    }
  }
});

test('damage of a large file costs the columns of the damaged block only, whatever lies beside it', async () => {
  const buffer = LARGE;
  const whole = bytesOf(buffer);
  const { disk, bytes } = await fileOf(buffer);
  const { envelope } = await SegmentFile.open(disk, PATH);
  const blocks = listBlocks(envelope);
  const offsets = blocks.map(({ storedOffset }) => storedOffset);
  assert.notDeepEqual(
    offsets,
    offsets.toSorted((one, other) => one - other),
  );
  const columns = sealedColumnsOf(readFooter(buffer));
  for (let index = 0; index < blocks.length; index += LARGE_BLOCK_STEP) {
    const { offset, size, storedOffset, storedSize } = blocks[index]!;
    const turned = Buffer.from(bytes);
    turned[storedOffset + (storedSize >> 1)]! ^= 1;
    disk.put(PATH, turned);
    const { buffer: read, damagedColumns } = await (await SegmentFile.open(disk, PATH)).load();
    const damaged = columns.filter(({ slices }) =>
      slices.some(([start, length]) => start < offset + size && offset < start + length),
    );
    assert.deepEqual(
      damagedColumns,
      damaged.map(({ column }) => column),
    );
    assert.ok(bytesOf(read).subarray(0, offset).equals(whole.subarray(0, offset)));
    assert.ok(
      bytesOf(read)
        .subarray(offset + size)
        .equals(whole.subarray(offset + size)),
    );
  }
});

test('full edge events take at most a sixth of their JSON on disk', async () => {
  const events = edgeEvents(1500, 42);
  const posted = events.reduce((size, event) => size + JSON.stringify(event).length, 0);
  const { byteSize } = packSegment(packImage(sealedOf(events)), ORIGIN);
  assert.ok(byteSize <= posted / 6, `${byteSize} of ${posted} bytes`);
});

test('one column is read without the others', async () => {
  const buffer = sealedOf(edgeEvents(200, 5));
  const { disk, bytes } = await fileOf(buffer);
  const file = await SegmentFile.open(disk, PATH);
  for (const { column, slices } of sealedColumnsOf(readFooter(buffer))) {
    const expected = slices.map(([offset, size]) =>
      Buffer.from(new Uint8Array(buffer, offset, size)),
    );
    const read = await file.readColumn(column);
    assert.deepEqual(
      read!.map((slice) => Buffer.from(slice)),
      expected,
    );
  }
  let readBytes = 0;
  const open = disk.open.bind(disk);
  disk.open = async (path) => {
    const reader = await open(path);
    const read: typeof reader.read = (target, offset) => {
      readBytes += target.length;
      return reader.read(target, offset);
    };
    return { size: reader.size, close: () => reader.close(), read };
  };
  await file.readColumn('project');
  assert.ok(readBytes > 0 && readBytes < bytes.length / 20, `${readBytes} of ${bytes.length}`);
});

/** One bit in so many is turned, one size in so many cut off; odd, so that each bit of a byte has its turn. */
const BIT_STEP = budgetOf('WEIR_FILE_BIT_STEP', { fast: 11, all: 1 });

test('after a flip of any bit no value is wrong, and the damage is reported', async () => {
  const buffer = sealedOf(FEW);
  const whole = bytesOf(buffer);
  const { disk, bytes } = await fileOf(buffer);
  const { envelope } = await SegmentFile.open(disk, PATH);
  const columns = sealedColumnsOf(readFooter(buffer));
  const blocksSize = listBlocks(envelope).reduce((sum, { storedSize }) => sum + storedSize, 0);
  const blocksOffset = (bytes.length - blocksSize) / 2;
  const turn = async (bit: number): Promise<void> => {
    const turned = Buffer.from(bytes);
    turned[bit >> 3]! ^= 1 << (bit & 7);
    const turnedDisk = new MemoryDisk();
    turnedDisk.put(PATH, turned);
    const file = await SegmentFile.open(turnedDisk, PATH);
    const at = (bit >> 3) - blocksOffset;
    const damagedCopy = at < 0 ? 'front' : at < blocksSize ? undefined : 'back';
    assert.equal(file.damagedCopy, damagedCopy, `bit ${bit}`);
    if (damagedCopy !== undefined) {
      assert.deepEqual(file.envelope, envelope);
      return;
    }
    const { buffer: read, damagedColumns } = await file.load();
    assert.ok(damagedColumns.length > 0, `bit ${bit}`);
    const lost = new Set<SealedColumnName>(damagedColumns);
    const kept = columns.filter(({ column }) => !lost.has(column));
    for (const [offset, size] of kept.flatMap(({ slices }) => slices)) {
      const slice = bytesOf(read).subarray(offset, offset + size);
      assert.ok(slice.equals(whole.subarray(offset, offset + size)), `bit ${bit}, at ${offset}`);
    }
  };
  for (let bit = 0; bit < bytes.length * 8; bit += BIT_STEP) await turn(bit);
});

test('a file cut off anywhere loses columns or is refused, and never gives a wrong value', async () => {
  const buffer = sealedOf(FEW);
  const { disk, bytes } = await fileOf(buffer);
  const outcomes = { refused: 0, told: 0 };
  for (let size = 0; size < bytes.length; size += BIT_STEP) {
    disk.put(PATH, bytes.subarray(0, size));
    try {
      assert.equal((await SegmentFile.open(disk, PATH)).damagedCopy, 'back');
      outcomes.told++;
    } catch (error) {
      assert.ok(error instanceof SegmentDamageError, String(error));
      outcomes.refused++;
    }
  }
  assert.ok(outcomes.told > 0 && outcomes.refused > 0);
});

test('damage of one leaf column costs that column only', async () => {
  const buffer = sealedOf(FEW);
  const { disk, bytes } = await fileOf(buffer);
  const file = await SegmentFile.open(disk, PATH);
  const leaf = readFooter(buffer).leaves.findIndex(({ leafClass }) => leafClass === 'number');
  const [offset] = readFooter(buffer).leaves[leaf]!.numbers!.slice!;
  const { blocks } = file.envelope;
  bytes[blocks[blocksWith(blocks, [offset, 1]).first * BLOCK_NUMBERS + 2]!]! ^= 1;
  disk.put(PATH, bytes);
  assert.deepEqual((await file.load()).damagedColumns, [leaf]);
  assert.equal(await file.readColumn(leaf), undefined);
  assert.ok((await file.readColumn('id')) !== undefined);
});

test('an unreadable file is an error and loses no column; all values are there when it is readable again', async () => {
  const buffer = sealedOf(edgeEvents(300, 9));
  const { disk, bytes } = await fileOf(buffer);
  const file = await SegmentFile.open(disk, PATH);
  const open = disk.open.bind(disk);
  let code: string | undefined;
  const badAt = Math.floor(bytes.length / 2);
  disk.open = async (path) => {
    const reader = await open(path);
    return {
      size: reader.size,
      close: () => reader.close(),
      read: (target, offset) => {
        disk.before = () => {
          if (offset <= badAt && badAt < offset + target.length && code) throw diskError(code);
        };
        return reader.read(target, offset);
      },
    };
  };
  for (code of ['EIO', 'EMFILE', 'EACCES']) {
    await assert.rejects(file.load(), { name: 'ReadError', code, path: PATH });
  }
  code = undefined;
  const { damagedColumns, buffer: read } = await file.load();
  assert.deepEqual(damagedColumns, []);
  assert.deepEqual(new Uint8Array(read), new Uint8Array(buffer));
});

test('a file of another version is refused by name, one that only looks so is damaged', async () => {
  const { disk, bytes } = await fileOf(sealedOf(FEW));
  const { parts } = packSegment(packImage(sealedOf(FEW)), ORIGIN);
  const head = Buffer.from(parts[0]!);
  head.writeUInt32LE(4, 4);
  const copy = Buffer.from(bytes);
  head.copy(copy, 0);
  disk.put(PATH, copy);
  assert.equal((await SegmentFile.open(disk, PATH)).damagedCopy, 'front');
  head.writeUInt32LE(crc32(parts[1]!, crc32(head.subarray(0, 12))), 12);
  head.copy(copy, 0);
  disk.put(PATH, copy);
  await assert.rejects(SegmentFile.open(disk, PATH), (error) => {
    assert.ok(error instanceof SegmentVersionError);
    assert.match(
      error.message,
      /one\.segment is a segment file of version 4; .* reads versions 1 to 3/,
    );
    return true;
  });
});

test('an envelope keeps its values, also those beyond 32 bits', () => {
  const envelope = {
    ...ORIGIN,
    id: 2 ** 40,
    partition: -3,
    source: 'é-1',
    rowCount: 2 ** 32 - 1,
    timestampUsMin: -1,
    timestampUsMax: 1_768_478_400_000_000,
    arrivalMin: 0,
    arrivalMax: 2 ** 53 - 1,
    covered: [],
    replaced: [],
    awaits: [],
    imageSize: 2 ** 32 - 8,
    frame: Uint8Array.of(1, 2, 3),
  };
  const blocks = [
    { offset: 16, size: 900, storedSize: 7, crc: 0 },
    { offset: 2 ** 31, size: 1, storedSize: 1, crc: 0xffffffff },
    { offset: 2 ** 31 + 8, size: 90, storedSize: 30, crc: 5 },
  ];
  const bytes = encodeSegmentEnvelope({ ...envelope, blocks, ranks: Uint32Array.of(1, 2, 0) });
  const decoded = decodeSegmentEnvelope(bytes);
  // Blocks lie end to end behind head and envelope: the last one first here.
  const storedOffset = 16 + bytes.length;
  assert.deepEqual(listBlocks(decoded), [
    { ...blocks[0], storedOffset: storedOffset + 30 },
    { ...blocks[1], storedOffset: storedOffset + 37 },
    { ...blocks[2], storedOffset },
  ]);
  assert.deepEqual({ ...decoded, blocks: [] }, { ...envelope, blocks: [], areBlocksWhole: false });
});

test('names of segment files have day and id, and no other name is parsed', () => {
  for (const name of [
    { partition: 20_468, id: 42 },
    { partition: -1, id: 0 },
    { partition: 4_000_000, id: 10 ** 12 },
  ]) {
    assert.deepEqual(parseSegmentName(formatSegmentName(name)), name);
  }
  assert.equal(formatSegmentName({ partition: 20_468, id: 42 }), '2026-01-15.0000000042.segment');
  for (const name of [
    '2026-01-15.42.segment',
    '2026-02-30.0000000042.segment',
    '2026-01-15.0000000042.segment.tmp',
    'x.segment',
  ]) {
    assert.equal(parseSegmentName(name), undefined, name);
  }
});

test('intervals of sequences are joined where they touch', () => {
  const interval = (fromSequence: number, throughSequence: number) => ({
    fromSequence,
    throughSequence,
  });
  const union = unionOfIntervals([interval(8, 9), interval(1, 3), interval(4, 4), interval(2, 2)]);
  assert.deepEqual(union, [interval(1, 4), interval(8, 9)]);
  const covered = [0, 1, 4, 5, 7, 8, 9, 10].filter((sequence) => coversSequence(union, sequence));
  assert.deepEqual(covered, [1, 4, 8, 9]);
  assert.equal(coversSequence([], 1), false);
});
