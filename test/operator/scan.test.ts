import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { rangesOfRows } from '../../engine/column/positions.ts';
import type { NeededText, RowRun, Segment } from '../../engine/column/segment.ts';
import { numberVector, valueVector } from '../../engine/column/vector.ts';
import {
  countScannedRows,
  INSIDE_ROWS_MIN,
  newScanCounters,
  type ScanOptions,
  scanSegments,
} from '../../engine/operator/scan.ts';
import type { Sink } from '../../engine/operator/sink.ts';
import { TopSink } from '../../engine/operator/sort.ts';
import { QueryError } from '../../engine/query-error.ts';
import { column, emittedRows, RowSink } from './harness.ts';

type FakeRun = Partial<RowRun>;

/** A segment of rows with these timestamps, in runs; ids are `name row`. Counts what is read. */
function segmentOf(
  name: string,
  timestampsUs: readonly number[],
  runs: readonly FakeRun[] = [{ isTimeOrdered: true }],
): Segment & { readonly idsRead: number[] } {
  const idsRead: number[] = [];
  const each = (rows: Int32Array, count: number) => Array.from(rows.subarray(0, count));
  const numbersOf = (rows: Int32Array, count: number, read: (row: number) => number) =>
    numberVector(Float64Array.from(each(rows, count), read), count);
  return {
    idsRead,
    kind: 'sealed',
    rowCount: timestampsUs.length,
    timestampUsMin: Math.min(...timestampsUs),
    timestampUsMax: Math.max(...timestampsUs),
    runs: () =>
      runs.map((run) => ({
        count: run.rows?.length ?? timestampsUs.length,
        start: 0,
        rows: undefined,
        isTimeOrdered: false,
        hasProjectKey: false,
        ...run,
      })),
    runsOf: () => assert.fail('not asked for'),
    countRows: () => timestampsUs.length,
    projectsWith: () => [],
    positionAt: (run, timestampUs) => {
      const rowAt = (position: number) => run.rows?.[position] ?? run.start + position;
      const times = Array.from({ length: run.count }, (_, at) => timestampsUs[rowAt(at)]!);
      return times.filter((time) => time < timestampUs).length;
    },
    timestamps: (rows, count) => numbersOf(rows, count, (row) => timestampsUs[row]!),
    arrivals: (rows, count) => numbersOf(rows, count, (row) => row),
    ids: (rows, count) => {
      idsRead.push(...each(rows, count));
      return valueVector(each(rows, count).map((row) => `${name} ${row}`));
    },
    messages: (rows, count) => valueVector(each(rows, count).map(() => null)),
    projects: (rows, count) => valueVector(each(rows, count).map(() => name)),
    roots: () => assert.fail('not asked for'),
    rowsWith: () => undefined,
  };
}

function optionsOf(options: Partial<ScanOptions> = {}): ScanOptions {
  return {
    fields: ['id', 'timestamp'],
    startUs: Number.NEGATIVE_INFINITY,
    endUs: Number.POSITIVE_INFINITY,
    direction: 'forward',
    checkpoint: () => {},
    counters: newScanCounters(),
    ...options,
  };
}

function idsOf(segments: readonly Segment[], options: Partial<ScanOptions>): unknown[] {
  const sink = new RowSink(1);
  scanSegments(segments, optionsOf(options), { rows: sink });
  return sink.rows.map(([id]) => id);
}

test('reads the window, its start included and its end not, of a run in order of time', () => {
  const segment = segmentOf('s', [10, 20, 20, 30, 40]);
  assert.deepEqual(idsOf([segment], {}), ['s 0', 's 1', 's 2', 's 3', 's 4']);
  assert.deepEqual(idsOf([segment], { startUs: 20, endUs: 40 }), ['s 1', 's 2', 's 3']);
  assert.deepEqual(idsOf([segment], { startUs: 21, endUs: 41 }), ['s 3', 's 4']);
  assert.deepEqual(idsOf([segment], { startUs: 11, endUs: 20 }), []);
  assert.deepEqual(idsOf([segment], { startUs: 10, endUs: 11 }), ['s 0']);
});

