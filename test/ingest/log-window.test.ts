import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { DiskReader } from '../../ingest/disk/disk.ts';
import { LOG_READ_BYTES } from '../../ingest/limits.ts';
import { LogWindow } from '../../ingest/log/log-window.ts';
import { runsOf } from '../support/budget.ts';

/** A file of `size` bytes, each of which tells where it lies, that notes where it was read. */
function fileOf(size: number): DiskReader & { readonly offsets: number[] } {
  const offsets: number[] = [];
  const read = async (target: Uint8Array, offset: number): Promise<number> => {
    offsets.push(offset);
    await new Promise(setImmediate);
    const count = Math.min(target.length, size - offset);
    for (let at = 0; at < count; at++) target[at] = byteAt(offset + at);
    return count;
  };
  return { size, offsets, read, close: () => Promise.resolve() };
}

function byteAt(offset: number): number {
  return (offset ^ (offset >>> 8) ^ (offset >>> 16)) & 0xff;
}

test('a window has the bytes of the file wherever it moves', async () => {
  const size = 3 * LOG_READ_BYTES + 40;
  const place = fc.record({
    offset: fc.integer({ min: 0, max: size / 8 }).map((word) => word * 8),
    count: fc.oneof(fc.nat(200), fc.nat(LOG_READ_BYTES + 100)),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(place, { maxLength: 8 }), async (places) => {
      const window = new LogWindow(fileOf(size));
      for (const { offset, count } of places) {
        const bytes = await window.bytes(offset, count);
        equal(bytes.length, Math.max(0, Math.min(count, size - offset)));
        for (const at of [0, bytes.length >> 1, bytes.length - 1]) {
          if (at >= 0 && at < bytes.length) equal(bytes[at], byteAt(offset + at));
        }
        equal(bytes.byteOffset % 8, 0);
      }
    }),
    { numRuns: runsOf(100) },
  );
});

test('a walk over a file reads each byte once, and reads the next range while one is used', async () => {
  const file = fileOf(3 * LOG_READ_BYTES);
  const window = new LogWindow(file);
  const step = 1_000_000;
  for (let offset = 0; offset < file.size; offset += step) {
    equal((await window.bytes(offset, step))[0], byteAt(offset));
    // Without waiting for more of the file, the next stretch is under way.
    if (offset === step) deepEqual(file.offsets, [0, LOG_READ_BYTES]);
  }
  deepEqual(file.offsets, [0, LOG_READ_BYTES, 2 * LOG_READ_BYTES]);
});

test('reading only the start of a file does not read ahead', async () => {
  const file = fileOf(3 * LOG_READ_BYTES);
  await new LogWindow(file).bytes(0, 64);
  deepEqual(file.offsets, [0]);
});
