import { CLOCK_AHEAD_US_MAX, CLOCK_HELD_US_MIN } from './limits.ts';

/** What a retention clock keeps on disk. All are microseconds. */
export type ClockState = {
  /** The trusted time, since the epoch. */
  readonly trustedUs: number;
  /** What the clock said last, since the epoch. */
  readonly clockUs: number;
  /**
   * How long the clock has run on since it left the trusted time, or, while that is provisional, since the first
   * reading; else 0.
   */
  readonly heldUs: number;
  /** Whether nothing shows yet that the trusted time was ever right. */
  readonly isProvisional: boolean;
};

/** One reading of both clocks. */
export type ClockReading = {
  /** The clock in question, in microseconds since the epoch. */
  readonly nowUs: number;
  /** The monotonic clock, in milliseconds since some moment: of the same process always the same. */
  readonly monotonicMs: number;
};

/**
 * The time that retention goes by. What retention deletes is gone for ever, so it does not follow a clock
 * that leaps ahead, by an empty battery or a mistyped date.
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
 * `state` is to be kept on disk, and the next process goes on from it. Between two processes the trusted
 * time stands still and the wait of rule 4 too, as nothing tells how long the service was down. So a service
 * that was down for more than CLOCK_AHEAD_US_MAX also waits for CLOCK_HELD_US_MIN before it deletes.
 *
 * Timestamps of stored events do not move the trusted time: senders choose them, or the clock in question
 * stamped them.
 */
export class RetentionClock {
  #trustedUs: number;
  #clockUs: number;
  #heldUs: number;
  #isProvisional: boolean;
  /** Of the last reading; `undefined` before the first of this process. */
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

  /** Whether the clock is too far ahead to delete by. */
  get isHeldBack(): boolean {
    return this.#clockUs - this.#trustedUs > CLOCK_AHEAD_US_MAX;
  }

  /**
   * The time to measure retention from; -Infinity: delete nothing. To be called about once a second, as
   * a clock is seen to leap between two calls.
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

  /** Whether the clock is trusted without a wait. */
  #isFollowed(): boolean {
    if (this.#isProvisional) return !this.isHeldBack;
    return !isLeap(this.#trustedUs, this.#clockUs);
  }
}

/** Whether one of the times is further from the other than a clock may be to be trusted. */
export function isLeap(fromUs: number, toUs: number): boolean {
  return Math.abs(toUs - fromUs) > CLOCK_AHEAD_US_MAX;
}

/** The state of a clock that is trusted as it is. */
export function trustedState(nowUs: number): ClockState {
  return { trustedUs: nowUs, clockUs: nowUs, heldUs: 0, isProvisional: false };
}

/** The state of a clock that is provisionally trusted as it is. */
export function provisionalState(nowUs: number): ClockState {
  return { ...trustedState(nowUs), isProvisional: true };
}
