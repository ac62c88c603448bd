/**
 * How much longer do calls take while events come in at half the rate that could be taken in?
 *
 *   npm run build && node --import tsx bench/at-once.ts
 *   node --import tsx bench/at-once.ts --size small --uncompiled   as the tests run it
 *
 * The service has a week of events, sealed. First it takes in lean edge events as fast as it can; then it
 * is asked, idle; then it is asked the same while such events are sent at half that rate, at their times whether
 * or not those before are answered.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { must } from '../engine/assert.ts';
import { showProgress } from '../src/command/progress.ts';
import { BytesClient } from './bytes-client.ts';
import { HttpClient } from './http-client.ts';
import { barText, environmentLine, figuresOf } from './measure.ts';
import { ServiceProcess } from './service-process.ts';
import { readMetrics } from './service-reading.ts';
import { readSizeOptions } from './size-options.ts';
import { NOW } from './workload/clock.ts';
import { Tenants } from './workload/tenants.ts';
import { KINDS, ndjson } from './workload/workload.ts';
import { openWorkload } from './workload/workload-backend.ts';

const POST_EVENTS = 500;
const SENDERS = 4;

/** Posts at most that wait for an answer; more would only measure how long their queue is. */
const POSTS_WAITING_MAX = 64;

const BARS = { ratio: 3, delayMs: 30 };

type Size = {
  readonly projectCount: number;
  readonly eventCount: number;
  /** How long each part takes. */
  readonly partMs: number;
};

const SIZES: ReadonlyMap<string, Size> = new Map([
  ['small', { projectCount: 20, eventCount: 3_000, partMs: 500 }],
  ['large', { projectCount: 2_000, eventCount: 1_000_000, partMs: 10_000 }],
]);

