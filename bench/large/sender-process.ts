import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { forkProgram } from '../../test/support/program-words.ts';
import type { EventOrder, SentCounts } from './event-order.ts';

/** A process that posts events, so that it and whoever measures do not hold up each other. */
export class SenderProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #counts: SentCounts = { eventCount: 0, refusedCount: 0 };

  constructor(order: EventOrder) {
    this.#child = forkProgram('bench/large/event-sender.ts');
    this.#child.on('message', (counts) => {
      this.#counts = counts as SentCounts;
    });
    this.#ended = once(this.#child, 'exit').then(([code]) => {
      if (code !== 0) throw new Error(`a sender ended with ${code}`);
    });
    // A failure is thrown by `stop`.
    this.#ended.catch(() => {});
    this.#child.send(order);
  }

  /** As it was a moment ago. */
  get counts(): SentCounts {
    return this.#counts;
  }

  /** Resolves when its last post is answered. @throws Error when it has failed. */
  async stop(): Promise<void> {
    if (this.#child.connected) this.#child.send('stop');
    await this.#ended;
  }
}
