import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { OpenSegmentReader } from '../../engine/column/open-segment-reader.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { SealedSegmentReader } from '../../engine/column/sealed-segment.ts';
import type { OpenSegmentHandle, SegmentHandle } from '../../engine/column/segment.ts';
import { valueAt } from '../../engine/column/vector.ts';
import { APPEND_SLICE_ROWS } from '../../ingest/limits.ts';
import { LogStore } from '../../ingest/log-store.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import { summarizeSegment } from '../../ingest/segment-summary.ts';
import { batchOf, type TestEvent } from '../column/batch-of.ts';
import { expectVector, rootOf } from '../column/oracle.ts';
import { runsOf } from '../support/budget.ts';

const event: fc.Arbitrary<TestEvent> = fc.record({
  timestampUs: fc.nat(5),
  project: fc.constantFrom('p', 'q', null),
  metadata: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.oneof(fc.nat(9), fc.string()), {
    maxKeys: 3,
  }),
});

type Step =
  | { readonly do: 'append'; readonly events: readonly TestEvent[] }
  | { readonly do: 'publish' | 'snapshot' };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('append' as const), events: fc.array(event, { maxLength: 4 }) }),
  fc.constant<Step>({ do: 'publish' }),
  fc.constant<Step>({ do: 'snapshot' }),
);

/** A handle, and how many events were published when it was taken. */
type Snapshot = { readonly handle: OpenSegmentHandle; readonly count: number };

test('law 1: a handle reads the rows published when it was taken, whatever comes after', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const segment = new OpenSegment({ id: 1, arrivalBase: 0 });
      const events: TestEvent[] = [];
      const snapshots: Snapshot[] = [];
      let count = 0;
      for (const each of steps) {
        if (each.do === 'append') {
          const numbered = each.events.map((one, index) => ({
            ...one,
            id: `e${events.length + index}`,
          }));
          segment.append(batchOf(numbered), 0, numbered.length);
          events.push(...numbered);
        } else if (each.do === 'publish') {
          segment.publish();
          count = events.length;
        } else {
          snapshots.push({ handle: segment.handle(), count });
          snapshots.push({ handle: segment.handle('p'), count });
        }
      }
      for (const snapshot of snapshots) expectPublished(snapshot, events);
    }),
    { numRuns: runsOf(150) },
  );
});

function expectPublished({ handle, count }: Snapshot, events: readonly TestEvent[]): void {
  const reader = new OpenSegmentReader(handle);
  const published = events.slice(0, count);
  assert.equal(reader.rowCount, count);
  const rows = Int32Array.from(published.keys());
  expectVector(reader.roots(rows, count), published.map(rootOf), ['metadata', 'a', 'b'], 2);
  expectVector(
    reader.ids(rows, count),
    published.map((one) => one.id!),
    [],
    0,
  );
  const project = handle.chains === undefined ? undefined : 'p';
  const found = reader
    .runs(project)
    .flatMap((run) => [...(run.rows ?? rows.subarray(run.start, run.start + run.count))]);
  const own = published.flatMap((one, row) =>
    project === undefined || one.project === project ? [row] : [],
  );
  assert.deepEqual(
    found.sort((left, right) => left - right),
    own,
  );
}

type StoreStep =
  | { readonly do: 'append'; readonly rowCount: number }
  | { readonly do: 'wait'; readonly turns: number }
  | { readonly do: 'seal' };

/** Batches that are appended at a stretch, and ones during which other work of the thread runs. */
const storeStep: fc.Arbitrary<StoreStep> = fc.oneof(
  fc.record({
    do: fc.constant('append' as const),
    rowCount: fc.constantFrom(1, 2, APPEND_SLICE_ROWS + 1, 2 * APPEND_SLICE_ROWS + 1),
  }),
  fc.record({ do: fc.constant('wait' as const), turns: fc.integer({ min: 1, max: 4 }) }),
  fc.constant<StoreStep>({ do: 'seal' }),
);

const EVERYTHING = { timestampUsStart: -Infinity, timestampUsEnd: Infinity };

