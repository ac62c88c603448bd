/**
 * What do ten honest tokens notice of one that means harm? Part of `fairness.ts`.
 *
 * Each honest token is bound to a project of its own, and sends what users do: posts, the three saved queries, the newest
 * event of a source, and `/health`. For each kind of harm: how long do these take alone, and beside it, from when a
 * request was due?
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HOSTILE_SANDBOX } from '../test/hostile/texts.ts';
import { HttpClient } from './http-client.ts';
import type { Sample, SendOrder, SendReport, Stream } from './load/order.ts';
import { send, sendAll } from './load/send.ts';
import { barText, figuresOf } from './measure.ts';
import { postAll } from './posting.ts';
import { ServiceProcess } from './service-process.ts';
import { NOW } from './workload/clock.ts';
import { ATTACKED_DEFINITION, postAttackedRows } from './workload/memory-attacks.ts';
import { Tenants } from './workload/tenants.ts';
import { type Kind, ndjson, sourceOf } from './workload/workload.ts';

export type BesideSize = {
  /** Events of all projects before, and of the source that hostile queries read. */
  readonly eventCount: number;
  readonly seconds: number;
  /** Bytes of a hostile body before it is packed. */
  readonly bodySize: number;
  /** Each so manieth kind of harm. */
  readonly every: number;
};

/** Beside harm each operation takes at most so many times as long as alone, and so many milliseconds more. */
const SLOWER_MAX = 3;
const MORE_MS_MAX = 100;

const HONEST_COUNT = 10;
const PROJECT_COUNT = 2_000;
const CONNECTIONS_MAX = 32;
const SOURCE = sourceOf('lean');

/** Of each honest token. */
const POSTS_PER_SECOND = 1;
const CALLS_PER_SECOND = 0.5;
const HEALTHS_PER_SECOND = 1;

/** By which time harm is under way when the honest ones begin. */
const HARM_FIRST_S = 1;

const OPERATIONS = ['posts', 'pages of logs', 'stats', 'counts', 'newest event', 'health'] as const;

type Harm = {
  readonly name: string;
  readonly load: Stream['load'];
  /** Connections that send without a pause. */
  readonly atOnce: number;
};

/** Measures each kind of harm with a service of its own; of those whose name has `text`, where it is given. */
export async function measureBeside(
  command: readonly string[],
  size: BesideSize,
  text = '',
): Promise<void> {
  const named = harms(size).filter(({ name }) => name.includes(text));
  const kinds = named.filter((_, index) => index % size.every === 0);
  let missedCount = 0;
  for (const harm of kinds) if (!(await isBorne(command, size, harm))) missedCount += 1;
  const bar = barText(
    `<= ${SLOWER_MAX} × alone + ${MORE_MS_MAX} ms, none refused`,
    missedCount === 0,
  );
  console.log(`hostile: ${missedCount} of ${kinds.length} kinds are noticed ${bar}`);
}

function harms({ seconds, bodySize }: BesideSize): readonly Harm[] {
  const sent = (of: string, atOnce: number, name = of): Harm => ({
    ...{ name, atOnce },
    load: { kind: 'hostile', of, bodySize },
  });
  const held = (
    name: string,
    path: string,
    of: Pick<Harm, 'atOnce'> & { heldMs: number },
  ): Harm => ({
    ...{ name, atOnce: of.atOnce },
    load: { kind: 'event streams', paths: [path], isUnread: true, heldMs: of.heldMs },
  });
  const answer = "SELECT REPEAT('a', 1000000) AS a FROM UNNEST(GENERATE_ARRAY(1, 27)) AS b";
  const tail = `/api/sources/${SOURCE}/tail?last=10000`;
  return [
    sent('cross joins', 6),
    sent('GROUP BY over everything', 6),
    sent('texts of 64 KB', 20),
    sent('FROM_BASE64 of a million =', 8),
    held(
      'answers of 27 MB that are not read',
      `/api/endpoints/bench.attacked?sql=${encodeURIComponent(answer)}`,
      { atOnce: 8, heldMs: 5_000 },
    ),
    sent('distinct texts', 20),
    held('256 followers that read nothing', tail, { atOnce: 256, heldMs: seconds * 1000 }),
    held('followers that leave at once', tail, { atOnce: 4, heldMs: 0 }),
    sent('typecasts: keys times casts', 4),
    sent('bulk: documents to be deleted', 4),
    sent('bulk: an index for each document', 4),
    sent('br: a wide window, many times at once', 1_000),
    sent('syslog: many elements', 4),
    sent('JSON: an event with many keys', 4),
    sent('Loki: longer labels of fewer lines', 4),
    sent('header: Accept a,a,a,a,a,a,a,a,a,a,', 16, 'headers of 14 KB'),
    {
      name: 'a flood of posts',
      atOnce: 64,
      load: postsOf({}),
    },
  ];
}

