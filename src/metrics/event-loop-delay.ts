import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How often the event loop is looked at. What is measured includes the wait of this long. */
const RESOLUTION_MS = 10;

/** How late the event loop was, in seconds: a request waits as long before anyone looks at it. */
export type Delays = { readonly p50: number; readonly p99: number; readonly max: number };

/** Watches the event loop of this thread, until `stop`. */
export class EventLoopDelay {
  readonly #histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  constructor() {
    this.#histogram.enable();
  }

  /** The delays since the last call of this. */
  sample(): Delays {
    const { count, max } = this.#histogram;
    if (count === 0) return { p50: 0, p99: 0, max: 0 };
    const seconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1e3);
    const delays = {
      p50: seconds(this.#histogram.percentile(50)),
      p99: seconds(this.#histogram.percentile(99)),
      max: seconds(max),
    };
    this.#histogram.reset();
    return delays;
  }

  stop(): void {
    this.#histogram.disable();
  }
}