async function main(): Promise<void> {
  const { size, command } = readSizeOptions(SIZES);
  const parent = mkdtempSync(join(tmpdir(), 'weir-at-once-'));
  const folder = join(parent, 'data');
  try {
    const { eventCount, projectCount } = size;
    const { backend, nowUs } = await openWorkload({
      eventCounts: new Map([
        ['lean', eventCount],
        ['invocations', eventCount],
      ]),
      ...{ projectCount, folder },
    });
    await backend.close(nowUs);
    const environment = { FROZEN_NOW: NOW, CACHE_LIMIT: '0' };
    const service = await ServiceProcess.start(command, environment, folder);
    try {
      await measure(service, size);
    } finally {
      await service.stop();
    }
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

async function measure(service: ServiceProcess, size: Size): Promise<void> {
  console.log(`${environmentLine()}, ${size.eventCount} events of each kind`);
  const sender = await Sender.open(service, size);
  const client = new HttpClient(service.url, service.token, 1);
  const paths = callsOf(new Tenants(size.projectCount));
  const perSecond = await sender.sendFast(size.partMs);
  console.log(`as fast as it goes: ${Math.round(perSecond)} events/s`);
  await service.atRest();
  await ask(service, paths, size.partMs / 2);
  const idle = figuresOf(await ask(service, paths, size.partMs));
  console.log(`idle: calls p50 ${idle.p50.toFixed(2)} ms, p99 ${idle.p99.toFixed(2)} ms`);
  // What is read is what there was since it was last read.
  await readMetrics(client);
  const sending = sender.sendAt(perSecond / 2, size.partMs);
  const busy = figuresOf(await ask(service, paths, size.partMs));
  const sent = await sending;
  const metrics = await readMetrics(client);
  const delayMs = 1000 * must(metrics.get('nodejs_eventloop_lag_p99_seconds'), 'it is told');
  const ratio = busy.p99 / idle.p99;
  console.log(
    `at once with ${Math.round(sent)} events/s: calls p50 ${busy.p50.toFixed(2)} ms, ` +
      `p99 ${busy.p99.toFixed(2)} ms, ${ratio.toFixed(1)} times the idle one ` +
      `${barText(`<= ${BARS.ratio}`, ratio <= BARS.ratio)}; event loop late by ${delayMs.toFixed(1)} ms ` +
      `at p99 ${barText(`<= ${BARS.delayMs} ms`, delayMs <= BARS.delayMs)}`,
  );
  sender.close();
  client.close();
}

/** A little of everything but expressions on paths, in turns. */
function callsOf(tenants: Tenants): readonly string[] {
  return [tenants.hot, tenants.median].flatMap(({ ref }) => [
    ...['7day', '1hr'].map(
      (interval) => `/api/endpoints/functions.invocation-stats?project=${ref}&interval=${interval}`,
    ),
    ...['daily', 'hourly'].map(
      (interval) => `/api/endpoints/usage.api-counts?project=${ref}&interval=${interval}`,
    ),
    `/api/endpoints/logs.all?project=${ref}&project_tier=PRO`,
  ]);
}

/** One call after another for so long, on a connection of their own: milliseconds of each. */
async function ask(
  service: ServiceProcess,
  paths: readonly string[],
  forMs: number,
): Promise<readonly number[]> {
  const asker = await BytesClient.connect(service.url, service.token);
  const requests = paths.map((path) => asker.requestFor(path));
  const samples: number[] = [];
  const endMs = performance.now() + forMs;
  for (let call = 0; performance.now() < endMs; call++) {
    const startMs = performance.now();
    await asker.ask(requests[call % requests.length]!);
    samples.push(performance.now() - startMs);
  }
  asker.close();
  return samples;
}

/** Posts lean edge events that the service has not had yet, made before they are sent. */
class Sender {
  readonly #connect: () => Promise<BytesClient>;
  #free: BytesClient[] = [];
  readonly #texts: ReturnType<typeof ndjson>;

  private constructor(connect: () => Promise<BytesClient>, size: Size) {
    this.#connect = connect;
    const tenants = new Tenants(size.projectCount);
    // More than can be sent: it only sets the pace of their times.
    const eventCount = 10_000_000;
    this.#texts = ndjson('lean', { tenants, eventCount, round: 1, perText: POST_EVENTS });
  }

  static async open(service: ServiceProcess, size: Size): Promise<Sender> {
    const sender = new Sender(() => BytesClient.connect(service.url, service.token), size);
    await sender.#reconnect();
    return sender;
  }

  /** Connections that were idle for some seconds are not there any more. */
  async #reconnect(): Promise<void> {
    this.close();
    this.#free = await Promise.all(Array.from({ length: POSTS_WAITING_MAX }, this.#connect));
  }

  /** A few posts at a time; events a second. */
  async sendFast(forMs: number): Promise<number> {
    let [sentCount, ms] = [0, 0];
    while (ms < forMs) {
      const posts = this.#make(40);
      const startMs = performance.now();
      let next = 0;
      const send = async (): Promise<void> => {
        for (let post = posts[next++]; post !== undefined; post = posts[next++])
          await this.#send(post);
      };
      await Promise.all(Array.from({ length: SENDERS }, send));
      ms += performance.now() - startMs;
      sentCount += posts.length * POST_EVENTS;
      showProgress(`${sentCount} events sent`);
    }
    showProgress('');
    return sentCount / (ms / 1000);
  }

  /** Each post at its time, as long as not too many wait; events a second. */
  async sendAt(eventsPerSecond: number, forMs: number): Promise<number> {
    const posts = this.#make(Math.ceil(((eventsPerSecond / POST_EVENTS) * forMs) / 1000));
    await this.#reconnect();
    const startMs = performance.now();
    const sending: Promise<void>[] = [];
    for (const [index, post] of posts.entries()) {
      const dueMs = startMs + (index / posts.length) * forMs;
      const aheadMs = dueMs - performance.now();
      if (aheadMs > 0) await wait(aheadMs);
      while (this.#free.length === 0) await wait(1);
      sending.push(this.#send(post));
    }
    await Promise.all(sending);
    return (posts.length * POST_EVENTS) / ((performance.now() - startMs) / 1000);
  }

  close(): void {
    for (const client of this.#free) client.close();
  }

  #make(count: number): Buffer[] {
    const path = `/api/logs?source_name=${KINDS.get('lean')!.source}`;
    return Array.from({ length: count }, () => {
      const { text } = this.#texts.next().value!;
      const json = `[${text.slice(0, -1).replaceAll('\n', ',')}]`;
      return this.#free[0]!.postFor(path, Buffer.from(json));
    });
  }

  async #send(post: Buffer): Promise<void> {
    const client = must(this.#free.pop(), 'a connection is free');
    await client.post(post);
    this.#free.push(client);
  }
}

await main();
