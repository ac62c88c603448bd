import { TURN_DEBT_MS_MAX } from '../limits.ts';

/** Something that takes one thread from `start` until its promise settles. It never rejects. */
export type Job = { readonly start: () => Promise<void> };

/**
 * What a job is for. `finish` jobs go first: their query has had its turn, and its partial states
 * hold memory.
 */
export type Lane = 'finish' | 'query' | 'seal';

/**
 * Decides which job a free thread takes up next; each lane in the order of arrival.
 *
 * Sealing holds at most one thread fewer than there are, and at least one may seal. While queries
 * and sealings both wait, each side gets half of the threads' time, so that neither starves: the one
 * that had more stands back for as long, at most TURN_DEBT_MS_MAX, or until the other wants no more.
 */
export class TaskScheduler {
  readonly #threadCount: number;
  readonly #sealsMax: number;
  readonly #nowMs: () => number;
  /** A set keeps the order of arrival, and lets any job go in constant time. */
  readonly #waiting: Readonly<Record<Lane, Set<Job>>> = {
    finish: new Set(),
    query: new Set(),
    seal: new Set(),
  };
  #queryCount = 0;
  #sealCount = 0;
  /** Milliseconds of threads' time since both sides have waited. */
  readonly #usedMs = { query: 0, seal: 0 };
  #idle: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  /** `nowMs`: milliseconds since any moment, never backwards. */
  constructor(threadCount: number, nowMs: () => number) {
    this.#threadCount = threadCount;
    this.#sealsMax = Math.max(1, threadCount - 1);
    this.#nowMs = nowMs;
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
  get running(): { readonly queries: number; readonly seals: number } {
    return { queries: this.#queryCount, seals: this.#sealCount };
  }

  /** Jobs that wait. */
  get waiting(): { readonly queries: number; readonly seals: number } {
    const { finish, query, seal } = this.#waiting;
    return { queries: finish.size + query.size, seals: seal.size };
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
    while (this.#queryCount + this.#sealCount < this.#threadCount) {
      const lane = this.#nextLane();
      if (lane === undefined) return;
      void this.#start(lane);
    }
  }

  async #start(lane: Lane): Promise<void> {
    const [job] = this.#waiting[lane];
    if (job === undefined) return;
    this.#waiting[lane].delete(job);
    const startMs = this.#nowMs();
    if (lane === 'seal') this.#sealCount++;
    else this.#queryCount++;
    try {
      await job.start();
    } finally {
      if (lane === 'seal') this.#sealCount--;
      else this.#queryCount--;
      this.#charge(lane === 'seal' ? 'seal' : 'query', this.#nowMs() - startMs);
      this.#startNext();
      this.#settleIdle();
    }
  }

  #nextLane(): Lane | undefined {
    const { finish, query, seal } = this.#waiting;
    const queryLane = finish.size > 0 ? 'finish' : query.size > 0 ? 'query' : undefined;
    if (seal.size === 0 || this.#sealCount >= this.#sealsMax) {
      // What is running goes on counting: a sealing that is under way has had its turn.
      if (seal.size === 0 && this.#sealCount === 0) this.#forgetUse();
      return queryLane;
    }
    if (queryLane === undefined) {
      this.#forgetUse();
      return 'seal';
    }
    return this.#usedMs.query < this.#usedMs.seal ? queryLane : 'seal';
  }

  #charge(side: 'query' | 'seal', ms: number): void {
    const other = side === 'seal' ? 'query' : 'seal';
    this.#usedMs[side] = Math.min(this.#usedMs[side] + ms, this.#usedMs[other] + TURN_DEBT_MS_MAX);
  }

  /** Time used while the other side wanted none is not owed to it. */
  #forgetUse(): void {
    this.#usedMs.query = 0;
    this.#usedMs.seal = 0;
  }

  #settleIdle(): void {
    const { queries, seals } = this.waiting;
    if (queries + seals + this.#queryCount + this.#sealCount === 0) {
      this.#idle?.resolve();
      this.#idle = undefined;
    }
  }
}