function postsOf(of: { readonly project?: string }): Stream['load'] {
  return {
    ...{ kind: 'posts', of: 'lean', path: `/api/logs?source_name=${SOURCE}` },
    ...{ eventsPerPost: 100, bodyCount: 16, ...of },
  };
}

/** Prints what the honest ones met, alone and beside; whether no more than the bar. */
async function isBorne(command: readonly string[], size: BesideSize, harm: Harm): Promise<boolean> {
  const definitions = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  writeFileSync(join(definitions, 'attacked.sql'), ATTACKED_DEFINITION);
  writeFileSync(join(definitions, 'hostile.sql'), HOSTILE_SANDBOX);
  // That every call costs what the first did.
  const environment = { FROZEN_NOW: NOW, CACHE_LIMIT: '0', ENDPOINTS_DIR: definitions };
  const service = await ServiceProcess.start(command, environment);
  try {
    await fill(service, size.eventCount);
    const streams = await honestStreams(service);
    const { url } = service;
    const honest = (seconds: number): SendOrder => ({ url, seconds, streams });
    await service.atRest();
    await send(honest(Math.min(2, size.seconds)));
    const alone = await send(honest(size.seconds));
    const token = await makeToken(service, 'hostile', undefined);
    const { load, atOnce } = harm;
    const from = service.mainThreadMs();
    const [report, beside] = await sendAll([
      {
        ...{ url, seconds: size.seconds + HARM_FIRST_S, lastAnswersMs: 0 },
        streams: [{ token, load, perSecond: 0, connectionsMax: atOnce }],
      },
      { ...honest(size.seconds), delayMs: HARM_FIRST_S * 1000 },
    ]);
    const to = service.mainThreadMs();
    const thread = { worked: to.worked - from.worked, waited: to.waited - from.waited };
    return tell(harm, { alone, beside: beside!, harmed: report!, thread });
  } finally {
    await service.stop();
    rmSync(definitions, { recursive: true });
  }
}

async function fill({ url, token }: ServiceProcess, eventCount: number): Promise<void> {
  const client = new HttpClient(url, token, 4);
  for (const kind of ['lean', 'invocations'] as const) await post(client, kind, eventCount);
  await postAttackedRows(client, eventCount);
  client.close();
}

async function post(client: HttpClient, kind: Kind, eventCount: number): Promise<void> {
  const tenants = new Tenants(PROJECT_COUNT);
  const texts = ndjson(kind, { tenants, eventCount, perText: 500 });
  const path = `/api/logs?source_name=${sourceOf(kind)}`;
  await postAll(client, { path, connectionCount: 4 }, () => {
    const { value } = texts.next();
    return value && Buffer.from(`[${value.text.trimEnd().replaceAll('\n', ',')}]`);
  });
}