test('tests each row of a run that is out of order, whether its time is asked for or not', () => {
  const segment = segmentOf('s', [40, 10, 30, 20], [{}]);
  for (const fields of [['id', 'timestamp'], ['id']] as const) {
    assert.deepEqual(idsOf([segment], { fields, startUs: 20, endUs: 40 }), ['s 2', 's 3']);
  }
});

test('the slices of a scan have each of its rows once, and one of them counts the segments', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 12 }), { maxLength: 3 }),
      fc.record({ start: fc.integer({ min: 0, max: 50 }), length: fc.nat(50) }),
      fc.integer({ min: 1, max: 5 }),
      (timesOfSegments, { start, length }, count) => {
        const window = { startUs: start, endUs: start + length };
        const segments = timesOfSegments.map((times, index) =>
          index === 1
            ? segmentOf('1', times, [{}])
            : segmentOf(
                `${index}`,
                times.toSorted((left, right) => left - right),
              ),
        );
        const whole = newScanCounters();
        const wanted = idsOf(segments, { ...window, counters: whole });
        const counters = newScanCounters();
        const slices = Array.from({ length: count }, (_, index) =>
          idsOf(segments, { ...window, counters, slice: { index, count } }),
        );
        assert.deepEqual(slices.flat().sort(), wanted.sort());
        assert.deepEqual(counters, whole);
      },
    ),
  );
});

test('where texts are needed of any rows those parts of a segment are read that may hold them', () => {
  const needed: NeededText = { path: ['a'], text: 'text' };
  const times = [10, 20, 30, 40, 50, 60];
  const parts = [segmentOf('first', [10, 20]), segmentOf('second', [40])];
  const whole = { ...segmentOf('s', times), partsWith: () => parts };
  const counters = newScanCounters();
  const texts = [needed];
  assert.deepEqual(idsOf([whole], { texts, counters }), ['first 0', 'first 1', 'second 0']);
  assert.deepEqual([counters.rowsScanned, counters.rowsSkipped], [3, 3]);
  const newestFirst = idsOf([whole], { texts, direction: 'newest-first' });
  assert.deepEqual(newestFirst, ['second 0', 'first 0', 'first 1']);
  // Slices have the rows of the whole divided among them, and without a text all are wanted.
  const sliced = idsOf([whole], { texts, slice: { index: 0, count: 2 } });
  assert.deepEqual(sliced, ['s 0', 's 1', 's 2']);
  assert.equal(idsOf([whole], {}).length, times.length);
});

test('reads runs that list their rows, in order of time or not', () => {
  const rows = Int32Array.of(0, 2, 3);
  const window = { startUs: 30, endUs: 60 };
  const ordered = segmentOf('s', [10, 20, 30, 50], [{ rows, isTimeOrdered: true }]);
  assert.deepEqual(idsOf([ordered], window), ['s 2', 's 3']);
  const unordered = segmentOf('s', [40, 20, 10, 50], [{ rows }]);
  assert.deepEqual(idsOf([unordered], window), ['s 0', 's 3']);
});

test('skips segments outside the window and counts them', () => {
  const counters = newScanCounters();
  const segments = [segmentOf('a', [1, 2]), segmentOf('b', [3, 4]), segmentOf('c', [5, 6])];
  assert.deepEqual(idsOf(segments, { startUs: 3, endUs: 5, counters }), ['b 0', 'b 1']);
  assert.deepEqual(
    { ...counters },
    {
      rowsScanned: 2,
      rowsFromMemo: 0,
      rowsSkipped: 0,
      segmentsScanned: 1,
      segmentsSkipped: 2,
    },
  );
});

test('pushes 2047, 2048 and 2049 rows in chunks of at most 2048', () => {
  for (const count of [2047, 2048, 2049]) {
    const segment = segmentOf(
      's',
      Array.from({ length: count }, (_, index) => index),
    );
    for (const direction of ['forward', 'newest-first'] as const) {
      const sink = new RowSink(2);
      scanSegments([segment], optionsOf({ direction }), { rows: sink });
      assert.equal(new Set(sink.rows.map(([id]) => id)).size, count);
      assert.ok(sink.chunkSizes.every((size) => size <= 2048));
    }
  }
});

