import { setTimeout as wait } from 'node:timers/promises';
import {
  bodyOf,
  CONNECTIONS,
  EDGE_PATH,
  EDGE_SOURCE,
  type EdgeEvents,
  LARGE_POST_EVENTS,
} from './edge-events.ts';
import { HttpClient } from './http-client.ts';
import { barText, figuresOf } from './measure.ts';
import { mustPost } from './posting.ts';
import type { ServiceProcess } from './service-process.ts';
import { mustGet, readSource } from './service-reading.ts';

const SMALL_POST_EVENTS = 20;

/** A service that has become ready, and how long that took. */
export type StartedService = { readonly service: ServiceProcess; readonly ms: number };

const BARS = { idleBytes: 150e6, p50Ms: 3, p99Ms: 15 };

/** Events of the posts that were under way when the service was killed say which post they are of. */
export const POSTS_DEFINITION = `-- id: 7c1f0d52-3b5e-4f0b-8a53-9c6a2d1e4b70
-- name: bench.posts
-- description: How many events there are of each post
-- max_rows: 100000
SELECT t.post, COUNT(*) AS events, COUNT(DISTINCT t.id) AS ids
FROM \`${EDGE_SOURCE}\` AS t WHERE t.post IS NOT NULL GROUP BY t.post
`;

export type CrashSize = {
  /** Before resident memory is looked at. */
  readonly idleS: number;
  readonly postsPerSecond: number;
  readonly warmS: number;
  readonly steadyS: number;
  /** Large posts that are acknowledged before the service is killed. */
  readonly postsBeforeKill: number;
};

/**
 * Measures a service that idles, then one that gets a steady stream of small posts; kills it amid large
 * ones, and sees what the next start finds. `start` begins on an empty folder, and goes on with it.
 * Resolves to the milliseconds that the first start takes.
 *
 * @throws Error when an acknowledged event is missing, or any is there twice.
 */
export async function crash(
  start: () => Promise<StartedService>,
  edge: EdgeEvents,
  size: CrashSize,
): Promise<number> {
  const { service, ms: startMs } = await start();
  let acknowledged: ReadonlySet<string>;
  let steadyEvents: number;
  try {
    await wait(size.idleS * 1000);
    const idleBytes = service.residentBytes();
    console.log(
      `idle for ${size.idleS} s: ${(idleBytes / 1e6).toFixed(0)} MB resident ` +
        barText('<= 150 MB', idleBytes <= BARS.idleBytes),
    );
    steadyEvents = await steadily(service, edge, size);
    acknowledged = await killAmidPosts(service, edge, size.postsBeforeKill);
  } finally {
    await service.kill();
  }
  const { service: again, ms: readyMs } = await start();
  try {
    const eventCount = await checkFound(again, { steadyEvents, acknowledged });
    console.log(
      `after a kill amid posts: ready in ${(readyMs / 1000).toFixed(2)} s ` +
        `(${(startMs / 1000).toFixed(2)} s with nothing stored), all of ` +
        `${steadyEvents + acknowledged.size * LARGE_POST_EVENTS} acknowledged events are back, ` +
        `${eventCount} in all`,
    );
  } finally {
    await again.kill();
  }
  return startMs;
}

/**
 * Posts at fixed times; latency counts from the moment a post is sent. What comes first warms the
 * service up, and is told apart. How many events that were.
 */
