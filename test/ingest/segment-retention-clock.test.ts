import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLOCK_AHEAD_US_MAX, CLOCK_HELD_US_MIN, CLOCK_STEP_US_MAX } from '../../ingest/limits.ts';
import { RetentionClock } from '../../ingest/retention-clock.ts';

const START = 1_768_478_400_000_000;

/** Ticks in steps until `untilUs`; the last time believed. */
function run(clock: RetentionClock, fromUs: number, untilUs: number): number {
  let trustedUs = clock.tick(fromUs);
  for (let us = fromUs; us < untilUs; ) {
    us = Math.min(us + CLOCK_STEP_US_MAX, untilUs);
    trustedUs = clock.tick(us);
  }
  return trustedUs;
}

test('a clock is followed as long as it is not too far ahead of what is stored', () => {
  assert.equal(new RetentionClock(undefined).tick(START), START);
  assert.equal(
    new RetentionClock(START).tick(START + CLOCK_AHEAD_US_MAX),
    START + CLOCK_AHEAD_US_MAX,
  );
  const clock = new RetentionClock(START);
  assert.equal(clock.tick(START + CLOCK_AHEAD_US_MAX + 1), START);
  assert.equal(clock.isHeldBack, true);
  assert.equal(clock.tick(START + 5), START + 5);
  assert.equal(clock.isHeldBack, false);
  assert.equal(clock.tick(START - 7 * CLOCK_AHEAD_US_MAX), START - 7 * CLOCK_AHEAD_US_MAX);
});

test('a clock that is far ahead is believed once it has run on for long enough', () => {
  const leapt = START + 400 * 86_400_000_000;
  const clock = new RetentionClock(START);
  assert.equal(run(clock, leapt, leapt + CLOCK_HELD_US_MIN - 1), START);
  assert.equal(clock.tick(leapt + CLOCK_HELD_US_MIN), leapt + CLOCK_HELD_US_MIN);
});

test('another leap does not count as running on, and one back begins anew', () => {
  const leapt = START + 400 * 86_400_000_000;
  const clock = new RetentionClock(START);
  run(clock, leapt, leapt + CLOCK_HELD_US_MIN - 1);
  const further = leapt + 2 * CLOCK_HELD_US_MIN;
  assert.equal(clock.tick(further), START);
  assert.equal(run(clock, further, further + CLOCK_HELD_US_MIN - 1), START);
  assert.equal(clock.tick(leapt), START);
  assert.equal(clock.tick(leapt + CLOCK_STEP_US_MAX), START);
});

test('a clock that stands still is never believed to have run on', () => {
  const clock = new RetentionClock(START);
  for (let tick = 0; tick < 1000; tick++) {
    assert.equal(clock.tick(START + 2 * CLOCK_AHEAD_US_MAX), START);
  }
});
