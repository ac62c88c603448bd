/**
 * What becomes of a service that is sent five times what it can take?
 *
 *   npm run bench:overload
 *   node --import tsx bench/overload.ts --size small --uncompiled   as the tests run it
 *
 * First what it takes at most: posts of 500 lean edge events on connections that send without a pause. Then
 * five times as many posts begin each second, whatever becomes of those before (an open loop), for a minute; then a few
 * posts a second. Meanwhile `/health` and a page of logs are asked for. The sender is a process of its own.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { BESIDE_BYTES } from '../src/memory-shares.ts';
import { HttpClient } from './http-client.ts';
import type { Sample, SendReport, Stream } from './load/order.ts';
import { send } from './load/send.ts';
import { barText, environmentLine, figuresOf } from './measure.ts';
import { ServiceProcess } from './service-process.ts';
import { readMetrics, readSource } from './service-reading.ts';
import { readSizeOptions } from './size-options.ts';
import { NOW } from './workload/clock.ts';
import { Tenants } from './workload/tenants.ts';
import { sourceOf } from './workload/workload.ts';

type Size = {
  readonly peakS: number;
  readonly idleS: number;
  readonly overloadS: number;
  readonly afterS: number;
};

const SIZES: ReadonlyMap<string, Size> = new Map([
  ['small', { peakS: 1, idleS: 1, overloadS: 2, afterS: 1 }],
  ['medium', { peakS: 8, idleS: 4, overloadS: 15, afterS: 8 }],
  ['large', { peakS: 45, idleS: 5, overloadS: 60, afterS: 10 }],
]);

const EVENTS_PER_POST = 500;
const OVERLOAD = 5;
const MEMORY_LIMIT = 1024 ** 3;

/** Of the peak, what comes at rest, and afterwards. */
const QUIET_SHARE = 0.05;

/** How often is looked meanwhile. */
const HEALTH_MS = 20;
const READ_MS = 100;

const GOODPUT_MIN = 0.9;
const HEALTH_P99_MS_MAX = 50;
const RECOVERY_S_MAX = 5;
const SLOWER_MAX = 2;

async function main(): Promise<void> {
  const { size, command } = readSizeOptions(SIZES);
  console.log(environmentLine());
  const service = await ServiceProcess.start(command, {
    FROZEN_NOW: NOW,
    MEMORY_LIMIT: `${MEMORY_LIMIT / 1024 ** 2}MiB`,
  });
  try {
    await measure(service, size);
  } finally {
    await service.stop();
  }
}

async function measure(service: ServiceProcess, size: Size): Promise<void> {
  const steady = { perSecond: 0, connectionsMax: 32 };
  const [first, firstMs] = await timed(service, () => post(service, steady, size.peakS));
  const peakPerSecond = peakOf(first, size);
  tellRate('at most', peakPerSecond);
  const quiet = { perSecond: Math.max(4, peakPerSecond * QUIET_SHARE), connectionsMax: 32 };
  await service.atRest();
  const before = await post(service, quiet, size.idleS);
  const idle = figuresOf(tookMs(before));
  console.log(`a few posts a second: p50 ${idle.p50.toFixed(1)} ms, p99 ${idle.p99.toFixed(1)} ms`);
  await service.atRest();
  service.takePeakBytes();
  const probes = new Probes(service);
  const flood = { perSecond: OVERLOAD * peakPerSecond, connectionsMax: 512 };
  const [overload, overloadMs] = await timed(service, () => post(service, flood, size.overloadS));
  await probes.stop();
  const after = await post(service, quiet, size.afterS);
  const peakBytes = service.takePeakBytes();
  await service.atRest();
  const [last, lastMs] = await timed(service, () => post(service, steady, size.peakS));
  tellRate('at most, afterwards', peakOf(last, size));
  // Others use the machine, too, more at one time than at another.
  const peak = (peakPerSecond + peakOf(last, size)) / 2;
  tellOverload(overload, { peakPerSecond: peak, seconds: size.overloadS });
  tellMainThread(
    { posts: takenCount(overload), ...overloadMs },
    {
      posts: takenCount(first) + takenCount(last),
      worked: firstMs.worked + lastMs.worked,
      waited: firstMs.waited + lastMs.waited,
    },
  );
  probes.tell();
  const budget = MEMORY_LIMIT + BESIDE_BYTES;
  const bar = barText(`<= ${(budget / 1e6).toFixed(0)} MB`, peakBytes <= budget);
  console.log(`memory: ${(peakBytes / 1e6).toFixed(0)} MB resident at most ${bar}`);
  tellRecovery(after, idle.p50, size.afterS);
  await tellStored(service, [first, before, overload, after, last]);
}

