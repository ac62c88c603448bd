import { QueryError } from '../query-error.ts';
import type { DoneAnswer, Task } from './task.ts';
import type { Job, Lane, TaskScheduler } from './task-scheduler.ts';
import type { Tenant } from './tenant-sets.ts';
import { type ThreadRun, unreadableError, type WorkerThreads } from './worker-threads.ts';

export type QueryTaskLimits = {
  /** Milliseconds a task may run; its worker stops itself then. */
  readonly queryMsMax: number;
  /** Milliseconds from being told to stop to the end of the worker. */
  readonly stopMsMax: number;
};

type WaitingTask = { readonly lane: Lane; readonly reject: (error: Error) => void };

/**
 * The tasks of one query: they wait for threads, run side by side, and stop together. The first that
 * fails stops the others.
 */
export class QueryTasks {
  readonly #scheduler: TaskScheduler;
  readonly #threads: WorkerThreads;
  readonly #limits: QueryTaskLimits;
  readonly #tenant: Tenant | undefined;
  readonly #onBegin: () => void;
  readonly #waiting = new Map<Job, WaitingTask>();
  readonly #running = new Set<ThreadRun>();
  /** What tasks are told by, in memory that the workers share: not 0 once they are to stop. */
  readonly cancelled = new Int32Array(new SharedArrayBuffer(4));
  #stoppedBy: Error | undefined;
  #wasEnded = false;
  #stopTimer: NodeJS.Timeout | undefined;

  constructor(parts: {
    readonly scheduler: TaskScheduler;
    readonly threads: WorkerThreads;
    readonly limits: QueryTaskLimits;
    /** Whose time they take. */
    readonly tenant?: Tenant;
    /** A thread takes up a task; more than once when there are more. */
    readonly onBegin: () => void;
  }) {
    this.#scheduler = parts.scheduler;
    this.#threads = parts.threads;
    this.#limits = parts.limits;
    this.#tenant = parts.tenant;
    this.#onBegin = parts.onBegin;
  }

  /** Whether a thread was ended because a task did not stop. */
  get wasEnded(): boolean {
    return this.#wasEnded;
  }

  /** Rejects with what stopped it: a QueryError, or a bug. */
  run(lane: Lane, task: Task): Promise<DoneAnswer> {
    if (this.#stoppedBy !== undefined) return Promise.reject(this.#stoppedBy);
    return new Promise((resolve, reject) => {
      const job: Job = {
        tenant: this.#tenant,
        start: async () => {
          this.#waiting.delete(job);
          this.#onBegin();
          try {
            resolve(await this.#runOnThread(task));
          } catch (error) {
            this.stop(error as Error);
            reject(error);
          }
        },
      };
      this.#waiting.set(job, { lane, reject });
      this.#scheduler.add(lane, job);
    });
  }

  /**
   * Stops all: what waits is not begun, and what runs comes to a checkpoint soon, or loses its thread
   * and then rejects with `error`. A second time does nothing.
   */
  stop(error: Error): void {
    if (this.#stoppedBy !== undefined) return;
    this.#stoppedBy = error;
    Atomics.store(this.cancelled, 0, 1);
    for (const [job, { lane, reject }] of this.#waiting) {
      this.#scheduler.remove(lane, job);
      reject(error);
    }
    this.#waiting.clear();
    if (this.#running.size === 0) return;
    this.#stopTimer = setTimeout(() => {
      for (const run of this.#running) this.#end(run, error);
    }, this.#limits.stopMsMax);
  }

  async #runOnThread(task: Task): Promise<DoneAnswer> {
    const run = this.#threads.run(task);
    this.#running.add(run);
    const { queryMsMax, stopMsMax } = this.#limits;
    const timer = setTimeout(() => {
      const message = `a query may run for ${queryMsMax} ms; this one took longer and did not stop by itself`;
      this.#end(run, new QueryError('query_timeout', message));
    }, queryMsMax + stopMsMax);
    try {
      const answer = await run.answer;
      if (answer.kind === 'unreadable') throw unreadableError(answer);
      if (answer.kind !== 'failure') return answer;
      // The worker knows that it was to stop, and not why.
      if (answer.code === 'query_cancelled' && this.#stoppedBy !== undefined) throw this.#stoppedBy;
      throw new QueryError(answer.code, answer.message, answer.span);
    } finally {
      clearTimeout(timer);
      this.#running.delete(run);
      if (this.#running.size === 0) clearTimeout(this.#stopTimer);
    }
  }

  #end(run: ThreadRun, error: Error): void {
    this.#wasEnded = true;
    run.end(error);
  }
}
