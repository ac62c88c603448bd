import {
  ANSWER_BYTES_MAX,
  type FieldCounts,
  must,
  type SegmentCatalog,
  type SourceSchema,
} from '../../engine/columns.ts';
import {
  type BegunAnswer,
  byLowerCase,
  type CallContext,
  type CallPlan,
  checkReach,
  type EngineStats,
  EVERYTHING,
  explainQuery,
  type FieldsOrder,
  HeldSnapshot,
  newScanCounters,
  optimizeInPieces,
  type ParameterDeclaration,
  type Pieces,
  type PreparedQuery,
  physicalPlanOf,
  prepareInPieces,
  prepareQuery,
  type QueryAnswer,
  type Reach,
  runPieces,
  runStatsOf,
  type SnapshotScope,
  scansOf,
  type Timed,
  taskStatsOf,
  timed,
  type Views,
  type Within,
  withinReach,
} from '../../engine/index.ts';
import type { BoundedRunOptions, QueryEngine } from '../call/query-engine.ts';
import { anyEventStatement } from './event-statements.ts';
import { countFieldsOf } from './field-sample.ts';
import type { FieldColumns } from './fields/field-columns.ts';
import { type RenderedQuery, renderQuery } from './render/query-sql.ts';
import { isMissingColumn } from './statement-error.ts';
import type { RunStatement, StatementRunner } from './statement-runner.ts';

/** Options of a run whose caller may still come to wait. */
type Options = Omit<BoundedRunOptions, 'signal'>;

type PlannedStatement = {
  readonly statement: RenderedQuery;
  /** Renders the plan without the columns of fields. */
  readonly withoutColumns: () => RenderedQuery;
};

type Rest<All extends readonly unknown[]> = All extends readonly [unknown, ...infer Others]
  ? Others
  : never;

/** From SQL text to rows: plans as the embedded engine does, and has ClickHouse run the optimised plan. */
export class ClickHouseEngine implements QueryEngine {
  readonly #sources: readonly SourceSchema[];
  readonly #runner: StatementRunner;
  readonly #columns: Pick<FieldColumns, 'find' | 'forget'>;
  readonly #nowMs: () => number;
  /** The statements of plans that are to be run. */
  readonly #statements = new WeakMap<CallPlan, PlannedStatement>();
  #planMs = 0;
  #queueMs = 0;

  constructor(parts: {
    /** The list may grow. */
    readonly sources: readonly SourceSchema[];
    readonly runner: StatementRunner;
    readonly columns: Pick<FieldColumns, 'find' | 'forget'>;
    readonly nowMs: () => number;
  }) {
    this.#sources = parts.sources;
    this.#runner = parts.runner;
    this.#columns = parts.columns;
    this.#nowMs = parts.nowMs;
  }