/** Of each honest token one stream for each operation, in their order, none of them due at the same time as another. */
async function honestStreams(service: ServiceProcess): Promise<readonly Stream[]> {
  const { projects } = new Tenants(PROJECT_COUNT);
  const streams: Stream[] = [];
  for (let rank = 0; rank < HONEST_COUNT; rank++) {
    const { ref } = projects[rank]!;
    const token = await makeToken(service, `honest ${rank}`, ref);
    const calls = (path: string): Stream['load'] => ({ kind: 'calls', paths: [path] });
    const endpoints = `/api/endpoints`;
    const loads: Readonly<Record<(typeof OPERATIONS)[number], Stream['load']>> = {
      posts: postsOf({ project: ref }),
      'pages of logs': calls(`${endpoints}/logs.all?project=${ref}&project_tier=PRO`),
      stats: calls(`${endpoints}/functions.invocation-stats?project=${ref}&interval=7day`),
      counts: calls(`${endpoints}/usage.api-counts?project=${ref}&interval=daily`),
      'newest event': {
        kind: 'event streams',
        paths: [`/api/sources/${SOURCE}/tail?last=1`],
        ...{ isUnread: false, heldMs: 0 },
      },
      health: calls('/health'),
    };
    for (const [index, operation] of OPERATIONS.entries()) {
      const phase = (rank + index / OPERATIONS.length) / HONEST_COUNT;
      const perSecond = perSecondOf(operation);
      streams.push({
        token,
        load: loads[operation],
        perSecond,
        connectionsMax: CONNECTIONS_MAX,
        phase,
      });
    }
  }
  return streams;
}

function perSecondOf(operation: (typeof OPERATIONS)[number]): number {
  if (operation === 'posts') return POSTS_PER_SECOND;
  return operation === 'health' ? HEALTHS_PER_SECOND : CALLS_PER_SECOND;
}

/** A token that may post and ask, for one project or for all. */
async function makeToken(
  { url, token }: ServiceProcess,
  name: string,
  project: string | undefined,
): Promise<string> {
  const order = { name, scopes: ['ingest', 'query'], ...(project && { projects: [project] }) };
  const response = await fetch(`${url}/api/tokens`, {
    method: 'POST',
    headers: { 'X-API-KEY': token, 'Content-Type': 'application/json' },
    body: JSON.stringify(order),
  });
  const { result } = (await response.json()) as { result: { token: string } };
  return result.token;
}

/** Prints the 99th percentiles; whether all are within the bar. */
function tell(
  { name }: Harm,
  of: {
    readonly alone: SendReport;
    readonly beside: SendReport;
    readonly harmed: SendReport;
    /** What the main thread did beside harm. */
    readonly thread: ReturnType<ServiceProcess['mainThreadMs']>;
  },
): boolean {
  let isBorneByAll = true;
  const texts = OPERATIONS.map((operation, index) => {
    const before = figuresOf(tookMs(of.alone, index)).p99;
    const after = figuresOf(tookMs(of.beside, index)).p99;
    const isBorne = after <= SLOWER_MAX * before + MORE_MS_MAX;
    if (!isBorne) isBorneByAll = false;
    return `${operation} ${before.toFixed(0)} → ${after.toFixed(0)}${isBorne ? '' : ' (NOT borne)'}`;
  });
  const failures = failuresOf(of.beside);
  const answers = countsOf(of.harmed.streams.flatMap(({ samples }) => samples));
  console.log(
    `hostile, ${name}: p99 in ms ${texts.join(', ')}; refused or failed: ${failures || 0}; answers to it: ${answers || 'none'}; main thread: worked ${seconds(of.thread.worked)} s, waited for a processor ${seconds(of.thread.waited)} s`,
  );
  return isBorneByAll && failures === '';
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}

function tookMs({ streams }: SendReport, operation: number): readonly number[] {
  return streams
    .filter((_, index) => index % OPERATIONS.length === operation)
    .flatMap(({ samples }) => samples.map((sample) => sample.tookMs));
}

/** What was not answered with 200, by operation and status; empty where nothing. */
function failuresOf({ streams }: SendReport): string {
  const failures = streams.flatMap(({ samples, unsentCount }, index) => {
    const operation = OPERATIONS[index % OPERATIONS.length];
    const counts = countsOf(samples.filter(({ status }) => status !== 200));
    const unsent = unsentCount > 0 ? `${unsentCount} not sent` : '';
    return [counts, unsent].filter((text) => text !== '').map((text) => `${operation} ${text}`);
  });
  return failures.join(', ');
}

/** `200: 12, 429: 3`. */
function countsOf(samples: readonly Sample[]): string {
  const counts = new Map<number, number>();
  for (const { status } of samples) counts.set(status, (counts.get(status) ?? 0) + 1);
  return Array.from(counts, ([status, count]) => `${status}: ${count}`).join(', ');
}
