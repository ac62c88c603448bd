import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Sampling period of the event loop. Measured delays include it. */
const RESOLUTION_MS = 10;

/** Delays of the event loop in seconds: how long a request waits before it is handled. */
export type Delays = { readonly p50: number; readonly p99: number; readonly max: number };

/** Measures the delay of this thread's event loop, until `stop`. */
export class EventLoopDelay {
  readonly #histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  constructor() {
    this.#histogram.enable();
  }

  /** The delays since the last call. */
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
