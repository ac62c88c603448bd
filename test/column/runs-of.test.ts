import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MIXED_PROJECTS } from '../../engine/column/batch.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { OpenSegmentReader } from '../../engine/column/open-segment-reader.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { SealedSegmentReader } from '../../engine/column/sealed-segment.ts';
import type { RowRun, Segment } from '../../engine/column/segment.ts';
import { valueAt } from '../../engine/column/vector.ts';
import { batchOf, type TestEvent } from './batch-of.ts';

const KEYS = ['a', 'A', 'aa', 'é', '\ud800', ''];
const OWNERS = [...KEYS, null, MIXED_PROJECTS] as const;
const EVENTS = fc.array(
  fc.record({ timestampUs: fc.nat(5), projectKey: fc.constantFrom(...OWNERS) }),
  { minLength: 1, maxLength: 30 },
);
const ASKED = fc.array(fc.constantFrom(...KEYS, 'nobody'), { maxLength: 4 });

function rowsOf(run: RowRun): Int32Array {
  return run.rows ?? Int32Array.from({ length: run.count }, (_, index) => run.start + index);
}

/** The ids of the rows, and that each run is as it says. */
function idsOf(segment: Segment, runs: readonly RowRun[]): readonly string[] {
  return runs.flatMap((run) => {
    const rows = rowsOf(run);
    const times = segment.timestamps(rows, run.count);
    const inOrder = Array.from(rows, (_, index) => Number(valueAt(times, index)));
    if (run.isTimeOrdered)
      deepEqual(
        inOrder,
        inOrder.toSorted((left, right) => left - right),
      );
    deepEqual(
      [...rows],
      [...rows].toSorted((left, right) => left - right),
    );
    const ids = segment.ids(rows, run.count);
    return Array.from(rows, (_, index) => String(valueAt(ids, index)));
  });
}

test('rows of some project keys are those that have one of them, open or sealed', () => {
  fc.assert(
    fc.property(EVENTS, ASKED, fc.constantFrom(undefined, ...KEYS), (owned, asked, snapshotOf) => {
      const events: TestEvent[] = owned.map((event, index) => ({ id: `e${index}`, ...event }));
      const expected = events
        .filter(({ projectKey }) => asked.some((key) => key === projectKey))
        .map(({ id }) => id)
        .sort();
      const open = new OpenSegment({ id: 1, arrivalBase: 0 });
      open.append(batchOf(events), 0, events.length);
      open.publish();
      const [buffer] = sealSegment(open.handle(), { partitionUs: 86_400_000_000 });
      // The snapshot may have been taken for any project, whatever is asked of it.
      const readers = [
        new OpenSegmentReader(open.handle(snapshotOf)),
        SealedSegmentReader.open(buffer!),
      ];
      for (const reader of readers) {
        const runs = reader.runsOf(asked);
        deepEqual(idsOf(reader, runs).toSorted(), expected);
      }
    }),
    { numRuns: 1_000 },
  );
});
