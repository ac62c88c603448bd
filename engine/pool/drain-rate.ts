import { DRAIN_RATE_MEMORY_MS, RETRY_AFTER_S_MAX } from '../limits.ts';

/**
 * How fast something has drained of late, so that whoever is told to come back hears when there will be room.
 * Amounts are of one unit: queries, bytes. Times are of the monotonic clock, in milliseconds.
 */
export class DrainRate {
  /** Drained, each amount weighing less the longer it is ago: by e in DRAIN_RATE_MEMORY_MS. */
  #weighed = 0;
  #atMs = Number.NEGATIVE_INFINITY;

  note(amount: number, nowMs: number): void {
    this.#weighed = this.#weighedAt(nowMs) + amount;
    this.#atMs = nowMs;
  }

  /** Whole seconds that so much takes at this rate, from 1 to RETRY_AFTER_S_MAX. */
  secondsFor(amount: number, nowMs: number): number {
    const perSecond = (this.#weighedAt(nowMs) * 1000) / DRAIN_RATE_MEMORY_MS;
    // Nothing drained: as long as may be said.
    const seconds = perSecond === 0 ? RETRY_AFTER_S_MAX : Math.ceil(amount / perSecond);
    return Math.min(Math.max(seconds, 1), RETRY_AFTER_S_MAX);
  }

  #weighedAt(nowMs: number): number {
    if (this.#weighed === 0) return 0;
    return this.#weighed * Math.exp((this.#atMs - nowMs) / DRAIN_RATE_MEMORY_MS);
  }
}
