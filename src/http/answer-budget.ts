import type { ServerResponse } from 'node:http';
import type { Tenant } from '../../engine/index.ts';
import { ServiceError } from '../errors.ts';
import { ANSWERS_BYTES_MAX } from '../limits.ts';
import { FairBudget } from './fair-budget.ts';

/** The memory of answers that are being sent. Each tenant has a fair share. */
export class AnswerBudget {
  readonly #bytesMax: number;
  readonly #budget: FairBudget;

  constructor(bytesMax = ANSWERS_BYTES_MAX) {
    this.#bytesMax = bytesMax;
    this.#budget = new FairBudget(() => bytesMax);
  }

  /** Bytes that are being sent. */
  get heldBytes(): number {
    return this.#budget.heldBytes;
  }

  /**
   * Returns a function that counts bytes of an answer, from before they are sent until the answer has left or its caller
   * has disconnected. It throws a ServiceError if there is no room for them.
   */
  holder(tenant: Tenant, response: ServerResponse): (bytes: number) => void {
    const releases: (() => void)[] = [];
    let heldBytes = 0;
    response.once('close', () => {
      for (const release of releases) release();
    });
    return (bytes) => {
      if (response.destroyed) return;
      releases.push(this.take(bytes, tenant, heldBytes));
      heldBytes += bytes;
    };
  }

  /**
   * Counts bytes of an answer, of which `earlierBytes` are counted already, until the function that it returns is called,
   * once.
   *
   * @throws ServiceError if there is no room for them: `answer_too_large` if there would be none without other answers,
   * else `overloaded`.
   */
  take(bytes: number, tenant: Tenant, earlierBytes = 0): () => void {
    // A tenant may hold as many bytes as are free: what it holds is missing from the budget once more.
    const bytesMax = this.#bytesMax - 2 * earlierBytes;
    if (bytes > bytesMax) {
      const message = `this part of the answer may have at most ${bytesMax} bytes; got ${bytes}`;
      throw new ServiceError('answer_too_large', message);
    }
    if (!this.#budget.hold(bytes, tenant)) {
      const { freeBytes } = this.#budget;
      throw new ServiceError(
        'overloaded',
        `answers for one token may have ${freeBytes} bytes together at present; ${this.#budget.heldBy(tenant)} are being sent, got ${bytes} more`,
      );
    }
    return () => this.#budget.release(bytes, tenant);
  }
}
