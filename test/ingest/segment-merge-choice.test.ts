import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MERGE_BYTES_MAX, MERGE_ROWS_MAX, MERGE_RUNS_MIN } from '../../ingest/limits.ts';
import { chooseMerge, type MergeCandidate } from '../../ingest/merge-choice.ts';
import { Random } from '../../src/demo/traffic/random.ts';

const MB = 1024 * 1024;

function segment(byteSize: number, rowCount = Math.ceil(byteSize / 450)): MergeCandidate {
  return { byteSize, rowCount, projectCount: 1000, division: undefined, areBlocksWhole: false };
}

/** The parts of a division. */
function parts(division: number, count: number, byteSize: number): readonly MergeCandidate[] {
  return Array.from({ length: count }, () => ({ ...segment(byteSize), division }));
}

/**
 * A day of segments, merged whenever there is something to: how often each byte was written, how many segments a query
 * for one project reads in the mean of the day, and how many of those that are left.
 */
function merged(sizes: readonly number[]): {
  readonly writes: number;
  readonly readMean: number;
  readonly leftToRead: number;
} {
  let segments: MergeCandidate[] = [];
  let written = 0;
  let readSum = 0;
  let divisionCount = 0;
  const readOf = (): number => new Set(segments.map((one) => one.division ?? one)).size;
  const mergeAll = (isOver: boolean): void => {
    for (;;) {
      const chosen = chooseMerge(segments, isOver);
      if (chosen === undefined) return;
      const { partCount, segments: taken } = chosen;
      const byteSize = taken.reduce((sum, one) => sum + one.byteSize, 0);
      const rowCount = taken.reduce((sum, one) => sum + one.rowCount, 0);
      const part = { byteSize: byteSize / partCount, rowCount: Math.ceil(rowCount / partCount) };
      assert.ok(taken.length > 1);
      assert.ok(part.byteSize <= MERGE_BYTES_MAX && part.rowCount <= MERGE_ROWS_MAX);
      const division = partCount > 1 ? ++divisionCount : undefined;
      const made = Array.from({ length: partCount }, () => ({
        ...segment(part.byteSize, part.rowCount),
        division,
      }));
      segments = [...segments.filter((one) => !taken.includes(one)), ...made];
      written += byteSize;
    }
  };
  for (const size of sizes) {
    segments.push(segment(size));
    written += size;
    mergeAll(false);
    readSum += readOf();
  }
  mergeAll(true);
  const writes = written / sizes.reduce((sum, size) => sum + size, 0);
  return { writes, readMean: readSum / sizes.length, leftToRead: readOf() };
}

test('segments of one size are merged once there are enough of them', () => {
  const few = Array.from({ length: MERGE_RUNS_MIN - 1 }, () => segment(MB));
  assert.equal(chooseMerge(few, false), undefined);
  assert.equal(chooseMerge([...few, segment(MB * MERGE_RUNS_MIN)], false), undefined);
  assert.equal(chooseMerge([...few, segment(MB)], false)?.segments.length, MERGE_RUNS_MIN);
});

test('segments that one merge cannot take are divided by project, and divisions of similar size again', () => {
  const full = Array.from({ length: MERGE_RUNS_MIN }, () => segment(MERGE_BYTES_MAX));
  assert.equal(chooseMerge(full.slice(1), false), undefined);
  const divided = chooseMerge(full, false)!;
  assert.deepEqual([divided.segments.length, divided.partCount], [MERGE_RUNS_MIN, MERGE_RUNS_MIN]);
  assert.equal(divided.byteSize, MERGE_BYTES_MAX);
  const runs = Array.from({ length: MERGE_RUNS_MIN }, (_, run) => parts(run, 3, 200 * MB));
  assert.equal(chooseMerge(runs.slice(1).flat(), false), undefined);
  assert.equal(chooseMerge(runs.flat(), false)?.segments.length, 3 * MERGE_RUNS_MIN);
});

test('rows of fewer projects than there would be parts are not divided', () => {
  const full = Array.from({ length: MERGE_RUNS_MIN }, () => ({
    ...segment(MERGE_BYTES_MAX),
    projectCount: MERGE_RUNS_MIN - 1,
  }));
  for (const isOver of [false, true]) assert.equal(chooseMerge(full, isOver), undefined);
  const one = { ...segment(MERGE_BYTES_MAX), projectCount: MERGE_RUNS_MIN + 1 };
  assert.notEqual(chooseMerge([one, ...full], false), undefined);
});

