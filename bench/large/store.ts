import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { PARTITION_QUIET_US, SEAL_AGE_US } from '../../ingest/limits.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import { showProgress } from '../../src/command/progress.ts';
import { TICK_MS } from '../../src/limits.ts';
import { programWords } from '../../test/support/program-words.ts';
import { HttpClient } from '../http-client.ts';
import { hashOf } from '../measure.ts';
import { postAll } from '../posting.ts';
import { ServiceProcess } from '../service-process.ts';
import { readSource } from '../service-reading.ts';
import { NOW_US } from '../workload/clock.ts';
import { type EventBatch, sourceOf } from '../workload/workload.ts';
import { type LargeKind, largeBatches } from './large-events.ts';
import type { LargeProjects } from './projects.ts';
import type { LargeSize } from './sizes.ts';

/** A post is about a megabyte of full events. */
const POST_EVENTS = 250;
const CONNECTIONS = 4;

/** Sealing and merging what was taken in takes minutes. */
export const REST_SECONDS_MAX = 1_800;

/** What of a kind is in before its last events. */
const LAST_SHARE = 0.9;

/** So many events tell one version of the generator from another. */
const FINGERPRINT_EVENTS = 100;

export type LargeStoreOptions = {
  /** Where all that a run needs is kept: this store, and those of other engines. */
  readonly folder: string;
  readonly size: Pick<LargeSize, 'eventCounts' | 'memoryBytes'>;
  readonly projects: LargeProjects;
  /** What runs the service. */
  readonly command: readonly string[];
  /** The checkout that the command is of, if not this one. */
  readonly root?: string;
};

/** A data folder of the service with all events, made when it is first wanted. */
export class LargeStore {
  readonly #options: LargeStoreOptions;

  constructor(options: LargeStoreOptions) {
    this.#options = options;
  }

  get dataDir(): string {
    return join(this.#options.folder, 'weir');
  }

  /** Starts the service on the folder. Its clock stands at `nowUs`. */
  start(
    environment: Readonly<Record<string, string>> = {},
    nowUs: number = NOW_US,
  ): Promise<ServiceProcess> {
    const { command, size } = this.#options;
    const FROZEN_NOW = new Date(nowUs / 1000).toISOString();
    const limited = { MEMORY_LIMIT: String(size.memoryBytes), FROZEN_NOW, ...environment };
    return ServiceProcess.start(command, limited, this.dataDir);
  }

  /**
   * Takes in all events, and comes to where a service is when a day has passed to which nothing was sent any more. What
   * has been made is found again. @throws Error when the folder has other events.
   */
  async make(): Promise<void> {
    const { folder, size, projects } = this.#options;
    const path = join(folder, 'weir-made');
    const fingerprint = fingerprintOf(size, projects);
    if (existsSync(path)) {
      if (readFileSync(path, 'utf8') === fingerprint) return;
      throw new Error(`${folder} has other events: remove it, or name another folder`);
    }
    const service = await this.fill();
    try {
      await service.atRest(REST_SECONDS_MAX);
    } finally {
      await service.stop();
    }
    await this.passDay();
    writeFileSync(path, fingerprint);
  }

  /**
   * Takes in all events of an empty folder; the service that did goes on running. `beforeLast` is awaited once nine
   * tenths of a kind are in.
   */
  async fill(
    beforeLast: (service: ServiceProcess) => Promise<void> = async () => {},
  ): Promise<ServiceProcess> {
    rmSync(this.dataDir, { recursive: true, force: true });
    mkdirSync(this.dataDir, { recursive: true });
    const { size, projects } = this.#options;
    const service = await this.start();
    const client = new HttpClient(service.url, service.token, CONNECTIONS);
    try {
      for (const [kind, eventCount] of size.eventCounts) {
        const fromMs = performance.now();
        const before = () => beforeLast(service);
        const refusalCount = await post(client, kind, { projects, eventCount, before });
        const seconds = (performance.now() - fromMs) / 1000;
        const { events } = await readSource(client, sourceOf(kind));
        if (events !== eventCount) throw new Error(`${events} events of ${eventCount} are there`);
        console.log(
          `${kind}: ${events} events made and posted in ${seconds.toFixed(0)} s, ` +
            `${refusalCount} posts refused for a moment`,
        );
      }
      return service;
    } catch (error) {
      await service.stop();
      throw error;
    } finally {
      client.close();
    }
  }

  /**
   * Seals what is open and lets a day pass to which nothing is sent, while no service has the folder. Half of the way to
   * the next day first: a clock that leaps by more than a day is taken for wrong.
   */
  async passDay(): Promise<void> {
    await this.#seal();
    const dayOver = NOW_US + SEAL_AGE_US + PARTITION_US + PARTITION_QUIET_US;
    for (const nowUs of [(NOW_US + dayOver) / 2, dayOver]) {
      showProgress('merging');
      const service = await this.start({}, nowUs);
      try {
        await wait(2 * TICK_MS);
        await service.atRest(REST_SECONDS_MAX);
      } finally {
        await service.stop();
      }
    }
    showProgress('');
  }

  async #seal(): Promise<void> {
    showProgress('sealing');
    const { root = '.', size } = this.#options;
    const { findStorePath, sealEverything } = await importSealing(root);
    const MEMORY_LIMIT = String(size.memoryBytes);
    await sealEverything(await findStorePath(this.dataDir), NOW_US, { MEMORY_LIMIT });
  }
}

