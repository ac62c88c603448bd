import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FieldValues, type SegmentRows, sampleRows } from '../../engine/column/field-counts.ts';
import { countOfRanges } from '../../engine/column/positions.ts';
import type { Segment } from '../../engine/column/segment.ts';
import { numberVector } from '../../engine/column/vector.ts';
import { Random } from '../../src/demo/traffic/random.ts';

const SAMPLED = 16_384;

/** All that is read of a segment is how many rows it has. */
function rowsIn(rowCount: number, ...bounds: readonly number[]): SegmentRows {
  const ranges = Int32Array.from(bounds.length === 0 ? [0, rowCount] : bounds);
  return { segment: { rowCount } as Segment, ranges, count: countOfRanges(ranges) };
}

function countOf(segments: readonly SegmentRows[]): number {
  return segments.reduce((sum, { count }) => sum + count, 0);
}

function sampledCount(segments: readonly SegmentRows[]): number {
  return sampleRows(segments, countOf(segments)).reduce((sum, { rows }) => sum + rows.length, 0);
}

test('of few rows all are taken, of more about 16,384, none twice, and none outside of the ranges', () => {
  const segmentRows = fc
    .tuple(fc.constantFrom(1, 300, 40_000), fc.array(fc.nat(40_000), { maxLength: 6 }))
    .map(([size, places]) => {
      const bounds = [...new Set(places.map((place) => place % (size + 1)))];
      const pairs = bounds.toSorted((left, right) => left - right);
      return rowsIn(size, ...(pairs.length < 2 ? [] : pairs.slice(pairs.length % 2)));
    });
  fc.assert(
    fc.property(fc.array(segmentRows, { minLength: 1, maxLength: 12 }), (segments) => {
      const count = countOf(segments);
      const sample = sampleRows(segments, count);
      for (const { segment, rows } of sample) {
        const of = segments.find((each) => each.segment === segment)!;
        deepEqual(rows, new Int32Array(new Set(rows)).sort());
        for (const row of rows) {
          const range = of.ranges.findLastIndex((bound) => bound <= row);
          equal(range % 2, 0, `row ${row} of ${of.ranges}`);
        }
      }
      const taken = sampledCount(segments);
      if (count <= SAMPLED) equal(taken, count);
      else ok(taken <= SAMPLED && taken >= SAMPLED - 12 * segments.length, `${taken} of ${count}`);
    }),
    { numRuns: 200 },
  );
});

test('each stretch of rows has one in the sample, and so has what comes again every few rows its share', () => {
  const [sample] = sampleRows([rowsIn(10 * SAMPLED)], 10 * SAMPLED);
  deepEqual(
    sample!.rows.map((row) => Math.floor(row / 10)),
    Int32Array.from({ length: SAMPLED }, (_, index) => index),
  );
  for (const period of [2, 5, 10, 610]) {
    const share = sample!.rows.filter((row) => row % period === 0).length / SAMPLED;
    ok(Math.abs(share - 1 / period) < 0.005, `${share} of every ${period}th row`);
  }
});

test('of many segments some are sampled, evenly, and of large ones eight', () => {
  const small = Array.from({ length: 600 }, () => rowsIn(20_000));
  const places = (segments: readonly SegmentRows[]): readonly number[] =>
    sampleRows(segments, countOf(segments)).map(({ segment }) =>
      segments.findIndex((each) => each.segment === segment),
    );
  const chosen = places(small);
  equal(chosen.length, 64);
  chosen.forEach((place, index) => {
    ok(Math.abs(place - (index + 0.5) * (600 / 64)) <= 1, `${place} is segment ${index} of 64`);
  });
  equal(sampledCount(small), SAMPLED);
  const large = Array.from({ length: 40 }, () => rowsIn(2_000_000));
  deepEqual(places(large), [2, 7, 12, 17, 22, 27, 32, 37]);
  equal(sampledCount(large), SAMPLED);
  // Small ones are not taken for one that has nearly all rows.
  const uneven = [...small.slice(0, 200).map(() => rowsIn(10)), rowsIn(5_000_000)];
  deepEqual(places(uneven), [200]);
});

/** A million values each, in an order that comes of a fixed seed. */
const VALUES: readonly (readonly [string, (row: number, random: Random) => number])[] = [
  ['few', (_, random) => random.below(50)],
  ['unique', (row) => row],
  ['half of them unique', (row) => (row % 2 === 0 ? row : row % 100)],
  ['one in ten unique', (row) => (row % 10 === 0 ? row : row % 7)],
  ['each some five times', (_, random) => random.below(200_000)],
  ['many few times', (_, random) => Math.floor(1 / random.next() ** 1.2)],
];
const SEED = 17;
const ROWS = 1_000_000;

/** How many times too few or too many different values may be estimated. */
const TIMES_MAX = 4;

test('the number of different values is estimated to a factor of four, and closely where all are rare or none', () => {
  const [sample] = sampleRows([rowsIn(ROWS)], ROWS);
  for (const [name, draw] of VALUES) {
    const random = new Random(SEED);
    const all = Float64Array.from({ length: ROWS }, (_, row) => draw(row, random));
    const values = new FieldValues(ROWS, SAMPLED);
    const taken = Float64Array.from(sample!.rows, (row) => all[row]!);
    values.add(numberVector(taken, taken.length));
    const { distinctCount, isDistinctExact } = values.result();
    const exact = new Set(all).size;
    const times = Math.max(distinctCount / exact, exact / distinctCount);
    const what = `${name}: ${distinctCount} of ${exact}`;
    equal(isDistinctExact, false, what);
    ok(times <= (name === 'few' || name === 'unique' ? 1.01 : TIMES_MAX), what);
  }
});