/** The first third warms up, and fills what may wait to be sealed: what is taken before that cannot be kept up. */
function peakOf(report: SendReport, { peakS }: Size): number {
  return takenPerSecond(report, peakS / 3, peakS);
}

type ThreadMs = ReturnType<ServiceProcess['mainThreadMs']>;

/** And what the main thread did meanwhile. */
async function timed<T>(
  service: ServiceProcess,
  work: () => Promise<T>,
): Promise<readonly [T, ThreadMs]> {
  const from = service.mainThreadMs();
  const result = await work();
  const to = service.mainThreadMs();
  return [result, { worked: to.worked - from.worked, waited: to.waited - from.waited }];
}

function takenCount(report: SendReport): number {
  return samplesOf(report).filter(({ status }) => status === 200).length;
}

type ThreadWork = ThreadMs & { readonly posts: number };

/** What refusing costs, whatever others leave of the processors; and what that is. */
function tellMainThread(overload: ThreadWork, peak: ThreadWork): void {
  const perSecond = ({ posts, worked }: ThreadWork): number => (1000 * posts) / worked;
  const share = (100 * perSecond(overload)) / perSecond(peak);
  const waited = (100 * overload.waited) / (overload.worked + overload.waited);
  console.log(
    `for a second of the main thread's work: ${perSecond(overload).toFixed(0)} posts taken, ${share.toFixed(0)} % of those at the peak; it waited for a processor for ${waited.toFixed(0)} % of its time`,
  );
}

async function post(
  service: ServiceProcess,
  of: Pick<Stream, 'perSecond' | 'connectionsMax'>,
  seconds: number,
): Promise<SendReport> {
  const path = `/api/logs?source_name=${sourceOf('lean')}`;
  const load = {
    ...{ kind: 'posts' as const, of: 'lean' as const, path },
    ...{ eventsPerPost: EVENTS_PER_POST, bodyCount: 64 },
  };
  const { url, token } = service;
  return await send({ url, seconds, streams: [{ token, load, ...of }] });
}

function samplesOf({ streams }: SendReport): readonly Sample[] {
  return streams.flatMap(({ samples }) => samples);
}

/** Posts taken in a second, between two times of the sending; by when they were answered. */
function takenPerSecond(report: SendReport, fromS: number, toS: number): number {
  const answeredS = ({ dueMs, tookMs }: Sample): number => (dueMs + tookMs) / 1000;
  const taken = samplesOf(report).filter(
    (sample) => sample.status === 200 && answeredS(sample) >= fromS && answeredS(sample) < toS,
  );
  return taken.length / (toS - fromS);
}

function tookMs(report: SendReport): readonly number[] {
  return samplesOf(report)
    .filter(({ status }) => status === 200)
    .map((sample) => sample.tookMs);
}

function tellRate(name: string, postsPerSecond: number, bar = ''): void {
  const events = Math.round(postsPerSecond * EVENTS_PER_POST);
  console.log(`${name}: ${postsPerSecond.toFixed(0)} posts/s, ${events} events/s ${bar}`);
}

