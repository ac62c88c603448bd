import { FairQueue } from './fair-queue.ts';
import type { Tenant } from './tenant-sets.ts';

/** Something that takes one thread from `start` until its promise settles. It never rejects. */
export type Job = {
  readonly start: () => Promise<void>;
  /** Whose time it takes. */
  readonly tenant?: Tenant | undefined;
};

/**
 * Whose turn it is. `ahead` jobs go first: the last task of a query that has had its turn, whose
 * partial states hold memory, and what takes no time.
 */
export type Lane = 'ahead' | 'turn';

/**
 * Gives each job a thread to itself: those that go ahead in the order of arrival, the others in turns that are
 * fair between tenants by the time their jobs take, and of one tenant in the order of arrival.
 */
export class TaskScheduler {
  readonly #threadCount: number;
  readonly #nowMs: () => number;
  /** A set keeps the order of arrival, and lets any job go in constant time. */
  readonly #ahead = new Set<Job>();
  readonly #turn = new FairQueue<Job>();
  #runningCount = 0;
  #idle: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  constructor(threadCount: number, nowMs: () => number = () => performance.now()) {
    this.#threadCount = threadCount;
    this.#nowMs = nowMs;
  }

  /** Starts the job at once when a thread is free for it. */
  add(lane: Lane, job: Job): void {
    if (lane === 'ahead') this.#ahead.add(job);
    else this.#turn.add(job, job.tenant);
    this.#startNext();
  }

  /** Takes a job back that has not started. */
  remove(lane: Lane, job: Job): void {
    if (lane === 'ahead') this.#ahead.delete(job);
    else this.#turn.remove(job, job.tenant);
    this.#settleIdle();
  }

  /** Jobs that have started and not ended. */
  get runningCount(): number {
    return this.#runningCount;
  }

  /** Jobs that wait. */
  get waitingCount(): number {
    return this.#ahead.size + this.#turn.size;
  }

  /** Resolves once nothing waits and nothing runs. */
  idle(): Promise<void> {
    if (this.#idle === undefined) {
      let resolve = () => {};
      const promise = new Promise<void>((settle) => {
        resolve = settle;
      });
      this.#idle = { promise, resolve };
    }
    const { promise } = this.#idle;
    this.#settleIdle();
    return promise;
  }

  #startNext(): void {
    while (this.#runningCount < this.#threadCount) {
      const job = this.#takeNext();
      if (job === undefined) return;
      void this.#start(job);
    }
  }

  #takeNext(): Job | undefined {
    const [job] = this.#ahead;
    if (job === undefined) return this.#turn.take();
    this.#ahead.delete(job);
    return job;
  }

  async #start(job: Job): Promise<void> {
    this.#runningCount++;
    const startMs = this.#nowMs();
    try {
      await job.start();
    } finally {
      this.#turn.charge(this.#nowMs() - startMs, job.tenant);
      this.#runningCount--;
      this.#startNext();
      this.#settleIdle();
    }
  }

  #settleIdle(): void {
    if (this.waitingCount + this.#runningCount > 0) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  }
}
