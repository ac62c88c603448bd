import { bucketStart } from './time-buckets.ts';
import type { ExploredWindow } from './time-window.ts';

/** The part of a histogram's buckets that is counted first. */
const FIRST_PART = 1 / 4;

/** A slice that took less is followed by a larger one; one that took more, by a smaller one: bars should keep coming. */
const SHORT_MS = 150;
const LONG_MS = 600;

/**
 * Divides a window into slices of whole buckets, the newest first. How large each is depends on how long the one before
 * took: a window that is counted in no time has few.
 */
export class HistogramSlices {
  readonly #window: ExploredWindow;
  readonly #bucketUs: number;
  #count: number;
  #endUs: number;

  constructor(window: ExploredWindow, bucketUs: number) {
    const count = Math.ceil((window.toUs - window.fromUs) / bucketUs);
    this.#window = window;
    this.#bucketUs = bucketUs;
    this.#count = Math.max(1, Math.ceil(count * FIRST_PART));
    this.#endUs = window.toUs;
  }

  /** The next slice; `undefined` when all were taken. */
  next(): ExploredWindow | undefined {
    const { fromUs } = this.#window;
    const toUs = this.#endUs;
    if (toUs <= fromUs) return undefined;
    const lastStartUs = bucketStart(toUs - 1, this.#bucketUs);
    const startUs = lastStartUs - (this.#count - 1) * this.#bucketUs;
    this.#endUs = Math.max(fromUs, startUs);
    return { fromUs: this.#endUs, toUs };
  }

  /** How long the last slice took. */
  note(ms: number): void {
    if (ms < SHORT_MS) this.#count *= 4;
    else if (ms > LONG_MS) this.#count = Math.max(1, Math.floor(this.#count / 2));
  }

  /** The part of the window that was taken. */
  get share(): number {
    const { fromUs, toUs } = this.#window;
    return (toUs - this.#endUs) / (toUs - fromUs);
  }
}
