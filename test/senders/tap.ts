import { EventEmitter, once } from 'node:events';
import type { HttpMessage } from './http-messages.ts';

/** What a sender posted, and how it was answered. */
export type Exchange = {
  readonly method: string;
  readonly path: string;
  readonly requestHeaders: HttpMessage['headers'];
  /** Without its content encoding. */
  readonly requestBody: Buffer;
  /** That of HTTP; of gRPC, where that is spoken. */
  readonly status: number;
  readonly responseHeaders: HttpMessage['headers'];
  readonly responseBody: Buffer;
};

/**
 * Stands between a sender and the service and passes on what is said. It is there and away with the service: `close`
 * refuses connections as a port does on which nobody listens.
 *
 * Emits `request` when a whole one was passed on, and `exchange` when one was answered.
 */
export abstract class Tap extends EventEmitter {
  readonly exchanges: Exchange[] = [];
  /** Of all requests, answered or not, without their content encoding. */
  readonly requestBodies: Buffer[] = [];
  readonly #deadline: AbortSignal;

  /** Nothing is waited for beyond the deadline. */
  constructor(deadline: AbortSignal) {
    super();
    this.#deadline = deadline;
  }

  /** The same after `close` and `open`. */
  abstract readonly port: number;
  abstract open(): Promise<void>;
  abstract close(): Promise<void>;

  /** Resolves when `holds` does, which is looked at after each exchange. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await once(this, 'exchange', { signal: this.#deadline });
  }

  /** Resolves when one more request was passed on. */
  async nextRequest(): Promise<void> {
    await once(this, 'request', { signal: this.#deadline });
  }

  protected sent(body: Buffer): void {
    this.requestBodies.push(body);
    this.emit('request');
  }

  protected answered(exchange: Exchange): void {
    this.exchanges.push(exchange);
    this.emit('exchange');
  }
}
