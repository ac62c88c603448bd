/**
 * Is the console fast where there is much to see? Over ten million lean edge events, in Chromium: the first rows and all
 * bars of Explore, beside the time in which the service answers the same request to another client; a list of 100,000
 * rows that is scrolled; Live, while 1,000 events a second come; and events as one writes them who means harm.
 *
 *   npm run bench:page                       ten million events
 *   npm run bench:page -- --size medium      300,000; small: as the tests run it
 *
 * It needs Chromium and `npm ci --ignore-scripts --prefix test/console`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { showProgress } from '../src/command/progress.ts';
import { missingBrowser } from '../test/console/playwright.ts';
import { HttpClient } from './http-client.ts';
import { LARGE_KINDS } from './large/large-events.ts';
import { LargeRandom } from './large/large-random.ts';
import { LargeProjects } from './large/projects.ts';
import { LargeStore, REST_SECONDS_MAX } from './large/store.ts';
import { barText, environmentLine, figuresOf } from './measure.ts';
import { hostileEvents } from './page/hostile-events.ts';
import { MeteredPage, type PageWork } from './page/metered-page.ts';
import { mustPost, postEvenly } from './posting.ts';
import type { ServiceProcess } from './service-process.ts';
import { readSizeOptions } from './size-options.ts';
import { NOW_US } from './workload/clock.ts';
import { sourceOf } from './workload/workload.ts';

const MEMORY_BYTES = 4 * 2 ** 30;

const SOURCE = sourceOf('lean');
const LIVE_SOURCE = sourceOf('pooler');
const HOSTILE_SOURCE = sourceOf('auth');
const SEED = 397;
const POST_EVENTS = 100;
const HOSTILE_POST_EVENTS = 20;

/** What a page may take: times as that of the service, and milliseconds beside. */
const ROWS_BAR = { ratio: 1.2, ms: 50 };
const BARS_BAR = { ratio: 1.5, ms: 100 };
const FRAMES_BAR = 50;
const TASK_MS_BAR = 100;
const MEMORY_BAR = 200e6;

const SCROLLED_PIXELS = 400;

type Size = {
  readonly eventCount: number;
  /** How often each request is made by the page, and as often by another client. */
  readonly askCount: number;
  readonly rowCount: number;
  readonly scrollMs: number;
  readonly liveMs: number;
  readonly liveEventsPerSecond: number;
  readonly hostileCount: number;
};

const SIZES: ReadonlyMap<string, Size> = new Map([
  [
    'small',
    {
      ...{ eventCount: 5_000, askCount: 2, rowCount: 2_000, scrollMs: 1_500 },
      ...{ liveMs: 2_500, liveEventsPerSecond: 200, hostileCount: 150 },
    },
  ],
  [
    'medium',
    {
      ...{ eventCount: 300_000, askCount: 5, rowCount: 20_000, scrollMs: 10_000 },
      ...{ liveMs: 20_000, liveEventsPerSecond: 1_000, hostileCount: 2_000 },
    },
  ],
  [
    'large',
    {
      ...{ eventCount: 10_000_000, askCount: 15, rowCount: 100_000, scrollMs: 20_000 },
      ...{ liveMs: 60_000, liveEventsPerSecond: 1_000, hostileCount: 10_000 },
    },
  ],
]);

const EXPLORED: readonly { readonly name: string; readonly parameters: Record<string, string> }[] =
  [
    { name: 'a week by method', parameters: { from: '-7d', by: 'metadata.request.method' } },
    { name: 'a week', parameters: { from: '-7d' } },
    { name: 'the last hour', parameters: { from: '-1h' } },
  ];

