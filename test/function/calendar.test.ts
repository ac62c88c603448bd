import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  checkedTimestampUs,
  civilDateOf,
  dayNumberOf,
  dayOfWeek,
  dayOfYear,
  joinUs,
  splitUs,
  TIMESTAMP_US_MAX,
  TIMESTAMP_US_MIN,
} from '../../engine/function/time/calendar.ts';

const FIRST_DAY = -719_162;
const LAST_DAY = 2_932_896;

test('every day of the years 0001 to 9999 agrees with Date', () => {
  const date = new Date(0);
  for (let dayNumber = FIRST_DAY; dayNumber <= LAST_DAY; dayNumber++) {
    date.setTime(dayNumber * 86_400_000);
    const { year, month, day } = civilDateOf(dayNumber);
    if (
      year !== date.getUTCFullYear() ||
      month !== date.getUTCMonth() + 1 ||
      day !== date.getUTCDate() ||
      dayOfWeek(dayNumber) !== date.getUTCDay() ||
      dayNumberOf({ year, month, day }) !== dayNumber
    ) {
      assert.fail(`day ${dayNumber} is ${year}-${month}-${day}`);
    }
  }
});

test('31 December is day 365, or 366 of a leap year', () => {
  assert.equal(dayOfYear({ year: 2023, month: 12, day: 31 }), 365);
  assert.equal(dayOfYear({ year: 2024, month: 12, day: 31 }), 366);
  assert.equal(dayOfYear({ year: 1900, month: 12, day: 31 }), 365);
  assert.equal(dayOfYear({ year: 2000, month: 12, day: 31 }), 366);
});

test('the years end where GoogleSQL ends them', () => {
  assert.equal(joinUs(FIRST_DAY, 0), TIMESTAMP_US_MIN);
  assert.equal(joinUs(LAST_DAY, 86_400_000_000 - 1), TIMESTAMP_US_MAX);
  assert.throws(
    () => checkedTimestampUs(TIMESTAMP_US_MIN - 1n),
    /time out of range: -62135596800000001/,
  );
  assert.throws(() => checkedTimestampUs(TIMESTAMP_US_MAX + 1n), /years 0001 to 9999/);
});

test('microseconds split into day and time and join again, on both sides of 2^53', () => {
  const day = 86_400_000_000n;
  const edges = [
    0n,
    -1n,
    1n,
    2n ** 53n,
    2n ** 53n - 1n,
    -(2n ** 53n),
    day * 104_249n - 1n,
    -day - 1n,
  ];
  const instants = fc.oneof(
    fc.bigInt({ min: TIMESTAMP_US_MIN, max: TIMESTAMP_US_MAX }),
    fc.constantFrom(...edges),
    // Just before and after midnight, where a rounded quotient would slip a day.
    fc
      .tuple(fc.bigInt({ min: -719_161n, max: 2_932_896n }), fc.constantFrom(-1n, 0n, 1n))
      .map(([days, shift]) => days * day + shift),
  );
  fc.assert(
    fc.property(instants, (exact) => {
      const us = Number.isSafeInteger(Number(exact)) ? Number(exact) : exact;
      const { dayNumber, timeOfDayUs } = splitUs(us);
      assert.ok(timeOfDayUs >= 0 && timeOfDayUs < 86_400_000_000);
      assert.equal(BigInt(dayNumber) * day + BigInt(timeOfDayUs), exact);
      assert.ok(Object.is(joinUs(dayNumber, timeOfDayUs), us));
    }),
    { numRuns: 2000 },
  );
});
