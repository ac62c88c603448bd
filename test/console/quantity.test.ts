import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatCount, formatInteger } from '../../src/console/page/components/quantity.ts';
import { runsOf } from '../support/budget.ts';

const COUNT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

test('numbers are written as Intl writes them', () => {
  const edges = [0, 0.5, 999, 999.9, 999.96, 1_000, 1_049, 1_050, 999_949, 999_950, 12_345, 2e12];
  for (const value of edges) equal(formatCount(value), COUNT.format(value));
  // Of any length up to 14 digits.
  const numbers = fc.tuple(fc.integer({ min: 0, max: 14 }), fc.double({ min: 0, max: 1 }));
  fc.assert(
    fc.property(numbers, ([power, part]) => {
      const value = Math.floor(10 ** power * part);
      equal(formatCount(value), COUNT.format(value));
      equal(formatInteger(value), value.toLocaleString('en'));
    }),
    { numRuns: runsOf(10_000) },
  );
});
