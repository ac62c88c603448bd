import { CLOCK_AHEAD_US_MAX, CLOCK_HELD_US_MIN } from './limits.ts';

/** The state of a retention clock that is stored on disk, in microseconds. */
export type ClockState = {
  /** The trusted time, since the epoch. */
  readonly trustedUs: number;
  /** The last reading of the clock, since the epoch. */
  readonly clockUs: number;
  /**
   * How long the clock has run since it left the trusted time or, while that is provisional, since the first reading;
   * else 0.
   */
  readonly heldUs: number;
  /** Whether nothing has confirmed the trusted time yet. */
  readonly isProvisional: boolean;
};

/** A reading of the system clock and of the monotonic clock. */
export type ClockReading = {
  /** The system clock, in microseconds since the epoch. */
  readonly nowUs: number;
  /** The monotonic clock, in milliseconds since a fixed moment of the process. */
  readonly monotonicMs: number;
};

/**
 * The time by which retention deletes. Deletion is final, so this clock does not follow a system clock that leaps ahead,
 * because of an empty battery or a mistyped date.
 *
 * The clock is compared with the *trusted time*, which is the time of the last trusted reading and runs on
 * with the monotonic clock. The rules are the same while the service runs and across a restart:
 *
 * 1. A clock that is at most CLOCK_AHEAD_US_MAX away from the trusted time, ahead or behind, is trusted: its
 *    time becomes the trusted time.
 * 2. A clock that is further ahead is held back: nothing is deleted.
 * 3. A clock that is further behind is followed at once, as that deletes less. The trusted time stays, so
 *    that coming back to the right time is no leap.
 * 4. A clock that is further away, ahead or behind, is trusted once it has run on for CLOCK_HELD_US_MIN. Only
 *    time counts that passed on both clocks, so one that stands still is never trusted. When it leaps
 *    ahead once more by over CLOCK_AHEAD_US_MAX, the time counts from zero again.
 * 5. In a new folder the trusted time is *provisional*: there was nothing to hold the first reading against.
 *    Until the clock is trusted by rule 4, nothing is deleted, and a clock that is further behind is trusted in its
 *    place. Otherwise a clock that is years ahead at each start, until it is set, would delete at the
 *    second start what was stored since the first.
 *
 * `state` must be stored on disk; the next process continues from it. Between two processes the trusted time and the wait
 * of rule 4 stand still, because the length of the downtime is unknown. So a service that was down for more than
 * CLOCK_AHEAD_US_MAX also waits for CLOCK_HELD_US_MIN before it deletes.
 *
 * Timestamps of stored events do not move the trusted time: senders choose them, or the clock in question
 * stamped them.
 */
export class RetentionClock {
  #trustedUs: number;
  #clockUs: number;
  #heldUs: number;
  #isProvisional: boolean;
  /** The monotonic time of the last reading; `undefined` before the first one of this process. */
  #monotonicMs: number | undefined;

  constructor(state: ClockState) {
    this.#trustedUs = state.trustedUs;
    this.#clockUs = state.clockUs;
    this.#heldUs = state.heldUs;
    this.#isProvisional = state.isProvisional;
  }

  get state(): ClockState {
    const [trustedUs, clockUs, heldUs] = [this.#trustedUs, this.#clockUs, this.#heldUs];
    return { trustedUs, clockUs, heldUs, isProvisional: this.#isProvisional };
  }

  /** Whether the clock is too far ahead of the trusted time to delete by. */
  get isHeldBack(): boolean {
    return this.#clockUs - this.#trustedUs > CLOCK_AHEAD_US_MAX;
  }

  /**
   * The time from which retention is measured; -Infinity: delete nothing. Must be called about once a second: leaps are
   * detected between two calls.
   */
  tick({ nowUs, monotonicMs }: ClockReading): number {
    const elapsedMs = monotonicMs - (this.#monotonicMs ?? monotonicMs);
    const elapsedUs = Math.round(elapsedMs * 1000);
    const stepUs = nowUs - this.#clockUs;
    this.#monotonicMs = monotonicMs;
    this.#clockUs = nowUs;
    this.#trustedUs += elapsedUs;
    if (stepUs - elapsedUs > CLOCK_AHEAD_US_MAX) this.#heldUs = 0;
    else this.#heldUs += Math.max(0, Math.min(stepUs, elapsedUs));
    const isWaitOver = this.#heldUs >= CLOCK_HELD_US_MIN;
    if (isWaitOver) this.#isProvisional = false;
    if (isWaitOver || this.#isFollowed()) {
      this.#trustedUs = nowUs;
      if (!this.#isProvisional) this.#heldUs = 0;
    }
    return this.isHeldBack || this.#isProvisional ? Number.NEGATIVE_INFINITY : nowUs;
  }

  /** Whether the clock is trusted immediately. */
  #isFollowed(): boolean {
    if (this.#isProvisional) return !this.isHeldBack;
    return !isLeap(this.#trustedUs, this.#clockUs);
  }
}

/** Whether two times differ by more than a trusted clock may leap. */
export function isLeap(fromUs: number, toUs: number): boolean {
  return Math.abs(toUs - fromUs) > CLOCK_AHEAD_US_MAX;
}

/** The state of a clock that is trusted as read. */
export function trustedState(nowUs: number): ClockState {
  return { trustedUs: nowUs, clockUs: nowUs, heldUs: 0, isProvisional: false };
}

/** The state of a clock that is provisionally trusted as read. */
export function provisionalState(nowUs: number): ClockState {
  return { ...trustedState(nowUs), isProvisional: true };
}