test('law 1: a snapshot holds each batch whole or not at all, and all that are acknowledged', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(storeStep, { maxLength: 12 }), async (steps) => {
      const store = new LogStore({
        sources: ['logs'],
        retentionUs: Number.MAX_SAFE_INTEGER,
        seal: async (handle) => sealSegment(handle, { partitionUs: PARTITION_US }),
        summarize: summarizeSegment,
      });
      const sizes: number[] = [];
      const acknowledged = new Set<number>();
      const under: Promise<void>[] = [];
      const check = () => {
        expectWhole(store.segments('logs', EVERYTHING), sizes, acknowledged);
        expectArrivals(store);
      };
      for (const each of steps) {
        if (each.do === 'append') {
          const batch = sizes.push(each.rowCount) - 1;
          const append = store.append('logs', batchNamed(`${batch}`, each.rowCount));
          under.push(append.then(() => void acknowledged.add(batch)));
        } else if (each.do === 'seal') {
          under.push(store.flush());
        } else {
          for (let turn = 0; turn < each.turns; turn++) {
            await new Promise((resolve) => setImmediate(resolve));
            check();
          }
        }
        check();
      }
      await Promise.all(under);
      check();
      assert.equal(acknowledged.size, sizes.length);
      await store.close();
    }),
    { numRuns: runsOf(25) },
  );
});

/** What is published arrived before the end, and no row that arrived later than asked for is left out. */
function expectArrivals(store: LogStore): void {
  const end = store.arrivalEnd('logs');
  const all = arrivalsIn(store.segments('logs', EVERYTHING));
  assert.deepEqual(all, [...all.keys()]);
  assert.equal(all.length, end);
  for (const arrivalAfter of [-1, 0, Math.floor(end / 2), end - 2, end - 1]) {
    const handles = store.segments('logs', { ...EVERYTHING, arrivalAfter });
    const some = new Set(arrivalsIn(handles));
    const open = arrivalsIn(handles.filter(({ kind }) => kind === 'open'));
    assert.ok(
      open.every((arrival) => arrival > arrivalAfter),
      `after ${arrivalAfter} of ${end} no earlier row of an open segment is looked at`,
    );
    assert.ok(
      all.slice(arrivalAfter + 1).every((arrival) => some.has(arrival)),
      `after ${arrivalAfter} of ${end}`,
    );
  }
  const none = store.segments('logs', { ...EVERYTHING, arrivalAfter: end - 1 });
  assert.deepEqual(none, [], 'after the last there is no segment to look at');
}

/** Of all rows, ascending. */
function arrivalsIn(handles: readonly SegmentHandle[]): number[] {
  return handles.flatMap(numbersOfRows).sort((left, right) => left - right);
}

function numbersOfRows(handle: SegmentHandle): number[] {
  const segment =
    handle.kind === 'open'
      ? new OpenSegmentReader(handle)
      : SealedSegmentReader.open(handle.buffer);
  const start = handle.kind === 'open' ? (handle.rowStart ?? 0) : 0;
  const rows = Int32Array.from({ length: segment.rowCount - start }, (_, row) => start + row);
  const arrivals = segment.arrivals(rows, rows.length);
  return Array.from(rows, (_, position) => Number(valueAt(arrivals, position)));
}

function batchNamed(id: string, rowCount: number) {
  return batchOf(Array.from({ length: rowCount }, (_, row) => ({ id, timestampUs: row })));
}

/** `sizes`: rows of each batch, in the order of the calls. */
function expectWhole(
  handles: readonly SegmentHandle[],
  sizes: readonly number[],
  acknowledged: ReadonlySet<number>,
): void {
  const counts = sizes.map(() => 0);
  for (const handle of handles) {
    const segment =
      handle.kind === 'open'
        ? new OpenSegmentReader(handle)
        : SealedSegmentReader.open(handle.buffer);
    const rows = Int32Array.from({ length: segment.rowCount }, (_, row) => row);
    const ids = segment.ids(rows, rows.length);
    for (let row = 0; row < rows.length; row++) counts[Number(valueAt(ids, row))]! += 1;
  }
  // Batches become rows in the order of the calls: those seen are the first of them.
  const seen = counts.findLastIndex((count) => count > 0) + 1;
  assert.deepEqual(counts.slice(0, seen), sizes.slice(0, seen));
  assert.ok([...acknowledged].every((batch) => batch < seen));
}
