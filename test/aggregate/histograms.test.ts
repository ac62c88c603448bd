import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Histograms } from '../../engine/aggregate/histograms.ts';
import { countedIntegers } from '../../engine/aggregate/integer-log.ts';

const GROUP_COUNT = 3;

/** Integers of one group: one alone, or a list with so many in steps of so much, ascending. */
const steps = fc.array(
  fc.record({
    group: fc.nat(GROUP_COUNT - 1),
    first: fc.constantFrom(0, 5, 200, 9_000, 65_000),
    count: fc.constantFrom(0, 1, 30, 300),
    step: fc.constantFrom(1, 7),
    asks: fc.boolean(),
  }),
  { maxLength: 12 },
);

/** All integers of a group, by way of where they lie where that is known. */
function entriesOf(histograms: Histograms, group: number): [number, number][] {
  const logged = histograms.logged(group);
  if (logged !== undefined) {
    const { values, counts, start, end } = logged;
    return Array.from({ length: end - start }, (_, i) => [values[start + i]!, counts[start + i]!]);
  }
  const counted = histograms.counted(group);
  if (counted !== undefined) {
    return Array.from(counted, (count, value): [number, number] => [value, count]).filter(
      ([, count]) => count > 0,
    );
  }
  const { values, counts } = histograms.counts(group);
  return Array.from({ length: values.length }, (_, i) => [values[i]!, counts[i]!]);
}

test('integers are counted whether they came before their group had a histogram or after', () => {
  fc.assert(
    fc.property(steps, (given) => {
      const histograms = new Histograms();
      histograms.reserve(GROUP_COUNT);
      const expected = Array.from({ length: GROUP_COUNT }, () => new Map<number, number>());
      const check = () => {
        for (const [group, counts] of expected.entries()) {
          const sorted = [...counts].sort(([left], [right]) => left - right);
          assert.deepEqual(entriesOf(histograms, group), sorted);
        }
      };
      for (const { group, first, count, step, asks } of given) {
        const values = Uint16Array.from({ length: count }, (_, i) => first + i * step).filter(
          (value) => value >= first,
        );
        const counts = Uint32Array.from(values, (value) => 1 + (value % 3));
        if (values.length === 1) histograms.add(group, values[0]!, counts[0]!);
        else
          histograms.combine(group, countedIntegers({ values, counts }), {
            start: 0,
            end: values.length,
          });
        const ofGroup = expected[group]!;
        for (const [i, value] of values.entries()) {
          ofGroup.set(value, (ofGroup.get(value) ?? 0) + counts[i]!);
        }
        if (asks) check();
      }
      check();
    }),
  );
});
