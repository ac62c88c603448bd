import { setTimeout as wait } from 'node:timers/promises';
import { ServiceError } from '../errors.ts';
import { REFUSAL_WAIT_MS, REFUSALS_WAITING_MAX } from '../limits.ts';

/**
 * Delays temporary refusals, and tries once more before them. A refusal costs the main thread a part of the cost of
 * acceptance, and a refused sender may retry at once: the thread could spend all of its time on refusals. A delayed
 * sender sends nothing meanwhile, and may be accepted after all.
 */
export class SecondTry {
  readonly #waitMs: number;
  readonly #waitingMax: number;
  #waitingCount = 0;

  constructor(waitMs = REFUSAL_WAIT_MS, waitingMax = REFUSALS_WAITING_MAX) {
    this.#waitMs = waitMs;
    this.#waitingMax = waitingMax;
  }

  /** Rejects with the error of `attempt`: of the first attempt, if waiting is pointless or too many wait already. */
  async run(attempt: () => void): Promise<void> {
    try {
      attempt();
      return;
    } catch (error) {
      const isForNow = error instanceof ServiceError && error.retryAfterS !== undefined;
      if (!isForNow || this.#waitingCount >= this.#waitingMax) throw error;
    }
    this.#waitingCount += 1;
    try {
      await wait(this.#waitMs);
    } finally {
      this.#waitingCount -= 1;
    }
    attempt();
  }
}
