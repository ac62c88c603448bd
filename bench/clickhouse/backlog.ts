import { setTimeout as wait } from 'node:timers/promises';
import { DATABASE } from '../../test/clickhouse/events-database.ts';
import { HttpClient } from '../http-client.ts';
import { send } from '../load/send.ts';
import { barText, figuresOf } from '../measure.ts';
import { ServiceProcess } from '../service-process.ts';
import { readMetrics } from '../service-reading.ts';
import { sourceOf } from '../workload/workload.ts';
import type { BenchServer } from './server.ts';

const EVENTS_PER_SECOND = 20_000;
const POSTS_PER_SECOND = 40;
const SECONDS = 60;
/** Of which the load begins, and code is compiled. */
const WARM_UP_SECONDS = 10;
/** Of a small run. */
const SECONDS_MIN = 6;
const BODY_COUNT = 20;
const CONNECTIONS_MAX = 64;
const LOOK_MS = 250;
/** After the last post; far more than it may take. */
const SENT_SECONDS_MAX = 60;

/**
 * Posts lean events to a service at a steady rate, and looks at how many of them wait in its log for ClickHouse. Flat: at
 * the end no more wait than at the beginning, but for those of a second.
 */
export async function benchBacklog(
  server: BenchServer,
  command: readonly string[],
  eventCount: number,
): Promise<boolean> {
  const eventsPerPost = Math.ceil(Math.min(EVENTS_PER_SECOND, eventCount) / POSTS_PER_SECOND);
  const perSecond = eventsPerPost * POSTS_PER_SECOND;
  const seconds = Math.min(SECONDS, Math.max(SECONDS_MIN, eventCount / perSecond));
  server.reset();
  // What waits is counted by the clock, so it must go on.
  const service = await ServiceProcess.start(command, {
    ...{ STORE: 'clickhouse', CLICKHOUSE_URL: server.door.url, CLICKHOUSE_DATABASE: DATABASE },
  });
  const client = new HttpClient(service.url, service.token, 1);
  try {
    const isOver = new AbortController();
    const watched = unsentCounts(client, isOver.signal);
    const { takenCount, refusedCount } = await post(service, eventsPerPost, seconds);
    isOver.abort();
    const unsent = await watched;
    const sentMs = await msUntilSent(client);
    const [[stored = ''] = []] = server.chdb.rows<[string]>(
      `SELECT count() FROM ${DATABASE}.events`,
    );
    const isWhole = Number(stored) === takenCount * eventsPerPost;
    const [first, last] = endsOf(unsent);
    const isReached = last <= first + perSecond && refusedCount === 0 && isWhole;
    console.log(
      `backlog at ${perSecond} lean events/s for ${seconds} s: ${first} events waited in the first third, ${last} in the last, ` +
        `${Math.max(...unsent)} at most; all sent ${sentMs.toFixed(0)} ms after the last post, ${refusedCount} posts refused, ` +
        `${stored} events stored${isWhole ? '' : ', OTHERS THAN POSTED'} ${barText('flat', isReached)}`,
    );
    return isReached;
  } finally {
    client.close();
    await service.stop();
  }
}

async function post(
  { url, token }: ServiceProcess,
  eventsPerPost: number,
  seconds: number,
): Promise<{ readonly takenCount: number; readonly refusedCount: number }> {
  const path = `/api/logs?source_name=${encodeURIComponent(sourceOf('lean'))}`;
  const fromUs = Date.now() * 1_000;
  const events = { of: 'lean', eventsPerPost, bodyCount: BODY_COUNT, fromUs } as const;
  const load = { kind: 'posts', path, ...events } as const;
  const rate = { perSecond: POSTS_PER_SECOND, connectionsMax: CONNECTIONS_MAX };
  const { streams } = await send({ url, seconds, streams: [{ token, load, ...rate }] });
  const { samples, unsentCount } = streams[0]!;
  const takenCount = samples.filter(({ status }) => status === 200).length;
  return { takenCount, refusedCount: samples.length - takenCount + unsentCount };
}

/** How many events wait, looked at until `isOver`. */
async function unsentCounts(client: HttpClient, isOver: AbortSignal): Promise<readonly number[]> {
  const counts: number[] = [];
  while (!isOver.aborted) {
    counts.push(await unsentCount(client));
    await wait(LOOK_MS);
  }
  return counts;
}

async function unsentCount(client: HttpClient): Promise<number> {
  return (await readMetrics(client)).get('weir_unsent_events') ?? 0;
}

async function msUntilSent(client: HttpClient): Promise<number> {
  const fromMs = performance.now();
  while ((await unsentCount(client)) > 0) {
    const ms = performance.now() - fromMs;
    if (ms > SENT_SECONDS_MAX * 1_000) throw new Error('events still wait for ClickHouse');
    await wait(LOOK_MS);
  }
  return performance.now() - fromMs;
}

/** The medians of the first third and of the last, without the time of the warm-up. */
function endsOf(counts: readonly number[]): readonly [number, number] {
  const warm = counts.slice(Math.min((WARM_UP_SECONDS * 1_000) / LOOK_MS, counts.length / 2));
  const third = Math.ceil(warm.length / 3);
  return [figuresOf(warm.slice(0, third)).p50, figuresOf(warm.slice(-third)).p50];
}
