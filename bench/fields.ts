/**
 * How long does it take to list the fields of a source? Ten million lean edge events of a week, over HTTP: of the whole
 * source, of its last hour, of the busiest project and of one of rank 100. First on a store just filled, then on one at
 * rest, then while events come in.
 *
 *   npm run bench:fields                       ten million events
 *   npm run bench:fields -- --size medium      300,000; small: as the tests run it
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { showProgress } from '../src/command/progress.ts';
import { HttpClient } from './http-client.ts';
import { LARGE_KINDS } from './large/large-events.ts';
import { LargeRandom } from './large/large-random.ts';
import { LargeProjects } from './large/projects.ts';
import { LargeStore, REST_SECONDS_MAX } from './large/store.ts';
import { barText, environmentLine, figuresOf, hashOf } from './measure.ts';
import { postAll, postEvenly } from './posting.ts';
import type { ServiceProcess } from './service-process.ts';
import { readSizeOptions } from './size-options.ts';
import { NOW_US } from './workload/clock.ts';
import { sourceOf } from './workload/workload.ts';

const MEMORY_BYTES = 4 * 2 ** 30;
const HOUR_US = 3_600_000_000;
const RANK = 100;

/** Of the whole source and the busiest project, again. */
const MS_MAX = 100;

const SOURCE = sourceOf('lean');
const POST_EVENTS = 250;
const SEED = 391;

type Size = {
  readonly eventCount: number;
  /** How often each list is asked for, after the first time. */
  readonly againCount: number;
  /** While events come in. */
  readonly eventsPerSecond: number;
};

const SIZES: ReadonlyMap<string, Size> = new Map([
  ['small', { eventCount: 20_000, againCount: 3, eventsPerSecond: 1_000 }],
  ['medium', { eventCount: 300_000, againCount: 10, eventsPerSecond: 2_000 }],
  ['large', { eventCount: 10_000_000, againCount: 30, eventsPerSecond: 2_000 }],
]);

/** A list that is asked for. */
type Asked = { readonly name: string; readonly path: string; readonly hasBar: boolean };

type Times = { readonly firstMs: number; readonly againMs: readonly number[] };

async function main(): Promise<void> {
  const { size, command } = readSizeOptions(SIZES);
  console.log(`${environmentLine()}, ${size.eventCount} events`);
  const folder = mkdtempSync(join(tmpdir(), 'weir-fields-'));
  const projects = new LargeProjects(0);
  const eventCounts = new Map([['lean', size.eventCount] as const]);
  const stored = { eventCounts, memoryBytes: MEMORY_BYTES };
  const store = new LargeStore({ folder, size: stored, projects, command });
  const lists = listsOf(projects);
  try {
    const filled = await store.fill();
    await measure(filled, lists, { stage: 'just filled', size }).finally(() => filled.stop());
    await store.passDay();
    const rested = await store.start();
    try {
      await rested.atRest(REST_SECONDS_MAX);
      const answers = await measure(rested, lists, { stage: 'at rest', size });
      await whilePosting(rested, projects, size, () =>
        measure(rested, lists, { stage: `with ${size.eventsPerSecond} events/s`, size }),
      );
      console.log(`result hash ${hashOf(answers.join())}`);
    } finally {
      await rested.stop();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function listsOf(projects: LargeProjects): readonly Asked[] {
  const path = (more: Readonly<Record<string, string>>): string =>
    `/api/sources/${encodeURIComponent(SOURCE)}/fields?${new URLSearchParams(more)}`;
  const from = timeText(NOW_US - 7 * 24 * HOUR_US);
  const [busiest, ranked] = [projects.ranked[0]!, projects.ranked[RANK - 1]!];
  return [
    { name: 'whole source', path: path({ from }), hasBar: true },
    { name: 'last hour', path: path({ from: timeText(NOW_US - HOUR_US) }), hasBar: false },
    { name: 'busiest project', path: path({ from, project: busiest.ref }), hasBar: true },
    { name: `project ${RANK}`, path: path({ from, project: ranked.ref }), hasBar: false },
  ];
}

function timeText(timeUs: number): string {
  return new Date(timeUs / 1000).toISOString();
}

/** Prints a line for each list; gives the first answers. */
async function measure(
  service: ServiceProcess,
  lists: readonly Asked[],
  of: { readonly stage: string; readonly size: Size },
): Promise<readonly string[]> {
  const { stage, size } = of;
  const client = new HttpClient(service.url, service.token, 1);
  const answers: string[] = [];
  try {
    for (const { name, path, hasBar } of lists) {
      showProgress(`${stage}: ${name}`);
      const { firstMs, againMs } = await timesOf(client, path, size.againCount, answers);
      showProgress('');
      const { p50, p99 } = figuresOf(againMs);
      const bar = barText(`p50 <= ${MS_MAX} ms`, p50 <= MS_MAX);
      console.log(
        `${stage}, ${name}: first ${firstMs.toFixed(0)} ms, then p50 ${p50.toFixed(0)}, ` +
          `p99 ${p99.toFixed(0)} ms${hasBar ? ` ${bar}` : ''}`,
      );
    }
  } finally {
    client.close();
  }
  return answers;
}

async function timesOf(
  client: HttpClient,
  path: string,
  againCount: number,
  answers: string[],
): Promise<Times> {
  const all: number[] = [];
  for (let ask = 0; ask <= againCount; ask++) {
    const startMs = performance.now();
    const { status, body } = await client.get(path);
    all.push(performance.now() - startMs);
    if (status !== 200) throw new Error(`${path}: ${status} ${body}`);
    if (ask === 0) answers.push(body.toString());
  }
  const [firstMs, ...againMs] = all;
  return { firstMs: firstMs!, againMs };
}

/** Posts events of the last hour to the source, at an even rate, until `work` has ended. */
async function whilePosting<T>(
  service: ServiceProcess,
  projects: LargeProjects,
  { eventsPerSecond }: Size,
  work: () => Promise<T>,
): Promise<T> {
  const client = new HttpClient(service.url, service.token, 1);
  const random = new LargeRandom(SEED);
  const { make } = LARGE_KINDS.get('lean')!;
  const post = { path: `/api/logs?source_name=${encodeURIComponent(SOURCE)}`, connectionCount: 1 };
  let isOver = false;
  const startMs = performance.now();
  const postSome = (): Promise<number> => {
    const events = Array.from({ length: POST_EVENTS }, () =>
      make(random, projects.draw(random), NOW_US - random.below(HOUR_US)),
    );
    const bodies = [Buffer.from(`[${events}]`)];
    return postAll(client, post, () => bodies.pop());
  };
  const rate = { eventsPerPost: POST_EVENTS, eventsPerSecond };
  const posting = postEvenly(rate, postSome, () => isOver);
  try {
    return await work();
  } finally {
    isOver = true;
    const postCount = await posting;
    client.close();
    const seconds = (performance.now() - startMs) / 1000;
    console.log(`${((postCount * POST_EVENTS) / seconds).toFixed(0)} events/s were taken`);
  }
}

await main();
