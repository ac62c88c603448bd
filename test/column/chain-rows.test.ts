import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import {
  CHAINS_KEPT_MAX,
  memoryOf,
  OpenSegmentReader,
} from '../../engine/column/open-segment-reader.ts';
import type { OpenSegmentHandle } from '../../engine/column/segment.ts';
import { batchOf, type TestEvent } from './batch-of.ts';

function append(segment: OpenSegment, events: readonly TestEvent[]): void {
  segment.append(batchOf(events), 0, events.length);
  segment.publish();
}

test('a reader that goes on with what others walked gives the runs of one that does not', () => {
  const event = fc.record({
    timestampUs: fc.integer({ min: 0, max: 9 }),
    project: fc.constantFrom('p', 'q'),
  });
  // Mostly ascending, so that some runs are ordered and some stop being so.
  const batch = fc.record({
    events: fc.array(event, { minLength: 1, maxLength: 8 }),
    offsetUs: fc.constantFrom(0, 10, 10, 10),
  });
  /** So many that chance leaves each kind of run well above what is asked for below. */
  const numRuns = 400;
  const step = fc.record({ snapshot: fc.nat(20), project: fc.constantFrom('p', 'q', 'none') });
  let orderedCount = 0;
  let unorderedCount = 0;
  fc.assert(
    fc.property(
      fc.array(batch, { minLength: 1, maxLength: 12 }),
      fc.array(step, { maxLength: 40 }),
      (batches, steps) => {
        const segment = new OpenSegment({ id: 1, arrivalBase: 0 });
        const snapshots: ReadonlyMap<string, OpenSegmentHandle>[] = [];
        let timeUs = 0;
        for (const { events, offsetUs } of batches) {
          timeUs += offsetUs;
          const sorted = events.toSorted((left, right) => left.timestampUs - right.timestampUs);
          append(
            segment,
            sorted.map((one) => ({ ...one, timestampUs: timeUs + one.timestampUs })),
          );
          const handles = ['p', 'q', 'none'].map((name) => [name, segment.handle(name)] as const);
          snapshots.push(new Map(handles));
        }
        const memory = memoryOf(segment.handle());
        for (const { snapshot, project } of steps) {
          const handle = snapshots[snapshot % snapshots.length]!.get(project)!;
          const runs = new OpenSegmentReader(handle, memory).runs(project);
          assert.deepEqual(runs, new OpenSegmentReader(handle).runs(project));
          for (const { count, isTimeOrdered } of runs) {
            if (count > 1 && isTimeOrdered) orderedCount++;
            if (!isTimeOrdered) unorderedCount++;
          }
        }
      },
    ),
    { numRuns },
  );
  assert.ok(orderedCount > 100 && unorderedCount > 100, `${orderedCount}, ${unorderedCount}`);
});

test('more chains than are remembered are walked anew', () => {
  const segment = new OpenSegment({ id: 1, arrivalBase: 0 });
  const names = Array.from({ length: CHAINS_KEPT_MAX + 10 }, (_, index) => `p${index}`);
  for (let round = 0; round < 3; round++) {
    append(
      segment,
      names.map((project, index) => ({ timestampUs: 1000 * round + index, project })),
    );
  }
  const memory = memoryOf(segment.handle());
  for (const [index, name] of [...names, ...names].entries()) {
    const [run] = new OpenSegmentReader(segment.handle(name), memory).runs(name);
    const first = index % names.length;
    assert.deepEqual([...run!.rows!], [first, first + names.length, first + 2 * names.length]);
  }
});