test('begins with a small chunk at the end when newest first, and grows', () => {
  const segment = segmentOf(
    's',
    Array.from({ length: 1000 }, (_, index) => index),
  );
  const sink = new RowSink(2);
  scanSegments([segment], optionsOf({ direction: 'newest-first' }), { rows: sink });
  assert.deepEqual(sink.chunkSizes, [128, 256, 512, 104]);
  assert.deepEqual(sink.rows[0], ['s 872', 872]);
});

test('stops at what is strictly older than the floor, and reads the winners only', () => {
  const timestamps = Array.from({ length: 10_000 }, (_, index) => index);
  const recent = segmentOf('recent', timestamps);
  const older = segmentOf('older', [9_000, 9_899]);
  const top = new TopSink({
    keys: [{ expression: column(1), descending: true, nullsFirst: false }],
    width: 2,
    count: 100,
  });
  const counters = newScanCounters();
  const floorUs = () => top.floor() as number | undefined;
  const options = optionsOf({ direction: 'newest-first', floorUs, counters });
  scanSegments([older, recent], options, { rows: top });
  const rows = emittedRows(top, 2);
  assert.equal(rows.length, 100);
  assert.deepEqual(rows[99], ['recent 9900', 9900]);
  assert.deepEqual(
    { ...counters },
    {
      rowsScanned: 128,
      rowsFromMemo: 0,
      rowsSkipped: 0,
      segmentsScanned: 1,
      segmentsSkipped: 1,
    },
  );
  assert.equal(recent.idsRead.length, 100);
});

test('keeps rows as old as the floor: a later key may prefer them', () => {
  const segments = [segmentOf('a', [5, 5]), segmentOf('b', [5, 6])];
  const top = new TopSink({
    keys: [
      { expression: column(1), descending: true, nullsFirst: false },
      { expression: column(0), descending: false, nullsFirst: true },
    ],
    width: 2,
    count: 2,
  });
  const floorUs = () => top.floor() as number | undefined;
  scanSegments(segments, optionsOf({ direction: 'newest-first', floorUs }), { rows: top });
  assert.deepEqual(emittedRows(top, 2), [
    ['b 1', 6],
    ['a 0', 5],
  ]);
});

test('finds the newest rows of runs out of order, too', () => {
  const timestamps = Array.from({ length: 5000 }, (_, index) => (index * 7919) % 5000);
  const top = new TopSink({
    keys: [{ expression: column(1), descending: true, nullsFirst: false }],
    width: 2,
    count: 3,
  });
  const floorUs = () => top.floor() as number | undefined;
  scanSegments(
    [segmentOf('s', timestamps, [{}])],
    optionsOf({ direction: 'newest-first', floorUs }),
    { rows: top },
  );
  assert.deepEqual(
    emittedRows(top, 2).map(([, timestampUs]) => timestampUs),
    [4999, 4998, 4997],
  );
});

test('sends rows known to have the project key another way, if there is one', () => {
  const segment = segmentOf(
    's',
    [1, 2, 3],
    [
      { rows: Int32Array.of(0, 1), isTimeOrdered: true, hasProjectKey: true },
      { rows: Int32Array.of(2) },
    ],
  );
  const rows = new RowSink(1);
  const keyedRows = new RowSink(1);
  scanSegments([segment], optionsOf({ projectKey: 'p' }), { rows, keyedRows });
  assert.deepEqual(keyedRows.rows, [['s 0'], ['s 1']]);
  assert.deepEqual(rows.rows, [['s 2']]);
});

test('ends when the sink wants no more, and when the query is to stop', () => {
  const segments = [segmentOf('a', [1, 2]), segmentOf('b', [3, 4])];
  const sink = new RowSink(1, 1);
  assert.equal(scanSegments(segments, optionsOf(), { rows: sink }), false);
  assert.deepEqual(sink.rows, [['a 0'], ['a 1']]);

  const never: Sink = { push: () => assert.fail('the query has been stopped') };
  const checkpoint = () => {
    throw new QueryError('query_timeout', 'took too long');
  };
  assert.throws(
    () => scanSegments(segments, optionsOf({ checkpoint }), { rows: never }),
    (error) => error instanceof QueryError && error.code === 'query_timeout',
  );
});

