import { QueryError } from '../../engine/columns.ts';
import { FairQueue, NO_TENANT, type Tenant } from '../../engine/index.ts';

type Waiting = { readonly begin: () => void };

/** Gives statements their turns at ClickHouse: so many at once, of the tenant that has used least time. */
export class StatementTurns {
  readonly #limits: { readonly runningMax: number; readonly waitingMax: number };
  readonly #nowMs: () => number;
  readonly #queue = new FairQueue<Waiting>();
  #runningCount = 0;

  constructor(
    limits: { readonly runningMax: number; readonly waitingMax: number },
    nowMs: () => number,
  ) {
    this.#limits = limits;
    this.#nowMs = nowMs;
  }

  get waitingCount(): number {
    return this.#queue.size;
  }

  get runningCount(): number {
    return this.#runningCount;
  }

  /**
   * Does `work` in a turn of the tenant, and gives what it resolves to. Rejects with a QueryError `overloaded` if too many
   * wait, and with `query_cancelled` if `signal` is aborted before the turn.
   */
  async take<T>(
    who: { readonly tenant: Tenant | undefined; readonly signal: AbortSignal | undefined },
    work: () => Promise<T>,
  ): Promise<T> {
    const { tenant = NO_TENANT, signal } = who;
    await this.#turn(tenant, signal);
    const startMs = this.#nowMs();
    try {
      return await work();
    } finally {
      this.#queue.charge(this.#nowMs() - startMs, tenant);
      this.#runningCount -= 1;
      this.#beginNext();
    }
  }

  async #turn(tenant: Tenant, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted === true) throw cancelledQuery();
    if (this.#runningCount < this.#limits.runningMax) {
      this.#queue.pass(tenant);
      this.#runningCount += 1;
      return;
    }
    if (this.#queue.size >= this.#limits.waitingMax) {
      throw new QueryError(
        'overloaded',
        `at most ${this.#limits.waitingMax} queries may wait; the limit is reached`,
      );
    }
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#queue.remove(waiting, tenant);
        reject(cancelledQuery());
      };
      const waiting: Waiting = {
        begin: () => {
          signal?.removeEventListener('abort', leave);
          resolve();
        },
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#queue.add(waiting, tenant);
    });
  }

  #beginNext(): void {
    const next = this.#queue.take();
    if (next === undefined) return;
    this.#runningCount += 1;
    next.begin();
  }
}

/** The error of a query that nobody waits for any more. */
export function cancelledQuery(): QueryError {
  return new QueryError('query_cancelled', 'the caller disconnected before the answer');
}
