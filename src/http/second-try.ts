import { setTimeout as wait } from 'node:timers/promises';
import { ServiceError } from '../errors.ts';
import { REFUSAL_WAIT_MS, REFUSALS_WAITING_MAX } from '../limits.ts';

/**
 * Lets those wait a moment who would be told to come back, and tries once more for them. Refusing costs the main
 * thread a part of what taking does, and who has its refusal at once may come back at once: with all the time of
 * the thread gone for refusals nothing would be taken. Who waits sends nothing meanwhile, and may find room after all.
 */
export class SecondTry {
  readonly #waitMs: number;
  readonly #waitingMax: number;
  #waitingCount = 0;

  constructor(waitMs = REFUSAL_WAIT_MS, waitingMax = REFUSALS_WAITING_MAX) {
    this.#waitMs = waitMs;
    this.#waitingMax = waitingMax;
  }

  /** Rejects as `attempt` throws: the first time where waiting is of no use, or too many wait already. */
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
