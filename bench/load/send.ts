import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { SendOrder, SendReport } from './order.ts';

/** What a sender may take beside the time of its order: to start, to make bodies, to hear the last answers. */
const BESIDE_MS = 120_000;

/** Has a process of its own send, so that it and whoever measures do not hold up each other. */
export function send(order: SendOrder): Promise<SendReport> {
  const path = fileURLToPath(new URL('./sender.ts', import.meta.url));
  const child = fork(path, { execArgv: ['--import', 'tsx'] });
  const timer = setTimeout(() => child.kill(), order.seconds * 1000 + BESIDE_MS);
  return new Promise((resolve, reject) => {
    child.on('message', (message: 'ready' | SendReport) => {
      if (message !== 'ready') resolve(message);
    });
    child.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`the sender ended with ${code} and without a report`));
    });
    child.send(order);
  });
}