test('rows of many projects are merged in steps, where one segment could take them, too', () => {
  const bounds = { byteSize: 88 * MB, stepSize: 22 * MB, rowCount: MERGE_ROWS_MAX, runsMin: 8 };
  const some = (byteSize: number, projectCount: number): MergeCandidate[] =>
    Array.from({ length: 8 }, () => ({ ...segment(byteSize), projectCount }));
  const chosen = (segments: readonly MergeCandidate[]) => {
    const { partCount, byteSize, totalBytes } = chooseMerge(segments, false, bounds) ?? {};
    return { partCount, byteSize, totalBytes };
  };
  const total = { totalBytes: 64 * MB };
  assert.deepEqual(chosen(some(8 * MB, 1_000)), { partCount: 3, byteSize: 22 * MB, ...total });
  // Of two projects three parts cannot be made.
  assert.deepEqual(chosen(some(8 * MB, 2)), { partCount: 1, byteSize: 64 * MB, ...total });
  assert.equal(chooseMerge(some(12 * MB, 2), false, bounds), undefined);
  assert.equal(chosen(some(MB, 1_000)).partCount, 1);
});

test('of many segments that wait, some are divided at a time, the smallest first, and all are merged in the end', () => {
  const bounds = { byteSize: 88 * MB, stepSize: 22 * MB, rowCount: MERGE_ROWS_MAX, runsMin: 8 };
  const waiting = Array.from({ length: 100 }, (_, index) => segment(5 * MB + index));
  for (const isOver of [false, true]) {
    const { segments, partCount } = chooseMerge(waiting.toReversed(), isOver, bounds)!;
    assert.deepEqual(new Set(segments), new Set(waiting.slice(0, 16)));
    assert.equal(partCount, 4);
  }
  // What one segment can take is read once, however much it is.
  const tiny = Array.from({ length: 100 }, () => segment(MB / 8));
  assert.equal(chooseMerge(tiny, false, bounds)?.segments.length, 100);

  let left: readonly MergeCandidate[] = waiting;
  for (let division = 1; division < 100; division++) {
    const chosen = chooseMerge(left, true, bounds);
    if (chosen === undefined) break;
    const made = parts(division, chosen.partCount, chosen.totalBytes / chosen.partCount);
    left = [...left.filter((one) => !chosen.segments.includes(one)), ...made];
  }
  assert.equal(new Set(left.map(({ division }) => division)).size, 1, 'one run');
});

test('smaller segments are merged along with others', () => {
  const many = Array.from({ length: MERGE_RUNS_MIN }, () => segment(MB));
  const small = [segment(1000), segment(MB / MERGE_RUNS_MIN - 1)];
  assert.deepEqual(
    new Set(chooseMerge([...small, ...many], false)?.segments),
    new Set([...many, ...small]),
  );
});

test('a day that is over is merged to one segment where a merge takes all, else divided by project', () => {
  const small = [100, 9, 1, 121].map((size) => segment(size * MB));
  assert.equal(chooseMerge(small, false), undefined);
  const whole = chooseMerge(small, true)!;
  assert.deepEqual([new Set(whole.segments), whole.partCount], [new Set(small), 1]);
  assert.equal(chooseMerge([segment(MB)], true), undefined);
  assert.equal(chooseMerge([], true), undefined);
  const large = [...small, segment(200 * MB), segment(120 * MB)];
  const divided = chooseMerge(large, true)!;
  assert.deepEqual([new Set(divided.segments), divided.partCount], [new Set(large), 3]);
});

test('a divided day is divided again after many new rows, and few new rows are merged beside it', () => {
  const day = parts(1, 8, 200 * MB);
  assert.equal(chooseMerge(day, true), undefined);
  const late = [segment(20 * MB), segment(MB)];
  assert.equal(chooseMerge([...day, late[0]!], true), undefined);
  const merged = chooseMerge([...day, ...late], true)!;
  assert.deepEqual([new Set(merged.segments), merged.partCount], [new Set(late), 1]);
  const much = segment(250 * MB);
  const divided = chooseMerge([...day, much], true)!;
  assert.deepEqual([divided.segments.length, divided.partCount], [9, 8]);
});

test('a segment whose blocks are whole arrays is rewritten before its rows are divided', () => {
  const old = { ...segment(200 * MB), areBlocksWhole: true };
  const day = [segment(120 * MB), old, segment(200 * MB)];
  const choice = chooseMerge(day, true)!;
  assert.deepEqual([choice.segments, choice.partCount], [[old], 1]);
  assert.equal(chooseMerge(day, false), undefined);
  assert.equal(chooseMerge([old], true), undefined);
});

test('each byte is written at most five times, and a query for a project reads few segments of a day', () => {
  const random = new Random(5);
  const days: readonly (readonly number[])[] = [
    Array.from({ length: 288 }, () => 10_000),
    Array.from({ length: 288 }, () => 2 * MB),
    Array.from({ length: 250 }, () => 22 * MB),
    Array.from({ length: 300 }, () => 1000 * 10 ** (random.next() * 4)),
    Array.from({ length: 288 }, (_, n) => 50_000 * (1 + Math.sin(n / 46)) + 1000),
  ];
  for (const [day, sizes] of days.entries()) {
    const { writes, readMean, leftToRead } = merged(sizes);
    assert.ok(writes <= 5, `day ${day}: ${writes} writes`);
    assert.ok(readMean <= 13, `day ${day}: ${readMean} in the mean`);
    assert.ok(leftToRead <= 2, `day ${day}: ${leftToRead} left`);
  }
});
