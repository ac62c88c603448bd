import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MERGE_BYTES_MAX, MERGE_ROWS_MAX, MERGE_SEGMENTS_MIN } from '../../ingest/limits.ts';
import { chooseMerge, type MergeCandidate } from '../../ingest/merge-choice.ts';
import { Random } from '../../src/demo/traffic/random.ts';

const MB = 1024 * 1024;

function segment(byteSize: number, rowCount = Math.ceil(byteSize / 450)): MergeCandidate {
  return { byteSize, rowCount, isPart: false, areBlocksWhole: false };
}

/**
 * A day of segments, merged whenever there is something to: what was written per byte, how many there are in
 * the mean of the day, what is left.
 */
function merged(sizes: readonly number[]): {
  readonly writes: number;
  readonly countMean: number;
  readonly left: readonly number[];
} {
  let segments: MergeCandidate[] = [];
  let written = 0;
  let countSum = 0;
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
      const kind = { isPart: partCount > 1, areBlocksWhole: false };
      const parts = Array.from({ length: partCount }, () => ({ ...part, ...kind }));
      segments = [...segments.filter((one) => !taken.includes(one)), ...parts];
      written += byteSize;
    }
  };
  for (const size of sizes) {
    segments.push(segment(size));
    written += size;
    mergeAll(false);
    countSum += segments.length;
  }
  mergeAll(true);
  const left = segments.map(({ byteSize }) => byteSize).sort((a, b) => a - b);
  const writes = written / sizes.reduce((sum, size) => sum + size, 0);
  return { writes, countMean: countSum / sizes.length, left };
}

test('segments of one size are merged once there are enough of them', () => {
  const few = Array.from({ length: MERGE_SEGMENTS_MIN - 1 }, () => segment(MB));
  assert.equal(chooseMerge(few, false), undefined);
  assert.equal(chooseMerge([...few, segment(MB * MERGE_SEGMENTS_MIN)], false), undefined);
  assert.equal(chooseMerge([...few, segment(MB)], false)?.segments.length, MERGE_SEGMENTS_MIN);
});

test('segments that fill a merge are merged before there are that many, and full ones never', () => {
  const size = Math.floor(MERGE_BYTES_MAX / 3);
  const some = Array.from({ length: 3 }, () => segment(size));
  assert.equal(chooseMerge(some, false), undefined);
  assert.equal(chooseMerge([...some, segment(size)], false)?.segments.length, 3);
  const full = Array.from({ length: 20 }, () => segment(MERGE_BYTES_MAX / 2 + 1));
  assert.equal(chooseMerge(full, false), undefined);
  const narrow = Array.from({ length: 20 }, () => segment(MB, MERGE_ROWS_MAX / 2 + 1));
  assert.equal(chooseMerge(narrow, false), undefined);
});

test('smaller segments are merged along with others, as many as the merge takes', () => {
  const many = Array.from({ length: MERGE_SEGMENTS_MIN }, () => segment(MB));
  const small = [segment(1000), segment(MB / MERGE_SEGMENTS_MIN - 1)];
  assert.deepEqual(
    new Set(chooseMerge([...small, ...many], false)?.segments),
    new Set([...many, ...small]),
  );
  const filling = Array.from({ length: MERGE_SEGMENTS_MIN }, () =>
    segment(MERGE_BYTES_MAX / MERGE_SEGMENTS_MIN),
  );
  assert.deepEqual(chooseMerge([segment(1), ...filling], false)?.segments, filling);
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
  const parts = Array.from({ length: 8 }, () => ({ ...segment(200 * MB), isPart: true }));
  assert.equal(chooseMerge(parts, true), undefined);
  const late = [segment(20 * MB), segment(MB)];
  assert.equal(chooseMerge([...parts, late[0]!], true), undefined);
  const merged = chooseMerge([...parts, ...late], true)!;
  assert.deepEqual([new Set(merged.segments), merged.partCount], [new Set(late), 1]);
  const much = segment(250 * MB);
  const divided = chooseMerge([...parts, much], true)!;
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

test('each byte is written at most five times, and few segments wait or are left of a day', () => {
  const random = new Random(5);
  const days: readonly (readonly number[])[] = [
    Array.from({ length: 288 }, () => 10_000),
    Array.from({ length: 288 }, () => 2 * MB),
    Array.from({ length: 250 }, () => 22 * MB),
    Array.from({ length: 300 }, () => 1000 * 10 ** (random.next() * 4)),
    Array.from({ length: 288 }, (_, n) => 50_000 * (1 + Math.sin(n / 46)) + 1000),
  ];
  for (const [day, sizes] of days.entries()) {
    const { writes, countMean, left } = merged(sizes);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    const fullCountMax = (2 * total) / MERGE_BYTES_MAX;
    assert.ok(writes <= (fullCountMax > 8 ? 4.1 : 5), `day ${day}: ${writes} writes`);
    assert.ok(countMean <= 13 + fullCountMax, `day ${day}: ${countMean} in the mean`);
    assert.ok(left.length <= 2 + fullCountMax, `day ${day}: ${left.length} left`);
  }
});
