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
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HttpClient } from './http-client.ts';
import type { CallLoad, PostLoad, Sample, StreamReport } from './load/order.ts';
import { send, sendAll } from './load/send.ts';
import { barText, environmentLine } from './measure.ts';
import { postAll } from './posting.ts';
import { ServiceProcess } from './service-process.ts';
import { readSizeOptions } from './size-options.ts';
import { NOW } from './workload/clock.ts';
import { Tenants } from './workload/tenants.ts';
import { ndjson, sourceOf } from './workload/workload.ts';

type Size = {
  readonly eventCount: number;
  readonly pairCount: number;
  readonly peakS: number;
  readonly runS: number;
};

const SIZES: ReadonlyMap<string, Size> = new Map([
  ['small', { eventCount: 2_000, pairCount: 1, peakS: 1, runS: 1 }],
  ['medium', { eventCount: 20_000, pairCount: 7, peakS: 3, runS: 3 }],
  ['large', { eventCount: 200_000, pairCount: 7, peakS: 6, runS: 8 }],
]);

const TENANT_COUNT = 4;
const NOISY_SHARES = 10;
const QUIET_SHARES = 0.5;
const CONNECTIONS_MAX = 256;
const PROJECT_COUNT = 2_000;
const EVENTS_PER_POST = 100;
const SLOWER_MAX = 1.5;

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
  const { size, command, own } = readSizeOptions(SIZES, ['only']);
  console.log(environmentLine());
  for (const load of [CALLS, POSTS]) {
    if (own['only'] === undefined || own['only'] === load.kind) await measure(command, load, size);
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

function goodSamples(samples: readonly Sample[], fromS: number): readonly Sample[] {
  return samples.filter(({ status, dueMs }) => status === 200 && dueMs >= fromS * 1000);
}

function refusedCount({ samples, unsentCount }: StreamReport): number {
  return unsentCount + samples.filter(({ status }) => status !== 200).length;
}

await main();
