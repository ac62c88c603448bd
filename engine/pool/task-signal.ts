import { RunStoppedError } from '../query-error.ts';

/** Milliseconds between two looks of a parked task at memory: it is refused as others are where it holds most. */
const PARKED_CHECK_MS = 200;

/** One integer that the main thread and the thread of a task share: whether the task is to go on. */
export type TaskSignal = Int32Array;

const RUN = 0;
const PARK = 1;
const STOP = 2;

export function newTaskSignal(): TaskSignal {
  return new Int32Array(new SharedArrayBuffer(4));
}

/** The task pauses at its next checkpoint, and keeps its thread and its memory. Does nothing once it is to stop. */
export function parkTask(signal: TaskSignal): void {
  Atomics.compareExchange(signal, 0, RUN, PARK);
}

/** The task goes on. Does nothing once it is to stop. */
export function resumeTask(signal: TaskSignal): void {
  if (Atomics.compareExchange(signal, 0, PARK, RUN) === PARK) Atomics.notify(signal, 0);
}

/** The task ends at its next checkpoint, at once where it is parked. */
export function stopTask(signal: TaskSignal): void {
  Atomics.store(signal, 0, STOP);
  Atomics.notify(signal, 0);
}

/** The clock of a task on its thread: it stands still while the task is parked. */
export class TaskClock {
  readonly #signal: TaskSignal;
  readonly #threadMs: () => number;
  #parkedMs = 0;

  /** `threadMs` is the clock of the thread, which never stands still. */
  constructor(signal: TaskSignal, threadMs: () => number) {
    this.#signal = signal;
    this.#threadMs = threadMs;
  }

  nowMs(): number {
    return this.#threadMs() - this.#parkedMs;
  }

  /**
   * To be called at each checkpoint: costs one load while the task is to run. Returns when it is to go on. Calls
   * `whileParked` now and then while the task is parked; what that throws ends the task.
   *
   * @throws RunStoppedError `query_cancelled` once it is to stop.
   */
  follow(whileParked: () => void = () => {}): void {
    if (Atomics.load(this.#signal, 0) !== RUN) this.#obey(whileParked);
  }

  /**
   * Costs one load. Does not pause the task.
   *
   * @throws RunStoppedError `query_cancelled` once it is to stop.
   */
  checkStopped(): void {
    if (Atomics.load(this.#signal, 0) === STOP) throw stopped();
  }

  #obey(whileParked: () => void): void {
    const startMs = this.#threadMs();
    while (Atomics.load(this.#signal, 0) === PARK) {
      if (Atomics.wait(this.#signal, 0, PARK, PARKED_CHECK_MS) === 'timed-out') whileParked();
    }
    this.#parkedMs += this.#threadMs() - startMs;
    this.checkStopped();
  }
}

function stopped(): RunStoppedError {
  return new RunStoppedError('query_cancelled', 'the caller went away before the answer');
}
