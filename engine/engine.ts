import type { OpenSegmentHandle } from './column/segment.ts';
import type { SegmentCatalog, SourceSchema } from './column/snapshot.ts';
import type { SqlValue } from './column/value.ts';
import { bindQuery } from './plan/bind-query.ts';
import type { BoundQuery, ParameterDeclaration } from './plan/logical-plan.ts';
import { optimize } from './plan/optimize/optimize.ts';
import { physicalPlanOf, scansOf } from './plan/physical-plan.ts';
import { giveBack } from './pool/answer-block.ts';
import { QueryPool } from './pool/query-pool.ts';
import type { TaskStats } from './pool/task.ts';
import { parseQuery } from './sql/parser.ts';

/** A query that has been parsed and bound; a plain value, valid as long as the sources are. */
export type PreparedQuery = { readonly text: string; readonly bound: BoundQuery };

export type RunOptions = {
  /** A value for every parameter the text names; NULL where none was given. */
  readonly parameters: ReadonlyMap<string, SqlValue>;
  /** The run's clock: microseconds since the epoch. */
  readonly nowUs: number;
  /** Rows beyond this are left out of the answer. */
  readonly rowsMax: number;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal?: AbortSignal | undefined;
};

export type QueryAnswer = {
  /** A JSON array of the rows, UTF-8: on loan until `release`. */
  readonly json: Uint8Array;
  readonly rowCount: number;
  /**
   * Gives the memory of `json` back, to be written over. For when nobody reads it any more; an
   * answer that is never released costs its memory, until it is garbage, and nothing else.
   */
  readonly release: () => void;
  /** Tells answers of different bytes apart; a part of their SHA-256. */
  readonly digest: string;
  readonly stats: RunStats;
};

/** What a run did, and how long each part of it took. */
export type RunStats = TaskStats & {
  /** Milliseconds on the main thread: folding, rewriting, physical plan, snapshot. */
  readonly planMs: number;
  /** Milliseconds between the threads: waiting for a worker, and messages there and back. */
  readonly queueMs: number;
};

export type EngineOptions = {
  readonly sources: readonly SourceSchema[];
  readonly catalog: SegmentCatalog;
  /** Threads that run queries and seal segments; as many as there are cores when left out. */
  readonly workerCount?: number | undefined;
};

/**
 * From SQL text to rows. Texts are bound once; each run folds its parameters and the clock in,
 * takes a snapshot of the segments that can matter, and hands both to the workers. A run sees every
 * row published before it was called.
 */
export class Engine {
  readonly #sources: readonly SourceSchema[];
  readonly #catalog: SegmentCatalog;
  readonly #pool: QueryPool;

  constructor(options: EngineOptions) {
    this.#sources = options.sources;
    this.#catalog = options.catalog;
    this.#pool = new QueryPool(options.workerCount);
  }

  /** Parses and binds. Throws a QueryError `invalid_sql` with its place in the text. */
  prepare(text: string, parameters: readonly ParameterDeclaration[]): PreparedQuery {
    const query = parseQuery(text);
    return { text, bound: bindQuery(query, { sources: this.#sources, parameters }) };
  }

  /** Runs a prepared query. Rejects with a QueryError for whatever the text or its values do wrong. */
  async run(query: PreparedQuery, options: RunOptions): Promise<QueryAnswer> {
    const startMs = performance.now();
    const parameters = new Map(
      Array.from(options.parameters, ([name, value]) => [name.toLowerCase(), value] as const),
    );
    const { nowUs, rowsMax } = options;
    const logical = optimize(query.bound, { parameters, nowUs, rowsMax, sources: this.#sources });
    const plan = physicalPlanOf(logical);
    const segments = scansOf(plan).map((scan) =>
      this.#catalog.segments(scan.source, {
        projectKey: scan.projectKey,
        timestampUsStart: scan.window.startUs,
        timestampUsEnd: scan.window.endUs,
      }),
    );
    const run = {
      plan,
      output: query.bound.output,
      segments,
      dropped: this.#catalog.dropped(),
    };
    const plannedMs = performance.now();
    const { json, rowCount, digest, stats } = await this.#pool.run(run, options.signal);
    const queueMs = performance.now() - plannedMs - stats.runMs;
    return {
      json: json.bytes,
      rowCount,
      release: () => giveBack(json),
      digest,
      stats: { ...stats, planMs: plannedMs - startMs, queueMs: Math.max(0, queueMs) },
    };
  }

  /**
   * Seals a full open segment in a worker: one segment for each partition of time, `partitionUs`
   * microseconds wide and counted from the epoch, that has rows.
   */
  seal(handle: OpenSegmentHandle, partitionUs: number): Promise<readonly SharedArrayBuffer[]> {
    return this.#pool.seal(handle, partitionUs);
  }

  /** Ends the workers once what is under way is done. */
  close(): Promise<void> {
    return this.#pool.close();
  }
}
