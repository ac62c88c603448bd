import { setTimeout as wait } from 'node:timers/promises';
import { BytesClient } from '../bytes-client.ts';
import { LargeRandom } from '../large/large-random.ts';
import { LargeProjects } from '../large/projects.ts';
import { savedCall } from '../large/readers.ts';

/** How projects are chosen: by their share of the traffic, or each as likely as any other. */
export const WAYS = ['by share', 'uniform'] as const;

/**
 * A query of a project, with its interval, that the process was not asked before; one that it was last asked more than a
 * minute ago; and one asked since.
 */
export const NOVELTIES = ['first', 'again', 'repeated'] as const;

type Novelty = (typeof NOVELTIES)[number];

export type LiveCall = {
  readonly way: (typeof WAYS)[number];
  /** The name of the saved query. */
  readonly query: string;
  readonly novelty: Novelty;
  readonly ms: number;
  readonly isAnswered: boolean;
};

const AGAIN_MS = 60_000;

/** Each reader asks so often, or at once where the last answer took longer: two builds are asked the same. */
const CALL_EVERY_MS = 40;

const SEED = 386;

/** A reader for each way, each one call after another, until they are stopped. */
export class LiveReaders {
  readonly #url: string;
  readonly #token: string;
  readonly #projects = new LargeProjects(0);
  readonly #askedAtMs = new Map<string, number>();
  readonly #calls: LiveCall[] = [];
  readonly #running: Promise<unknown>;
  #isStopped = false;

  constructor({ url, token }: { readonly url: string; readonly token: string }) {
    this.#url = url;
    this.#token = token;
    this.#running = Promise.all(WAYS.map((way, index) => this.#read(way, SEED + index)));
    // A failure is thrown by `stop`.
    this.#running.catch(() => {});
  }

  /** Resolves to all calls when the last one is answered. @throws Error when a connection has failed. */
  async stop(): Promise<readonly LiveCall[]> {
    this.#isStopped = true;
    await this.#running;
    return this.#calls;
  }

  async #read(way: LiveCall['way'], seed: number): Promise<void> {
    const random = new LargeRandom(seed);
    const { ranked } = this.#projects;
    let client = await BytesClient.connect(this.#url, this.#token);
    for (let dueMs = performance.now(); !this.#isStopped; dueMs += CALL_EVERY_MS) {
      await wait(Math.max(0, dueMs - performance.now()));
      if (!client.isOpen) client = await BytesClient.connect(this.#url, this.#token);
      const project = way === 'uniform' ? random.pick(ranked) : this.#projects.draw(random);
      const { path } = savedCall(random, project.ref);
      const fromMs = performance.now();
      const novelty = this.#noveltyOf(path, fromMs);
      const { status } = await client.send(client.requestFor(`/api/endpoints/${path}`));
      const ms = performance.now() - fromMs;
      const query = path.slice(0, path.indexOf('?'));
      this.#calls.push({ way, query, novelty, ms, isAnswered: status === 200 });
    }
    client.close();
  }

  #noveltyOf(path: string, nowMs: number): Novelty {
    const askedAtMs = this.#askedAtMs.get(path);
    this.#askedAtMs.set(path, nowMs);
    if (askedAtMs === undefined) return 'first';
    return nowMs - askedAtMs > AGAIN_MS ? 'again' : 'repeated';
  }
}