  prepare(
    text: string,
    parameters: readonly ParameterDeclaration[],
    within?: Within,
    views?: Views,
  ): PreparedQuery {
    return prepareQuery(text, { sources: this.#sources, parameters, within, views });
  }

  prepareInPieces(
    text: string,
    parameters: readonly ParameterDeclaration[],
    within?: Within,
    views?: Views,
  ): Pieces<PreparedQuery> {
    return prepareInPieces(text, { sources: this.#sources, parameters, within, views });
  }

  *planInPieces(query: PreparedQuery, options: Options): Pieces<Timed<CallPlan>> {
    try {
      return yield* timed(this.#plan(query, options), this.#nowMs);
    } catch (error) {
      this.#runner.noteFailure(error);
      throw error;
    }
  }

  run(query: PreparedQuery, options: BoundedRunOptions): Promise<QueryAnswer> {
    return this.#run(query, options, options.signal);
  }

  begin(query: PreparedQuery, options: Options): BegunAnswer {
    return (signal) => this.#run(query, options, signal);
  }

  get queriesWaiting(): number {
    return this.#runner.waitingCount;
  }

  async countFields(
    order: FieldsOrder & { readonly reach: Reach },
    signal?: AbortSignal,
  ): Promise<FieldCounts> {
    const { source, projectKey, window, reach, snapshot, tenant, withValues } = order;
    const asked = withinReach(projectKey, reach);
    checkReach([{ source, ...asked }], reach);
    // Events of several projects do not count for one of them.
    const projects: Reach['projects'] =
      asked.reach ?? (projectKey === undefined ? 'all' : [projectKey]);
    const scanned = { reach: { ...EVERYTHING, projects }, untilUs: untilOf(snapshot) };
    const caller = { tenant, signal };
    return countFieldsOf({ source, window, scanned, withValues }, this.#runner, caller);
  }

  /** Runs over it read no event with a timestamp at or after the time until which ClickHouse surely has all events. */
  takeSnapshot(scope: SnapshotScope): HeldSnapshot {
    return new TimeSnapshot(scope, this.#runner.completeUntilUs());
  }

  /** Whether ClickHouse has events of a source. Rejects with a QueryError. */
  async holdsEventsOf(source: string): Promise<boolean> {
    const bounds = { rowsMax: 1, bytesMax: ANSWER_BYTES_MAX };
    const caller = { tenant: undefined, signal: undefined };
    const { rowCount, release } = await this.#runner.run(anyEventStatement(source), bounds, caller);
    release();
    return rowCount > 0;
  }

  stats(): EngineStats {
    return {
      ...this.#runner.stats(),
      queriesInline: 0,
      memo: { bytes: 0, bytesMax: 0, entries: 0, hits: 0, misses: 0 },
      statesFailed: 0,
      planMs: this.#planMs,
      queueMs: this.#queueMs,
    };
  }

  *#plan(query: PreparedQuery, options: Options): Pieces<CallPlan> {
    const { reach, snapshot, arrivalAfter, arrivalEnd } = options;
    const optimized = yield* optimizeInPieces(query.bound, this.#contextOf(options));
    const plan = physicalPlanOf(optimized, reach);
    const planned: CallPlan = { plan, scans: scansOf(plan) };
    checkReach(planned.scans, reach);
    yield;
    const numbers =
      arrivalAfter === undefined || arrivalEnd === undefined
        ? undefined
        : { start: arrivalAfter + 1, end: arrivalEnd };
    const scanned = { reach, untilUs: untilOf(snapshot), numbers };
    const { output } = query.bound;
    const { find: findField } = this.#columns;
    this.#statements.set(planned, {
      statement: renderQuery(optimized, output, { ...scanned, findField }),
      withoutColumns: () => renderQuery(optimized, output, scanned),
    });
    return planned;
  }

  #contextOf({ parameters, nowUs, rowsMax, reach }: Options): CallContext {
    return { parameters: byLowerCase(parameters), nowUs, rowsMax, reach, sources: this.#sources };
  }

  async #run(
    query: PreparedQuery,
    options: Options,
    signal: AbortSignal | undefined,
  ): Promise<QueryAnswer> {
    const { tenant, rowsMax, isExplained } = options;
    const { value, ms: planMs } = options.planned ?? runPieces(this.planInPieces(query, options));
    const planned = must(this.#statements.get(value), 'the plan is of this engine');
    const bounds = { rowsMax, bytesMax: ANSWER_BYTES_MAX };
    const { statement, answer } = await this.#runPlanned(planned, bounds, { tenant, signal });
    this.#planMs += planMs;
    this.#queueMs += answer.queueMs;
    return {
      ...answerOf(answer, planMs),
      explanation: isExplained === true ? this.#explain(query, options, statement) : undefined,
    };
  }

  /** If somebody has dropped a column, the statement that needs none runs in its place. */
  async #runPlanned(
    { statement, withoutColumns }: PlannedStatement,
    ...[bounds, caller]: Rest<Parameters<StatementRunner['run']>>
  ): Promise<{ readonly statement: RenderedQuery; readonly answer: RunStatement }> {
    try {
      return { statement, answer: await this.#runner.run(statement, bounds, caller) };
    } catch (error) {
      if (!isMissingColumn(error)) throw error;
      this.#columns.forget();
      const plain = withoutColumns();
      return { statement: plain, answer: await this.#runner.run(plain, bounds, caller) };
    }
  }

  #explain(
    query: PreparedQuery,
    options: Options,
    { sql, parameters }: RenderedQuery,
  ): QueryAnswer['explanation'] {
    return { ...explainQuery(query, this.#contextOf(options)), statement: { sql, parameters } };
  }
}

function answerOf(answer: RunStatement, planMs: number): QueryAnswer {
  const { json, rowCount, isTruncated, rowsRead, completeUntilUs, queueMs, runMs, release } =
    answer;
  const counters = newScanCounters();
  counters.rowsScanned = rowsRead;
  const stats = runStatsOf(taskStatsOf(counters, runMs), { planMs, queueMs });
  return { json, rowCount, isTruncated, release, lostDays: [], completeUntilUs, stats };
}

const NO_SEGMENTS: SegmentCatalog = { segments: () => [], dropped: () => ({ count: 0, ids: [] }) };

/** Instead of segments it has a time, and holds nothing. */
class TimeSnapshot extends HeldSnapshot {
  /** Microseconds; events with a timestamp from here on are left out. */
  readonly untilUs: number;

  constructor(scope: SnapshotScope, untilUs: number) {
    super(NO_SEGMENTS, scope, () => {});
    this.untilUs = untilUs;
  }
}

function untilOf(snapshot: HeldSnapshot | undefined): number | undefined {
  return snapshot instanceof TimeSnapshot ? snapshot.untilUs : undefined;
}
