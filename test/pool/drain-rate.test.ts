import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { RETRY_AFTER_S_MAX } from '../../engine/limits.ts';
import { DrainRate } from '../../engine/pool/drain-rate.ts';

/** Ten a second, for a minute. */
function steady(): DrainRate {
  const rate = new DrainRate();
  for (let step = 0; step <= 600; step++) rate.note(1, step * 100);
  return rate;
}

test('who waits behind 45 that leave at ten a second is told five seconds', () => {
  equal(steady().secondsFor(45, 60_000), 5);
});

test('at least a second is told, and at most the longest that may be said', () => {
  equal(steady().secondsFor(0, 60_000), 1);
  equal(steady().secondsFor(100_000, 60_000), RETRY_AFTER_S_MAX);
  equal(new DrainRate().secondsFor(1, 0), RETRY_AFTER_S_MAX);
});

test('what stands still is told to take longer and longer', () => {
  const rate = steady();
  equal(rate.secondsFor(45, 60_000), 5);
  equal(rate.secondsFor(45, 65_000), 13);
  equal(rate.secondsFor(45, 600_000), RETRY_AFTER_S_MAX);
});
