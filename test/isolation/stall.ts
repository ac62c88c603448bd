import { must } from '../../engine/assert.ts';
import type { SegmentCatalog, SegmentHandle } from '../../engine/column/segment.ts';
import { Engine } from '../../engine/engine.ts';
import type { QueryExplanation } from '../../engine/plan/explanation.ts';
import type { Reach } from '../../engine/plan/reach.ts';
import { admitEvents, refusalSentences } from '../../ingest/admission.ts';
import { LogStore } from '../../ingest/log-store.ts';
import { MemoryPool } from '../../ingest/memory-pool.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import { decodeBody } from '../../ingest/post-body.ts';
import { randomUuids } from '../../ingest/random-id.ts';
import { summarizeSegment } from '../../ingest/segment-summary.ts';
import { SourceDirectory, sourcesFrom } from '../../ingest/source.ts';
import { loadCatalogue } from '../../src/definition/catalogue.ts';
import { jsonText } from '../support/json-text.ts';
import type { TenantStore, Way } from './isolation-law.ts';
import type { TenantCall } from './tenant-calls.ts';
import { type Outcome, TenantDesk } from './tenant-desk.ts';
import { LOGS, NOW_US, type TenantEvent } from './tenant-events.ts';

const RETENTION_US = 90 * 86_400_000_000;
/** A random query may be a product of products: what takes longer is given up, and not compared. */
const QUERY_MS_MAX = 4_000;
/** Segments one store may make; the next store's ids begin behind them. */
const SEGMENTS_PER_STORE = 1_000_000;

/** A log store, and the two ways in which calls of it are answered: with kept answers and remembered states. */
export class Stall implements TenantStore {
  readonly #directory = new SourceDirectory(sourcesFrom(LOGS).sources);
  readonly #randomId = randomUuids();
  readonly #pool = new MemoryPool();
  readonly #engines: Readonly<Record<Way, Engine>>;
  #desks: Readonly<Record<Way, TenantDesk>> | undefined;
  #store: LogStore;
  #storeCount = 0;

  private constructor() {
    const catalog: SegmentCatalog = {
      segments: (source, scope) =>
        this.#store.segments(source, scope).map((handle) => this.#withOwnId(handle)),
      dropped: () => ({ count: 0, ids: [] }),
    };
    // Rows are few: what would be too small to remember is remembered all the same.
    const memoLimits = { rowsMin: 1, bytesPerRowMax: Number.POSITIVE_INFINITY };
    const poolLimits = { queryMsMax: QUERY_MS_MAX };
    const options = {
      sources: this.#directory.sources,
      catalog,
      workerCount: 1,
      memoLimits,
      poolLimits,
    };
    this.#engines = {
      here: new Engine(options),
      workers: new Engine({ ...options, inlineLimits: { rowsMax: 0 } }),
    };
    this.#store = this.#newStore();
  }

  /** With the definitions of `folder`. With a `cacheBytesMax` of 0 each call runs. */
  static async open(folder: string, cacheBytesMax: number): Promise<Stall> {
    const stall = new Stall();
    const { here, workers } = stall.#engines;
    const catalogue = await loadCatalogue({ folder, engine: here });
    stall.#desks = {
      here: new TenantDesk(here, catalogue, cacheBytesMax),
      workers: new TenantDesk(workers, catalogue, cacheBytesMax),
    };
    return stall;
  }

  /** Forgets all events. */
  clear(): void {
    this.#storeCount++;
    this.#store = this.#newStore();
  }

  /** Takes events in, those of one source in one batch. */
  async post(events: readonly TenantEvent[]): Promise<void> {
    for (const name of new Set(events.map(({ source }) => source))) {
      const own = events.flatMap(({ source, event }) => (source === name ? [event] : []));
      const source = must(this.#directory.findByName(name), `source ${name} exists`);
      const memory = this.#pool.lend();
      const { batch, refusals } = await admitEvents(
        await decodeBody([Buffer.from(jsonText(own))], 'json', memory),
        { source, nowUs: NOW_US, retentionUs: RETENTION_US, randomId: this.#randomId },
      );
      if (refusalSentences(refusals).length > 0) throw new Error(refusalSentences(refusals)[0]);
      await this.#store.append(name, batch);
      memory.end();
    }
  }

  seal(): Promise<void> {
    return this.#store.flush();
  }

  call(call: TenantCall, reach: Reach, way: Way): Promise<Outcome> {
    return must(this.#desks)[way].call(call, reach);
  }

  explain(call: TenantCall, reach: Reach): Promise<QueryExplanation | undefined> {
    return must(this.#desks).here.explain(call, reach);
  }

  /** Makes what is made in the background of calls so far. */
  async prepare(): Promise<void> {
    await this.#engines.here.prepareStates();
    await this.#engines.workers.prepareStates();
  }

  /** Rows that runs took from what was remembered. */
  get rememberedRows(): number {
    const counts = Object.values(this.#engines).map((engine) => engine.stats().scans.rowsFromMemo);
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Calls that were given a kept answer. */
  get hitCount(): number {
    const { here, workers } = must(this.#desks);
    return here.hitCount + workers.hitCount;
  }

  async close(): Promise<void> {
    await this.#store.close();
    for (const desk of Object.values(must(this.#desks))) await desk.close();
    for (const engine of Object.values(this.#engines)) await engine.close();
  }

  #newStore(): LogStore {
    return new LogStore({
      sources: this.#directory.sources.map((source) => source.name),
      retentionUs: RETENTION_US,
      seal: (handle) => this.#engines.here.seal(this.#withOwnId(handle), PARTITION_US),
      summarize: summarizeSegment,
    });
  }

  /** Ids must be unique among all stores: workers know segments by them. */
  #withOwnId<T extends SegmentHandle>(handle: T): T {
    return { ...handle, id: handle.id + this.#storeCount * SEGMENTS_PER_STORE };
  }
}
