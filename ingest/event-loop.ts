import { LOOP_TURN_MS_MAX } from './limits.ts';

/**
 * Runs long work of the main thread in slices, and everything else that is due between them. One turn of the event loop
 * runs as many slices as fit LOOP_TURN_MS_MAX. A fixed number would block the thread when slices are large, and would
 * starve senders beside busy callers when they are small.
 */
export class LoopTurns {
  readonly #nowMs: () => number;
  /** Callbacks of slices that wait, in order. */
  readonly #waiting: (() => void)[] = [];
  /** When the first slice of this turn began; `undefined` if none has. */
  #startMs: number | undefined;
  #isTurnDue = false;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Lets everything else that is due on this thread run first. */
  yield(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#awaitTurn();
    });
  }

  /** Whether slices have used up the time of this turn, so that the next one must wait for another. */
  isSpent(): boolean {
    const nowMs = this.#nowMs();
    if (this.#startMs === undefined) {
      this.#startMs = nowMs;
      this.#awaitTurn();
    }
    return nowMs - this.#startMs >= LOOP_TURN_MS_MAX;
  }

  #awaitTurn(): void {
    if (this.#isTurnDue) return;
    this.#isTurnDue = true;
    setImmediate(() => {
      this.#isTurnDue = false;
      this.#startMs = undefined;
      this.#goOn(this.#waiting.length);
    });
  }

  /** Resumes `count` waiting slices, one after the other, while there is time. */
  #goOn(count: number): void {
    if (count === 0 || this.isSpent()) {
      if (this.#waiting.length > 0) this.#awaitTurn();
      return;
    }
    this.#waiting.shift()!();
    // Runs after the slice that this promise starts.
    queueMicrotask(() => this.#goOn(count - 1));
  }
}

const turns = new LoopTurns(() => performance.now());

/** Lets everything else that is due on this thread run first. */
export function yieldToEventLoop(): Promise<void> {
  return turns.yield();
}

/** Whether sliced work has used up its time of this turn of the event loop. */
export function isTurnSpent(): boolean {
  return turns.isSpent();
}

/** Checks of the clock within a slice: the time of one slice varies by a factor of ten. */
const LOOKS_PER_SLICE = 8;

/** Cuts long work into slices of a given size, in any unit, and ends a slice early when the turn is used up. */
export class Slices {
  /** The largest amount of work between two checks. */
  readonly stepSize: number;
  readonly #size: number;
  #start = 0;
  #looked = 0;

  constructor(size: number) {
    this.#size = size;
    this.stepSize = Math.max(1, Math.floor(size / LOOKS_PER_SLICE));
  }

  /** Whether to yield, after `doneSize` of the work. */
  isOver(doneSize: number): boolean {
    if (doneSize - this.#looked < this.stepSize) return false;
    this.#looked = doneSize;
    if (doneSize - this.#start < this.#size && !isTurnSpent()) return false;
    this.#start = doneSize;
    return true;
  }
}
