/**
 * How much do tenants suffer from one that sends ten times its share?
 *
 *   npm run bench:fairness
 *   node --import tsx bench/fairness.ts --size small --uncompiled   as the tests run it
 *
 * Four tenants, each with a token of its own. First what the service can do at most; a fourth of it is a share. In one
 * run each tenant sends half of its share; in the other one of them sends ten shares instead. Each pair of runs, in turns which
 * is first, compares the 95th percentile of the three others, from when a request was due to its answer (an open
 * loop). Once for calls whose queries take a thread some milliseconds, once for posts.
 *
 * Then a service with two threads: one token keeps six cross joins under way, and another sends calls as before. These calls
 * are compared with those of a run in which nobody else sends anything.
 *
 * Then ten honest tokens beside one that means harm, for each kind of harm (`hostile-beside.ts`), or for those whose name
 * has the text of `--kind`.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BesideSize, measureBeside } from './hostile-beside.ts';
import { HttpClient } from './http-client.ts';
import type { CallLoad, PostLoad, Sample, SendOrder, StreamReport } from './load/order.ts';
import { send, sendAll } from './load/send.ts';
import { barText, environmentLine, figuresOf } from './measure.ts';
import { postAll } from './posting.ts';
import { ServiceProcess } from './service-process.ts';
import { readSizeOptions } from './size-options.ts';
import { NOW } from './workload/clock.ts';
import { crossJoins } from './workload/query-bombs.ts';
import { Tenants } from './workload/tenants.ts';
import { ndjson, sourceOf } from './workload/workload.ts';

type Size = {
  readonly eventCount: number;
  readonly pairCount: number;
  readonly peakS: number;
  readonly runS: number;
  /** Rows of each side of a cross join, and how long they are kept under way. */
  readonly crossRows: number;
  readonly crossS: number;
  readonly beside: BesideSize;
};

const SIZES: ReadonlyMap<string, Size> = new Map([
  [
    'small',
    {
      eventCount: 2_000,
      pairCount: 1,
      peakS: 1,
      runS: 1,
      crossRows: 1_000,
      crossS: 1,
      beside: { eventCount: 1_000, seconds: 2, bodySize: 50_000, every: 6 },
    },
  ],
  [
    'medium',
    {
      eventCount: 20_000,
      pairCount: 7,
      peakS: 3,
      runS: 3,
      crossRows: 20_000,
      crossS: 20,
      beside: { eventCount: 20_000, seconds: 8, bodySize: 11_900_000, every: 1 },
    },
  ],
  [
    'large',
    {
      eventCount: 200_000,
      pairCount: 7,
      peakS: 6,
      runS: 8,
      crossRows: 20_000,
      crossS: 60,
      beside: { eventCount: 200_000, seconds: 20, bodySize: 11_900_000, every: 1 },
    },
  ],
]);

const TENANT_COUNT = 4;
const NOISY_SHARES = 10;
const QUIET_SHARES = 0.5;
const CONNECTIONS_MAX = 256;
const PROJECT_COUNT = 2_000;
const EVENTS_PER_POST = 100;
const SLOWER_MAX = 1.5;

const CROSS_JOIN_COUNT = 6;
const BESIDE_PER_SECOND = 10;
/** Calls beside cross joins take at most so many times as long as alone, and so many milliseconds more. */
const BESIDE_SLOWER_MAX = 3;
const BESIDE_MS_MAX = 100;

/** Takes any query of its callers. */
const ANY = `-- id: 00000000-0000-4000-8000-000000000000
-- name: bench.any
-- sandbox: enabled
WITH one AS (SELECT 1 AS a) SELECT a FROM one
`;

/** Matches on path and query, so no URL can be left out early. */
const EXPRESSION = encodeURIComponent('/v1/(orders|profiles)\\?.*eq\\.1');

/** That every call costs what the first did. */
const ENVIRONMENT = { FROZEN_NOW: NOW, CACHE_LIMIT: '0', MEMO_LIMIT: '0' };

const CALLS: CallLoad = {
  kind: 'calls',
  paths: [`/api/endpoints/usage.api-counts?project=${EXPRESSION}&interval=daily`],
};

const POSTS: PostLoad = {
  kind: 'posts',
  of: 'lean',
  path: `/api/logs?source_name=${sourceOf('lean')}`,
  eventsPerPost: EVENTS_PER_POST,
  bodyCount: 64,
};