/** The code of a checkout that seals, in the form in which this module runs; it may be another one than this. */
async function importSealing(root: string) {
  const load = (path: string): Promise<object> =>
    import(resolve(root, relative('.', programWords(path).at(-1)!)));
  const sealed = await load('bench/sealed-folder.ts');
  const folder = await load('ingest/data-folder.ts');
  return {
    ...(sealed as Pick<typeof import('../sealed-folder.ts'), 'sealEverything'>),
    ...(folder as Pick<typeof import('../../ingest/data-folder.ts'), 'findStorePath'>),
  };
}

async function post(
  client: HttpClient,
  kind: LargeKind,
  of: {
    readonly projects: LargeProjects;
    readonly eventCount: number;
    readonly before: () => Promise<void>;
  },
): Promise<number> {
  const batches = largeBatches(kind, { ...of, eventsPerBatch: POST_EVENTS });
  const path = `/api/logs?source_name=${encodeURIComponent(sourceOf(kind))}`;
  let sentCount = 0;
  const postUntil = (endCount: number): Promise<number> =>
    postAll(client, { path, connectionCount: CONNECTIONS }, () => {
      if (sentCount >= endCount) return undefined;
      const { value, done } = batches.next();
      if (done) return undefined;
      sentCount += value.eventCount;
      showProgress(`weir: ${kind}, ${sentCount} of ${of.eventCount}`);
      return bodyOf(value);
    });
  const refusalCount = await postUntil(LAST_SHARE * of.eventCount);
  await of.before();
  const lastRefusalCount = await postUntil(of.eventCount);
  showProgress('');
  return refusalCount + lastRefusalCount;
}

/** The events as one JSON array. */
function bodyOf({ text }: EventBatch): Buffer {
  return Buffer.from(`[${text.slice(0, -1).replaceAll('\n', ',')}]`);
}

function fingerprintOf(
  { eventCounts }: Pick<LargeSize, 'eventCounts'>,
  projects: LargeProjects,
): string {
  return Array.from(eventCounts, ([kind, eventCount]) => {
    const of = { projects, eventCount, eventsPerBatch: FINGERPRINT_EVENTS };
    const { value } = largeBatches(kind, of).next();
    return `${kind} ${eventCount} ${hashOf(value?.text ?? '')}\n`;
  }).join('');
}