/** A segment of 3,000 rows in order of time that tells which of them may hold a text. */
function tellingSegment(
  rangesOf: (needed: NeededText) => readonly number[] | undefined,
  run: FakeRun = { isTimeOrdered: true },
): { readonly segment: Segment; readonly asked: NeededText[] } {
  const asked: NeededText[] = [];
  const timestampsUs = Array.from({ length: 3000 }, (_, row) => row);
  const rowsWith = (needed: NeededText) => {
    asked.push(needed);
    const ranges = rangesOf(needed);
    return ranges && Int32Array.from(ranges);
  };
  return { segment: { ...segmentOf('s', timestampsUs, [run]), rowsWith }, asked };
}

const NEEDED: readonly NeededText[] = [
  { path: ['a'], text: 'one' },
  { path: ['b'], text: 'two' },
];

/** The rows that come, in order of time, and how many were passed over. */
function rowsAndSkipped(segment: Segment, options: Partial<ScanOptions>) {
  const sink = new RowSink(2);
  const counters = newScanCounters();
  scanSegments([segment], optionsOf({ texts: NEEDED, counters, ...options }), { rows: sink });
  const rows = sink.rows.map(([, row]) => row as number).sort((left, right) => left - right);
  assert.equal(counters.rowsScanned, rows.length);
  return { rows, rowsSkipped: counters.rowsSkipped, chunkSizes: sink.chunkSizes };
}

test('reads the rows that may hold all texts, in full chunks, and counts the others', () => {
  const { segment, asked } = tellingSegment(({ text }) =>
    text === 'one' ? [0, 2, 10, 20, 2999, 3000] : [1, 12, 15, 3000],
  );
  const wanted = [1, 10, 11, 15, 16, 17, 18, 19, 2999];
  for (const direction of ['forward', 'newest-first'] as const) {
    const { rows, rowsSkipped, chunkSizes } = rowsAndSkipped(segment, { direction });
    assert.deepEqual(rows, wanted);
    assert.equal(rowsSkipped, 2991);
    assert.deepEqual(chunkSizes, [9]);
  }
  assert.deepEqual(asked, [...NEEDED, ...NEEDED]);
});

test('reads the rows of the window among those that may hold the texts', () => {
  const { segment } = tellingSegment(() => [100, 200, 1000, 1001, 2500, 2600]);
  const window = { startUs: 150, endUs: 2510 };
  for (const run of [{ isTimeOrdered: true }, { isTimeOrdered: false }]) {
    const other = tellingSegment(() => [100, 200, 1000, 1001, 2500, 2600], run).segment;
    const sink = new RowSink(2);
    scanSegments([other], optionsOf({ texts: NEEDED, ...window }), { rows: sink });
    assert.equal(sink.rows.length, 50 + 1 + 10);
  }
  assert.equal(rowsAndSkipped(segment, window).rowsSkipped, 2360 - 61);
});

test('reads all rows where there is no telling, and by the one text that tells', () => {
  assert.equal(rowsAndSkipped(tellingSegment(() => undefined).segment, {}).rows.length, 3000);
  const { segment } = tellingSegment(({ text }) => (text === 'one' ? undefined : [5, 7]));
  assert.deepEqual(rowsAndSkipped(segment, {}).rows, [5, 6]);
  const none = rowsAndSkipped(tellingSegment(() => []).segment, {});
  assert.deepEqual([none.rows, none.rowsSkipped], [[], 3000]);
});

test('asks of a run from 512 rows on, and of none that lists its rows', () => {
  for (const [count, askedCount] of [
    [511, 0],
    [512, 2],
  ] as const) {
    const { segment, asked } = tellingSegment(() => [0, 1]);
    const { rows } = rowsAndSkipped(segment, { startUs: 0, endUs: count });
    assert.equal(asked.length, askedCount);
    assert.equal(rows.length, askedCount === 0 ? count : 1);
  }
  const listed = tellingSegment(() => [], { rows: Int32Array.from({ length: 600 }, (_, n) => n) });
  assert.equal(rowsAndSkipped(listed.segment, {}).rows.length, 600);
  assert.equal(listed.asked.length, 0);
});

test('a run that begins inside its segment is told by the rows of the segment', () => {
  const run = { start: 1000, count: 2000, isTimeOrdered: true };
  const { segment } = tellingSegment(() => [0, 1001, 1500, 1502], run);
  assert.deepEqual(rowsAndSkipped(segment, {}).rows, [1000, 1500, 1501]);
});

