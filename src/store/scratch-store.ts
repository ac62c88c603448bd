import { Engine, EVERYTHING, type PreparedQuery } from '../../engine/index.ts';
import { admitEvents, refusalSentences } from '../../ingest/admission.ts';
import { LogStore } from '../../ingest/log-store.ts';
import { MemoryPool } from '../../ingest/memory-pool.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import { decodeBody } from '../../ingest/post-body.ts';
import { summarizeSegment } from '../../ingest/segment-summary.ts';
import { type Source, SourceDirectory } from '../../ingest/source.ts';
import type { BoundedRunOptions } from '../call/query-engine.ts';
import { getProfile, type ProfileName } from '../profile.ts';

const DAY_US = 86_400_000_000;

/**
 * A store in memory with an engine, to try posts and queries. Events without an id get one from
 * their number, so that equal events give equal answers.
 */
export class ScratchStore {
  readonly sources: SourceDirectory;
  readonly #manners: ReturnType<typeof getProfile>['admission'];
  readonly #retentionUs: number;
  readonly #pool = new MemoryPool();
  readonly #store: LogStore;
  readonly #engine: Engine;
  #eventCount = 0;

  constructor(settings: {
    readonly sources: readonly Source[];
    readonly retentionDays: number;
    readonly profile: ProfileName;
  }) {
    this.sources = new SourceDirectory(settings.sources);
    this.#manners = getProfile(settings.profile).admission;
    this.#retentionUs = settings.retentionDays * DAY_US;
    this.#store = new LogStore({
      sources: this.sources.sources.map(({ name }) => name),
      retentionUs: this.#retentionUs,
      seal: (handle) => this.#engine.seal(handle, PARTITION_US),
      summarize: summarizeSegment,
    });
    this.#engine = new Engine({
      sources: this.sources.sources,
      catalog: this.#store,
      workerCount: 1,
    });
  }

  /** Stores one event, a JSON text, received at `nowUs`. Resolves to the reason if it is refused. */
  async post(source: Source, event: string, nowUs: number): Promise<string | undefined> {
    const memory = this.#pool.lend();
    try {
      const body = await decodeBody([Buffer.from(`[${event}]`)], 'json', memory);
      const { batch, refusals } = await admitEvents(body, {
        ...{ source, nowUs, retentionUs: this.#retentionUs, manners: this.#manners },
        randomId: (bytes, offset) => this.#writeId(bytes, offset),
      });
      await this.#store.append(source.name, batch);
      return refusalSentences(refusals)[0];
    } finally {
      memory.end();
    }
  }

  /** The rows as the JSON text of an answer. Rejects with a QueryError. */
  async run(query: PreparedQuery, options: Omit<BoundedRunOptions, 'reach'>): Promise<string> {
    const answer = await this.#engine.run(query, { ...options, reach: EVERYTHING });
    const text = Buffer.from(answer.json).toString();
    answer.release();
    return text;
  }

  async close(): Promise<void> {
    await this.#store.close();
    await this.#engine.close();
  }

  #writeId(bytes: Uint8Array, offset: number): void {
    this.#eventCount += 1;
    const id = `00000000-0000-4000-8000-${String(this.#eventCount).padStart(12, '0')}`;
    bytes.set(Buffer.from(id), offset);
  }
}
