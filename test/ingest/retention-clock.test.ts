import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CLOCK_AHEAD_US_MAX, CLOCK_HELD_US_MIN } from '../../ingest/limits.ts';
import {
  type ClockState,
  isLeap,
  provisionalState,
  RetentionClock,
  trustedState,
} from '../../ingest/retention-clock.ts';

const START = 1_768_478_400_000_000;
const MINUTE_US = 60_000_000;
const HOUR_US = 3_600_000_000;
const DAY_US = 24 * HOUR_US;
const NOTHING = Number.NEGATIVE_INFINITY;

/** A machine whose clock may be wrong, with a service on it that ticks and restarts. */
class Machine {
  /** What a right clock says. */
  trueUs = START;
  /** How far the machine's clock is ahead of it. */
  wrongUs = 0;
  #monotonicMs = 0;
  #clock: RetentionClock;

  constructor(state: ClockState = trustedState(START)) {
    this.#clock = new RetentionClock(state);
  }

  get state(): ClockState {
    return this.#clock.state;
  }

  get isHeldBack(): boolean {
    return this.#clock.isHeldBack;
  }

  tick(): number {
    return this.#clock.tick({
      nowUs: this.trueUs + this.wrongUs,
      monotonicMs: this.#monotonicMs,
    });
  }

  /** The service runs for a while; the last time it went by. */
  run(us: number): number {
    this.trueUs += us;
    this.#monotonicMs += us / 1000;
    return this.tick();
  }

  /** The service is down for a while, and goes on from what is on disk. */
  restart(downUs = 0, state: ClockState = this.state): number {
    this.trueUs += downUs;
    this.#monotonicMs = 7;
    this.#clock = new RetentionClock(state);
    return this.tick();
  }
}

/** A machine whose clock has just leapt by 100 days. */
function leapt(): Machine {
  const machine = new Machine();
  machine.run(HOUR_US);
  machine.wrongUs = 100 * DAY_US;
  assert.equal(machine.tick(), NOTHING);
  return machine;
}

test('a leap of a day is followed, ahead and behind; a longer one ahead deletes nothing', () => {
  for (const wrongUs of [CLOCK_AHEAD_US_MAX, -CLOCK_AHEAD_US_MAX]) {
    const machine = new Machine();
    machine.wrongUs = wrongUs;
    assert.equal(machine.tick(), START + wrongUs);
    assert.equal(machine.state.trustedUs, START + wrongUs);
  }
  const machine = new Machine();
  machine.wrongUs = CLOCK_AHEAD_US_MAX + 1;
  assert.equal(machine.tick(), NOTHING);
  assert.equal(machine.state.trustedUs, START);
});

test('a clock that leapt is trusted once the service has run for a day', () => {
  const machine = leapt();
  assert.equal(machine.run(CLOCK_HELD_US_MIN - 1), NOTHING);
  assert.equal(machine.run(1), machine.trueUs + machine.wrongUs);
});

test('the wait continues across restarts, and the time between them does not count', () => {
  const machine = leapt();
  assert.equal(machine.run(10 * HOUR_US), NOTHING);
  assert.equal(machine.restart(20 * HOUR_US), NOTHING);
  assert.equal(machine.run(10 * HOUR_US), NOTHING);
  assert.equal(machine.restart(), NOTHING);
  assert.equal(machine.run(4 * HOUR_US - 1), NOTHING);
  assert.notEqual(machine.run(1), NOTHING);
});

test('a leap is one also across a restart, and so is a service that was down for longer than a day', () => {
  const machine = new Machine();
  machine.wrongUs = 100 * DAY_US;
  assert.equal(machine.restart(), NOTHING);
  const off = new Machine();
  assert.equal(off.restart(CLOCK_AHEAD_US_MAX), START + CLOCK_AHEAD_US_MAX);
  assert.equal(off.restart(CLOCK_AHEAD_US_MAX + 1), NOTHING);
  assert.notEqual(off.run(CLOCK_HELD_US_MIN), NOTHING);
});

test('another leap ahead restarts the wait, and a step back does not', () => {
  const machine = leapt();
  machine.run(CLOCK_HELD_US_MIN - 1);
  machine.wrongUs += CLOCK_AHEAD_US_MAX + 1;
  assert.equal(machine.tick(), NOTHING);
  assert.equal(machine.run(CLOCK_HELD_US_MIN - 1), NOTHING);
  machine.wrongUs -= 50 * DAY_US;
  assert.equal(machine.tick(), NOTHING);
  assert.notEqual(machine.run(1), NOTHING);
});

test('a clock that comes back to the right time is trusted at once, and its wait is forgotten', () => {
  const machine = leapt();
  machine.run(CLOCK_HELD_US_MIN - 1);
  machine.wrongUs = 0;
  assert.equal(machine.run(1), machine.trueUs);
  machine.wrongUs = 100 * DAY_US;
  assert.equal(machine.run(1), NOTHING);
  assert.equal(machine.run(CLOCK_HELD_US_MIN - 2), NOTHING);
});