async function main(): Promise<void> {
  const { size, command } = readSizeOptions(SIZES);
  const missing = missingBrowser();
  if (missing !== false) throw new Error(missing);
  console.log(`${environmentLine()}, ${size.eventCount} events`);
  const folder = mkdtempSync(join(tmpdir(), 'weir-page-'));
  const projects = new LargeProjects(0);
  const eventCounts = new Map([['lean', size.eventCount] as const]);
  const stored = { eventCounts, memoryBytes: MEMORY_BYTES };
  const store = new LargeStore({ folder, size: stored, projects, command });
  try {
    await store.make();
    const service = await store.start();
    try {
      await service.atRest(REST_SECONDS_MAX);
      await measureLists(service, size);
      await measureLive(service, projects, size);
      await measureHostile(service, size);
    } finally {
      await service.stop();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Lists with their bars, and then a long one. */
async function measureLists(service: ServiceProcess, size: Size): Promise<void> {
  const metered = await MeteredPage.open(service.url, service.token);
  try {
    for (const { name, parameters } of EXPLORED) {
      await measureExplored(metered, service, { name, parameters, askCount: size.askCount });
    }
    await metered.explore({ source: SOURCE, from: '-7d' });
    const toRows = await metered.during(() =>
      metered.growTo(size.rowCount, (rows) => showProgress(`${rows} of ${size.rowCount} rows`)),
    );
    showProgress('');
    console.log(`a list that grows to ${size.rowCount} rows: ${workText(toRows)}`);
    const scrolled = await metered.during(() => metered.scrollUp(size.scrollMs, SCROLLED_PIXELS));
    console.log(`${size.rowCount} rows that are scrolled: ${workText(scrolled)}`);
    const memory = metered.memoryBytes();
    console.log(
      `memory of the tab: ${(memory / 1e6).toFixed(0)} MB ` +
        barText(`<= ${MEMORY_BAR / 1e6} MB`, memory <= MEMORY_BAR),
    );
  } finally {
    await metered.close();
  }
}

/** The page and another client by turns. The first turn does not count: blocks are read and code is compiled in it. */
async function measureExplored(
  metered: MeteredPage,
  service: ServiceProcess,
  of: {
    readonly name: string;
    readonly parameters: Readonly<Record<string, string>>;
    readonly askCount: number;
  },
): Promise<void> {
  const { name, parameters, askCount } = of;
  const page: { readonly rowsMs: number; readonly barsMs: number }[] = [];
  const own: (typeof page)[number][] = [];
  for (let turn = 0; turn <= askCount; turn++) {
    showProgress(`${name}: ${turn} of ${askCount}`);
    const times = await metered.explore({ source: SOURCE, ...parameters });
    page.push(times);
    own.push(await askService(service, times.body));
  }
  showProgress('');
  for (const [what, key, bar] of [
    ['first rows', 'rowsMs', ROWS_BAR],
    ['all bars', 'barsMs', BARS_BAR],
  ] as const) {
    const [seen, answered] = [page, own].map((all) => {
      return figuresOf(all.slice(1).map((times) => times[key])).p50;
    }) as [number, number];
    const most = bar.ratio * answered + bar.ms;
    console.log(
      `${name}, ${what}: page ${seen.toFixed(0)} ms, service ${answered.toFixed(0)} ms ` +
        barText(`<= ${bar.ratio} x + ${bar.ms} = ${most.toFixed(0)} ms`, seen <= most),
    );
  }
}

/** When the service has sent the rows of this request, and when all of the answer. */
async function askService(
  { url, token }: ServiceProcess,
  body: string,
): Promise<{ readonly rowsMs: number; readonly barsMs: number }> {
  const fromMs = performance.now();
  const response = await fetch(`${url}/api/explore`, {
    method: 'POST',
    headers: { 'X-API-KEY': token, 'Content-Type': 'application/json' },
    body,
  });
  if (response.status !== 200) throw new Error(`${body}: ${response.status}`);
  let text = '';
  let rowsMs: number | undefined;
  for await (const bytes of response.body!) {
    if (rowsMs !== undefined) continue;
    text += Buffer.from(bytes).toString('latin1');
    if (/^\{"type":"rows".*\n/m.test(text)) rowsMs = performance.now() - fromMs;
  }
  if (rowsMs === undefined) throw new Error(`${body}: there is no line of rows`);
  return { rowsMs, barsMs: performance.now() - fromMs };
}

async function measureLive(
  service: ServiceProcess,
  projects: LargeProjects,
  { liveMs, liveEventsPerSecond }: Size,
): Promise<void> {
  const metered = await MeteredPage.open(service.url, service.token);
  const client = new HttpClient(service.url, service.token, 1);
  const random = new LargeRandom(SEED);
  const { make } = LARGE_KINDS.get('lean')!;
  const post = () => {
    const events = Array.from({ length: POST_EVENTS }, () =>
      make(random, projects.draw(random), NOW_US),
    );
    return mustPost(client, `/api/logs?source_name=${LIVE_SOURCE}`, Buffer.from(`[${events}]`));
  };
  try {
    await post();
    await metered.page.goto(`${service.url}/#/explore?source=${LIVE_SOURCE}&live=1`);
    await metered.page.locator('.tail-facts').waitFor();
    const work = await metered.during(async () => {
      const rate = { eventsPerPost: POST_EVENTS, eventsPerSecond: liveEventsPerSecond };
      const endMs = performance.now() + liveMs;
      showProgress('live');
      await postEvenly(rate, post, () => performance.now() >= endMs);
    });
    showProgress('');
    const rows = await metered.page.locator('.event').count();
    if (rows === 0) throw new Error('no event came to the page');
    console.log(`live, ${liveEventsPerSecond} events/s: ${workText(work)}`);
  } finally {
    client.close();
    await metered.close();
  }
}

/** The list of such events is opened and scrolled, and so are some of their records. */
async function measureHostile(service: ServiceProcess, { hostileCount }: Size): Promise<void> {
  const client = new HttpClient(service.url, service.token, 1);
  let events: string[] = [];
  const post = async (): Promise<void> => {
    const path = `/api/logs?source_name=${HOSTILE_SOURCE}`;
    if (events.length > 0) await mustPost(client, path, Buffer.from(`[${events}]`));
    events = [];
  };
  for (const event of hostileEvents(hostileCount, NOW_US)) {
    events.push(event);
    if (events.length === HOSTILE_POST_EVENTS) await post();
  }
  await post();
  client.close();
  const metered = await MeteredPage.open(service.url, service.token);
  try {
    const work = await metered.during(async () => {
      await metered.explore({ source: HOSTILE_SOURCE, from: '-7d' });
      for (const row of [1, 2, 3]) await metered.page.locator('.event-line').nth(row).click();
      await wait(1000);
      for (const row of [3, 2, 1]) await metered.page.locator('.event-line').nth(row).click();
      await metered.growTo(Math.min(hostileCount, 2_000), () => {});
      await metered.scrollUp(2_000, SCROLLED_PIXELS);
    });
    const { longestTaskMs } = work;
    console.log(
      `hostile: longest task ${longestTaskMs.toFixed(0)} ms ` +
        barText(`<= ${TASK_MS_BAR} ms`, longestTaskMs <= TASK_MS_BAR),
    );
  } finally {
    await metered.close();
  }
}

function workText({ framesPerSecond, longestTaskMs }: PageWork): string {
  const { min, p50 } = figuresOf(framesPerSecond);
  return (
    `${p50} frames/s in the median of seconds, at least ${min} ` +
    `${barText(`median >= ${FRAMES_BAR}`, p50 >= FRAMES_BAR)}; longest task ${longestTaskMs.toFixed(0)} ms ` +
    barText(`<= ${TASK_MS_BAR} ms`, longestTaskMs <= TASK_MS_BAR)
  );
}

await main();
