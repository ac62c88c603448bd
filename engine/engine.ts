import { must } from './assert.ts';
import type { PartRows } from './column/divide-rows.ts';
import type { FieldCounts } from './column/field-counts.ts';
import { collectGarbageBeside } from './column/garbage.ts';
import type { PackedImage } from './column/packed-image.ts';
import type {
  AnyContent,
  OpenSegmentHandle,
  SealedSegmentHandle,
  SegmentCatalog,
  SegmentContent,
  SourceSchema,
} from './column/segment.ts';
import { isUnreadable } from './column/segment-image.ts';
import type { SqlValue } from './column/value.ts';
import { UNREADABLE_TRIES_MAX } from './limits.ts';
import { mayFailForMemo } from './memo/coverage.ts';
import { type MemoLimits, MemoRuns, type RunSnapshot } from './memo/memo-runs.ts';
import type { MemoStats } from './memo/partial-memo.ts';
import type { Within } from './plan/binder/binding.ts';
import {
  byLowerCase,
  explainQuery,
  type QueryExplanation,
  type SnapshotCounts,
} from './plan/explanation.ts';
import type { ParameterDeclaration, Views } from './plan/logical-plan.ts';
import type { CallContext } from './plan/optimize/optimize.ts';
import type { PhysicalScan } from './plan/physical-plan.ts';
import { type Pieces, type Timed, timed } from './plan/pieces.ts';
import { type CallPlan, PlanCache } from './plan/plan-cache.ts';
import { type PreparedQuery, prepareInPieces, prepareQuery } from './plan/prepared-query.ts';
import { checkReach, EVERYTHING, type Reach, withinReach } from './plan/reach.ts';
import type { Tenant } from './pool/fair-queue.ts';
import { type HeldSnapshot, ScannedSegments, type SnapshotScope } from './pool/held-snapshot.ts';
import { type InlineLimits, InlineRuns } from './pool/inline-runs.ts';
import type { PoolLimits } from './pool/pool-limits.ts';
import { type PoolStats, type RunProgress, type RunStats, runStatsOf } from './pool/pool-stats.ts';
import { isRunWhole, QueryPool, type QueryRun } from './pool/query-pool.ts';
import { RunCosts } from './pool/run-costs.ts';
import type { RunAnswer } from './pool/task.ts';

type Handles = readonly SealedSegmentHandle[];

export type RunOptions = {
  /** A value for every parameter the text names; NULL where none was given. */
  readonly parameters: ReadonlyMap<string, SqlValue>;
  /** The run's clock: microseconds since the epoch. */
  readonly nowUs: number;
  /** Rows beyond this are left out of the answer. */
  readonly rowsMax: number;
  /**
   * Where the text wants only rows that arrived after this one: segments without any are not looked at.
   * The text has to say so, too, for rows of other segments are not left out.
   */
  readonly arrivalAfter?: number;
  /** Who shares the threads fairly with others; all that name none are one. */
  readonly tenant?: Tenant | undefined;
  /** Made by `planInPieces` for the same query with the same options, but for this one. */
  readonly planned?: Timed<CallPlan> | undefined;
  /** What the run may read, whatever the text asks for; absent: everything. */
  readonly reach?: Reach | undefined;
  /**
   * What the run reads of the snapshot's source, as it was then. What its text reads beyond the scope of the snapshot, or of
   * other sources, it reads as it is.
   */
  readonly snapshot?: HeldSnapshot | undefined;
  /** There where no caller waits for the answer: such a run goes last. Aborted as soon as one does. */
  readonly renewal?: AbortSignal | undefined;
  /** Told how far the run is, if threads run it. */
  readonly progress?: RunProgress | undefined;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal?: AbortSignal | undefined;
  /** Whether the answer should tell how it was made; measuring that takes time. */
  readonly isExplained?: boolean | undefined;
};