test('stops at the floor between ranges as it does within a run', () => {
  const { segment } = tellingSegment(() => [0, 400, 1000, 1100, 2900, 3000]);
  const { rows } = rowsAndSkipped(segment, { direction: 'newest-first', floorUs: () => 1100 });
  // The first chunk has 128 rows, and so 28 of what is older than the floor; there it ends.
  assert.equal(rows[0], 1100 - 28);
});

test('reads of ranges in order of time, each of one project, the rows inside the window', () => {
  const half = 4500;
  const timestampsUs = Array.from({ length: 2 * half }, (_, row) => row % half);
  const ranges = [3, 4, 100, 4400, half, 2 * half];
  for (const [startUs, endUs] of [
    [0, half],
    [1000, 4000],
    [4399, 4400],
    [4400, 4500],
    [5000, 6000],
  ] as const) {
    const segment: Segment = {
      ...segmentOf('s', timestampsUs, [{ isTimeOrdered: false }]),
      rowsWith: () => Int32Array.from(ranges),
      areTimeOrdered: (start, count) => start >= half || start + count <= half,
    };
    const sink = new RowSink(2);
    const counters = newScanCounters();
    const scope = { texts: NEEDED, startUs, endUs };
    scanSegments([segment], optionsOf({ ...scope, counters }), { rows: sink });
    const max = 2 * half - 1;
    assert.equal(
      countScannedRows(segment, scope, { max, indexedMax: 2 * half }),
      counters.rowsScanned,
      'what is counted before a scan is what it looks at',
    );
    const isIn = (row: number) => row === 3 || (row >= 100 && row < 4400) || row >= half;
    const expected = timestampsUs.flatMap((timestampUs, row) =>
      isIn(row) && timestampUs >= startUs && timestampUs < endUs ? [`s ${row}`] : [],
    );
    assert.deepEqual(
      sink.rows.map(([id]) => id),
      expected,
    );
  }
});

test('passes on nothing older than the floor of a run that is out of order', () => {
  const segment = segmentOf('s', [40, 10, 30, 20], [{}]);
  for (const told of [segment, { ...segment, rowsInside: () => Int32Array.of(0, 4) }]) {
    for (const startUs of [Number.NEGATIVE_INFINITY, 10, 15]) {
      const options = { direction: 'newest-first', startUs, floorUs: () => 30 } as const;
      assert.deepEqual(idsOf([told], options), ['s 0', 's 2']);
    }
  }
});

test('looks at the rows inside the window alone where the segment tells them', () => {
  const times = fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 30 });
  fc.assert(
    fc.property(
      fc.array(times, { minLength: 1, maxLength: 4 }),
      fc.record({ start: fc.integer({ min: -1, max: 50 }), length: fc.nat(52) }),
      fc.record({
        sliceCount: fc.integer({ min: 1, max: 3 }),
        isNewestFirst: fc.boolean(),
        repeated: fc.constantFrom(1, 700),
      }),
      (timesOfGroups, { start, length }, { sliceCount, isNewestFirst, repeated }) => {
        const window = { startUs: start, endUs: start + length };
        const timestampsUs = timesOfGroups.flatMap((group) =>
          group
            .flatMap((time) => Array<number>(repeated).fill(time))
            .sort((left, right) => left - right),
        );
        const isInside = (time: number) => time >= window.startUs && time < window.endUs;
        const inside = timestampsUs.flatMap((time, row) => (isInside(time) ? [row] : []));
        const segment: Segment = {
          ...segmentOf('s', timestampsUs, [{}]),
          rowsInside: () => rangesOfRows(Int32Array.from(inside)),
        };
        const counters = newScanCounters();
        const direction = isNewestFirst ? 'newest-first' : 'forward';
        const ids = Array.from({ length: sliceCount }, (_, index) =>
          idsOf([segment], {
            ...window,
            ...{ direction, counters, slice: { index, count: sliceCount } },
          }),
        ).flat();
        const expected = inside.map((row) => `s ${row}`);
        assert.deepEqual(ids.sort(), expected.sort());
        // Of few rows it is not asked.
        const isAsked = timestampsUs.length >= INSIDE_ROWS_MIN;
        if (isAsked) assert.equal(counters.rowsScanned, expected.length);
        assert.equal(counters.rowsSkipped, 0);
      },
    ),
  );
});
