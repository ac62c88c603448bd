import { assert } from '../assert.ts';
import { QueryError } from '../query-error.ts';
import type { Tenant } from './fair-queue.ts';
import {
  type DoneAnswer,
  type Job,
  type Lane,
  newTaskSignal,
  type Parking,
  parkTask,
  type QueryPartTask,
  resumeTask,
  type SegmentWork,
  stopTask,
  type TaskSignal,
  type Waited,
} from './task.ts';
import type { TaskScheduler } from './task-scheduler.ts';
import type { WorkKind } from './work-shares.ts';
import {
  OversizedStatesError,
  type ThreadTask,
  unreadableError,
  type WorkerThreads,
} from './worker-threads.ts';

type QueryTaskLimits = {
  /** Milliseconds a task may run, without the time it is parked; its worker stops itself then. */
  readonly queryMsMax: number;
  /** Milliseconds from being told to stop to the end of the worker. */
  readonly stopMsMax: number;
};

type QueryScheduler = Pick<TaskScheduler, 'add' | 'remove' | 'becomeCall'>;

type WaitingTask = { readonly reject: (error: Error) => void };

/**
 * The tasks of one query: they wait for threads, run side by side, and stop together. The first that
 * fails stops the others. Each can be parked by itself.
 */
export class QueryTasks {
  readonly #scheduler: QueryScheduler;
  readonly #threads: Pick<WorkerThreads, 'run'>;
  readonly #limits: QueryTaskLimits;
  readonly #tenant: Tenant | undefined;
  #kind: WorkKind;
  readonly #onBegin: () => void;
  readonly #endedForOthers: () => QueryError;
  readonly #waiting = new Map<Job, WaitingTask>();
  /** Those that have not ended. */
  readonly #jobs = new Set<Job>();
  #waited: Waited | undefined;
  /** Those that a thread has, parked or not. */
  readonly #running = new Map<QueryPartTask, ThreadTask>();
  #stoppedBy: Error | undefined;
  #wasEnded = false;
  #stopTimer: NodeJS.Timeout | undefined;

  constructor(parts: {
    readonly scheduler: QueryScheduler;
    readonly threads: Pick<WorkerThreads, 'run'>;
    readonly limits: QueryTaskLimits;
    /** Whose time they take. */
    readonly tenant?: Tenant;
    /** A call where left out. */
    readonly kind?: WorkKind;
    /** A thread takes up a task; more than once when there are more. */
    readonly onBegin: () => void;
    /** What it fails with when it has to give its place to others. */
    readonly endedForOthers: () => QueryError;
  }) {
    this.#scheduler = parts.scheduler;
    this.#threads = parts.threads;
    this.#limits = parts.limits;
    this.#tenant = parts.tenant;
    this.#kind = parts.kind ?? 'call';
    this.#onBegin = parts.onBegin;
    this.#endedForOthers = parts.endedForOthers;
  }

  /** Whether a thread was ended because a task did not stop. */
  get wasEnded(): boolean {
    return this.#wasEnded;
  }

  /** Of the task that waited for longest, of those that have begun. */
  get waited(): Waited | undefined {
    return this.#waited;
  }

