import { setTimeout as wait } from 'node:timers/promises';
import type { HttpClient } from './http-client.ts';

/** A sender that was told to come back does so after this. */
const RETRY_MS = 250;

/**
 * Posts one body after another over each of so many connections, as `next` gives them, until it gives
 * none. What is refused for overload is sent again; resolves to how often that was.
 *
 * @throws Error when a post is answered in any other way.
 */
export async function postAll(
  client: HttpClient,
  to: { readonly path: string; readonly connectionCount: number },
  next: () => Buffer | undefined,
): Promise<number> {
  let refusalCount = 0;
  const send = async (): Promise<void> => {
    for (let body = next(); body !== undefined; body = next()) {
      while (!(await isTaken(client, to.path, body))) {
        refusalCount += 1;
        await wait(RETRY_MS);
      }
    }
  };
  await Promise.all(Array.from({ length: to.connectionCount }, send));
  return refusalCount;
}

/** @throws Error when a post is answered with anything but 200. */
export async function mustPost(client: HttpClient, path: string, body: Buffer): Promise<void> {
  if (!(await isTaken(client, path, body))) throw new Error('a post was refused for overload');
}

/**
 * Calls `post` at an even rate until `isOver`: `eventsPerPost` events a call, `eventsPerSecond` in all. What is late is
 * made up for. Resolves to the number of calls.
 */
export async function postEvenly(
  rate: { readonly eventsPerPost: number; readonly eventsPerSecond: number },
  post: () => Promise<unknown>,
  isOver: () => boolean,
): Promise<number> {
  const startMs = performance.now();
  let postCount = 0;
  while (!isOver()) {
    await post();
    postCount += 1;
    const dueMs = startMs + (1000 * postCount * rate.eventsPerPost) / rate.eventsPerSecond;
    await wait(Math.max(0, dueMs - performance.now()));
  }
  return postCount;
}

/** Of a sender's report, after the rate it tells. */
export function refusalText(refusalCount: number): string {
  return refusalCount === 0 ? '' : `, ${refusalCount} posts refused for a moment`;
}

async function isTaken(client: HttpClient, path: string, body: Buffer): Promise<boolean> {
  const answer = await client.post(path, body);
  if (answer.status === 429) return false;
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.body}`);
  return true;
}
