import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { OpenSegmentReader } from '../../engine/column/open-segment-reader.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { SealedSegmentReader } from '../../engine/column/sealed-segment.ts';
import type { Segment } from '../../engine/column/segment.ts';
import { valueAt } from '../../engine/column/vector.ts';
import { runsOf } from '../support/budget.ts';
import { anyEvents } from './any-event.ts';
import { batchOf, type TestEvent } from './batch-of.ts';
import { expectVector, rootOf } from './oracle.ts';

const NAMES = ['a', 'B', '__proto__', 'constructor', '7', '', 'Ä', '\ud800', 'absent'];

function openOf(batch: readonly TestEvent[]): OpenSegment {
  const segment = new OpenSegment({ id: 1, arrivalBase: 100 });
  segment.append(batchOf(batch), 0, batch.length);
  segment.publish();
  return segment;
}

/** Checks every column of a segment; `arrivals` name the events of its rows. */
function expectSegment(segment: Segment, all: readonly TestEvent[]): void {
  const rows = Int32Array.from({ length: segment.rowCount }, (_, row) => row);
  const count = segment.rowCount;
  const arrivals = segment.arrivals(rows, count);
  const indexes = [...rows].map((row) => (valueAt(arrivals, row) as number) - 100);
  const taken = indexes.map((index) => all[index]!);
  expectVector(
    segment.timestamps(rows, count),
    taken.map((one) => one.timestampUs),
    [],
    0,
  );
  expectVector(
    segment.ids(rows, count),
    indexes.map((index) => `id-${index}`),
    [],
    0,
  );
  expectVector(
    segment.messages(rows, count),
    taken.map((one) => one.event_message ?? null),
    [],
    0,
  );
  expectVector(
    segment.projects(rows, count),
    taken.map((one) => one.project ?? null),
    [],
    0,
  );
  expectVector(segment.roots(rows, count), taken.map(rootOf), ['metadata', 'Extra', ...NAMES], 3);
}

test('open and sealed segments hold events of every shape as they were sent', () => {
  fc.assert(
    fc.property(anyEvents, (all) => {
      const handle = openOf(all).handle();
      expectSegment(new OpenSegmentReader(handle), all);
      const sealed = sealSegment(handle, { partitionUs: 1_000_000 });
      const readers = sealed.map((buffer) => SealedSegmentReader.open(buffer));
      for (const reader of readers) expectSegment(reader, all);
      assert.equal(
        readers.reduce((sum, reader) => sum + reader.rowCount, 0),
        all.length,
      );
    }),
    { numRuns: runsOf(60) },
  );
});