async function main(): Promise<void> {
  const { size, command, own } = readSizeOptions(SIZES, ['only', 'kind']);
  console.log(environmentLine());
  for (const load of [CALLS, POSTS]) {
    if (own['only'] === undefined || own['only'] === load.kind) await measure(command, load, size);
  }
  if (own['only'] === undefined || own['only'] === 'joins') await measureJoins(command, size);
  if (own['only'] === undefined || own['only'] === 'hostile') {
    await measureBeside(command, size.beside, own['kind']);
  }
}

async function measure(
  command: readonly string[],
  load: CallLoad | PostLoad,
  size: Size,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  const tokens = Array.from({ length: TENANT_COUNT }, (_, tenant) => `bench-token-${tenant}`);
  writeTokens(folder, tokens);
  const environment = { ...ENVIRONMENT, PRIVATE_ACCESS_TOKEN: '' };
  const service = await ServiceProcess.start(command, environment, folder);
  try {
    await fill(service.url, tokens[0]!, size.eventCount);
    await service.atRest();
    const peak = await send({
      url: service.url,
      seconds: size.peakS,
      streams: tokens.map((token) => ({ token, load, perSecond: 0, connectionsMax: 2 })),
    });
    const answered = peak.streams.flatMap(({ samples }) => goodSamples(samples, size.peakS / 3));
    const peakPerSecond = answered.length / ((size.peakS * 2) / 3);
    console.log(`${load.kind}: ${peakPerSecond.toFixed(0)} a second at most`);
    const run = (noisyShares: number): Promise<Run> =>
      runOnce({ service, tokens, load, seconds: size.runS, peakPerSecond, noisyShares });
    await comparePairs(load.kind, size.pairCount, run);
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true });
  }
}

/** As the service keeps them: digests of tokens that may do everything. */
function writeTokens(folder: string, tokens: readonly string[]): void {
  const records = tokens.map((token, tenant) => ({
    name: `tenant ${tenant}`,
    scopes: ['ingest', 'query', 'manage'],
    sha256: createHash('sha256').update(token).digest('hex'),
  }));
  writeFileSync(join(folder, 'tokens.json'), JSON.stringify({ version: 1, tokens: records }));
}

async function fill(url: string, token: string, eventCount: number): Promise<void> {
  const tenants = new Tenants(PROJECT_COUNT);
  const texts = ndjson('lean', { tenants, eventCount, perText: 500 });
  const client = new HttpClient(url, token, 4);
  const next = (): Buffer | undefined => {
    const { value } = texts.next();
    if (value === undefined) return undefined;
    return Buffer.from(`[${value.text.trimEnd().replaceAll('\n', ',')}]`);
  };
  await postAll(client, { path: POSTS.path, connectionCount: 4 }, next);
  client.close();
}

/** What the three quiet tenants met, and the fourth. */
type Run = {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly refused: number;
  readonly noisyTaken: number;
  readonly noisyRefused: number;
};

async function runOnce(of: {
  readonly service: ServiceProcess;
  readonly tokens: readonly string[];
  readonly load: CallLoad | PostLoad;
  readonly seconds: number;
  readonly peakPerSecond: number;
  readonly noisyShares: number;
}): Promise<Run> {
  const { service, tokens, load, seconds, peakPerSecond, noisyShares } = of;
  const share = peakPerSecond / TENANT_COUNT;
  await service.atRest();
  const streams = tokens.map((token, tenant) => ({
    token,
    load,
    perSecond: share * (tenant === 0 ? noisyShares : QUIET_SHARES),
    connectionsMax: CONNECTIONS_MAX,
  }));
  const { url } = service;
  // The noisy one sends from a process of its own.
  const reports = await sendAll([
    { url, seconds, streams: streams.slice(0, 1) },
    { url, seconds, streams: streams.slice(1) },
  ]);
  const [noisy, ...quiet] = reports.flatMap((report) => report.streams);
  const good = quiet.flatMap(({ samples }) => goodSamples(samples, 0));
  const sorted = good.map(({ tookMs }) => tookMs).sort((left, right) => left - right);
  const at = (part: number): number => sorted[Math.floor(part * (sorted.length - 1))] ?? Infinity;
  return {
    p50Ms: at(0.5),
    p95Ms: at(0.95),
    refused: quiet.reduce((sum, stream) => sum + refusedCount(stream), 0),
    noisyTaken: goodSamples(noisy!.samples, 0).length,
    noisyRefused: refusedCount(noisy!),
  };
}

