import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { RETRY_AFTER_S_MAX } from '../../engine/limits.ts';
import { DrainRate } from '../../engine/pool/fair-queue.ts';

/** Always some there, ten leave a second, for a minute. */
function steady(): DrainRate {
  const rate = new DrainRate();
  rate.enter(0);
  for (let step = 1; step <= 600; step++) {
    rate.enter(step * 100);
    rate.leave(1, step * 100);
  }
  return rate;
}

test('who waits behind 45 that leave at ten a second is told five seconds', () => {
  equal(steady().secondsFor(45, 60_000), 5);
});

test('at least a second is told, and at most the longest that may be said', () => {
  equal(steady().secondsFor(0, 60_000), 1);
  equal(steady().secondsFor(100_000, 60_000), RETRY_AFTER_S_MAX);
});

test('nothing is told where nothing has drained yet', () => {
  const rate = new DrainRate();
  equal(rate.secondsFor(1, 0), undefined);
  rate.enter(0);
  equal(rate.secondsFor(1, 10_000), undefined);
});

test('what stands still is told to take longer and longer', () => {
  const rate = steady();
  equal(rate.secondsFor(45, 60_000), 5);
  equal(rate.secondsFor(45, 65_000), 13);
  equal(rate.secondsFor(45, 600_000), RETRY_AFTER_S_MAX);
});

test('time in which nothing was there does not count', () => {
  const rate = steady();
  rate.leave(1, 60_000);
  rate.enter(3_600_000);
  equal(rate.secondsFor(45, 3_600_000), 5);
});

test('the first that drains tells how long the next will take', () => {
  const rate = new DrainRate();
  rate.enter(0);
  rate.leave(1, 1_000);
  // The time weighs a little less than what has drained only now.
  equal(rate.secondsFor(10, 1_000), 10);
});

test('it tells how much drains in a time', () => {
  equal(Math.round(steady().amountIn(2_000, 60_000)!), 20);
  equal(new DrainRate().amountIn(2_000, 0), undefined);
});
