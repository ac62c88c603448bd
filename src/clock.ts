/** The clocks of the service. Only `main.ts` makes one that reads the machine's clock. */
export interface Clock {
  /**
   * Microseconds since the epoch, for queries, arriving events and retention. Stands still when
   * `FROZEN_NOW` is set.
   */
  nowUs(): number;
  /** Milliseconds since some moment, never backwards and never frozen: for durations only. */
  monotonicMs(): number;
  /** Milliseconds since the epoch on the machine's clock, never frozen: tokens expire by it. */
  wallMs(): number;
}

/** Makes a clock from two functions that read the machine's clocks. */
export function createClock(options: {
  readonly wallMs: () => number;
  readonly monotonicMs: () => number;
  readonly frozenNowUs?: number | undefined;
}): Clock {
  const { wallMs, monotonicMs, frozenNowUs } = options;
  return {
    nowUs: frozenNowUs === undefined ? () => Math.floor(wallMs() * 1000) : () => frozenNowUs,
    monotonicMs,
    wallMs,
  };
}
