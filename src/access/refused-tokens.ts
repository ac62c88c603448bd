import { ServiceError } from '../errors.ts';
import type { Connection } from '../http/transport.ts';
import {
  REFUSED_ADDRESSES_MAX,
  REFUSED_TOKEN_WAIT_MS,
  REFUSED_TOKENS_MAX,
  REFUSED_TOKENS_WAITING_MAX,
  REFUSED_TOKENS_WINDOW_MS,
} from '../limits.ts';
import type { TokenError, TokenRefusal } from './authenticate.ts';

/** Wrong tokens of one address since `startMs`. */
type Attempts = { readonly startMs: number; count: number };

/**
 * Counts refused tokens and delays further refusals for addresses that send many, which slows down
 * guessing and senders with a revoked token. A valid token never waits, whatever else comes from
 * its address. Behind a proxy, all callers share the proxy's address: `X-Forwarded-For` and similar
 * headers are ignored, because callers can forge them.
 */
export class RefusedTokens {
  readonly #nowMs: () => number;
  readonly #waitMs: number;
  readonly #onRefused: (reason: TokenRefusal) => void;
  /** Attempts by address, in order of `startMs`. */
  readonly #attempts = new Map<string, Attempts>();
  #waitingCount = 0;

  constructor(options: {
    /** The monotonic clock, in milliseconds. */
    readonly nowMs: () => number;
    readonly waitMs?: number | undefined;
    readonly onRefused?: (reason: TokenRefusal) => void;
  }) {
    this.#nowMs = options.nowMs;
    this.#waitMs = options.waitMs ?? REFUSED_TOKEN_WAIT_MS;
    this.#onRefused = options.onRefused ?? (() => {});
  }

  /**
   * Resolves when the refusal may be sent, or its caller has gone.
   *
   * @throws ServiceError `tokens_refused` when too many refusals wait already.
   */
  async hold(refusal: TokenError, caller: Connection): Promise<void> {
    this.#onRefused(refusal.reason);
    const address = caller.remoteAddress ?? '';
    if (refusal.reason !== 'unknown' || this.#countAttempts(address) <= REFUSED_TOKENS_MAX) return;
    if (this.#waitingCount >= REFUSED_TOKENS_WAITING_MAX) {
      const message = `more than ${REFUSED_TOKENS_MAX} wrong access tokens came from this address within ${REFUSED_TOKENS_WINDOW_MS / 1000} s`;
      throw new ServiceError('tokens_refused', message);
    }
    this.#waitingCount += 1;
    await this.#wait(caller);
    this.#waitingCount -= 1;
  }

  #wait(caller: Connection): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        caller.off('close', end);
        resolve();
      };
      const timer = setTimeout(end, this.#waitMs);
      caller.on('close', end);
    });
  }

  /** Counts a wrong token, and returns how many came recently from its address. */
  #countAttempts(address: string): number {
    const nowMs = this.#nowMs();
    for (const [known, { startMs }] of this.#attempts) {
      const isOver = nowMs - startMs >= REFUSED_TOKENS_WINDOW_MS;
      if (!isOver && this.#attempts.size <= REFUSED_ADDRESSES_MAX) break;
      this.#attempts.delete(known);
    }
    const attempts = this.#attempts.get(address) ?? { startMs: nowMs, count: 0 };
    this.#attempts.set(address, attempts);
    attempts.count += 1;
    return attempts.count;
  }
}
