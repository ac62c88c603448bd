import { LOG_REPEAT_MS, STACK_REPEAT_MS } from './limits.ts';
import { formatStack } from './log.ts';

/**
 * Lets one of many like entries through now and then: a flood of refused calls is to be told, and
 * is not to be a flood of lines.
 */
export class LogThrottle {
  readonly #repeatMs: number;
  readonly #kinds = new Map<string, { nextMs: number; leftOutCount: number }>();

  /** `repeatMs`: the least time between two entries of a kind. */
  constructor(repeatMs = LOG_REPEAT_MS) {
    this.#repeatMs = repeatMs;
  }

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
    this.#kinds.set(kind, { nextMs: nowMs + this.#repeatMs, leftOutCount: 0 });
    return known?.leftOutCount ?? 0;
  }
}

/**
 * Describes errors for the log: with the stack at most once in STACK_REPEAT_MS for each place in the program that
 * throws, else by its first line. An error may recur for as long as a disk is full.
 */
export class StackThrottle {
  readonly #throttle = new LogThrottle(STACK_REPEAT_MS);
  readonly #nowMs: () => number;

  /** `nowMs`: the monotonic clock, in milliseconds. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  describe(error: unknown): string {
    const stack = formatStack(error);
    const isDue = this.#throttle.admit(findPlace(stack), this.#nowMs()) !== undefined;
    return isDue ? stack : (stack.split('\n', 1)[0] ?? '');
  }
}

/** Where the error of a stack was thrown: its message may be of a caller's making. */
function findPlace(stack: string): string {
  return /^ +at .*$/m.exec(stack)?.[0] ?? '';
}
