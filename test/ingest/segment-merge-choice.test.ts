import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MERGE_BYTES_MAX, MERGE_ROWS_MAX, MERGE_SEGMENTS_MIN } from '../../ingest/limits.ts';
import { chooseMerge, type MergeCandidate } from '../../ingest/merge-choice.ts';
import { Random } from '../../src/demo/traffic/random.ts';

const MB = 1024 * 1024;

function segment(byteSize: number, rowCount = Math.ceil(byteSize / 450)): MergeCandidate {
  return { byteSize, rowCount };
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
      const byteSize = chosen.reduce((sum, one) => sum + one.byteSize, 0);
      const rowCount = chosen.reduce((sum, one) => sum + one.rowCount, 0);
      assert.ok(chosen.length > 1 && byteSize <= MERGE_BYTES_MAX && rowCount <= MERGE_ROWS_MAX);
      segments = [...segments.filter((one) => !chosen.includes(one)), { byteSize, rowCount }];
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
  assert.equal(chooseMerge([...few, segment(MB)], false)?.length, MERGE_SEGMENTS_MIN);
});

test('segments that fill a merge are merged before they are that many, and full ones never', () => {
  const size = Math.floor(MERGE_BYTES_MAX / 3);
  const some = Array.from({ length: 3 }, () => segment(size));
  assert.equal(chooseMerge(some, false), undefined);
  assert.equal(chooseMerge([...some, segment(size)], false)?.length, 3);
  const full = Array.from({ length: 20 }, () => segment(MERGE_BYTES_MAX / 2 + 1));
  assert.equal(chooseMerge(full, true), undefined);
  const narrow = Array.from({ length: 20 }, () => segment(MB, MERGE_ROWS_MAX / 2 + 1));
  assert.equal(chooseMerge(narrow, true), undefined);
});

test('smaller segments go along where others are merged, as many as the merge takes', () => {
  const many = Array.from({ length: MERGE_SEGMENTS_MIN }, () => segment(MB));
  const small = [segment(1000), segment(MB / MERGE_SEGMENTS_MIN - 1)];
  assert.deepEqual(new Set(chooseMerge([...small, ...many], false)), new Set([...many, ...small]));
  const filling = Array.from({ length: MERGE_SEGMENTS_MIN }, () =>
    segment(MERGE_BYTES_MAX / MERGE_SEGMENTS_MIN),
  );
  assert.deepEqual(chooseMerge([segment(1), ...filling], false), filling);
});

test('what is left of a day that is over is merged from the small end', () => {
  const left = [100, 9, 1, 200, 121].map((size) => segment(size * MB));
  assert.equal(chooseMerge(left, false), undefined);
  const chosen = chooseMerge(left, true)!;
  assert.deepEqual(
    chosen.map(({ byteSize }) => byteSize / MB),
    [1, 9, 100, 121],
  );
  assert.equal(chooseMerge([segment(MB)], true), undefined);
  assert.equal(chooseMerge([], true), undefined);
  const large = segment(MERGE_BYTES_MAX / 2 + 1);
  assert.deepEqual(chooseMerge([large, segment(MB)], true), [segment(MB), large]);
  assert.equal(chooseMerge([large, large], true), undefined);
});

test('each byte is written three to five times, and few segments wait or are left of a day', () => {
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
    assert.ok(writes <= (fullCountMax > 8 ? 3.1 : 5), `day ${day}: ${writes} writes`);
    assert.ok(countMean <= 13 + fullCountMax, `day ${day}: ${countMean} in the mean`);
    assert.ok(left.length <= 2 + fullCountMax, `day ${day}: ${left.length} left`);
  }
});