test('a clock that goes back is followed at once, and coming forward again is no leap', () => {
  const machine = new Machine();
  machine.wrongUs = -10 * DAY_US;
  assert.equal(machine.tick(), START - 10 * DAY_US);
  machine.run(CLOCK_HELD_US_MIN - 1);
  assert.equal(machine.restart(HOUR_US), machine.trueUs - 10 * DAY_US);
  machine.wrongUs = 0;
  assert.equal(machine.tick(), machine.trueUs);
});

test('a clock that was set back for good is trusted after a day, so that a leap from there is one', () => {
  const machine = new Machine();
  machine.wrongUs = -10 * DAY_US;
  machine.tick();
  machine.run(CLOCK_HELD_US_MIN);
  assert.equal(machine.state.trustedUs, machine.trueUs - 10 * DAY_US);
  machine.wrongUs = 0;
  assert.equal(machine.tick(), NOTHING);
});

test('a clock that stands still is never trusted by waiting', () => {
  const clock = new RetentionClock(trustedState(START));
  const nowUs = START + 100 * DAY_US;
  for (let day = 0; day < 50; day++) {
    assert.equal(clock.tick({ nowUs, monotonicMs: (day * DAY_US) / 1000 }), NOTHING);
  }
});

test('in a new folder nothing is deleted until the service has run for a day, over restarts', () => {
  const machine = new Machine(provisionalState(START));
  assert.equal(machine.tick(), NOTHING);
  assert.equal(machine.run(10 * HOUR_US), NOTHING);
  assert.equal(machine.restart(10 * HOUR_US), NOTHING);
  assert.equal(machine.run(14 * HOUR_US - 1), NOTHING);
  assert.equal(machine.run(1), machine.trueUs);
  assert.deepEqual(machine.state, trustedState(machine.trueUs));
});

test('in a new folder a clock that goes back is trusted at once, and coming forward again is a leap', () => {
  const machine = new Machine(provisionalState(START + 1000 * DAY_US));
  machine.wrongUs = 1000 * DAY_US;
  machine.run(HOUR_US);
  machine.wrongUs = 0;
  assert.equal(machine.tick(), NOTHING);
  assert.equal(machine.state.trustedUs, machine.trueUs);
  machine.wrongUs = 1000 * DAY_US;
  assert.equal(machine.restart(HOUR_US), NOTHING);
  assert.equal(machine.run(CLOCK_HELD_US_MIN - 1), NOTHING);
  assert.notEqual(machine.run(1), NOTHING);
});

/** What may happen to a machine. Wrong times are off by whole double days: no small leap hides among them. */
const EVENT = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('run'), us: fc.nat(8 * HOUR_US) }) },
  fc.record({ kind: fc.constant('down'), us: fc.nat(4 * DAY_US) }),
  fc.record({ kind: fc.constant('crash'), us: fc.nat(HOUR_US) }),
  fc.record({
    kind: fc.constant('set'),
    us: fc.integer({ min: -9, max: 9 }).map((n) => n * 2 * DAY_US),
  }),
  fc.record({ kind: fc.constant('set'), us: fc.constant(0) }),
);

/** A clock that is right in a folder with a trusted time, and any clock in a new folder. */
const FIRST_STATE = fc.oneof(
  fc.constant({ wrongUs: 0, state: trustedState(START) }),
  fc.constantFrom(-10 * DAY_US, 0, 10 * DAY_US, 1000 * DAY_US).map((wrongUs) => {
    return { wrongUs, state: provisionalState(START + wrongUs) };
  }),
);

test('nothing younger than the retention is deleted while a wrong clock runs for less than a day', () => {
  let heldCount = 0;
  fc.assert(
    fc.property(FIRST_STATE, fc.array(EVENT, { maxLength: 40 }), ({ wrongUs, state }, events) => {
      const machine = new Machine(state);
      machine.wrongUs = wrongUs;
      // On disk: of a minute ago, or of when the clock last leapt, was held back or was trusted again.
      let written = machine.state;
      let wasHeldBack = false;
      // How long the service has run since the clock was last right.
      let wrongRunUs = 0;
      const check = (retentionNowUs: number): void => {
        const { isHeldBack } = machine;
        const hasLeapt = isLeap(written.clockUs, machine.state.clockUs);
        if (hasLeapt || isHeldBack !== wasHeldBack) written = machine.state;
        wasHeldBack = isHeldBack;
        if (isHeldBack) heldCount++;
        assert.ok(retentionNowUs <= machine.trueUs, 'retention is measured from a time that was');
      };
      for (const { kind, us } of events) {
        if (kind === 'set') {
          machine.wrongUs = us;
          check(machine.tick());
        } else if (kind === 'run') {
          if (machine.wrongUs !== 0 && wrongRunUs + us >= CLOCK_HELD_US_MIN) {
            machine.wrongUs = 0;
            check(machine.tick());
          }
          if (machine.wrongUs !== 0) wrongRunUs += us;
          const unwrittenUs = Math.min(us, MINUTE_US);
          check(machine.run(us - unwrittenUs));
          written = machine.state;
          check(machine.run(unwrittenUs));
        } else check(kind === 'down' ? machine.restart(us) : machine.restart(us, written));
        if (machine.wrongUs === 0) wrongRunUs = 0;
      }
    }),
  );
  assert.ok(heldCount > 0);
});