  /** Somebody waits for the query of a renewal from now on. */
  becomeCall(): void {
    this.#kind = 'call';
    for (const job of this.#jobs) this.#scheduler.becomeCall(job);
  }

  /** Rejects with what stopped it: a QueryError, or a bug. */
  run(lane: Lane, task: QueryPartTask): Promise<DoneAnswer> {
    if (this.#stoppedBy !== undefined) return Promise.reject(this.#stoppedBy);
    return new Promise((resolve, reject) => {
      const { queryMsMax, stopMsMax } = this.#limits;
      const timer = new RunTimer(queryMsMax + stopMsMax, () => this.#endLate(task));
      const job: Job = {
        kind: this.#kind,
        tenant: this.#tenant,
        parking: this.#parkingOf(task, timer),
        start: async (waited) => {
          this.#waiting.delete(job);
          this.#onBegin();
          try {
            const answer = await this.#runOnThread(task, timer);
            if (waited.ms >= (this.#waited?.ms ?? 0)) this.#waited = waited;
            resolve(answer);
          } catch (error) {
            this.stop(error as Error);
            reject(error);
          } finally {
            this.#jobs.delete(job);
          }
        },
      };
      this.#jobs.add(job);
      this.#waiting.set(job, { reject });
      this.#scheduler.add(lane, job);
    });
  }

  /**
   * Stops all: what waits is not begun, and what runs or is parked comes to a checkpoint soon, or loses its
   * thread and then rejects with `error`. A second time does nothing.
   */
  stop(error: Error): void {
    if (this.#stoppedBy !== undefined) return;
    this.#stoppedBy = error;
    for (const { signal } of this.#running.keys()) stopTask(signal);
    for (const [job, { reject }] of this.#waiting) {
      this.#scheduler.remove(job);
      this.#jobs.delete(job);
      reject(error);
    }
    this.#waiting.clear();
    if (this.#running.size === 0) return;
    this.#stopTimer = setTimeout(() => {
      for (const run of this.#running.values()) this.#end(run, error);
    }, this.#limits.stopMsMax);
  }

  /** After what ran when they were stopped has come to its end. */
  async ended(): Promise<void> {
    await Promise.allSettled(Array.from(this.#running.values(), ({ answer }) => answer));
  }

  #parkingOf(task: QueryPartTask, timer: RunTimer): Parking {
    return {
      park: () => {
        timer.stop();
        parkTask(task.signal);
      },
      resume: (ranMs) => {
        // The scheduler hears of an end a little later.
        if (!this.#running.has(task)) return;
        timer.start(ranMs);
        resumeTask(task.signal);
      },
      end: () => this.stop(this.#endedForOthers()),
    };
  }

  async #runOnThread(task: QueryPartTask, timer: RunTimer): Promise<DoneAnswer> {
    const run = this.#threads.run(task);
    this.#running.set(task, run);
    timer.start(0);
    try {
      const answer = await run.answer;
      if (answer.kind === 'unreadable') throw unreadableError(answer);
      if (answer.kind === 'oversized') {
        throw new OversizedStatesError('the partial states of this query are too large');
      }
      if (answer.kind !== 'failure') return answer;
      // The worker knows that it was to stop, and not why.
      if (answer.code === 'query_cancelled' && this.#stoppedBy !== undefined) throw this.#stoppedBy;
      throw new QueryError(answer.code, answer.message, answer.span);
    } finally {
      timer.stop();
      this.#running.delete(task);
      if (this.#running.size === 0) clearTimeout(this.#stopTimer);
    }
  }

  #endLate(task: QueryPartTask): void {
    const run = this.#running.get(task);
    if (run === undefined) return;
    const message = `a query may run for ${this.#limits.queryMsMax} ms; this one took longer and did not stop by itself`;
    this.#end(run, new QueryError('query_timeout', message));
  }

  #end(run: ThreadTask, error: Error): void {
    this.#wasEnded = true;
    run.end(error);
  }
}

/** Work on segments: each task waits for a thread of the background, and can be parked. */
export class SegmentTasks {
  readonly #scheduler: Pick<TaskScheduler, 'add'>;
  readonly #threads: Pick<WorkerThreads, 'run'>;
  readonly #taskMsMax: number;

  constructor(parts: {
    readonly scheduler: Pick<TaskScheduler, 'add'>;
    readonly threads: Pick<WorkerThreads, 'run'>;
    /** Milliseconds a task may run, without the time it is parked; its thread is ended then. */
    readonly taskMsMax: number;
  }) {
    this.#scheduler = parts.scheduler;
    this.#threads = parts.threads;
    this.#taskMsMax = parts.taskMsMax;
  }

  /** Rejects when the thread is lost, or what it reads is no more. */
  run(work: SegmentWork): Promise<DoneAnswer> {
    const signal = newTaskSignal();
    return new Promise((resolve, reject) => {
      let end = (_error: Error): void => {};
      const timer = new RunTimer(this.#taskMsMax, () => end(this.#lateError(work)));
      const start = async (): Promise<void> => {
        const run = this.#threads.run({ ...work, signal });
        end = run.end;
        timer.start(0);
        try {
          resolve(checked(await run.answer));
        } catch (error) {
          reject(error);
        } finally {
          timer.end();
        }
      };
      this.#scheduler.add('turn', { start, kind: kindOf(work), parking: parkingOf(signal, timer) });
    });
  }

  #lateError({ kind }: SegmentWork): Error {
    return new Error(
      `work on a segment may take ${this.#taskMsMax} ms; this took longer (${kind})`,
    );
  }
}

function parkingOf(signal: TaskSignal, timer: RunTimer): Parking {
  return {
    park: () => {
      timer.stop();
      parkTask(signal);
    },
    resume: (ranMs) => {
      timer.start(ranMs);
      resumeTask(signal);
    },
  };
}

function checked(answer: Awaited<ReturnType<WorkerThreads['run']>['answer']>): DoneAnswer {
  if (answer.kind === 'unreadable') throw unreadableError(answer);
  assert(answer.kind !== 'oversized', 'work on a segment is no part of a query');
  assert(answer.kind !== 'failure', 'work on a segment does nothing that a query may not');
  return answer;
}

function kindOf(work: SegmentWork): WorkKind {
  switch (work.kind) {
    case 'seal':
    case 'states':
      return work.kind;
    case 'pack':
      return work.of;
    default:
      return 'merge';
  }
}

/** Calls `onEnd` when a task has run for `msMax` milliseconds in all. */
class RunTimer {
  readonly #msMax: number;
  readonly #onEnd: () => void;
  #timeout: NodeJS.Timeout | undefined;
  #hasEnded = false;

  constructor(msMax: number, onEnd: () => void) {
    this.#msMax = msMax;
    this.#onEnd = onEnd;
  }

  /** The task runs, and has run for so long before. */
  start(ranMs: number): void {
    if (this.#hasEnded) return;
    this.#timeout = setTimeout(this.#onEnd, this.#msMax - ranMs);
  }

  /** The task is parked. */
  stop(): void {
    clearTimeout(this.#timeout);
  }

  /** The task has ended: it does not go on any more, though who resumes it hears of that a little later. */
  end(): void {
    this.stop();
    this.#hasEnded = true;
  }
}
