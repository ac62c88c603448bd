import { CLOCK_AHEAD_US_MAX, CLOCK_HELD_US_MIN, CLOCK_STEP_US_MAX } from './limits.ts';

/**
 * The time that retention goes by. What it deletes is gone for ever, so it does not follow a clock
 * that has leapt ahead: by a wrong battery, a wrong zone, a machine that was asleep.
 *
 * The clock is believed while it is at most CLOCK_AHEAD_US_MAX ahead of the time believed before; the
 * first of these is the newest event stored. One that is further ahead must first run on for
 * CLOCK_HELD_US_MIN, told by its own small steps: another leap does not count as waiting. Stored
 * events do not move the time, as those that bring none are stamped by the very clock in question.
 * A clock that goes back is followed at once: it deletes less.
 *
 * A wrong clock that stored events before a restart is believed after it.
 */
export class RetentionClock {
  #trustedUs: number | undefined;
  #heldUs = 0;
  #lastUs: number | undefined;

  /** `newestStoredUs`: timestamp of the newest stored event; `undefined` when there is none. */
  constructor(newestStoredUs: number | undefined) {
    this.#trustedUs = newestStoredUs;
  }

  /** Whether the clock, when it was last told, was too far ahead to be believed. */
  get isHeldBack(): boolean {
    return this.#lastUs !== undefined && this.#trustedUs! < this.#lastUs;
  }

  /** The time to measure retention from, told the clock's. To be called now and then. */
  tick(nowUs: number): number {
    this.#trustedUs ??= nowUs;
    const stepUs = this.#lastUs === undefined ? 0 : nowUs - this.#lastUs;
    this.#lastUs = nowUs;
    if (nowUs - this.#trustedUs <= CLOCK_AHEAD_US_MAX) return this.#trust(nowUs);
    if (stepUs >= 0 && stepUs <= CLOCK_STEP_US_MAX) this.#heldUs += stepUs;
    else this.#heldUs = 0;
    return this.#heldUs >= CLOCK_HELD_US_MIN ? this.#trust(nowUs) : this.#trustedUs;
  }

  #trust(nowUs: number): number {
    this.#trustedUs = nowUs;
    this.#heldUs = 0;
    return nowUs;
  }
}
