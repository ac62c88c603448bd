import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { brotliDecompressSync, crc32 } from 'node:zlib';
import { arrayBytes } from '../../engine/column/garbage.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { buffersOf, type PackedImage, packImage } from '../../engine/column/packed-image.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { HEADER_SIZE, readFooter } from '../../engine/column/sealed-layout.ts';
import { batchOf, type TestEvent } from './batch-of.ts';
import { edgeEvents } from './edge-events.ts';

const PART_SIZE_MAX = 4 * 1024 * 1024;

function sealed(events: readonly TestEvent[]): SharedArrayBuffer {
  const segment = new OpenSegment({ id: 1, arrivalBase: 0 });
  segment.append(batchOf(events), 0, events.length);
  segment.publish();
  return sealSegment(segment.handle(), { partitionUs: 1e15 })[0]!;
}

/** The segment that a packed image stands for, in the plainest way. */
function unpacked({ blocks, ranks, frame, parts, imageSize }: PackedImage): Buffer {
  const image = Buffer.alloc(imageSize);
  const stored = Buffer.concat(parts);
  let at = 0;
  const inFile = [...blocks.keys()].sort((one, other) => ranks[one]! - ranks[other]!);
  for (const { offset, size, storedSize, crc } of inFile.map((index) => blocks[index]!)) {
    const bytes = stored.subarray(at, at + storedSize);
    assert.equal(crc32(bytes), crc);
    image.set(storedSize < size ? brotliDecompressSync(bytes) : bytes, offset);
    at += storedSize;
  }
  assert.equal(at, stored.length);
  const around = brotliDecompressSync(frame);
  const slicesEnd = imageSize - around.length + HEADER_SIZE;
  image.set(around.subarray(0, HEADER_SIZE));
  image.set(around.subarray(HEADER_SIZE), slicesEnd);
  return image;
}

/** Characters no compression makes less of than three quarters. */
function noise(size: number, seed: string): string {
  let text = '';
  for (let index = 0; text.length < size; index++) {
    text += createHash('sha512').update(`${seed} ${index}`).digest('base64');
  }
  return text.slice(0, size);
}

test('what is packed is the segment again when unpacked, be it of one event or of many', () => {
  for (const count of [1, 2, 300]) {
    const buffer = sealed(edgeEvents(count, count));
    const packed = packImage(buffer);
    assert.deepEqual(unpacked(packed), Buffer.from(buffer));
    assert.equal(packed.parts.length, 1);
  }
});

test('a segment that takes more than one part fills each but the last', () => {
  const events = Array.from({ length: 750 }, (_, row) => ({
    timestampUs: row,
    metadata: { text: noise(8_000, String(row)) },
  }));
  const buffer = sealed(events);
  const packed = packImage(buffer);
  const sizes = packed.parts.map((part) => part.length);
  assert.ok(sizes.length >= 2);
  assert.ok(sizes.slice(0, -1).every((size) => size === PART_SIZE_MAX));
  assert.ok(sizes.at(-1)! <= PART_SIZE_MAX);
  assert.deepEqual(unpacked(packed), Buffer.from(buffer));
});

test('columns of a large segment are in short blocks, unless these take much more on disk', () => {
  const events = Array.from({ length: 20_000 }, (_, row) => ({
    timestampUs: row,
    metadata: {
      text: noise(240, String(row)),
      // Each number comes again after 1009 rows, which short blocks do not have.
      repeating: (row * 7919) % 1009,
      ascending: row >> 4,
    },
  }));
  const buffer = sealed(events);
  const packed = packImage(buffer);
  assert.deepEqual(unpacked(packed), Buffer.from(buffer));
  const [repeating, ascending] = readFooter(buffer)
    .leaves.map(({ numbers }) => numbers?.slice)
    .filter((slice) => slice != null);
  const sizeAt = (offset: number) => packed.blocks.find((block) => block.offset === offset)!.size;
  // 40,000 bytes are in four blocks of 8 KiB or sixteen of 2 KiB, or nearly.
  assert.deepEqual([repeating![1], ascending![1]], [40_000, 40_000]);
  assert.deepEqual([sizeAt(repeating![0]), sizeAt(ascending![0])], [10_000, 2_496]);
});

test('equal arrays of several columns are in a segment once if they are large', () => {
  for (const [count, isOnce] of [
    [20_000, true],
    [200, false],
  ] as const) {
    const events = Array.from({ length: count }, (_, row) => {
      const word = (row * 7919) % 11;
      return {
        timestampUs: row,
        metadata: { one: `a${word}`, other: `b${word}`, third: `c${row % 3}` },
      };
    });
    const buffer = sealed(events);
    assert.deepEqual(unpacked(packImage(buffer)), Buffer.from(buffer));
    const [one, other, third] = readFooter(buffer).leaves.map(({ strings }) => {
      const codes = strings?.codes;
      assert.ok(codes instanceof Object);
      return codes.slice[0];
    });
    assert.equal(one === other, isOnce);
    assert.notEqual(one, third);
  }
});

test('all buffers of a packed image go to another thread, and no byte that is not its', () => {
  const packed = packImage(sealed(edgeEvents(20, 1)));
  const size = [packed.frame, ...packed.parts].reduce((sum, { length }) => sum + length, 0);
  assert.equal(
    buffersOf(packed).reduce((sum, { byteLength }) => sum + byteLength, 0),
    size,
  );
});

test('packing a small segment takes memory for a small one', () => {
  const buffer = sealed(edgeEvents(1, 1));
  packImage(buffer);
  const bytesBefore = arrayBytes();
  packImage(buffer);
  const bytes = arrayBytes() - bytesBefore;
  assert.ok(bytes < 1024 * 1024, `${bytes} bytes for a segment of ${buffer.byteLength}`);
});
