import type { ServerResponse } from 'node:http';
import type { Tenant } from '../../engine/pool/tenant-sets.ts';
import { ServiceError } from '../errors.ts';
import { ANSWERS_BYTES_MAX } from '../limits.ts';
import { FairBudget } from './fair-budget.ts';

/** The memory of answers that are being sent. Each tenant has a fair share. */
export class AnswerBudget {
  readonly #budget: FairBudget;

  constructor(bytesMax = ANSWERS_BYTES_MAX) {
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
    response.once('close', () => {
      for (const release of releases) release();
    });
    return (bytes) => {
      if (!response.destroyed) releases.push(this.take(bytes, tenant));
    };
  }

  /**
   * Counts bytes of an answer until the function that it returns is called, once.
   *
   * @throws ServiceError if there is no room for them.
   */
  take(bytes: number, tenant: Tenant): () => void {
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
