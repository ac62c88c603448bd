import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import type { SegmentHandle } from '../../engine/column/segment.ts';
import { ALL_TIME } from '../../engine/plan/logical-plan.ts';
import type { PhysicalPlan, PhysicalScan } from '../../engine/plan/physical-plan.ts';
import { fragmentShares } from '../../engine/pool/fragment-shares.ts';

const HOUR_US = 3_600_000_000;

function segment(id: number, size: number, hours = [0, 24]): SegmentHandle {
  const [from, to] = hours as [number, number];
  return {
    ...{ kind: 'sealed', id, buffer: new SharedArrayBuffer(size) },
    content: {
      ...{ rowCount: 1, timestampUsMin: from * HOUR_US, timestampUsMax: to * HOUR_US - 1 },
    },
  };
}

function plan(scan: Partial<PhysicalScan> = {}): PhysicalPlan {
  const input = { op: 'scan', index: 0, fields: [], window: ALL_TIME, ...scan };
  return { op: 'aggregate', input, keys: [], aggregates: [] } as unknown as PhysicalPlan;
}

/** The ids of each worker's segments, and its part of their rows. */
function shares(segments: readonly SegmentHandle[], scan: Partial<PhysicalScan> = {}): unknown {
  return fragmentShares({ plan: plan(scan) }, segments, 2)?.map((share) => ({
    ids: share.segments.map(({ id }) => id),
    ...(share.slice === undefined ? {} : { slice: `${share.slice.index} of ${share.slice.count}` }),
  }));
}

test('segments of about one size are dealt out whole', () => {
  deepEqual(shares([segment(1, 100), segment(2, 90)]), [{ ids: [1] }, { ids: [2] }]);
  const five = [1, 2, 3, 4, 5].map((id) => segment(id, 100));
  deepEqual(shares(five), [{ ids: [1, 3, 5] }, { ids: [2, 4] }]);
});

test('where one worker would have much more than the others, each has a part of the rows of all', () => {
  deepEqual(shares([segment(1, 100)]), [
    { ids: [1], slice: '0 of 2' },
    { ids: [1], slice: '1 of 2' },
  ]);
  deepEqual(shares([segment(1, 300), segment(2, 90)]), [
    { ids: [1, 2], slice: '0 of 2' },
    { ids: [1, 2], slice: '1 of 2' },
  ]);
});

test('what counts of a segment is the part of its time that is asked for', () => {
  const segments = [segment(1, 400), segment(2, 100, [24, 25])];
  const window = { startUs: 18 * HOUR_US, endUs: 30 * HOUR_US };
  deepEqual(shares(segments, { window }), [{ ids: [1] }, { ids: [2] }]);
});

test('rows are not cut where a text is looked for, which takes time for each segment', () => {
  const texts = [{ field: 'm', text: 'x' }] as unknown as PhysicalScan['texts'];
  equal(shares([segment(1, 100)], { texts }), undefined);
  deepEqual(shares([segment(1, 300), segment(2, 90)], { texts }), [{ ids: [1] }, { ids: [2] }]);
});
