import { LOOP_TURN_MS_MAX } from './limits.ts';

/**
 * Long work of the main thread, done in slices between which everything else that is due runs. In one turn of the
 * event loop as many slices run as its time is for: were it a number of them, a few large ones would hold up the
 * thread, and of small ones senders would get less done than they could beside busy callers.
 */
export class LoopTurns {
  readonly #nowMs: () => number;
  /** Who waits to go on, in order. */
  readonly #waiting: (() => void)[] = [];
  /** When the first slice of this turn began; `undefined`: none has. */
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

  /** Whether slices have used up this turn, so that the next one is to wait for another. */
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

  /** With so many of those who wait, one after the other, while there is time. */
  #goOn(count: number): void {
    if (count === 0 || this.isSpent()) {
      if (this.#waiting.length > 0) this.#awaitTurn();
      return;
    }
    this.#waiting.shift()!();
    // Behind the slice that begins with this promise.
    queueMicrotask(() => this.#goOn(count - 1));
  }
}

const turns = new LoopTurns(() => performance.now());

/** Lets everything else that is due on this thread run first. */
export function yieldToEventLoop(): Promise<void> {
  return turns.yield();
}

/** Whether work in slices has had its time of this turn of the event loop. */
export function isTurnSpent(): boolean {
  return turns.isSpent();
}

/** How often within a slice is looked whether the turn is used up: the same work takes ten times as long at times. */
const LOOKS_PER_SLICE = 8;

/** Cuts long work into slices of some size, in whatever it is counted, and shorter ones where a turn is used up. */
export class Slices {
  /** How much to do between two questions, at most. */
  readonly stepSize: number;
  readonly #size: number;
  #start = 0;
  #looked = 0;

  constructor(size: number) {
    this.#size = size;
    this.stepSize = Math.max(1, Math.floor(size / LOOKS_PER_SLICE));
  }

  /** Whether to let other work run, now that so much is done of all. */
  isOver(doneSize: number): boolean {
    if (doneSize - this.#looked < this.stepSize) return false;
    this.#looked = doneSize;
    if (doneSize - this.#start < this.#size && !isTurnSpent()) return false;
    this.#start = doneSize;
    return true;
  }
}
