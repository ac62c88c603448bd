import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those that systems hand out by themselves: Linux does from 32768 on. */
const PORTS_START = 10_000;
const PORTS_END = 30_000;

/** A free port that nobody gets by chance while a test starts a service there again. */
export async function lastingPort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS_START, PORTS_END);
    const probe = createServer();
    probe.listen(port, '127.0.0.1');
    const isFree = await once(probe, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    probe.close();
    await once(probe, 'close');
    return port;
  }
}
