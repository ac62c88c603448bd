/** Something that takes one thread from `start` until its promise settles. It never rejects. */
export type Job = { readonly start: () => Promise<void> };

/**
 * Whose turn it is. `ahead` jobs go first: the last task of a query that has had its turn, whose
 * partial states hold memory, and what takes no time.
 */
export type Lane = 'ahead' | 'turn';

/** Gives each job a thread to itself; each lane in the order of arrival. */
export class TaskScheduler {
  readonly #threadCount: number;
  /** A set keeps the order of arrival, and lets any job go in constant time. */
  readonly #waiting: Readonly<Record<Lane, Set<Job>>> = { ahead: new Set(), turn: new Set() };
  #runningCount = 0;
  #idle: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  constructor(threadCount: number) {
    this.#threadCount = threadCount;
  }

  /** Starts the job at once when a thread is free for it. */
  add(lane: Lane, job: Job): void {
    this.#waiting[lane].add(job);
    this.#startNext();
  }

  /** Takes a job back that has not started. */
  remove(lane: Lane, job: Job): void {
    this.#waiting[lane].delete(job);
    this.#settleIdle();
  }

  /** Jobs that have started and not ended. */
  get runningCount(): number {
    return this.#runningCount;
  }

  /** Jobs that wait. */
  get waitingCount(): number {
    return this.#waiting.ahead.size + this.#waiting.turn.size;
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
    const { ahead, turn } = this.#waiting;
    const lane = ahead.size > 0 ? ahead : turn;
    const [job] = lane;
    if (job !== undefined) lane.delete(job);
    return job;
  }

  async #start(job: Job): Promise<void> {
    this.#runningCount++;
    try {
      await job.start();
    } finally {
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