export type QueryAnswer = {
  /** A JSON array of the rows, UTF-8: on loan until `release`. */
  readonly json: Uint8Array;
  readonly rowCount: number;
  /** Whether there are more rows than `rowsMax`. */
  readonly isTruncated: boolean;
  /**
   * Gives the memory of `json` back, to be written over. For when nobody reads it any more; an
   * answer that is never released costs its memory, until it is garbage, and nothing else.
   */
  readonly release: () => void;
  /**
   * UTC days (since the epoch, ascending) that the run would have read more of: rows, or values of rows, were stored
   * and are lost.
   */
  readonly lostDays: readonly number[];
  /**
   * It has all events that were acknowledged before this time, in microseconds. Absent: that were acknowledged before the
   * call.
   */
  readonly completeUntilUs?: number | undefined;
  readonly stats: RunStats;
  /** There when it was asked for. */
  readonly explanation?: QueryExplanation | undefined;
};

/** An answer that is there, or how to wait for it: to be called in the turn of the event loop that it was given in. */
export type BegunAnswer = QueryAnswer | ((signal?: AbortSignal) => Promise<QueryAnswer>);

/** Which fields are asked for. */
export type FieldsOrder = Pick<RunOptions, 'reach' | 'snapshot' | 'tenant'> & {
  readonly source: string;
  /** Only events of this project; absent: all in reach. */
  readonly projectKey?: string | undefined;
  readonly window: PhysicalScan['window'];
  /** Whether their values are wanted. */
  readonly withValues: boolean;
};

/** What an answer tells of a run beside its rows. */
type RunFacts = {
  readonly query: PreparedQuery;
  readonly options: RunOptions;
  readonly lostDays: readonly number[];
  readonly snapshots: readonly SnapshotCounts[];
  readonly planMs: number;
  /** When it was planned. */
  readonly plannedMs: number;
};

export type EngineOptions = {
  /** The list may grow: texts that are bound later may name what was added. */
  readonly sources: readonly SourceSchema[];
  readonly catalog: SegmentCatalog;
  /** Threads that run queries and seal segments; as many as there are cores when left out. */
  readonly workerCount?: number | undefined;
  /** Bounds of the workers; those of `limits.ts` where left out. */
  readonly poolLimits?: Partial<PoolLimits>;
  /**
   * A folder for files of queries whose distinct values do not fit into memory, created by the first; such queries are
   * refused when left out. The folder above it has to exist.
   */
  readonly spillFolder?: string | undefined;
  /** Bounds of the runs on this thread, likewise. */
  readonly inlineLimits?: Partial<InlineLimits>;
  /** Bounds of what is remembered of segments, likewise. */
  readonly memoLimits?: Partial<MemoLimits>;
  /** Whether posts are about to be refused, as sealing is behind; never where left out. */
  readonly isSealUrgent?: () => boolean;
};

/** What the engine has done since it was made. */
export type EngineStats = PoolStats & {
  /** Answered queries that were run on the main thread; they are among those that succeeded. */
  readonly queriesInline: number;
  readonly memo: MemoStats;
  /** Segments whose states could not be made ahead. */
  readonly statesFailed: number;
  /** Milliseconds of planning on the main thread, summed over the answered queries. */
  readonly planMs: number;
  /** Milliseconds between the threads, likewise. */
  readonly queueMs: number;
};

/**
 * From SQL text to rows. Texts are bound once; each run folds its parameters and the clock in,
 * takes a snapshot of the segments that can matter, and hands both to the workers. A run sees every
 * row published before it was called.
 */
export class Engine {
  readonly #sources: readonly SourceSchema[];
  readonly #catalog: SegmentCatalog;
  readonly #scanned: ScannedSegments;
  readonly #pool: QueryPool;
  readonly #inline: InlineRuns;
  readonly #memo: MemoRuns;
  /** Who wants nothing remembered of segments wants nothing found out of them kept either. */
  readonly #isEachRunAnew: boolean;
  /** Set while states are made ahead; never rejects. */
  #preparing: Promise<void> | undefined;
  #isClosed = false;
  #statesFailed = 0;
  readonly #costs = new RunCosts();
  readonly #plans = new PlanCache();
  #queriesInline = 0;
  #planMs = 0;
  #queueMs = 0;

