import { FairQueue, type Pieces, type Tenant } from '../../engine/index.ts';
import { WORK_TURN_MS_MAX } from '../limits.ts';

/** Work for the main thread: an immediate part, and what follows from it. */
export type Work<T> = {
  readonly tenant: Tenant;
  /** The cost, in bytes. */
  readonly size: number;
  readonly start: () => Promise<T>;
};

/**
 * Starts work on the main thread: at once while the turn of the event loop has time left, else in a later turn, fairly
 * between tenants. Otherwise a small request would wait for all work that came at the same moment.
 *
 * Invariant: while work waits, a turn that starts it is scheduled.
 */
export class WorkTurns {
  readonly #nowMs: () => number;
  readonly #queue = new FairQueue<() => void>();
  /** Milliseconds spent in this turn of the event loop. */
  #spentMs = 0;
  #isTurnDue = false;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Number of a tenant's works that wait. */
  waitingCount(tenant: Tenant): number {
    return this.#queue.sizeOf(tenant);
  }

  run<T>(work: Work<T>): Promise<T> {
    if (this.#queue.size === 0 && this.#spentMs < WORK_TURN_MS_MAX) {
      this.#queue.pass(work.tenant);
      return this.#start(work);
    }
    return new Promise((resolve) => {
      this.#queue.add(() => resolve(this.#start(work)), work.tenant);
    });
  }

  /** Continues work while the turn has time left, by at least one piece. */
  advance<T>(pieces: Pieces<T>): IteratorResult<undefined, T> {
    const endMs = this.#nowMs() + WORK_TURN_MS_MAX;
    for (;;) {
      const step = pieces.next();
      if (step.done === true || this.#nowMs() >= endMs) return step;
    }
  }

  #start<T>({ tenant, size, start }: Work<T>): Promise<T> {
    const startMs = this.#nowMs();
    try {
      return start();
    } finally {
      this.#spentMs += this.#nowMs() - startMs;
      this.#queue.charge(size, tenant);
      this.#endTurn();
    }
  }

  #endTurn(): void {
    if (this.#isTurnDue) return;
    this.#isTurnDue = true;
    setImmediate(() => {
      this.#isTurnDue = false;
      this.#spentMs = 0;
      while (this.#spentMs < WORK_TURN_MS_MAX) {
        const begin = this.#queue.take();
        if (begin === undefined) return;
        begin();
      }
    });
  }
}
