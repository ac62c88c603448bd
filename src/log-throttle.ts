import { LOG_REPEAT_MS, STACK_REPEAT_MS } from './limits.ts';
import { formatStack } from './log.ts';

/**
 * Lets some of many similar log entries through, so that a flood of refused calls shows in the log
 * without filling it.
 */
export class LogThrottle {
  readonly #repeatMs: number;
  readonly #kinds = new Map<string, { nextMs: number; leftOutCount: number }>();

  /** `repeatMs` is the minimum time between two entries of a kind. */
  constructor(repeatMs = LOG_REPEAT_MS) {
    this.#repeatMs = repeatMs;
  }

  /**
   * If this entry may be written, returns how many entries of its kind were left out since the last
   * one; otherwise `undefined`. `nowMs` is on the monotonic clock. Kinds are constants of the
   * program, never callers' texts, so their number is bounded.
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
 * Describes errors for the log: with the stack trace at most once in STACK_REPEAT_MS for each place
 * in the program that throws, else by the first line. An error may recur as long as a disk is full.
 */
export class StackThrottle {
  readonly #throttle = new LogThrottle(STACK_REPEAT_MS);
  readonly #nowMs: () => number;

  /** `nowMs` reads the monotonic clock, in milliseconds. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  describe(error: unknown): string {
    const stack = formatStack(error);
    const isDue = this.#throttle.admit(findPlace(stack), this.#nowMs()) !== undefined;
    return isDue ? stack : (stack.split('\n', 1)[0] ?? '');
  }
}

/**
 * Finds where the error of a stack trace was thrown. The message before it may contain a caller's
 * text.
 */
function findPlace(stack: string): string {
  return /^ +at .*$/m.exec(stack)?.[0] ?? '';
}