  constructor(options: EngineOptions) {
    this.#sources = options.sources;
    this.#catalog = options.catalog;
    this.#scanned = new ScannedSegments(options.catalog);
    const costs = this.#costs;
    this.#inline = new InlineRuns(options.inlineLimits, costs);
    this.#pool = new QueryPool({
      workerCount: options.workerCount,
      limits: options.poolLimits,
      spillFolder: options.spillFolder,
      costs,
      isSealUrgent: options.isSealUrgent,
      finishHere: (run, partials) => this.#inline.finish(run, partials),
    });
    this.#memo = new MemoRuns(options.memoLimits);
    this.#isEachRunAnew = options.memoLimits?.bytesMax === 0;
  }

  /**
   * Parses and binds; with `within`, as a text that was sent and may name these tables only; with `views`,
   * as one that may also name these. Throws a QueryError `invalid_sql` with its place in the text.
   */
  prepare(
    text: string,
    parameters: readonly ParameterDeclaration[],
    within?: Within,
    views?: Views,
  ): PreparedQuery {
    return prepareQuery(text, { sources: this.#sources, parameters, within, views });
  }

  /** As `prepare`, with a pause between parsing and binding. */
  prepareInPieces(
    text: string,
    parameters: readonly ParameterDeclaration[],
    within?: Within,
    views?: Views,
  ): Pieces<PreparedQuery> {
    return prepareInPieces(text, { sources: this.#sources, parameters, within, views });
  }

  /**
   * The plan of a run that is to begin soon, for a query of which nobody knows how long it takes to plan. Throws a QueryError
   * as the run would.
   */
  *planInPieces(query: PreparedQuery, options: RunOptions): Pieces<Timed<CallPlan>> {
    try {
      this.#pool.checkAdmission(options.tenant);
      const pieces = this.#plans.planInPieces(query.bound, this.#contextOf(options));
      return yield* timed(pieces, () => performance.now());
    } catch (error) {
      this.#pool.countFailure(error);
      throw error;
    }
  }

  /**
   * The fields of the events of a source, in reach only. Rejects as `run` does.
   */
  async countFields(order: FieldsOrder, signal?: AbortSignal): Promise<FieldCounts> {
    const { source, projectKey, window, reach = EVERYTHING, snapshot, tenant, withValues } = order;
    const scanned = withinReach(projectKey, reach);
    checkReach([{ source, ...scanned }], reach);
    const projects = scanned.reach ?? (projectKey === undefined ? undefined : [projectKey]);
    const scan = { source, projectKey, reach: scanned.reach, window };
    for (let triesLeft = UNREADABLE_TRIES_MAX; ; triesLeft--) {
      const segments = this.#scanned.find(scan, { held: snapshot });
      const dropped = snapshot?.dropped ?? this.#scanned.dropped();
      const scope = { ...window, projects, withValues };
      const count = () => this.#pool.countFields({ segments, dropped, scope }, tenant, signal);
      try {
        return await this.#scanned.readers.read(count);
      } catch (error) {
        this.#scanned.noteUnread(error);
        if (!isUnreadable(error)) throw error;
        await this.#scanned.mend(error, triesLeft === 0 || snapshot !== undefined);
      }
    }
  }

  /** The rows of a source that are published now, for several runs. To be released. */
  takeSnapshot(scope: SnapshotScope): HeldSnapshot {
    return this.#scanned.hold(scope);
  }

  /**
   * Runs a prepared query. Rejects with a QueryError for whatever the text or its values do wrong. When
   * the file of a segment has gone or is damaged, the query is run again without it; a QueryError
   * `overloaded` when that does not help. When the system refuses to read a file, `storage_failed`: the next
   * run reads it again.
   */
  async run(query: PreparedQuery, options: RunOptions): Promise<QueryAnswer> {
    const begun = this.begin(query, options);
    return typeof begun === 'function' ? begun(options.signal) : begun;
  }

  /**
   * As `run`, without a promise where the answer is there in this turn of the event loop. Never throws. Who has yet to
   * make a signal gives it to what waits.
   */
  begin(query: PreparedQuery, options: RunOptions): BegunAnswer {
    let begun: BegunAnswer;
    try {
      begun = this.#beginOnce(query, options);
    } catch (error) {
      begun = () => Promise.reject(error);
    }
    if (typeof begun !== 'function') return begun;
    const wait = begun;
    return (signal) => this.#mended(wait(signal), query, { ...options, signal });
  }

  /** What is waited for, or what comes of the query when it is run again without what it could not read. */
  async #mended(
    first: Promise<QueryAnswer>,
    query: PreparedQuery,
    options: RunOptions,
  ): Promise<QueryAnswer> {
    let answer = first;
    for (let triesLeft = UNREADABLE_TRIES_MAX; ; triesLeft--) {
      try {
        return await answer;
      } catch (error) {
        this.#scanned.noteUnread(error);
        if (!isUnreadable(error)) throw error;
        try {
          // A snapshot that is held stays as it is.
          await this.#scanned.mend(error, triesLeft === 0 || options.snapshot !== undefined);
        } catch (failure) {
          this.#pool.countFailure(failure);
          throw failure;
        }
        answer = this.#runOnce(query, options);
      }
    }
  }

  async #runOnce(query: PreparedQuery, options: RunOptions): Promise<QueryAnswer> {
    const begun = this.#beginOnce(query, options);
    return typeof begun === 'function' ? begun(options.signal) : begun;
  }

  #beginOnce(query: PreparedQuery, options: RunOptions): BegunAnswer {
    const startMs = performance.now();
    const { run, scans } = this.#plan(query, options);
    const plannedMs = performance.now();
    const snapshots = options.isExplained === true ? this.#scanned.countLeftOut(scans) : [];
    const lostDays = this.#scanned.findLostDays(scans);
    const planMs = plannedMs - startMs + (options.planned?.ms ?? 0);
    const planned = { query, options, lostDays, snapshots, planMs, plannedMs };
    // What is answered in this turn reads no segment later on.
    const few = options.signal?.aborted === true ? undefined : this.#runOverFew(run, scans);
    if (few !== undefined) return this.#answerOf(few, planned);
    return async (signal) => {
      const many = await this.#scanned.readers.read(() => this.#runOverMany(run, scans, signal));
      return this.#answerOf(many, planned);
    };
  }

  #answerOf(
    { json, rowCount, isTruncated, release, stats, waited }: RunAnswer,
    { query, options, lostDays, snapshots, planMs, plannedMs }: RunFacts,
  ): QueryAnswer {
    const { profile, runMs } = stats;
    const queueMs = Math.max(0, performance.now() - plannedMs - runMs);
    this.#planMs += planMs;
    this.#queueMs += queueMs;
    return {
      json,
      rowCount,
      isTruncated,
      release,
      lostDays,
      stats: runStatsOf(stats, { planMs, queueMs, waited }),
      explanation:
        profile &&
        explainQuery(query, this.#contextOf(options), {
          rowCount,
          planMs,
          queueMs,
          runMs,
          profile,
          snapshots,
        }),
    };
  }

  /**
   * On this thread, as a run over few rows, with what is remembered of it as such. That is looked for of plans that
   * come again, as only these are worth the trouble.
   */
  #runOverFew(run: QueryRun, scans: readonly PhysicalScan[]): RunAnswer | undefined {
    if (run.template === undefined || run.isProfiled === true) return this.#runInline(run, scans);
    const coverage = this.#memo.coverSmall(snapshotOf(run, scans));
    if (coverage === 'not few') return undefined;
    if (coverage === undefined) return this.#runInline(run, scans);
    const answer = this.#runInline({ ...run, covered: { coverage, memo: this.#memo } }, scans);
    if (answer !== undefined) this.#memo.noteFew(coverage.fragment, scans[0]!.window);
    return answer;
  }

  /** On this thread, where that is sooner done than told to another. */
  #runInline(run: QueryRun, scans: readonly PhysicalScan[]): RunAnswer | undefined {
    try {
      const answer = this.#inline.run(run, scans);
      if (answer === undefined) return undefined;
      this.#pool.countSuccess(answer.stats);
      this.#queriesInline += 1;
      return answer;
    } catch (error) {
      const isRunAgain = isUnreadable(error) || mayFailForMemo(run.covered?.coverage, error);
      if (!isRunAgain) this.#pool.countFailure(error);
      throw error;
    }
  }

  /** With what is remembered of its segments where that helps, else over all of them. */
  async #runOverMany(
    run: QueryRun,
    scans: readonly PhysicalScan[],
    signal: AbortSignal | undefined,
  ): Promise<RunAnswer> {
    const answer = await this.#runCovered(run, scans, signal);
    if (answer !== undefined) return answer;
    try {
      return await this.#pool.run(run, signal);
    } catch (error) {
      if (!isRunWhole(run, error)) throw error;
      return await this.#pool.run({ ...run, isWhole: true }, signal);
    }
  }

  /** With what is remembered of its segments; `undefined` where that is nothing, or does not help. */
  async #runCovered(
    run: QueryRun,
    scans: readonly PhysicalScan[],
    signal: AbortSignal | undefined,
  ): Promise<RunAnswer | undefined> {
    if (signal?.aborted) return undefined;
    if (this.#costs.isOversized(run)) return undefined;
    const coverage = this.#memo.cover(snapshotOf(run, scans));
    if (coverage === undefined) return undefined;
    const covered = { ...run, covered: { coverage, memo: this.#memo } };
    try {
      return this.#runInline(covered, scans) ?? (await this.#pool.run(covered, signal));
    } catch (error) {
      if (isRunWhole(covered, error)) return undefined;
      throw error;
    }
  }

  /** Queries that wait for a thread. */
  get queriesWaiting(): number {
    return this.#pool.queriesWaiting;
  }

  stats(): EngineStats {
    return {
      ...this.#pool.stats(),
      queriesInline: this.#queriesInline,
      memo: this.#memo.stats(),
      statesFailed: this.#statesFailed,
      planMs: this.#planMs,
      queueMs: this.#queueMs,
    };
  }

  /**
   * Seals a full open segment in a worker: one segment for each partition of time, `partitionUs`
   * microseconds wide and counted from the epoch, that has rows.
   */
  seal(handle: OpenSegmentHandle, partitionUs: number): Promise<readonly SharedArrayBuffer[]> {
    return this.#pool.makeSegments({ kind: 'seal', handle, partitionUs });
  }

  /** Merges sealed segments of one source in a worker: all their rows in one, or those of `part`. */
  async merge(handles: Handles, part?: PartRows): Promise<SharedArrayBuffer> {
    const work = () => this.#pool.makeSegments({ kind: 'merge', handles, part });
    return must((await this.#scanned.readers.read(work))[0], 'merging makes a segment');
  }

  /** Divides the rows of sealed segments of one source into parts to be merged, as `divideRows` does. */
  divide(handles: Handles, rowsMax: number): Promise<readonly PartRows[]> {
    return this.#scanned.readers.read(() =>
      this.#pool.divide({ kind: 'divide', handles, rowsMax }),
    );
  }

  /** Makes in a worker what the file of a sealed segment holds of it; `of`: what has made it. */
  pack(buffer: SharedArrayBuffer, of: 'seal' | 'merge'): Promise<PackedImage> {
    return this.#pool.packSegment({ kind: 'pack', of, buffer });
  }

  /**
   * Resolves once all that reads segments of a snapshot taken before this call has ended: each try of a
   * run, and merges. Never rejects; bounded by the time that these may take. `undefined`: nothing does.
   */
  readersDone(): Promise<void> | undefined {
    return this.#scanned.readers.done();
  }

  /**
   * Frees the memory of segments that are no more, here and in idle threads, within some 20 ms: memory that threads
   * share goes when each of them has collected its garbage, which they would not do of themselves.
   */
  releaseDropped(): void {
    const dropped = this.#catalog.dropped();
    this.#pool.tidy(dropped);
    this.#inline.forgetDropped(dropped);
    void collectGarbageBeside();
  }

  /**
   * Makes ahead, in the background, what calls for other projects would ask of sealed segments. To be called
   * about once a second. Resolves when there is nothing left to be made; never rejects for what a segment,
   * or a thread, does.
   */
  prepareStates(): Promise<void> {
    this.#preparing ??= this.#prepareAll().finally(() => {
      this.#preparing = undefined;
    });
    return this.#preparing;
  }

  async #prepareAll(): Promise<void> {
    const always = { timestampUsStart: -Infinity, timestampUsEnd: Infinity };
    const segments = (source: string) => this.#catalog.segments(source, always);
    while (!this.#isClosed) {
      const next = this.#memo.nextPreparation(segments);
      if (next === undefined) return;
      const { handle, order } = next;
      const dropped = this.#catalog.dropped();
      const task = { kind: 'states' as const, handle, order, dropped };
      try {
        const states = await this.#scanned.readers.read(() => this.#pool.prepareStates(task));
        this.#memo.keepPrepared(next, states);
      } catch {
        // A query that reads the segment will tell of it; there is one state less to be found.
        this.#statesFailed += 1;
      }
    }
  }

  /** To be told when what some segments held is in one segment from now on, before each of them is forgotten. */
  inherit(from: readonly AnyContent[], to: SegmentContent): void {
    void this.#memo.inherit(from, to);
  }

  /** To be told when what a segment held is no more, or is in another one. */
  forget(content: AnyContent): void {
    this.#memo.forget(content);
  }

  /** Ends the workers once what is under way is done. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pool.close();
    await this.#preparing;
  }

  #contextOf({ parameters, nowUs, rowsMax, reach }: RunOptions): CallContext {
    return { parameters: byLowerCase(parameters), nowUs, rowsMax, reach, sources: this.#sources };
  }

  #plan(
    query: PreparedQuery,
    options: RunOptions,
  ): { readonly run: QueryRun; readonly scans: readonly PhysicalScan[] } {
    try {
      this.#pool.checkAdmission(options.tenant);
      const planned =
        options.planned?.value ?? this.#plans.planOf(query.bound, this.#contextOf(options));
      const { plan, scans, template } = planned;
      checkReach(scans, options.reach ?? EVERYTHING);
      const { arrivalAfter, snapshot: held } = options;
      const segments = scans.map((scan) => this.#scanned.find(scan, { arrivalAfter, held }));
      const run: QueryRun = {
        plan,
        output: query.bound.output,
        rowsMax: options.rowsMax,
        template,
        segments,
        dropped: options.snapshot?.dropped ?? this.#catalog.dropped(),
        isAnew: this.#isEachRunAnew,
        isProfiled: options.isExplained,
        covered: undefined,
        tenant: options.tenant,
        renewal: options.renewal,
        progress: options.progress,
      };
      return { run, scans };
    } catch (error) {
      this.#pool.countFailure(error);
      throw error;
    }
  }
}

function snapshotOf(
  { plan, template, segments }: QueryRun,
  scans: readonly PhysicalScan[],
): RunSnapshot {
  return { plan, scans, template, segments };
}
