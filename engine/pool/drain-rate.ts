import { RETRY_AFTER_S_MAX } from '../limits.ts';

/** Over how long it is looked how fast a queue drains: some runs of usual length, and no old story. */
const DRAIN_RATE_MEMORY_MS = 5_000;

/**
 * The recent drain rate of a queue, from which `Retry-After` is computed. Amounts have one unit: queries, bytes. Times are
 * of the monotonic clock, in milliseconds. Time in which the queue was empty does not count.
 */
export class DrainRate {
  #insideCount = 0;
  /** The drained amount and the time it took. Both decay by a factor of e in DRAIN_RATE_MEMORY_MS. */
  #amount = 0;
  #busyMs = 0;
  #atMs = 0;

  /** Something is there to be drained, until one `leave`. */
  enter(nowMs: number): void {
    this.#advance(nowMs);
    this.#insideCount += 1;
  }

  /** It is no more. */
  leave(amount: number, nowMs: number): void {
    this.#advance(nowMs);
    this.#insideCount -= 1;
    this.#amount += amount;
  }

  /** Whole seconds that so much takes, from 1 to RETRY_AFTER_S_MAX; `undefined` where nothing has drained yet. */
  secondsFor(amount: number, nowMs: number): number | undefined {
    this.#advance(nowMs);
    if (this.#amount === 0) return undefined;
    const seconds = Math.ceil((amount * this.#busyMs) / this.#amount / 1000);
    return Math.min(Math.max(seconds, 1), RETRY_AFTER_S_MAX);
  }

  /** How much drains in this time; `undefined` where nothing has yet. */
  amountIn(ms: number, nowMs: number): number | undefined {
    this.#advance(nowMs);
    return this.#amount === 0 ? undefined : (this.#amount * ms) / Math.max(this.#busyMs, 1);
  }

  #advance(nowMs: number): void {
    const elapsedMs = nowMs - this.#atMs;
    this.#atMs = nowMs;
    if (this.#insideCount === 0) return;
    const kept = Math.exp(-elapsedMs / DRAIN_RATE_MEMORY_MS);
    this.#amount *= kept;
    this.#busyMs = this.#busyMs * kept + DRAIN_RATE_MEMORY_MS * (1 - kept);
  }
}
