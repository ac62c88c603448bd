import { deepEqual, equal, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { brotliCompressSync, deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { decodeBrotli, decodeDeflate } from '../../engine/column/kept-decoder.ts';
import { runsOf } from '../support/budget.ts';

const ROOM_SIZE = 100_000;
const room = new Uint8Array(ROOM_SIZE);

function brotliOf(packed: Uint8Array, size: number): Uint8Array {
  return decodeBrotli(packed, size, room).slice();
}

test('blocks one after another come out as they went in', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      fc.integer({ min: 1, max: 300 }),
      (part, times) => {
        const bytes = new Uint8Array(part.length * times);
        for (let n = 0; n < times; n++) bytes.set(part, n * part.length);
        deepEqual(brotliOf(brotliCompressSync(bytes), bytes.length), bytes);
        deepEqual(new Uint8Array(decodeDeflate(deflateRawSync(bytes), bytes.length)), bytes);
      },
    ),
    { numRuns: runsOf(200) },
  );
});

test('what is unpacked lies in the memory that was given for it', () => {
  const bytes = new Uint8Array(5_000).fill(7);
  equal(decodeBrotli(brotliCompressSync(bytes), bytes.length, room).buffer, room.buffer);
});

test('of deflated bytes the first can be had alone', () => {
  const bytes = Uint8Array.from({ length: 5_000 }, (_, n) => n % 251);
  const packed = deflateRawSync(bytes);
  for (const size of [0, 1, 4_999]) {
    deepEqual(new Uint8Array(decodeDeflate(packed, size)), bytes.slice(0, size));
  }
});

test('a block is neither longer nor shorter than was said', () => {
  const bytes = Uint8Array.from({ length: 1_000 }, (_, n) => n % 251);
  const packed = brotliCompressSync(bytes);
  throws(() => decodeBrotli(packed, 999, room), { code: 'ERR_BUFFER_TOO_LARGE' });
  deepEqual(brotliOf(packed, 1_001), bytes);
  deepEqual(new Uint8Array(decodeDeflate(deflateRawSync(bytes), 1_001)), bytes);
});

test('damaged blocks are refused, and later blocks are unpacked', async () => {
  const bytes = Uint8Array.from({ length: 1_000 }, (_, n) => (n * n) % 251);
  const packed = brotliCompressSync(bytes);
  const deflated = deflateRawSync(bytes);
  for (let round = 0; round < 3; round++) {
    throws(() => decodeBrotli(packed.subarray(0, packed.length / 2), bytes.length, room));
    throws(() =>
      decodeBrotli(
        packed.map((byte) => ~byte),
        bytes.length,
        room,
      ),
    );
    throws(() => decodeDeflate(deflated.subarray(0, deflated.length / 2), bytes.length));
    throws(() => decodeDeflate(new Uint8Array(0), bytes.length));
    // A stream that failed says so later.
    await new Promise((resolve) => setImmediate(resolve));
    deepEqual(brotliOf(packed, bytes.length), bytes);
    deepEqual(new Uint8Array(decodeDeflate(deflated, bytes.length)), bytes);
  }
});
