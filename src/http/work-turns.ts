import type { Pieces } from '../../engine/plan/pieces.ts';
import { FairQueue } from '../../engine/pool/fair-queue.ts';
import type { Tenant } from '../../engine/pool/tenant-sets.ts';
import { WORK_TURN_MS_MAX } from '../limits.ts';

/** Work of the main thread that was asked for: what it does at once, and what follows of itself. */
export type Work<T> = {
  readonly tenant: Tenant;
  /** What it costs, in bytes. */
  readonly size: number;
  readonly start: () => Promise<T>;
};

/**
 * Begins work on the main thread: at once while a turn of the event loop has time for it, else in a later turn,
 * fairly between tenants. Were all begun that a moment brings, whoever asks something small would wait for
 * all of it.
 *
 * Invariant: where something waits, a turn is to come that begins it.
 */
export class WorkTurns {
  readonly #nowMs: () => number;
  readonly #queue = new FairQueue<() => void>();
  /** Spent in this turn of the event loop. */
  #spentMs = 0;
  #isTurnDue = false;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Works of a tenant that wait for their turn. */
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

  /** Goes on with work for as long as a turn has time for it, by one piece at least. */
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
