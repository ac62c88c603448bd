import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { constantVector, numberVector } from '../../engine/column/vector.ts';
import { truncateKernel } from '../../engine/function/time/time-truncation.ts';

const UNITS: readonly (readonly [string, number])[] = [
  ['SECOND', 1e6],
  ['MINUTE', 6e7],
  ['DAY', 86_400e6],
];

test('times are truncated as one by one, near each other or not, ascending or not', () => {
  const times = fc.oneof(
    fc.array(fc.integer({ min: -200_000_000, max: 200_000_000 }), { minLength: 1, maxLength: 80 }),
    fc.array(fc.integer({ min: -4e15, max: 4e15 }), { minLength: 1, maxLength: 80 }),
  );
  const nulls = fc.option(fc.infiniteStream(fc.boolean()), { nil: undefined });
  fc.assert(
    fc.property(times, fc.constantFrom(...UNITS), nulls, (given, [part, lengthUs], areNull) => {
      const isNull = areNull && Uint8Array.from(given, () => Number(areNull.next().value));
      const vector = numberVector(Float64Array.from(given), given.length, isNull);
      const count = given.length;
      const starts = truncateKernel([vector, constantVector(part, count)], count);
      assert.ok(starts?.kind === 'number');
      const expected = given.map((time) => Math.floor(time / lengthUs) * lengthUs + 0);
      assert.deepEqual(
        Array.from(starts.values, (start) => start + 0),
        expected,
      );
      assert.deepEqual(starts.nulls, isNull);
    }),
  );
});

test('a start below the safe integers is left to the plain form', () => {
  const vector = numberVector(Float64Array.of(Number.MIN_SAFE_INTEGER), 1);
  assert.equal(truncateKernel([vector, constantVector('DAY', 1)], 1), undefined);
});
