import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sortStretches } from '../../engine/aggregate/sort-numbers.ts';

/** Few and many, of one number and of many, with equal ones in several. */
const STRETCHES = fc.array(fc.array(fc.nat(50), { maxLength: 20 }), { maxLength: 80 });

test('numbers between two places are sorted, and the others stay', () => {
  fc.assert(
    fc.property(STRETCHES, fc.nat(3), fc.nat(3), (stretches, before, behind) => {
      const ascending = stretches.map((each) => each.toSorted((left, right) => left - right));
      const inside = ascending.flat();
      const [head, tail] = [new Array<number>(before).fill(99), new Array<number>(behind).fill(-1)];
      const numbers = Float64Array.from([...head, ...inside, ...tail]);
      sortStretches(numbers, before, before + inside.length);
      const sorted = inside.toSorted((left, right) => left - right);
      assert.deepEqual([...numbers], [...head, ...sorted, ...tail]);
    }),
  );
});

test('stretches as many as are merged, one less and one more, are sorted', () => {
  for (const count of [1, 2, 3, 63, 64, 65, 200]) {
    const numbers = Float64Array.from(
      { length: 2 * count },
      (_, at) => count - (at >> 1) + (at & 1),
    );
    const sorted = numbers.toSorted();
    sortStretches(numbers, 0, numbers.length);
    assert.deepEqual(numbers, sorted);
  }
});