async function comparePairs(
  kind: string,
  pairCount: number,
  run: (noisyShares: number) => Promise<Run>,
): Promise<void> {
  const ratios: number[] = [];
  let refused = 0;
  for (let pair = 0; pair < pairCount; pair++) {
    // What drifts, drifts for both.
    const isNoisyFirst = pair % 2 === 1;
    const first = await run(isNoisyFirst ? NOISY_SHARES : QUIET_SHARES);
    const second = await run(isNoisyFirst ? QUIET_SHARES : NOISY_SHARES);
    const [even, noisy] = isNoisyFirst ? [second, first] : [first, second];
    ratios.push(noisy.p95Ms / even.p95Ms);
    refused += noisy.refused;
    console.log(
      `${kind}, pair ${pair + 1}: p50 ${even.p50Ms.toFixed(1)} → ${noisy.p50Ms.toFixed(1)} ms, p95 ${even.p95Ms.toFixed(1)} → ${noisy.p95Ms.toFixed(1)} ms; the noisy one: ${noisy.noisyTaken} answered, ${noisy.noisyRefused} not`,
    );
  }
  const median = ratios.sort((left, right) => left - right)[Math.floor(ratios.length / 2)]!;
  const bar = barText(`<= ${SLOWER_MAX}`, median <= SLOWER_MAX);
  console.log(
    `${kind}: p95 of the others, median of ${pairCount} ratios: ${median.toFixed(2)} ${bar}`,
  );
  console.log(`${kind}: refused of the others: ${refused} ${barText('0', refused === 0)}`);
}

/** Calls of one token alone, and beside cross joins of another. */
async function measureJoins(command: readonly string[], size: Size): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  const definitions = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  writeFileSync(join(definitions, 'any.sql'), ANY);
  const [joining, calling] = ['bench-token-joining', 'bench-token-calling'] as const;
  writeTokens(folder, [joining, calling]);
  const environment = { WORKERS: '2', ENDPOINTS_DIR: definitions, PRIVATE_ACCESS_TOKEN: '' };
  const service = await ServiceProcess.start(command, { ...ENVIRONMENT, ...environment }, folder);
  try {
    await fill(service.url, calling, size.eventCount);
    await service.atRest();
    const { url } = service;
    const calls = (seconds: number): SendOrder => ({
      url,
      seconds,
      streams: [
        {
          ...{ token: calling, load: CALLS },
          ...{ perSecond: BESIDE_PER_SECOND, connectionsMax: CONNECTIONS_MAX },
        },
      ],
    });
    await send(calls(size.peakS));
    const alone = await send(calls(size.crossS));
    const joins = { token: joining, load: joinLoad(size.crossRows) };
    const steady = { ...joins, perSecond: 0, connectionsMax: CROSS_JOIN_COUNT };
    const [joinReport, beside] = await sendAll([
      { url, seconds: size.crossS, streams: [steady] },
      calls(size.crossS),
    ]);
    reportJoins(alone.streams[0]!, beside!.streams[0]!, joinReport!.streams[0]!);
  } finally {
    await service.stop();
    for (const each of [folder, definitions]) rmSync(each, { recursive: true });
  }
}

function joinLoad(rowCount: number): CallLoad {
  const paths = crossJoins(CROSS_JOIN_COUNT, rowCount).map(
    (text) => `/api/endpoints/bench.any?sql=${encodeURIComponent(text)}`,
  );
  return { kind: 'calls', paths };
}

function reportJoins(alone: StreamReport, beside: StreamReport, joins: StreamReport): void {
  const [before, after] = [alone, beside].map(({ samples }) =>
    figuresOf(goodSamples(samples, 0).map(({ tookMs }) => tookMs)),
  );
  const joinsTaken = goodSamples(joins.samples, 0).map(({ tookMs }) => tookMs / 1000);
  console.log(
    `joins: calls of another token: p50 ${before!.p50.toFixed(1)} → ${after!.p50.toFixed(1)} ms, p99 ${before!.p99.toFixed(1)} → ${after!.p99.toFixed(1)} ms; joins: ${joinsTaken.length} answered, at most ${Math.max(0, ...joinsTaken).toFixed(1)} s, ${refusedCount(joins)} not`,
  );
  const msMax = BESIDE_SLOWER_MAX * before!.p99 + BESIDE_MS_MAX;
  const bar = barText(`<= ${msMax.toFixed(0)} ms`, after!.p99 <= msMax);
  console.log(`joins: p99 of the calls beside: ${after!.p99.toFixed(1)} ms ${bar}`);
  const refused = refusedCount(beside);
  console.log(`joins: refused of the calls: ${refused} ${barText('0', refused === 0)}`);
}

function goodSamples(samples: readonly Sample[], fromS: number): readonly Sample[] {
  return samples.filter(({ status, dueMs }) => status === 200 && dueMs >= fromS * 1000);
}

function refusedCount({ samples, unsentCount }: StreamReport): number {
  return unsentCount + samples.filter(({ status }) => status !== 200).length;
}

await main();
