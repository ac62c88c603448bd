import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { buffersOf, packImage } from '../../engine/column/packed-image.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { QueryPool } from '../../engine/pool/query-pool.ts';
import { SegmentFile } from '../../ingest/segment-file.ts';
import { packSegment } from '../../ingest/segment-packing.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { batchOf } from '../column/batch-of.ts';
import { edgeEvents } from '../column/edge-events.ts';
import { MemoryDisk } from '../ingest/memory-disk.ts';

const ORIGIN = { id: 1, source: 's', partition: 20_468, covered: [], replaced: [], awaits: [] };
const MIB = 1024 * 1024;

function sealed(events: Parameters<typeof batchOf>[0]): SharedArrayBuffer {
  const segment = new OpenSegment({ id: 1, arrivalBase: 0 });
  segment.append(batchOf(events), 0, events.length);
  segment.publish();
  return sealSegment(segment.handle(), { partitionUs: 1e15 })[0]!;
}

/** Six megabytes of text that cannot be packed into less than three quarters of it. */
function longEvents(): Parameters<typeof batchOf>[0] {
  const random = new Random(1);
  return Array.from({ length: 100 }, () => {
    const words = Uint32Array.from({ length: 11_000 }, () => random.below(2 ** 32));
    return { timestampUs: 1, event_message: Buffer.from(words.buffer).toString('base64') };
  });
}

test('a worker packs the same bytes as this thread does, and a packed segment is a few buffers', async () => {
  const pool = new QueryPool({ workerCount: 1 });
  try {
    for (const [events, isLong] of [
      [edgeEvents(300, 1), false],
      [longEvents(), true],
    ] as const) {
      const buffer = sealed(events);
      const wanted = packImage(buffer);
      const got = await pool.packSegment({ kind: 'pack', of: 'seal', buffer });
      const { parts, ...rest } = got;
      const { parts: wantedParts, ...wantedRest } = wanted;
      assert.deepEqual(rest, wantedRest);
      assert(Buffer.concat(parts).equals(Buffer.concat(wantedParts)));
      assert.equal(wanted.parts.length > 1, isLong, `${wanted.parts.length} parts`);
      assert(wanted.parts.every(({ length }) => length <= 4 * MIB));
      assert.equal(new Set(buffersOf(wanted)).size, wanted.parts.length + 1);
      const size = wanted.blocks.reduce((sum, { storedSize }) => sum + storedSize, 0);
      assert.equal(
        wanted.parts.reduce((sum, { length }) => sum + length, 0),
        size,
      );
      const disk = new MemoryDisk();
      disk.put('/one', new Uint8Array(Buffer.concat(packSegment(got, ORIGIN).parts)));
      const loaded = await (await SegmentFile.open(disk, '/one')).load();
      assert.deepEqual(loaded.damagedColumns, []);
      assert(
        Buffer.from(new Uint8Array(loaded.buffer)).equals(Buffer.from(new Uint8Array(buffer))),
      );
    }
  } finally {
    await pool.close();
  }
});
