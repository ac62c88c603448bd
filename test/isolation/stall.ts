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
import { CallerQueries } from '../../src/call/caller-queries.ts';
import { EndpointCaller } from '../../src/call/endpoint-call.ts';
import { ExploredTables } from '../../src/call/explored-tables.ts';
import { type QueryCall, type RunCall, toRunCall } from '../../src/call/query-runner.ts';
import { type Catalogue, loadCatalogue } from '../../src/definition/catalogue.ts';
import { ServiceError } from '../../src/errors.ts';
import { DEFINITION_ROWS_MAX } from '../../src/limits.ts';
import { us } from '../scripts/script.ts';
import { jsonText } from '../support/json-text.ts';
import type { TenantCall } from './tenant-calls.ts';
import { LOGS, type TenantEvent } from './tenant-events.ts';

const NOW_US = us('2026-01-16T12:00:00Z');
const RETENTION_US = 90 * 86_400_000_000;
/** A random query may be a product of products: what takes longer is given up, and not compared. */
const QUERY_MS_MAX = 4_000;
/** Segments one store may make; the next store's ids begin behind them. */
const SEGMENTS_PER_STORE = 1_000_000;

/** What came of a call, as far as a caller can see it. */
export type Outcome =
  | { readonly json: string }
  | { readonly code: string; readonly message: string };

/** `here`: small runs on the thread that asks. `workers`: none. */
export type Way = 'here' | 'workers';

/** A log store, and the two ways in which calls of it are answered: with kept answers and remembered states. */
export class Stall {
  readonly #directory = new SourceDirectory(sourcesFrom(LOGS).sources);
  readonly #randomId = randomUuids();
  readonly #pool = new MemoryPool();
  readonly #engines: Readonly<Record<Way, Engine>>;
  readonly #callers: Readonly<Record<Way, EndpointCaller>>;
  readonly #queries: CallerQueries;
  #catalogue: Catalogue | undefined;
  #store: LogStore;
  #storeCount = 0;

  private constructor(cacheBytesMax: number) {
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
    const clock = { nowUs: () => NOW_US, monotonicMs: () => 0, wallMs: () => Date.now() };
    const callerOf = (engine: Engine) => new EndpointCaller({ engine, clock, cacheBytesMax });
    this.#callers = {
      here: callerOf(this.#engines.here),
      workers: callerOf(this.#engines.workers),
    };
    this.#queries = new CallerQueries(this.#engines.here);
    this.#store = this.#newStore();
  }

  /** With the definitions of `folder`. With a `cacheBytesMax` of 0 each call runs. */
  static async open(folder: string, cacheBytesMax: number): Promise<Stall> {
    const stall = new Stall(cacheBytesMax);
    stall.#catalogue = await loadCatalogue({ folder, engine: stall.#engines.here });
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

  async call(call: TenantCall, reach: Reach, way: Way): Promise<Outcome> {
    return this.#outcome(async () => {
      const cancelled = new AbortController().signal;
      const asked = this.#queryCall(call, reach);
      const caller = this.#callers[way];
      const who = { cancelled: () => cancelled };
      const answer = await ('endpoint' in asked ? caller.call(asked, who) : caller.run(asked, who));
      if (answer.kind === 'shared') return answer.answer.identity.bytes.toString();
      const json = `{"result":${Buffer.from(answer.answer.json).toString()}}`;
      answer.answer.release();
      return json;
    });
  }

  async explain(call: TenantCall, reach: Reach): Promise<QueryExplanation | undefined> {
    let explanation: QueryExplanation | undefined;
    await this.#outcome(async () => {
      const asked = this.#queryCall(call, reach);
      const cancelled = new AbortController().signal;
      const run = 'endpoint' in asked ? toRunCall(asked) : asked;
      explanation = await this.#callers.here.explain(run, { cancelled: () => cancelled });
      return '';
    });
    return explanation;
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
    const counts = Object.values(this.#callers).map((caller) => caller.stats().cache.hitCount);
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async close(): Promise<void> {
    await this.#store.close();
    for (const caller of Object.values(this.#callers)) await caller.close();
    for (const engine of Object.values(this.#engines)) await engine.close();
  }

  #queryCall(call: TenantCall, reach: Reach): QueryCall | RunCall {
    const { endpoint: name, parameters, sql, isExplored } = call;
    if (isExplored === true) {
      const grant = { id: '', name: '', scopes: ['explore'], endpoints: 'all', ...reach } as const;
      const tables = new ExploredTables(must(this.#catalogue)).find(grant);
      const query = this.#queries.prepare(tables, must(sql));
      return { query, isSent: true, rowsMax: DEFINITION_ROWS_MAX, parameters: new Map(), reach };
    }
    const endpoint = must(this.#catalogue?.find(name), `there is an endpoint ${name}`);
    const texts = new Map(Object.entries(parameters).map(([key, text]) => [key, [text]]));
    const callerQuery = sql === undefined ? undefined : this.#queries.prepare(endpoint, sql);
    return { endpoint, parameters: endpoint.parameters.parse(texts), reach, callerQuery };
  }

  async #outcome(run: () => Promise<string>): Promise<Outcome> {
    try {
      return { json: await run() };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return { code: error.code, message: error.message };
    }
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
