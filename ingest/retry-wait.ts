/** The wait before a failed step is tried again: one tick, and twice as many after each further failure. */
export class RetryWait {
  readonly #ticksMax: number;
  #ticks = 1;
  #ticksLeft = 0;

  constructor(ticksMax: number) {
    this.#ticksMax = ticksMax;
  }

  get isWaiting(): boolean {
    return this.#ticksLeft > 0;
  }

  /** Must be called about once a second. */
  tick(): void {
    this.#ticksLeft = Math.max(0, this.#ticksLeft - 1);
  }

  /** Records how the step ended. */
  note(isDone: boolean): void {
    this.#ticks = isDone ? 1 : Math.min(this.#ticks * 2, this.#ticksMax);
    this.#ticksLeft = isDone ? 0 : this.#ticks;
  }
}
