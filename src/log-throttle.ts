import { LOG_REPEAT_MS } from './limits.ts';

/**
 * Lets one of many like entries through now and then: a flood of refused calls is to be told, and
 * is not to be a flood of lines.
 */
export class LogThrottle {
  readonly #kinds = new Map<string, { nextMs: number; leftOutCount: number }>();

  /**
   * How many entries of this kind were left out since the last one that was let through, when this
   * one is; `undefined` when it is not. `nowMs` is of the monotonic clock. There are as many kinds as
   * the program has, not as callers can think of.
   */
  admit(kind: string, nowMs: number): number | undefined {
    const known = this.#kinds.get(kind);
    if (known !== undefined && nowMs < known.nextMs) {
      known.leftOutCount += 1;
      return undefined;
    }
    this.#kinds.set(kind, { nextMs: nowMs + LOG_REPEAT_MS, leftOutCount: 0 });
    return known?.leftOutCount ?? 0;
  }
}