function tellOverload(
  report: SendReport,
  { peakPerSecond, seconds }: { readonly peakPerSecond: number; readonly seconds: number },
): void {
  const goodput = takenPerSecond(report, 0, seconds);
  const share = goodput / peakPerSecond;
  const bar = barText(`>= ${GOODPUT_MIN * 100} % of the peak`, share >= GOODPUT_MIN);
  tellRate(`at ${OVERLOAD} times that, taken`, goodput, `${(share * 100).toFixed(0)} % ${bar}`);
  const samples = samplesOf(report);
  const counts = new Map<number, number>();
  for (const { status } of samples) counts.set(status, (counts.get(status) ?? 0) + 1);
  const strange = samples.filter(({ status }) => ![200, 429, 503].includes(status)).length;
  const unsent = report.streams.reduce((sum, { unsentCount }) => sum + unsentCount, 0);
  const statuses = Array.from(counts, ([status, count]) => `${status}: ${count}`).join(', ');
  console.log(`answers: ${statuses} ${barText('200, 429, 503', strange === 0)}; unsent: ${unsent}`);
  const refused = samples.filter(({ status }) => status === 429 || status === 503);
  const mute = refused.filter(({ hasRetryAfter }) => !hasRetryAfter).length;
  console.log(`refusals without Retry-After: ${mute} ${barText('0', mute === 0)}`);
  for (const status of [200, 429]) {
    const took = samples.filter((sample) => sample.status === status).map((s) => s.tookMs);
    if (took.length === 0) continue;
    const { p50, p99 } = figuresOf(took);
    console.log(`answers ${status}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
  }
}

/** The first second after which no second has a median of more than twice that at rest. */
function tellRecovery(report: SendReport, idleMs: number, afterS: number): void {
  let recoveredS = 0;
  const medians: string[] = [];
  for (let second = 0; second < afterS; second++) {
    const samples = samplesOf(report).filter(
      ({ dueMs }) => dueMs >= second * 1000 && dueMs < (second + 1) * 1000,
    );
    const isRefused = samples.some(({ status }) => status !== 200);
    if (samples.length === 0) continue;
    const { p50 } = figuresOf(samples.map((sample) => sample.tookMs));
    medians.push(p50.toFixed(1));
    if (isRefused || !(p50 <= SLOWER_MAX * idleMs)) recoveredS = second + 1;
  }
  const bar = barText(`<= ${RECOVERY_S_MAX} s`, recoveredS <= RECOVERY_S_MAX);
  console.log(`as at rest after ${recoveredS} s ${bar}; p50 by second: ${medians.join(', ')} ms`);
}

/** What was acknowledged is there, and nothing of what was refused. */
async function tellStored(service: ServiceProcess, reports: readonly SendReport[]): Promise<void> {
  const client = new HttpClient(service.url, service.token, 1);
  const { events } = await readSource(client, sourceOf('lean'));
  const taken = reports.flatMap(samplesOf).filter(({ status }) => status === 200).length;
  const lost = reports.flatMap(samplesOf).filter(({ status }) => status === 0).length;
  const isRight = events >= taken * EVENTS_PER_POST && events <= (taken + lost) * EVENTS_PER_POST;
  console.log(`stored: ${events} events ${barText(`${taken * EVENTS_PER_POST}`, isRight)}`);
  client.close();
}

/** Asks now and then, one thing after another on a connection each. */
class Probes {
  readonly #client: HttpClient;
  readonly #healthMs: number[] = [];
  readonly #readMs: number[] = [];
  readonly #failures: string[] = [];
  readonly #ended: Promise<unknown>;
  #isStopping = false;
  #delay = '';

  constructor(service: ServiceProcess) {
    this.#client = new HttpClient(service.url, service.token, 2);
    const [project] = new Tenants(2_000).projects;
    const page = `/api/endpoints/logs.all?project=${project!.ref}&project_tier=PRO`;
    this.#ended = Promise.all([
      this.#ask('/health', HEALTH_MS, this.#healthMs),
      this.#ask(page, READ_MS, this.#readMs),
    ]);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#ended;
    const metrics = await readMetrics(this.#client);
    const lag = (name: string) =>
      ((metrics.get(`nodejs_eventloop_lag_${name}_seconds`) ?? 0) * 1000).toFixed(1);
    this.#delay = `p50 ${lag('p50')}, p99 ${lag('p99')}, max ${lag('max')} ms`;
    this.#client.close();
  }

  tell(): void {
    const health = figuresOf(this.#healthMs);
    const bar = barText(`<= ${HEALTH_P99_MS_MAX} ms`, health.p99 <= HEALTH_P99_MS_MAX);
    console.log(`/health: p50 ${health.p50.toFixed(1)} ms, p99 ${health.p99.toFixed(1)} ms ${bar}`);
    const read = figuresOf(this.#readMs);
    console.log(`a page of logs: p50 ${read.p50.toFixed(1)} ms, p99 ${read.p99.toFixed(1)} ms`);
    console.log(`event loop late by: ${this.#delay}`);
    const counts = `${this.#failures.length} of ${this.#healthMs.length + this.#readMs.length}`;
    const [first = ''] = this.#failures;
    console.log(`probes that failed: ${counts} ${barText('0', first === '')} ${first}`);
  }

  async #ask(path: string, pauseMs: number, tookMs: number[]): Promise<void> {
    while (!this.#isStopping) {
      const fromMs = performance.now();
      const { status, body } = await this.#client.get(path);
      tookMs.push(performance.now() - fromMs);
      if (status !== 200) this.#failures.push(`${path}: ${status} ${body.toString()}`);
      await wait(pauseMs);
    }
  }
}

await main();