async function steadily(
  service: ServiceProcess,
  edge: EdgeEvents,
  size: {
    readonly postsPerSecond: number;
    readonly warmS: number;
    readonly steadyS: number;
  },
): Promise<number> {
  const client = new HttpClient(service.url, service.token, 64);
  const bodies = Array.from({ length: 200 }, () => bodyOf(edge.take(SMALL_POST_EVENTS)));
  for (const body of bodies) await mustPost(client, EDGE_PATH, body);
  const intervalMs = 1000 / size.postsPerSecond;
  const warmLatencies: number[] = [];
  const latencies: number[] = [];
  const posts: Promise<void>[] = [];
  let lateMsMax = 0;
  const fromMs = performance.now();
  const warmCount = size.postsPerSecond * size.warmS;
  const count = warmCount + size.postsPerSecond * size.steadyS;
  for (let post = 0; post < count; post++) {
    const dueMs = fromMs + post * intervalMs;
    const aheadMs = dueMs - performance.now();
    if (aheadMs > 0) await wait(aheadMs);
    const sentMs = performance.now();
    lateMsMax = Math.max(lateMsMax, sentMs - dueMs);
    const acknowledged = mustPost(client, EDGE_PATH, bodies[post % bodies.length]!).then(() => {
      (post < warmCount ? warmLatencies : latencies).push(performance.now() - sentMs);
    });
    posts.push(acknowledged);
  }
  await Promise.all(posts);
  client.close();
  const { p50, p99 } = figuresOf(latencies);
  const warm = figuresOf(warmLatencies);
  console.log(
    `${size.postsPerSecond} posts/s of ${SMALL_POST_EVENTS} events: acknowledged in ` +
      `p50 ${p50.toFixed(2)} ms ${barText('<= 3 ms', p50 <= BARS.p50Ms)}, ` +
      `p99 ${p99.toFixed(2)} ms ${barText('<= 15 ms', p99 <= BARS.p99Ms)}; ` +
      `p50 ${warm.p50.toFixed(2)} and p99 ${warm.p99.toFixed(2)} ms in the first ${size.warmS} s ` +
      `of a new service; the sender was at most ${lateMsMax.toFixed(0)} ms late`,
  );
  return (bodies.length + count) * SMALL_POST_EVENTS;
}

/**
 * Large posts until so many are acknowledged; then the service is killed, amid others. Which ones it
 * acknowledged.
 */
async function killAmidPosts(
  service: ServiceProcess,
  edge: EdgeEvents,
  postsMin: number,
): Promise<ReadonlySet<string>> {
  const client = new HttpClient(service.url, service.token, CONNECTIONS);
  const acknowledged = new Set<string>();
  let postCount = 0;
  let isKilled = false;
  const send = async (): Promise<void> => {
    while (!isKilled) {
      const post = `post ${postCount++}`;
      const events = edge.take(LARGE_POST_EVENTS);
      const body = bodyOf(events.map((event) => ({ ...event, post })));
      try {
        await mustPost(client, EDGE_PATH, body);
      } catch (error) {
        if (isKilled) return;
        throw error;
      }
      acknowledged.add(post);
      if (acknowledged.size >= postsMin && !isKilled) {
        isKilled = true;
        await service.kill();
      }
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, send));
  client.close();
  return acknowledged;
}

/**
 * How many events there are. @throws Error when an acknowledged post is missing, or any is there in part
 * or twice.
 */
async function checkFound(
  service: ServiceProcess,
  posted: { readonly steadyEvents: number; readonly acknowledged: ReadonlySet<string> },
): Promise<number> {
  const client = new HttpClient(service.url, service.token, 1);
  const { events: eventCount } = await readSource(client, EDGE_SOURCE);
  const { result } = JSON.parse(await mustGet(client, '/api/endpoints/bench.posts')) as {
    readonly result: readonly {
      readonly post: string;
      readonly events: number;
      readonly ids: number;
    }[];
  };
  client.close();
  const found = new Set(result.map(({ post }) => post));
  for (const { post, events, ids } of result) {
    if (events !== LARGE_POST_EVENTS || ids !== LARGE_POST_EVENTS) {
      throw new Error(`of ${post} there are ${events} events and ${ids} ids`);
    }
  }
  for (const post of posted.acknowledged) {
    if (!found.has(post)) throw new Error(`${post} was acknowledged and is not there`);
  }
  const expected = posted.steadyEvents + result.length * LARGE_POST_EVENTS;
  if (eventCount !== expected) throw new Error(`${eventCount} events of ${expected} are there`);
  return eventCount;
}
