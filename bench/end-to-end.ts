/**
 * How fast does the whole product take logs in and answer the three saved queries, over HTTP?
 *
 *   npm run bench                 one million full edge events and one million invocations
 *   npm run bench -- --size small five thousand of each, as the tests run it
 *
 * Events carry times of seven days, in order, and the service's clock stands at the end of them, so
 * the answers, and so the hash, are the same in every run.
 */
import { showProgress } from '../src/command/progress.ts';
import { Traffic } from '../src/demo/traffic/traffic.ts';
import { HttpClient } from './http-client.ts';
import { environmentLine, figuresOf, hashOf, timeEach } from './measure.ts';
import { postAll, refusalText } from './posting.ts';
import { ServiceProcess } from './service-process.ts';
import { readSource } from './service-reading.ts';
import { readSizeOptions } from './size-options.ts';

const NOW = '2026-01-15T12:00:00Z';
const SPAN_MS = 7 * 86_400_000;
const BATCH_EVENTS = 500;
const CONNECTIONS = 4;
const PROJECT_COUNT = 2000;

/** Batches made before the clock runs and then sent in one go: making them is not what is timed. */
const BATCHES_AHEAD = 40;

const SIZES = new Map([
  ['small', { eventCount: 5000, callCount: 5, warmUpMs: 0 }],
  // V8 goes on compiling what a query runs for some seconds, on each thread.
  ['large', { eventCount: 1_000_000, callCount: 200, warmUpMs: 4_000 }],
]);

/** Matches on path and query, so no URL can be left out early. */
const EXPRESSION = encodeURIComponent('/v1/(orders|profiles)\\?.*eq\\.1');

type Load = { readonly source: string; readonly name: string; readonly seed: number };

const LOADS: readonly Load[] = [
  { source: 'cloudflare.logs.prod', name: 'full edge events', seed: 1 },
  { source: 'deno-relay-logs', name: 'invocations', seed: 1 },
];

async function main(): Promise<void> {
  const { size, command } = readSizeOptions(SIZES);
  // What is timed is the engine, so every call must run.
  const service = await ServiceProcess.start(command, { FROZEN_NOW: NOW, CACHE_LIMIT: '0' });
  const client = new HttpClient(service.url, service.token, CONNECTIONS);
  try {
    console.log(`${environmentLine()}, ${size.eventCount} events of each kind`);
    for (const load of LOADS) await takeIn(load, size.eventCount, client, service);
    await service.atRest();
    await askAll(client, size);
  } finally {
    client.close();
    await service.stop();
  }
}

async function takeIn(
  load: Load,
  eventCount: number,
  client: HttpClient,
  service: ServiceProcess,
): Promise<void> {
  const path = `/api/logs?source_name=${encodeURIComponent(load.source)}`;
  const to = { path, connectionCount: CONNECTIONS };
  const residentBefore = service.residentBytes();
  const traffic = new Traffic({ seed: load.seed, projectCount: PROJECT_COUNT });
  const startMs = Date.parse(NOW) - SPAN_MS;
  let sentCount = 0;
  let postedBytes = 0;
  let postingMs = 0;
  let refusalCount = 0;
  while (sentCount < eventCount) {
    const bodies: Buffer[] = [];
    for (let batch = 0; batch < BATCHES_AHEAD && sentCount < eventCount; batch++) {
      const events = Array.from({ length: BATCH_EVENTS }, () =>
        traffic.of(load.source, Math.floor(startMs + (sentCount++ / eventCount) * SPAN_MS)),
      );
      bodies.push(Buffer.from(JSON.stringify(events)));
    }
    postedBytes += bodies.reduce((sum, body) => sum + body.length, 0);
    const fromMs = performance.now();
    let next = 0;
    refusalCount += await postAll(client, to, () => bodies[next++]);
    postingMs += performance.now() - fromMs;
    showProgress(`${load.name}: ${sentCount} of ${eventCount}`);
  }
  showProgress('');
  const perSecond = Math.round(sentCount / (postingMs / 1000));
  const megabytes = (postedBytes / 1e6 / (postingMs / 1000)).toFixed(1);
  console.log(
    `${load.name}: ${perSecond} events/s taken in, ${megabytes} MB/s posted${refusalText(refusalCount)}`,
  );
  await reportMemory(load, client, { sentCount, postedBytes, residentBefore, service });
}

async function reportMemory(
  load: Load,
  client: HttpClient,
  sent: {
    readonly sentCount: number;
    readonly postedBytes: number;
    readonly residentBefore: number;
    readonly service: ServiceProcess;
  },
): Promise<void> {
  const { bytes } = await readSource(client, load.source);
  const posted = sent.postedBytes / sent.sentCount;
  const kept = bytes / sent.sentCount;
  const resident = (sent.service.residentBytes() - sent.residentBefore) / sent.sentCount;
  console.log(
    `${load.name}: ${posted.toFixed(0)} B/event posted, ${kept.toFixed(0)} B/event in memory ` +
      `(1/${(posted / kept).toFixed(1)}), resident memory grew ${resident.toFixed(0)} B/event`,
  );
}

async function askAll(
  client: HttpClient,
  { callCount, warmUpMs }: { readonly callCount: number; readonly warmUpMs: number },
): Promise<void> {
  const { projects } = new Traffic({ seed: 1, projectCount: PROJECT_COUNT });
  const hot = projects[0]!.ref;
  const median = projects[PROJECT_COUNT / 2]!.ref;
  const calls = [
    ['logs.all hot', `logs.all?project=${hot}&project_tier=PRO`],
    ['logs.all median', `logs.all?project=${median}&project_tier=PRO`],
    ...['7day', '1day', '1hr', '15min', '5min'].map((interval) => [
      `invocation-stats hot ${interval}`,
      `functions.invocation-stats?project=${hot}&interval=${interval}`,
    ]),
    ['invocation-stats median 7day', `functions.invocation-stats?project=${median}&interval=7day`],
    ['api-counts daily hot', `usage.api-counts?project=${hot}&interval=daily`],
    ['api-counts hourly hot', `usage.api-counts?project=${hot}&interval=hourly`],
    ['api-counts daily expression', `usage.api-counts?project=${EXPRESSION}&interval=daily`],
  ] as const;
  let all = '';
  console.log(
    `\n${'query'.padEnd(34)} ${'p50 ms'.padStart(8)} ${'p99 ms'.padStart(8)}  rows  hash`,
  );
  for (const [name, query] of calls) {
    const path = `/api/endpoints/${query}`;
    const first = await client.get(path);
    const text = first.body.toString();
    if (first.status !== 200) throw new Error(`${name}: ${first.status} ${text}`);
    const rows = (JSON.parse(text) as { readonly result: readonly unknown[] }).result.length;
    const samples = await timeEach(() => client.get(path), {
      count: callCount,
      warmUpCount: callCount,
      warmUpMs,
    });
    const { p50, p99 } = figuresOf(samples);
    const hash = hashOf(first.body);
    all += hash;
    console.log(
      `${name!.padEnd(34)} ${p50.toFixed(2).padStart(8)} ${p99.toFixed(2).padStart(8)}  ${String(rows).padStart(4)}  ${hash}`,
    );
  }
  console.log(`\nresult hash ${hashOf(all)}`);
}

await main();
