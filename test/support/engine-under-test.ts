import { deepEqual } from 'node:assert/strict';
import { must } from '../../engine/assert.ts';
import type { SegmentCatalog, SegmentHandle } from '../../engine/column/segment.ts';
import { Engine, type RunOptions } from '../../engine/engine.ts';
import type { PreparedQuery } from '../../engine/plan/prepared-query.ts';
import { admitEvents, refusalSentences } from '../../ingest/admission.ts';
import { LogStore } from '../../ingest/log-store.ts';
import { MemoryPool } from '../../ingest/memory-pool.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import { decodeBody } from '../../ingest/post-body.ts';
import { randomUuids } from '../../ingest/random-id.ts';
import { summarizeSegment } from '../../ingest/segment-summary.ts';
import { SourceDirectory } from '../../ingest/source.ts';
import { type Catalogue, loadCatalogue } from '../../src/definition/catalogue.ts';
import type { JsonObject, Row } from '../oracle/oracle.ts';
import type { Parameters, Store } from './answerer.ts';
import { jsonText } from './json-text.ts';

/** Retention of the service unless it is set: 90 days. */
const RETENTION_US = 90 * 86_400_000_000;

/** Segments one store may make; the next store's ids begin behind them. */
const SEGMENTS_PER_STORE = 1_000_000;

/** What is given back is spoiled at once, so that whoever still reads it is found out. */
class SpoilingPool extends MemoryPool {
  override giveBack(buffer: ArrayBuffer): void {
    new Uint8Array(buffer).fill(0xa5);
    super.giveBack(buffer);
  }
}

/**
 * Everything between a POST's bytes and a GET's rows, without HTTP: decoder, admission, log store,
 * definitions, planner, workers. The workers outlive `clear`, since starting them costs more than
 * most tests do.
 */
export class EngineUnderTest implements Store {
  readonly #directory = new SourceDirectory([]);
  readonly #randomId = randomUuids();
  readonly #pool = new SpoilingPool();
  readonly #engine: Engine;
  /** Over the same events; leaves all queries to its workers. */
  readonly #apart: Engine;
  #catalogue: Catalogue | undefined;
  #storeCount = 0;
  #store: LogStore;

  private constructor(workerCount: number) {
    const catalog: SegmentCatalog = {
      segments: (source, scope) =>
        this.#store.segments(source, scope).map((handle) => this.#withOwnId(handle)),
      // Stores come and go here, and no id comes twice: there is nothing to forget.
      dropped: () => ({ count: 0, ids: [] }),
    };
    const options = { sources: this.#directory.sources, catalog, workerCount };
    this.#engine = new Engine(options);
    this.#apart = new Engine({ ...options, inlineLimits: { rowsMax: 0 } });
    this.#store = this.#newStore();
  }

  /** With the built-in definitions, and those of `folder`. */
  static async start(
    options: { readonly folder?: string; readonly workerCount?: number } = {},
  ): Promise<EngineUnderTest> {
    const started = new EngineUnderTest(options.workerCount ?? 1);
    started.#catalogue = await loadCatalogue({ folder: options.folder, engine: started.#engine });
    return started;
  }

  /** Forgets all events. */
  clear(): void {
    this.#storeCount++;
    this.#store = this.#newStore();
  }

  async post(source: string, events: readonly JsonObject[], nowUs: number): Promise<void> {
    const refusals = await this.postText(source, jsonText(events), nowUs);
    if (refusals.length > 0) throw new Error(`events were refused: ${refusals.join('; ')}`);
  }

  /** Posts a JSON text as it is; the refusals of its events. */
  async postText(sourceName: string, text: string, nowUs: number): Promise<readonly string[]> {
    const source = must(this.#directory.findByName(sourceName), `source ${sourceName} exists`);
    const memory = this.#pool.lend();
    const { batch, refusals } = await admitEvents(
      await decodeBody([Buffer.from(text)], 'json', memory),
      { source, nowUs, retentionUs: RETENTION_US, randomId: this.#randomId },
    );
    await this.#store.append(sourceName, batch);
    memory.end();
    return refusalSentences(refusals);
  }

  async call(endpoint: string, parameters: Parameters, nowUs: number): Promise<Row[]> {
    return JSON.parse(await this.callText(endpoint, parameters, nowUs)) as Row[];
  }

  /**
   * The rows as the JSON text they are sent as. Small queries are run on this thread; a worker has to
   * give the same text.
   */
  async callText(endpoint: string, parameters: Parameters, nowUs: number): Promise<string> {
    const {
      definition,
      query,
      parameters: schema,
    } = must(this.#catalogue?.find(endpoint), `there is an endpoint ${endpoint}`);
    const texts = new Map(Object.entries(parameters).map(([name, text]) => [name, [text]]));
    const options = { parameters: schema.parse(texts), nowUs, rowsMax: definition.rowsMax };
    const [here, apart] = await Promise.allSettled(
      [this.#engine, this.#apart].map((engine) => textOfRun(engine, query, options)),
    );
    deepEqual(outcomeOf(must(here)), outcomeOf(must(apart)), 'a worker answers the same');
    if (here!.status === 'rejected') throw here!.reason;
    return here!.value;
  }

  /** Queries that were run on this thread. */
  get inlineCount(): number {
    return this.#engine.stats().queriesInline;
  }

  /** Bytes of all segments of a source. */
  bytesOf(sourceName: string): number {
    const stats = this.#store.stats().find(({ source }) => source === sourceName);
    return must(stats, `source ${sourceName} exists`).byteSize;
  }

  seal(): Promise<void> {
    return this.#store.flush();
  }

  async close(): Promise<void> {
    await this.#store.close();
    await this.#engine.close();
    await this.#apart.close();
  }

  #newStore(): LogStore {
    return new LogStore({
      sources: this.#directory.sources.map((source) => source.name),
      retentionUs: RETENTION_US,
      seal: (handle) => this.#engine.seal(this.#withOwnId(handle), PARTITION_US),
      summarize: summarizeSegment,
    });
  }

  /** Ids must be unique among all stores: workers know segments by them. */
  #withOwnId<T extends SegmentHandle>(handle: T): T {
    return { ...handle, id: handle.id + this.#storeCount * SEGMENTS_PER_STORE };
  }
}

async function textOfRun(
  engine: Engine,
  query: PreparedQuery,
  options: RunOptions,
): Promise<string> {
  const answer = await engine.run(query, options);
  const text = Buffer.from(answer.json).toString();
  answer.release();
  return text;
}

/** The text, or the error as a caller is told it. */
function outcomeOf(run: PromiseSettledResult<string>): unknown {
  if (run.status === 'fulfilled') return run.value;
  const { message, code } = run.reason as Error & { readonly code?: unknown };
  return { message, code };
}
