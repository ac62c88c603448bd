import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type IntegerCounts, mergedCounts } from '../../engine/aggregate/integer-log.ts';
import { NumberCounts } from '../../engine/aggregate/number-counts.ts';

const INTEGERS = fc.array(fc.integer({ min: 0, max: 65_535 }), { maxLength: 60 });
/** Few values far apart, many near each other, and what is no small integer. */
const NUMBERS = fc.array(
  fc.oneof(
    fc.integer({ min: 0, max: 65_535 }),
    fc.integer({ min: 0, max: 40 }),
    fc.constantFrom(-1, 0.5, Number.NaN, 65_536, 1e300, 2n ** 60n),
  ),
  { maxLength: 120 },
);

function tallied(values: readonly number[]): IntegerCounts {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const entries = [...counts].sort(([left], [right]) => left - right);
  return {
    values: Uint16Array.from(entries, ([value]) => value),
    counts: Uint32Array.from(entries, ([, count]) => count),
  };
}

test('merged lists have each integer once, and their counts add up', () => {
  fc.assert(
    fc.property(fc.array(INTEGERS, { maxLength: 6 }), (lists) => {
      assert.deepEqual(mergedCounts(lists.map(tallied)), tallied(lists.flat()));
    }),
  );
});

/** How often each number of group 1 came, in order. */
function sortedOf(counts: NumberCounts) {
  const { values, counts: each, total } = counts.sorted(1);
  const of = new Map<number | bigint, number>();
  const all = [...each];
  for (const [index, value] of [...values].entries()) {
    of.set(value, (of.get(value) ?? 0) + all[index]!);
  }
  return { entries: [...of], total };
}

function counted(numbers: readonly (number | bigint)[]): NumberCounts {
  const counts = new NumberCounts();
  counts.reserve(2);
  for (const number of numbers) counts.add(1, number, 1);
  return counts;
}

test('partial states taken in as lists or by counters give what all numbers would', () => {
  fc.assert(
    fc.property(fc.array(NUMBERS, { maxLength: 5 }), NUMBERS, (parts, own) => {
      const whole = counted(own);
      const partials = parts.map((part) => counted(part).partial(2));
      const before = structuredClone(partials);
      for (const partial of partials) whole.combine(partial, Int32Array.of(0, 1));
      const wanted = sortedOf(counted([...own, ...parts.flat()]));
      assert.deepEqual(sortedOf(whole), wanted);
      assert.deepEqual(partials, before, 'a partial state is as it was');
      // As one partial state again, and after more numbers.
      const again = counted([]);
      again.combine(whole.partial(2), Int32Array.of(0, 1));
      assert.deepEqual(sortedOf(again), wanted);
      again.reserve(2);
      for (const number of own) again.add(1, number, 1);
      assert.deepEqual(sortedOf(again), sortedOf(counted([...own, ...own, ...parts.flat()])));
    }),
  );
});
