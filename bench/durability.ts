/**
 * What does it cost that an acknowledged post survives a crash, and how long does a crash take to get
 * over?
 *
 *   npm run build && node --import tsx bench/durability.ts
 *   node --import tsx bench/durability.ts --size small --uncompiled   as the tests run it
 *
 * Full edge events are posted: first a steady stream of small posts, sent at their times whether or not
 * those before are answered, then large ones as fast as they go. Then the service is killed and
 * started again, and must have every event.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { showProgress } from '../src/progress.ts';
import { Traffic } from '../src/traffic/traffic.ts';
import { HttpClient } from './http-client.ts';
import { environmentLine, figuresOf } from './measure.ts';
import { ServiceProcess } from './service-process.ts';

const NOW = '2026-01-15T12:00:00Z';
const SOURCE = 'cloudflare.logs.prod';
const PATH = `/api/logs?source_name=${SOURCE}`;
const SMALL_POST_EVENTS = 20;
const LARGE_POST_EVENTS = 500;
const CONNECTIONS = 4;

/** Large posts made before the clock runs: making them is not what is timed. */
const POSTS_AHEAD = 40;

const SIZES = new Map([
  ['small', { postsPerSecond: 100, seconds: 1, eventCount: 5_000 }],
  ['large', { postsPerSecond: 500, seconds: 20, eventCount: 400_000 }],
]);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { size: { type: 'string', default: 'large' }, uncompiled: { type: 'boolean' } },
  });
  const size = SIZES.get(values.size);
  if (size === undefined) throw new Error(`--size must be small or large; got ${values.size}`);
  const command = values.uncompiled ? ['--import', 'tsx', 'src/main.ts'] : ['dist/src/main.js'];
  const folder = mkdtempSync(join(tmpdir(), 'weir-durability-'));
  const start = () => ServiceProcess.start(command, { FROZEN_NOW: NOW }, folder);
  const traffic = new Traffic({ seed: 1, projectCount: 2_000 });
  console.log(environmentLine());
  try {
    const emptyMs = performance.now();
    let service = await start();
    const startMs = performance.now() - emptyMs;
    try {
      await steadily(service, traffic, size);
      await atFullSpeed(service, traffic, size.eventCount);
      const eventCount = await storedEvents(service);
      reportSize(folder, eventCount, traffic);
      await service.kill();
      const killedMs = performance.now();
      service = await start();
      const readyMs = performance.now() - killedMs;
      const found = await storedEvents(service);
      if (found !== eventCount) throw new Error(`${found} events of ${eventCount} are back`);
      const perSecond = Math.round(eventCount / ((readyMs - startMs) / 1000));
      console.log(
        `after a kill: ready in ${(readyMs / 1000).toFixed(2)} s (${(startMs / 1000).toFixed(2)} s with ` +
          `nothing stored), ${eventCount} events back, ${perSecond} events/s replayed`,
      );
    } finally {
      await service.kill();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Posts at fixed times; latency counts from the time a post was due. */
async function steadily(
  service: ServiceProcess,
  traffic: Traffic,
  size: { readonly postsPerSecond: number; readonly seconds: number },
): Promise<void> {
  const client = new HttpClient(service.url, service.token, 64);
  const bodies = Array.from({ length: 200 }, () => bodyOf(traffic, SMALL_POST_EVENTS));
  for (const body of bodies) await mustPost(client, body);
  const intervalMs = 1000 / size.postsPerSecond;
  const latencies: number[] = [];
  const posts: Promise<void>[] = [];
  const fromMs = performance.now();
  const count = size.postsPerSecond * size.seconds;
  for (let post = 0; post < count; post++) {
    const dueMs = fromMs + post * intervalMs;
    const aheadMs = dueMs - performance.now();
    if (aheadMs > 0) await wait(aheadMs);
    const sentMs = performance.now();
    const acknowledged = mustPost(client, bodies[post % bodies.length]!).then(() => {
      latencies.push(performance.now() - sentMs);
    });
    posts.push(acknowledged);
  }
  await Promise.all(posts);
  client.close();
  const { p50, p99 } = figuresOf(latencies);
  console.log(
    `${size.postsPerSecond} posts/s of ${SMALL_POST_EVENTS} events: acknowledged in ` +
      `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`,
  );
}

async function atFullSpeed(
  service: ServiceProcess,
  traffic: Traffic,
  eventCount: number,
): Promise<void> {
  const client = new HttpClient(service.url, service.token, CONNECTIONS);
  let sent = 0;
  let postingMs = 0;
  while (sent < eventCount) {
    const bodies = Array.from({ length: POSTS_AHEAD }, () => bodyOf(traffic, LARGE_POST_EVENTS));
    const fromMs = performance.now();
    let next = 0;
    const send = async () => {
      while (next < bodies.length) await mustPost(client, bodies[next++]!);
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, send));
    postingMs += performance.now() - fromMs;
    sent += bodies.length * LARGE_POST_EVENTS;
    showProgress(`${sent} of ${eventCount}`);
  }
  showProgress('');
  client.close();
  console.log(`${Math.round(sent / (postingMs / 1000))} events/s taken in durably, ${sent} events`);
}

function reportSize(folder: string, eventCount: number, traffic: Traffic): void {
  const log = join(folder, 'log');
  const files = readdirSync(log);
  const bytes = files.reduce((sum, name) => sum + statSync(join(log, name)).size, 0);
  const json = bodyOf(traffic, 1_000).length / 1_000;
  console.log(
    `${(bytes / eventCount).toFixed(0)} B/event in the log (${json.toFixed(0)} B as JSON), ${files.length} files`,
  );
}

function bodyOf(traffic: Traffic, eventCount: number): Buffer {
  const nowMs = Date.parse(NOW);
  return Buffer.from(
    JSON.stringify(Array.from({ length: eventCount }, () => traffic.of(SOURCE, nowMs))),
  );
}

async function mustPost(client: HttpClient, body: Buffer): Promise<void> {
  const answer = await client.post(PATH, body);
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.body}`);
}

async function storedEvents(service: ServiceProcess): Promise<number> {
  const client = new HttpClient(service.url, service.token, 1);
  const answer = JSON.parse((await client.get('/api/sources')).body.toString()) as {
    readonly result: readonly { readonly name: string; readonly events: number }[];
  };
  client.close();
  return answer.result.find(({ name }) => name === SOURCE)?.events ?? 0;
}

await main();
