/** Calls `onEnd` when a task has run for `msMax` milliseconds in all. */
export class RunTimer {
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
