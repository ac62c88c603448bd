import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { pickQuantiles, writeQuantiles } from '../../engine/aggregate/quantile-ranks.ts';

const ascending = (left: number, right: number) => left - right;

/** Parts of a whole, and those that are wanted. */
const anyRanks = fc.integer({ min: 2, max: 200 }).chain((n) =>
  fc.record({
    n: fc.constant(n),
    wanted: fc.option(
      fc
        .uniqueArray(fc.nat(n), { maxLength: 4 })
        .map((offsets) => offsets.sort((left, right) => left - right)),
      { nil: undefined },
    ),
  }),
);

/** By the definition: each value as often as it came, counted off from the least. */
function expected(
  integers: readonly number[],
  { n, wanted }: { readonly n: number; readonly wanted: readonly number[] | undefined },
): number[] {
  const sorted = integers.toSorted(ascending);
  const picks = wanted ?? Array.from({ length: n + 1 }, (_, i) => i);
  return picks.map((i) => sorted[Math.max(Math.ceil((i * sorted.length) / n), 1) - 1]!);
}

const anyInteger = fc.oneof(fc.nat(9), fc.nat(65_535));
const anyIntegers = fc.oneof(
  fc.array(anyInteger, { minLength: 1, maxLength: 30 }),
  fc.array(anyInteger, { minLength: 1, maxLength: 130, size: 'max' }),
);

test('quantiles are those of an exact loop, some entries of which are not meant', () => {
  fc.assert(
    fc.property(anyIntegers, anyRanks, fc.nat(3), fc.nat(3), (integers, ranks, before, behind) => {
      const sorted = integers.toSorted(ascending);
      const distinct = [...new Set(sorted)];
      // Zeros are counts of what did not come.
      const values = [
        ...Array(before).fill(-1),
        ...distinct,
        70_000,
        ...Array(behind).fill(80_000),
      ];
      const counts = [
        ...Array(before).fill(7),
        ...distinct.map((value) => sorted.filter((other) => other === value).length),
        ...[0, ...Array(behind).fill(9)],
      ];
      const range = { start: before, end: before + distinct.length + 1 };
      const picked: number[] = [];
      writeQuantiles({ values, counts, total: sorted.length, ...range }, ranks, picked, 0);
      assert.deepEqual(picked, expected(integers, ranks));
    }),
  );
});

test('a list without bounds is meant whole', () => {
  const values = [2, 3, 5];
  assert.deepEqual(pickQuantiles({ values, counts: [1, 2, 1], total: 4 }, 4), [2, 2, 3, 3, 5]);
});
