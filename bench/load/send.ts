import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { forkProgram } from '../../test/support/program-words.ts';
import type { SendOrder, SendReport } from './order.ts';

/** What a sender may take beside the time of its order: to start, to make bodies, to hear the last answers. */
const BESIDE_MS = 120_000;

/** Has a process of its own send, so that it and whoever measures do not hold up each other. */
export async function send(order: SendOrder): Promise<SendReport> {
  const [report] = await sendAll([order]);
  return report!;
}

/** Has a process for each order send, so that no sender waits for another. All begin at once, when all are there. */
export async function sendAll(orders: readonly SendOrder[]): Promise<readonly SendReport[]> {
  const senders = orders.map((order) => new SenderProcess(order));
  await Promise.all(senders.map((sender) => sender.ready));
  return await Promise.all(senders.map((sender) => sender.run()));
}

class SenderProcess {
  readonly ready: Promise<void>;
  readonly #child: ChildProcess;
  readonly #report: Promise<SendReport>;

  constructor(order: SendOrder) {
    const child = forkProgram('bench/load/sender.ts');
    this.#child = child;
    const timer = setTimeout(() => child.kill(), order.seconds * 1000 + BESIDE_MS);
    const exit = once(child, 'exit').then(([code]) => {
      clearTimeout(timer);
      throw new Error(`a sender ended with ${code} and without a report`);
    });
    this.ready = Promise.race([once(child, 'message').then(() => {}), exit]);
    this.#report = this.ready.then(() =>
      Promise.race([once(child, 'message').then(([report]) => report as SendReport), exit]),
    );
    child.send(order);
  }

  run(): Promise<SendReport> {
    this.#child.send('go');
    return this.#report;
  }
}
