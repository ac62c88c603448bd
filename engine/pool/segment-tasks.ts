import { assert } from '../assert.ts';
import type { Parking } from './job.ts';
import { RunTimer } from './run-timer.ts';
import type { DoneAnswer, SegmentWork } from './task.ts';
import type { TaskScheduler } from './task-scheduler.ts';
import { newTaskSignal, parkTask, resumeTask, type TaskSignal } from './task-signal.ts';
import type { WorkKind } from './work-shares.ts';
import { unreadableError, type WorkerThreads } from './worker-threads.ts';

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
