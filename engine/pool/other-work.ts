/**
 * Milliseconds of other work in a turn of the event loop, on the mean of the last turns with runs, below which a thread has
 * little: an answer or two. While events come in these are slices of some milliseconds.
 */
const INLINE_QUIET_MS_MAX = 0.5;

/** What one turn more counts in the mean. */
const WEIGHT = 1 / 8;

/**
 * How long whatever else a thread does takes in the turns of its event loop in which it runs queries: what would wait for
 * a run that takes longer. Not known before the first turn has ended.
 */
export class OtherWork {
  #meanMs: number | undefined;

  /** Whether little would wait. */
  get isLittle(): boolean {
    return this.#meanMs !== undefined && this.#meanMs < INLINE_QUIET_MS_MAX;
  }

  /** To be told of each turn how long it took from its first run on, without its runs. */
  note(ms: number): void {
    this.#meanMs ??= ms;
    this.#meanMs += WEIGHT * (ms - this.#meanMs);
  }
}
