/** Sends at a fixed rate what its parent process orders, reports what came of it, and ends. */
import { setTimeout as wait } from 'node:timers/promises';
import { BytesClient } from '../bytes-client.ts';
import { hostileRequests } from '../workload/hostile-requests.ts';
import { Tenants } from '../workload/tenants.ts';
import { ndjson } from '../workload/workload.ts';
import { EventStreamClient } from './event-stream-client.ts';
import type { Sample, SendOrder, SendReport, Stream, StreamReport } from './order.ts';

const PROJECT_COUNT = 2_000;

/** How long answers are waited for at the end where nothing else is ordered; what has none then is counted as lost. */
const LAST_ANSWERS_MS = 45_000;

/** How long a stream that no connection can be made for waits to try again. */
const PAUSE_MS = 5;

process.once('message', (order: SendOrder) => {
  const { url, streams } = order;
  const senders = streams.map((stream) => new StreamSender(url, stream, order.lastAnswersMs));
  // Whoever has several senders lets all begin at once.
  process.once('message', () => {
    void send(senders, order).then((report) => {
      process.send?.(report, () => process.exit(0));
    });
  });
  process.send?.('ready');
});

async function send(
  senders: readonly StreamSender[],
  { seconds, delayMs = 0 }: SendOrder,
): Promise<SendReport> {
  await wait(delayMs);
  const startMs = performance.now();
  return { streams: await Promise.all(senders.map((sender) => sender.run(startMs, seconds))) };
}

/** One stream on connections of its own: a request goes on one that is free, else on a new one. */
class StreamSender {
  readonly #url: string;
  readonly #stream: Stream;
  readonly #lastAnswersMs: number | undefined;
  readonly #requests: readonly Buffer[];
  readonly #free: Client[] = [];
  readonly #samples: Sample[] = [];
  #connectionCount = 0;
  #nextRequest = 0;
  #underWay = 0;
  #unsentCount = 0;

  constructor(url: string, stream: Stream, lastAnswersMs: number | undefined) {
    this.#url = url;
    this.#stream = stream;
    this.#lastAnswersMs = lastAnswersMs;
    this.#requests = requestsOf(new URL(url).host, stream);
  }

  async run(startMs: number, seconds: number): Promise<StreamReport> {
    const endMs = startMs + seconds * 1000;
    const { perSecond, connectionsMax } = this.#stream;
    if (perSecond === 0) {
      const steady = (): Promise<void> => this.#sendSteadily(startMs, endMs);
      const all = Promise.all(Array.from({ length: connectionsMax }, steady));
      const leftMs = endMs - performance.now() + (this.#lastAnswersMs ?? 0);
      await (this.#lastAnswersMs === undefined ? all : Promise.race([all, wait(leftMs)]));
    } else {
      await this.#sendInTime(startMs, endMs, perSecond);
    }
    for (const client of this.#free) client.close();
    return { samples: this.#samples, unsentCount: this.#unsentCount };
  }

  async #sendSteadily(startMs: number, endMs: number): Promise<void> {
    while (performance.now() < endMs) {
      if (!(await this.#sendOne(startMs, performance.now()))) await wait(PAUSE_MS);
    }
  }

  async #sendInTime(startMs: number, endMs: number, perSecond: number): Promise<void> {
    const { phase = 0 } = this.#stream;
    // The difference of two times is not exact.
    const dueCount = Math.round(((endMs - startMs) / 1000) * perSecond);
    for (let due = 0; due < dueCount; ) {
      // Without a phase the first is due at once.
      const dueNow = 1 + Math.floor(((performance.now() - startMs) / 1000) * perSecond - phase);
      for (; due < Math.min(dueNow, dueCount); due++) {
        void this.#sendOne(startMs, startMs + ((due + phase) / perSecond) * 1000);
      }
      await wait(1);
    }
    const patienceMs = performance.now() + (this.#lastAnswersMs ?? LAST_ANSWERS_MS);
    while (this.#underWay > 0 && performance.now() < patienceMs) await wait(PAUSE_MS);
    for (; this.#underWay > 0; this.#underWay--) this.#note(startMs, performance.now(), 0, '');
  }

  /** Whether it could be sent. */
  async #sendOne(startMs: number, dueMs: number): Promise<boolean> {
    const isFull = this.#free.length === 0 && this.#connectionCount >= this.#stream.connectionsMax;
    if (isFull) {
      this.#unsentCount += 1;
      return false;
    }
    this.#underWay += 1;
    let client: Client | undefined;
    try {
      client = await this.#connection();
      const request = this.#requests[this.#nextRequest++ % this.#requests.length]!;
      const { status, head } = await client.send(request);
      this.#note(startMs, dueMs, status, head);
      this.#keep(client, head);
    } catch {
      this.#note(startMs, dueMs, 0, '');
      if (client !== undefined) this.#drop(client);
    } finally {
      this.#underWay -= 1;
    }
    return true;
  }

  async #connection(): Promise<Client> {
    for (let client = this.#free.pop(); client !== undefined; client = this.#free.pop()) {
      if (client.isOpen) return client;
      this.#drop(client);
    }
    this.#connectionCount += 1;
    const { load, token } = this.#stream;
    try {
      if (load.kind === 'event streams') return await EventStreamClient.connect(this.#url, load);
      return await BytesClient.connect(this.#url, token);
    } catch (error) {
      this.#connectionCount -= 1;
      throw error;
    }
  }

  #keep(client: Client, head: string): void {
    if (!client.isOpen || /connection: close/i.test(head)) this.#drop(client);
    else this.#free.push(client);
  }

  #drop(client: Client): void {
    this.#connectionCount -= 1;
    client.close();
  }

  #note(startMs: number, dueMs: number, status: number, head: string): void {
    this.#samples.push({
      dueMs: dueMs - startMs,
      tookMs: performance.now() - dueMs,
      status,
      hasRetryAfter: /retry-after: \d/i.test(head),
    });
  }
}

type Client = BytesClient | EventStreamClient;

function requestsOf(host: string, { token, load }: Stream): readonly Buffer[] {
  if (load.kind === 'hostile') return hostileRequests(load, headText(host, token));
  if (load.kind !== 'posts') {
    return load.paths.map((path) => Buffer.from(`GET ${path} ${headText(host, token)}\r\n`));
  }
  const bodies = ndjson(load.of, {
    tenants: new Tenants(PROJECT_COUNT),
    eventCount: load.bodyCount * load.eventsPerPost,
    perText: load.eventsPerPost,
  });
  return Array.from(bodies, (body) => {
    const own = load.project === undefined ? body.text : ofProject(body.text, load.project);
    const text = load.fromUs === undefined ? own : timedFrom(own, load.fromUs);
    const size = Buffer.byteLength(text);
    const bodyHead = `Content-Type: application/x-ndjson\r\nContent-Length: ${size}\r\n`;
    return Buffer.from(`POST ${load.path} ${headText(host, token)}${bodyHead}\r\n${text}`);
  });
}

/** The events of a body as if they were of one project. */
function ofProject(text: string, project: string): string {
  const lines = text.trimEnd().split('\n');
  const moved = lines.map((line) =>
    line.replaceAll((JSON.parse(line) as { project: string }).project, project),
  );
  return `${moved.join('\n')}\n`;
}

function timedFrom(text: string, fromUs: number): string {
  let timestampUs = fromUs;
  return text.replaceAll(/"timestamp":\d+/g, () => `"timestamp":${timestampUs++}`);
}

function headText(host: string, token: string): string {
  return `HTTP/1.1\r\nHost: ${host}\r\nX-API-KEY: ${token}\r\n`;
}
