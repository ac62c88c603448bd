import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  intersectionOf,
  partedByLength,
  RangeCollector,
  type RowRanges,
  rangesOfRows,
  unionOf,
} from '../../engine/column/positions.ts';

const ROWS = 40;

/** The ranges of the rows whose bit is set. */
function rangesOf(isIn: readonly boolean[]): RowRanges {
  const collector = new RangeCollector();
  isIn.forEach((isRow, row) => {
    if (isRow) collector.add(row, row + 1);
  });
  return collector.ranges();
}

function rowsOf(ranges: RowRanges): boolean[] {
  const isIn = Array.from({ length: ROWS }, () => false);
  for (let at = 0; at < ranges.length; at += 2) {
    assert.ok(ranges[at]! < ranges[at + 1]!, 'a range has rows');
    assert.ok(at === 0 || ranges[at]! > ranges[at - 1]!, 'ranges neither overlap nor touch');
    isIn.fill(true, ranges[at], ranges[at + 1]);
  }
  return isIn;
}

test('ranges that touch or overlap are one, and empty ones are none', () => {
  const collector = new RangeCollector();
  for (const [start, end] of [
    [1, 3],
    [3, 4],
    [5, 5],
    [6, 9],
    [7, 8],
  ] as const) {
    collector.add(start, end);
  }
  assert.deepEqual([...collector.ranges()], [1, 4, 6, 9]);
});

test('ranges are joined over a gap that is small enough', () => {
  for (const [gapMax, ranges] of [
    [1, [0, 1, 3, 4]],
    [2, [0, 4]],
  ] as const) {
    const collector = new RangeCollector(gapMax);
    collector.add(0, 1);
    collector.add(3, 4);
    assert.deepEqual([...collector.ranges()], ranges);
  }
});

test('union and intersection are what they are row by row', () => {
  const rows = fc.array(fc.boolean(), { minLength: ROWS, maxLength: ROWS });
  fc.assert(
    fc.property(rows, rows, (left, right) => {
      const either = unionOf(rangesOf(left), rangesOf(right));
      const both = intersectionOf(rangesOf(left), rangesOf(right));
      assert.deepEqual(
        rowsOf(either),
        left.map((isIn, row) => isIn || right[row]!),
      );
      assert.deepEqual(
        rowsOf(both),
        left.map((isIn, row) => isIn && right[row]!),
      );
    }),
  );
});

test('union and intersection with one range, or an empty one, are what they are row by row', () => {
  const rows = fc.array(fc.boolean(), { minLength: ROWS, maxLength: ROWS });
  fc.assert(
    fc.property(rows, fc.nat(ROWS - 1), fc.nat(ROWS), (some, start, size) => {
      const end = Math.min(ROWS, start + size);
      const ranges = rangesOf(some);
      const one = Int32Array.of(start, end);
      const isInside = (row: number) => row >= start && row < end;
      for (const both of [intersectionOf(ranges, one), intersectionOf(one, ranges)]) {
        assert.deepEqual(
          rowsOf(both),
          some.map((isIn, row) => isIn && isInside(row)),
        );
      }
      if (start === end) return;
      for (const either of [unionOf(ranges, one), unionOf(one, ranges)]) {
        assert.deepEqual(
          rowsOf(either),
          some.map((isIn, row) => isIn || isInside(row)),
        );
      }
      assert.deepEqual([...ranges], [...rangesOf(some)]);
    }),
  );
});

test('ascending rows, some of them twice, are ranges of rows in a row', () => {
  assert.deepEqual([...rangesOfRows(new Int32Array(0))], []);
  assert.deepEqual([...rangesOfRows(Int32Array.of(0))], [0, 1]);
  assert.deepEqual([...rangesOfRows(Int32Array.of(2, 2, 3, 5, 7, 7, 8))], [2, 4, 5, 6, 7, 9]);
});

test('ranges of one row, and the others, are all of the ranges', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: ROWS }), (isIn) => {
      const { alone, others } = partedByLength(rangesOf(isIn));
      const isAlone = (_: boolean, row: number) => isIn[row] && !isIn[row - 1] && !isIn[row + 1];
      const rows = isIn.flatMap((isRow, row) => (isAlone(isRow, row) ? [row] : []));
      assert.deepEqual([...alone], rows);
      const isOther = rowsOf(others).map((isRow, row) => isRow || rows.includes(row));
      assert.deepEqual(isOther, rowsOf(rangesOf(isIn)));
      for (let at = 0; at < others.length; at += 2) assert.ok(others[at + 1]! - others[at]! > 1);
    }),
  );
});
