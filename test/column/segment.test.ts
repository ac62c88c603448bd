import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { OpenSegmentReader } from '../../engine/column/open-segment-reader.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { SealedSegmentReader } from '../../engine/column/sealed-segment.ts';
import type { Segment } from '../../engine/column/segment.ts';
import { valueAt } from '../../engine/column/vector.ts';
import { batchOf, type EventValue, HugeNumber, type TestEvent } from './batch-of.ts';
import { expectVector, rootOf } from './oracle.ts';

const KEYS = ['a', 'A', 'b', '__proto__', 'constructor', '7', '', 'ä', 'Ä', '\ud800', 'k"\\\n'];
const NAMES = ['a', 'B', '__proto__', 'constructor', '7', '', 'Ä', '\ud800', 'absent'];

const scalar: fc.Arbitrary<EventValue> = fc.oneof(
  fc.constantFrom(null, true, false, 0, -0, 1, 'x', '', '\ud800', 'deadbeef00', 'DEADBEEF00'),
  fc.integer(),
  fc.double({ noNaN: true, min: -1e15, max: 1e15 }),
  fc.constantFrom(2n ** 53n, -(2n ** 63n), 2n ** 63n, 10n ** 30n, 1e300, 5e-324),
  fc.string({ unit: 'binary' }),
  fc.uuid(),
  fc.constant(new HugeNumber('1e999')),
);

const { value, record } = fc.letrec<{ value: EventValue; record: ReadonlyMap<string, EventValue> }>(
  (tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      scalar,
      tie('record'),
      fc.array(tie('record'), { minLength: 1, maxLength: 3 }),
      fc.array(tie('value'), { maxLength: 3 }),
    ),
    record: fc
      .uniqueArray(fc.tuple(fc.constantFrom(...KEYS), tie('value')), {
        selector: ([key]) => key,
        maxLength: 5,
      })
      .map((entries) => new Map(entries)),
  }),
);

const event: fc.Arbitrary<TestEvent> = fc.record(
  {
    timestampUs: fc.integer({ min: 0, max: 4000 }).map((time) => time * 1000),
    event_message: fc.option(fc.string({ unit: 'binary' })),
    project: fc.option(fc.constantFrom('p', 'q', 'P')),
    metadata: fc.oneof(record, fc.array(record, { minLength: 1, maxLength: 3 })),
    extra: value,
  },
  { requiredKeys: ['timestampUs'] },
);

/** Some events, each of them several times: enough for some leaves to get columns. */
const events = fc
  .array(fc.tuple(event, fc.constantFrom(1, 1, 9, 20)), { minLength: 1, maxLength: 6 })
  .map((pairs) => pairs.flatMap(([shape, times]) => Array.from({ length: times }, () => shape)));

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
    fc.property(events, (all) => {
      const handle = openOf(all).handle();
      expectSegment(new OpenSegmentReader(handle), all);
      const sealed = sealSegment(handle, { partitionUs: 1_000_000 });
      const readers = sealed.map((buffer) => new SealedSegmentReader(buffer));
      for (const reader of readers) expectSegment(reader, all);
      assert.equal(
        readers.reduce((sum, reader) => sum + reader.rowCount, 0),
        all.length,
      );
    }),
    { numRuns: 60 },
  );
});
