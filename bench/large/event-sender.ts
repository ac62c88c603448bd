/**
 * Posts events as its parent process orders, reports a few times a second how many were taken, and ends when it is stopped.
 * Started by `sender-process.ts`.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { HttpClient } from '../http-client.ts';
import { sourceOf } from '../workload/workload.ts';
import type { EventOrder, SentCounts } from './event-order.ts';
import { LARGE_KINDS, type LargeKind } from './large-events.ts';
import { LargeRandom } from './large-random.ts';
import { LargeProjects } from './projects.ts';

const POST_EVENTS = 250;
const CONNECTIONS = 16;
const REPORT_MS = 200;

/** At full speed the time to make events must not count: so many bodies of each kind are made ahead and sent in turn. */
const BODIES_AHEAD = 40;

/** One event in so many is late, by up to so much. */
const LATE_EVERY = 100;
const LATE_MS_MAX = 26 * 3_600_000;

const SEED = 383;

type Post = { readonly path: string; readonly body: Buffer };

class EventSender {
  readonly #order: EventOrder;
  readonly #client: HttpClient;
  readonly #random = new LargeRandom(SEED);
  readonly #projects = new LargeProjects(0);
  readonly #kinds: readonly LargeKind[] = ['full', 'invocations'];
  readonly #underWay = new Set<Promise<void>>();
  #postCount = 0;
  #isStopped = false;
  #eventCount = 0;
  #refusedCount = 0;

  constructor(order: EventOrder) {
    this.#order = order;
    this.#client = new HttpClient(order.url, order.token, CONNECTIONS);
  }

  get counts(): SentCounts {
    return { eventCount: this.#eventCount, refusedCount: this.#refusedCount };
  }

  stop(): void {
    this.#isStopped = true;
  }

  async run(): Promise<void> {
    if (this.#order.eventsPerSecond === 0) await this.#sendAllThatIsTaken();
    else await this.#sendInTime();
    await Promise.all(this.#underWay);
    this.#client.close();
  }

  async #sendAllThatIsTaken(): Promise<void> {
    const posts = Array.from({ length: 2 * BODIES_AHEAD }, () => this.#nextPost());
    let next = 0;
    const send = async (): Promise<void> => {
      while (!this.#isStopped) await this.#send(posts[next++ % posts.length]!);
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, send));
  }

  /** A post that is due waits where all connections have one under way. */
  async #sendInTime(): Promise<void> {
    const intervalMs = (1000 * POST_EVENTS) / this.#order.eventsPerSecond;
    const startMs = performance.now();
    for (let due = 0; !this.#isStopped; due++) {
      const post = this.#nextPost();
      await wait(Math.max(0, startMs + due * intervalMs - performance.now()));
      while (this.#underWay.size >= CONNECTIONS) await Promise.race(this.#underWay);
      const sent: Promise<void> = this.#send(post).finally(() => this.#underWay.delete(sent));
      this.#underWay.add(sent);
    }
  }

  /** @throws Error when a post is neither taken nor refused for overload. */
  async #send({ path, body }: Post): Promise<void> {
    const { status } = await this.#client.post(path, body);
    if (status === 200) this.#eventCount += POST_EVENTS;
    else if (status === 429 || status === 503) this.#refusedCount += 1;
    else throw new Error(`a post was answered with ${status}`);
  }

  #nextPost(): Post {
    const kind = this.#kinds[this.#postCount++ % this.#kinds.length]!;
    const events = Array.from({ length: POST_EVENTS }, () => this.#event(kind));
    return {
      path: `/api/logs?source_name=${encodeURIComponent(sourceOf(kind))}`,
      body: Buffer.from(`[${events}]`),
    };
  }

  #event(kind: LargeKind): string {
    const random = this.#random;
    const isLate = random.below(LATE_EVERY) === 0;
    const timeMs = Date.now() - (isLate ? random.below(LATE_MS_MAX) : 0);
    const timestampUs = timeMs * 1000 + random.below(1000);
    return LARGE_KINDS.get(kind)!.make(random, this.#projects.draw(random), timestampUs);
  }
}

process.once('message', (order: EventOrder) => {
  const sender = new EventSender(order);
  const report = (): void => void process.send?.(sender.counts);
  const reporting = setInterval(report, REPORT_MS);
  process.once('message', () => sender.stop());
  void sender.run().then(() => {
    clearInterval(reporting);
    process.send?.(sender.counts, () => process.exit(0));
  });
});
