import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sortDoubles } from '../../engine/aggregate/quantile-digest.ts';

/** Enough for sorting by digits. */
const COUNT = 3000;

/** Bases that make many values share their upper halves, and any doubles. */
const bases = fc.array(
  fc.oneof(fc.double({ noNaN: true }), fc.constantFrom(0, -0, 1, -1, 1e-300, 5e-324, Infinity)),
  { minLength: 1, maxLength: 40 },
);

test('doubles are sorted as the platform sorts them', () => {
  fc.assert(
    fc.property(bases, fc.double({ min: 0, max: 1, noNaN: true }), (of, spread) => {
      const values = Float64Array.from({ length: COUNT }, (_, index) => {
        const base = of[index % of.length]!;
        const step = ((index * 7919) % COUNT) * 1e-12 * spread;
        return Number.isFinite(base) ? base + base * step : base;
      });
      // 0 and -0 have no order of their own here.
      const wanted = values.map((value) => value + 0).sort();
      sortDoubles(values);
      assert.deepEqual(
        values.map((value) => value + 0),
        wanted,
      );
    }),
  );
});

test('doubles of one magnitude, whose upper halves are all the same, are sorted', () => {
  const values = Float64Array.from(
    { length: COUNT },
    (_, index) => 1 + ((index * 7919) % COUNT) * 2 ** -52,
  );
  const wanted = values.slice().sort();
  sortDoubles(values);
  assert.deepEqual(values, wanted);
});

for (const magnitudes of [1, 3, 20, 60, 600]) {
  test(`doubles of ${magnitudes} magnitudes are sorted, also those of both signs`, () => {
    const values = Float64Array.from({ length: 70_000 }, (_, index) => {
      const turned = (index * 40_503) % 65_521;
      return (1 + (turned % 997) / 997) * 2 ** (turned % magnitudes);
    });
    for (const sign of [1, -1, 0]) {
      const signed = values.map((value, index) => (sign || (index % 3) - 1) * value);
      const wanted = signed.map((value) => value + 0).sort();
      sortDoubles(signed);
      assert.deepEqual(
        signed.map((value) => value + 0),
        wanted,
      );
    }
  });
}
