import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { arrayBytes, collectGarbage } from '../../engine/column/garbage.ts';
import { JsonBuffer } from '../../engine/column/json-buffer.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import type { SealedSegmentHandle, Segment } from '../../engine/column/segment.ts';
import { forgetDropped, readSegment } from '../../engine/column/segment-reader.ts';
import { isNested } from '../../engine/column/value.ts';
import { type NestedVector, takeVector, valueAt } from '../../engine/column/vector.ts';
import { READERS_BYTES_MAX } from '../../engine/limits.ts';
import { batchOf, type TestEvent } from './batch-of.ts';

let idNext = 7_000_000;
let droppedCount = 0;

/** More were dropped than are named: everything that is open is let go of. */
beforeEach(() => {
  droppedCount += 1;
  forgetDropped({ count: droppedCount, ids: [] });
});

function sealed(events: readonly TestEvent[]): SealedSegmentHandle {
  const segment = new OpenSegment({ id: 1, arrivalBase: 0 });
  segment.append(batchOf(events), 0, events.length);
  segment.publish();
  const buffer = sealSegment(segment.handle(), { partitionUs: 1e15 })[0]!;
  return { kind: 'sealed', id: idNext++, buffer };
}

/** A segment of one row, which holds the name. */
function named(name: string): SealedSegmentHandle {
  return sealed([{ timestampUs: 1, metadata: { name } }]);
}

/** What its row holds. */
function nameIn(segment: Segment): string {
  const out = new JsonBuffer();
  const root = valueAt(segment.roots(Int32Array.of(0), 1), 0);
  assert.ok(isNested(root));
  root.writeJson(out);
  return /"name":"(\w+)"/.exec(Buffer.from(out.take()).toString())![1]!;
}

function isKept(handle: SealedSegmentHandle, reader: Segment): boolean {
  return readSegment(handle) === reader;
}

/** Bytes of arrays once collections free no more: each waits until what the one before found is freed. */
async function settledArrayBytes(): Promise<number> {
  for (let bytes = Infinity; ; ) {
    // A collection that was begun counts as under way until its callback has run, which is between tasks.
    await turn();
    collectGarbage();
    collectGarbage();
    const bytesNow = arrayBytes();
    if (bytesNow >= bytes) return bytesNow;
    bytes = bytesNow;
  }
}

test('a segment opened once stays open while arrays take little', () => {
  const handles = [named('a'), named('b'), named('c')];
  const readers = handles.map(readSegment);
  assert.deepEqual(readers.map(nameIn), ['a', 'b', 'c']);
  assert.deepEqual(
    handles.map((handle, index) => isKept(handle, readers[index]!)),
    [true, true, true],
  );
});

test('lets go of the half unused for longest where arrays take more than the bound', () => {
  const [a, b, c, d, e] = [named('a'), named('b'), named('c'), named('d'), named('e')];
  const [readerA, readerB, readerC, readerD] = [a, b, c, d].map(readSegment);
  readSegment(a);
  const held = new Uint8Array(READERS_BYTES_MAX + 1);
  const readerE = readSegment(e);
  // From here on there is room: opening one again lets go of no other.
  assert.deepEqual(
    [isKept(d, readerD!), isKept(a, readerA!), isKept(e, readerE)],
    [true, true, true],
  );
  assert.deepEqual([isKept(b, readerB!), isKept(c, readerC!)], [false, false]);
  assert.deepEqual([isKept(d, readerD!), isKept(a, readerA!)], [true, true]);
  // Whoever still has a reader that was let go of reads on, and one opened again reads the same.
  assert.deepEqual([a, b, c, d, e].map(readSegment).map(nameIn), ['a', 'b', 'c', 'd', 'e']);
  assert.deepEqual([readerB!, readerC!].map(nameIn), ['b', 'c']);
  assert.ok(held.length > READERS_BYTES_MAX);
});

test('keeps the last one open, however much arrays take', () => {
  const [a, b] = [named('a'), named('b')];
  const readerA = readSegment(a);
  // As much again as the test before made room for.
  const held = new Uint8Array(3 * READERS_BYTES_MAX);
  const readerB = readSegment(b);
  assert.deepEqual([isKept(a, readerA), isKept(b, readerB)], [true, true]);
  assert.deepEqual([nameIn(readerA), nameIn(readerB)], ['a', 'b']);
  assert.ok(held.length > READERS_BYTES_MAX);
});

test('remembers where fields lie in some hundred bytes for each shape of events', async () => {
  const shapeCount = 1_500;
  const rare = Array.from({ length: 100 }, (_, index) => [`other_${index}`, 1] as const);
  const handle = sealed(
    Array.from({ length: shapeCount }, (_, shape) => ({
      timestampUs: shape,
      metadata: {
        ...Object.fromEntries(rare),
        [`key_${shape}`]: 1,
        request: { url: 'u', size: 2 },
      },
    })),
  );
  const rows = Int32Array.from({ length: shapeCount }, (_, row) => row);
  const read = (segment: Segment): void => {
    const roots = segment.roots(rows, shapeCount);
    const requests = roots.source.field(
      roots.source.field(roots, 'metadata') as NestedVector,
      'request',
    );
    assert.ok(requests.kind === 'nested');
    const taken = takeVector(requests, rows, shapeCount);
    assert.ok(taken.kind === 'nested' && taken.nodes.every((node) => node >= 0));
    // By the steps from the roots, and node by node.
    for (const request of [requests, taken]) {
      assert.equal(valueAt(request.source.field(request, 'url'), shapeCount - 1), 'u');
      assert.equal(valueAt(request.source.field(request, 'size'), 0), 2);
    }
  };
  // What all readers of a thread share is there then.
  read(readSegment(handle));
  readSegment(named('a'));
  forgetDropped({ count: ++droppedCount, ids: [handle.id] });
  const bytesBefore = await settledArrayBytes();
  const reader = readSegment(handle);
  read(reader);
  const bytesPerShape = ((await settledArrayBytes()) - bytesBefore) / shapeCount;
  assert.ok(isKept(handle, reader));
  assert.ok(bytesPerShape < 300, `a shape takes ${bytesPerShape.toFixed(0)} bytes`);
  assert.ok(bytesPerShape > 50, `only ${bytesPerShape.toFixed(0)} bytes: nothing was remembered`);
});
