import { availableParallelism } from 'node:os';
import { assert, must } from '../assert.ts';
import type { PartRows } from '../column/divide-rows.ts';
import type { FieldCounts } from '../column/field-counts.ts';
import type { PackedImage } from '../column/packed-image.ts';
import type { DroppedSegments, SegmentHandle } from '../column/segment.ts';
import { isUnreadable } from '../column/segment-image.ts';
import {
  BACKGROUND_NICE,
  FRAGMENT_BYTES_MIN,
  FRAGMENT_STATE_BYTES_PER_ROW_MAX,
  FRAGMENTED_MS_MIN,
  PARKED_PER_WORKER_MAX,
  QUERY_NICE,
} from '../limits.ts';
import { mayFailForMemo, ordersOf } from '../memo/coverage.ts';
import type { PreparedStates } from '../memo/prepare-states.ts';
import { partialSize, type SentPartial } from '../memo/run-pieces.ts';
import type { Column } from '../plan/expression.ts';
import { breakerOf, type PhysicalPlan } from '../plan/physical-plan.ts';
import type { SentTemplate } from '../plan/plan-cache.ts';
import { QueryError } from '../query-error.ts';
import { DrainRate, NO_TENANT, type Tenant, TenantSets } from './fair-queue.ts';
import {
  type FragmentShare,
  fragmentShares,
  isOfAllRows,
  type RunCoverage,
  sharesOfPieces,
  sizeOf,
  takePieces,
  withRemembered,
} from './fragment-shares.ts';
import {
  POOL_LIMITS,
  type PoolLimits,
  partialBytesWithin,
  type ThreadBounds,
} from './pool-limits.ts';
import { PoolCounters, type PoolStats, type RunProgress, statsOfAll } from './pool-stats.ts';
import { QueryTasks, SegmentTasks } from './query-tasks.ts';
import { RunCosts } from './run-costs.ts';
import {
  type DivideTask,
  type DoneAnswer,
  type FieldsTask,
  giveBack,
  type MergeTask,
  newTaskSignal,
  type PackTask,
  type PartialAnswer,
  type QueryPart,
  type RowsAnswer,
  type RunAnswer,
  type SealTask,
  type StatesTask,
  type TaskStats,
  type Waited,
} from './task.ts';
import { TaskScheduler } from './task-scheduler.ts';
import type { WorkKind } from './work-shares.ts';
import { OversizedStatesError, WorkerThreads } from './worker-threads.ts';

/** A query ready to run: its plan and the segments each of its scans reads. */
export type QueryRun = {
  readonly plan: PhysicalPlan;
  readonly output: readonly Column[];
  /** Rows of the answer at most; the plan gives one more where there are more. */
  readonly rowsMax: number;
  /** What workers get in place of these, where calls share a plan. */
  readonly template?: SentTemplate | undefined;
  readonly segments: readonly (readonly SegmentHandle[])[];
  readonly dropped: DroppedSegments;
  /** Whether nothing counts that earlier runs have found out (`column/caches.ts`). */
  readonly isAnew?: boolean;
  /** Whether each operator is to be measured. */
  readonly isProfiled?: boolean | undefined;
  /** Whether one task is to run all of it. */
  readonly isWhole?: boolean;
  /** Present if partial states are remembered; it replaces the segments then. */
  readonly covered?: RunCoverage | undefined;
  /** The tenant whose share of the threads the run uses. */
  readonly tenant?: Tenant | undefined;
  /** Present if no caller waits for the run; aborted as soon as one does. */
  readonly renewal?: AbortSignal | undefined;
  /** There when somebody may ask how far it is. */
  readonly progress?: RunProgress | undefined;
};

export type QueryPoolOptions = {
  /** As many as there are cores when left out. */
  readonly workerCount?: number | undefined;
  readonly limits?: Partial<PoolLimits> | undefined;
  /** A folder for what queries cannot hold in memory; they have to hold everything when left out. */
  readonly spillFolder?: string | undefined;
  /** Module that runs the tasks, in place of our own. */
  readonly workerUrl?: URL;
  /** What is known of plans, and learned of their runs here. */
  readonly costs?: RunCosts;
  /** Whether posts are about to be refused, as sealing is behind: it takes more of the threads then. */
  readonly isSealUrgent?: (() => boolean) | undefined;
  /** Does what is left of a run when its partial states are made, on this thread; `undefined`: a worker is to do it. */
  readonly finishHere?: FinishHere;
};

type FinishHere = (query: QueryRun, partials: readonly SentPartial[]) => RunAnswer | undefined;

/**
 * The worker threads: those of queries, and those of the background, which seal, merge and pack. As many of them all run at
 * a time as there are workers, and calls go first. A query over little data is one task; one that groups much data is cut by
 * segments, or by their rows, into a fragment for each worker, whose partial states a last task combines. The answer
 * is the same either way.
 *
 * Whatever becomes of one query, a lost thread included, the others do not notice; see
 * `TaskScheduler` for the order of tasks and `QueryTasks` for how a query stops.
 */
export class QueryPool {
  readonly #workerCount: number;
  readonly #limits: PoolLimits;
  readonly #scheduler: TaskScheduler;
  readonly #queries: WorkerThreads;
  readonly #background: WorkerThreads;
  readonly #segmentTasks: SegmentTasks;
  readonly #counters = new PoolCounters();
  readonly #costs: RunCosts;
  readonly #finishHere: FinishHere | undefined;
  /** Queries that no thread has taken up yet. */
  readonly #waiting = new TenantSets<QueryTasks>();
  readonly #drained = new DrainRate();
  /** Tidy tasks that threads run now. None of these promises rejects. */
  readonly #tidying = new Set<Promise<void>>();
  /** Whether a check for starting a thread ahead is scheduled. */
  #isSpareDue = false;
  #isClosed = false;

  constructor(options: QueryPoolOptions) {
    this.#workerCount = options.workerCount ?? availableParallelism();
    // Taking in is one thread's work, and half the cores keep up with it.
    const backgroundCount = Math.ceil(this.#workerCount / 2);
    this.#limits = {
      ...POOL_LIMITS,
      parkedMax: PARKED_PER_WORKER_MAX * this.#workerCount,
      backgroundMax: 2 * backgroundCount,
      ...options.limits,
    };
    this.#costs = options.costs ?? new RunCosts();
    this.#finishHere = options.finishHere;
    // The same file compiled and not: the extension follows our own.
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    const threads = {
      workerUrl: options.workerUrl ?? new URL(`./worker.${extension}`, import.meta.url),
      heapBytesMax: this.#limits.heapBytesMax,
      newObjectsBytesMax: this.#limits.newObjectsBytesMax,
      heldBytesMax: this.#limits.queriesBytesMax,
      bounds: threadBoundsOf(this.#limits, this.#workerCount),
      idleMsMax: this.#limits.threadIdleMsMax,
    };
    const { turnMsMin, parkedMax, backgroundMax, sealMsMax } = this.#limits;
    this.#scheduler = new TaskScheduler({
      ...{ threadCount: this.#workerCount, parkedMax, turnMsMin },
      background: { runningMax: backgroundCount, begunMax: backgroundMax },
      isSealUrgent: options.isSealUrgent,
    });
    const queryCount = this.#workerCount + parkedMax;
    this.#queries = new WorkerThreads({
      ...{ ...threads, count: queryCount, keptCount: 1, nice: QUERY_NICE },
      spillFolder: options.spillFolder,
    });
    this.#background = new WorkerThreads({
      ...{ ...threads, count: backgroundMax, keptCount: 0, nice: BACKGROUND_NICE },
    });
    this.#segmentTasks = new SegmentTasks({
      scheduler: this.#scheduler,
      threads: this.#background,
      taskMsMax: sealMsMax,
    });
    // What a start has to seal need not wait for a thread.
    this.#tidyThread('background', NONE_DROPPED);
  }

  /**
   * Rejects with a QueryError: `overloaded` at once when too many wait, or later, when another
   * tenant's query takes the place of one of many of this tenant's, or when this
   * tenant's have run longest while others find no thread; `query_cancelled` soon after `signal` is aborted, `query_timeout`, `worker_lost`, or what the query itself does wrong.
   */
  async run(query: QueryRun, signal?: AbortSignal): Promise<RunAnswer> {
    const { tenant = NO_TENANT } = query;
    const tasks = this.#tasksOf(tenant, isRenewal(query) ? 'renewal' : 'call');
    const becomeCall = () => tasks.becomeCall();
    query.renewal?.addEventListener('abort', becomeCall, { once: true });
    try {
      const rows = await this.#admitted({ tenant, tasks, signal }, () =>
        this.#runTasks(query, tasks),
      );
      this.#counters.querySucceeded(rows.stats);
      return withWaited(rows, tasks.waited);
    } catch (error) {
      // It is run again, and counted when that fails.
      if (error instanceof OversizedStatesError) {
        this.#costs.noteOversized(query);
        // What the others hold is to be free when the whole runs.
        await tasks.ended();
      }
      const isRunAgain = isUnreadable(error) || isRunWhole(query, error);
      if (!isRunAgain) this.#counters.queryFailed(error, tasks.wasEnded);
      throw error;
    } finally {
      query.renewal?.removeEventListener('abort', becomeCall);
    }
  }

  /** Counts fields in a worker, in turns with queries. Rejects as `run` does. */
  async countFields(
    order: Pick<FieldsTask, 'segments' | 'dropped' | 'scope'>,
    tenant: Tenant = NO_TENANT,
    signal?: AbortSignal,
  ): Promise<FieldCounts> {
    const tasks = this.#tasksOf(tenant, 'call');
    const task: FieldsTask = {
      ...{ kind: 'fields', signal: newTaskSignal(), timeMsMax: this.#limits.queryMsMax },
      ...order,
    };
    const answer = await this.#admitted({ tenant, tasks, signal }, () => tasks.run('turn', task));
    assert(answer.kind === 'fields', 'a task of fields answers with fields');
    return answer.counts;
  }

  #tasksOf(tenant: Tenant, kind: WorkKind): QueryTasks {
    const tasks: QueryTasks = new QueryTasks({
      scheduler: this.#scheduler,
      threads: this.#queries,
      limits: this.#limits,
      tenant,
      kind,
      onBegin: () => {
        this.#endWaiting(tenant, tasks);
        this.#startSpareLater();
      },
      endedForOthers: () => this.#endedForOthers(),
    });
    return tasks;
  }

  /** Runs tasks once there is a place for them, until they end or `signal` stops them. */
  async #admitted<T>(
    of: {
      readonly tenant: Tenant;
      readonly tasks: QueryTasks;
      readonly signal: AbortSignal | undefined;
    },
    begin: () => Promise<T>,
  ): Promise<T> {
    const { tenant, tasks, signal } = of;
    const cancel = () => tasks.stop(cancellationOf(signal));
    if (signal?.aborted) cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      this.checkAdmission(tenant);
      this.#makeRoom();
      this.#waiting.add(tenant, tasks);
      this.#drained.enter(performance.now());
      const run = begin();
      this.#counters.queriesWait(this.#waiting.size);
      return await run;
    } finally {
      this.#endWaiting(tenant, tasks);
      signal?.removeEventListener('abort', cancel);
    }
  }

  /** Makes sealed segments in a worker, when it is their turn. */
  async makeSegments(task: SealTask | MergeTask): Promise<readonly SharedArrayBuffer[]> {
    try {
      const answer = await this.#segmentTasks.run(task);
      assert(answer.kind === 'sealed', 'sealing and merging answer with sealed segments');
      this.#counters.sealEnded(true);
      return answer.buffers;
    } catch (error) {
      this.#counters.sealEnded(false);
      throw error;
    }
  }

  /** Divides the rows of segments in a worker, when it is its turn. */
  async divide(task: DivideTask): Promise<readonly PartRows[]> {
    const answer = await this.#segmentTasks.run(task);
    assert(answer.kind === 'divided', 'dividing answers with parts');
    return answer.parts;
  }

  /** Packs a sealed segment in a worker, when it is its turn. */
  async packSegment(task: PackTask): Promise<PackedImage> {
    const answer = await this.#segmentTasks.run(task);
    assert(answer.kind === 'packed', 'packing answers with a packed segment');
    return answer.image;
  }

  /** Makes partial states of a sealed segment in a worker, when it is its turn. */
  async prepareStates(task: StatesTask): Promise<PreparedStates> {
    const answer = await this.#segmentTasks.run(task);
    assert(answer.kind === 'states', 'a task of states answers with states');
    return answer.states;
  }

  /** Makes each idle thread release segments that no longer exist. Busy threads learn of them with their next task. */
  tidy(dropped: DroppedSegments): void {
    for (const where of ['queries', 'background'] as const) {
      const { aliveCount } = where === 'queries' ? this.#queries : this.#background;
      const idleCount = aliveCount - this.#scheduler.begunCount(where);
      for (let idle = 0; idle < idleCount; idle++) this.#tidyThread(where, dropped);
    }
  }

  /** Makes one thread release segments that no longer exist. A thread that dies has released them, too. */
  #tidyThread(where: 'queries' | 'background', dropped: DroppedSegments): void {
    const threads = where === 'queries' ? this.#queries : this.#background;
    const start = (): Promise<void> => {
      const end = (): void => {
        this.#tidying.delete(tidied);
      };
      const tidied = threads.run({ kind: 'tidy', dropped }).answer.then(end, end);
      this.#tidying.add(tidied);
      return tidied;
    };
    // A job, so that none waits for the thread meanwhile where there is another. Where as many run as may, a thread is idle
    // all the same: beside one that is parked, or of the other kind.
    const isJob =
      this.#scheduler.hasRoom &&
      (where === 'queries' || this.#scheduler.begunCount('background') === 0);
    if (isJob) this.#scheduler.add('ahead', { start, kind: where === 'queries' ? 'call' : 'seal' });
    else void start();
  }

  /**
   * Starts a thread ahead when calls have every thread for so long that one may be parked: the call of another tenant that
   * comes then would otherwise wait until its thread has started.
   */
  #startSpareLater(): void {
    if (this.#isSpareDue || this.#scheduler.hasRoom) return;
    this.#isSpareDue = true;
    setTimeout(() => {
      this.#isSpareDue = false;
      const { aliveCount, count } = this.#queries;
      const isIdle = aliveCount > this.#scheduler.begunCount('queries');
      if (this.#isClosed || this.#scheduler.hasRoom || isIdle || aliveCount === count) return;
      this.#tidyThread('queries', NONE_DROPPED);
    }, this.#limits.turnMsMin).unref();
  }

  /** Counts a query that was answered without coming here. */
  countSuccess(stats: TaskStats): void {
    this.#counters.querySucceeded(stats);
  }

  /** Counts a query that failed before it came here. */
  countFailure(error: unknown): void {
    this.#counters.queryFailed(error, false);
  }

  /** Queries that wait for a thread. */
  get queriesWaiting(): number {
    return this.#waiting.size;
  }

  stats(): PoolStats {
    const groups = [this.#queries, this.#background];
    const sum = (of: (threads: WorkerThreads) => number): number =>
      groups.reduce((total, threads) => total + of(threads), 0);
    return {
      ...this.#counters.counts(),
      workers: this.#workerCount,
      workersAlive: sum(({ aliveCount }) => aliveCount),
      workersLost: sum(({ lostCount }) => lostCount),
      workersEnded: sum(({ endedCount }) => endedCount),
      queriesBytes: sum(({ memory }) => memory.heldBytes),
      threadsBytes: sum(({ memory }) => memory.keptBytes),
      queriesWaiting: this.queriesWaiting,
      work: this.#scheduler.stats(),
    };
  }

  /** Takes no more queries, finishes what is under way or waits, and ends the workers. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#tidying);
    await this.#scheduler.idle();
    for (const threads of [this.#background, this.#queries]) await threads.close();
  }

  /**
   * Throws a QueryError `overloaded` when a run of this tenant would be refused: worth asking before it is
   * planned. Where all places are taken, whoever has most of them gives one up for a tenant with fewer.
   */
  checkAdmission(tenant: Tenant = NO_TENANT): void {
    if (this.#isClosed) throw new QueryError('overloaded', 'the engine takes no more queries');
    if (this.#waiting.size < this.#limits.queriesWaitingMax) return;
    const most = this.#waiting.sizeOf(this.#waiting.fullest() ?? tenant);
    if (this.#waiting.sizeOf(tenant) + 1 >= most) throw this.#overloaded();
  }

  /** Refuses what came last of whoever has most waiting, where all places are taken. */
  #makeRoom(): void {
    if (this.#waiting.size < this.#limits.queriesWaitingMax) return;
    const fullest = must(this.#waiting.fullest(), 'a queue that is full holds something');
    const last = must(this.#waiting.newest(fullest), 'who has most has some');
    this.#endWaiting(fullest, last);
    last.stop(this.#overloaded());
  }

  #endWaiting(tenant: Tenant, tasks: QueryTasks): void {
    if (this.#waiting.delete(tenant, tasks)) this.#drained.leave(1, performance.now());
  }

  #overloaded(): QueryError {
    const { queriesWaitingMax } = this.#limits;
    const retryAfterS = this.#drained.secondsFor(this.#waiting.size, performance.now());
    const message = `at most ${queriesWaitingMax} queries may wait for a thread; the limit is reached`;
    return new QueryError('overloaded', message, undefined, { retryAfterS });
  }

  #endedForOthers(): QueryError {
    const { threadCount, parkedMax } = this.#scheduler;
    const retryAfterS = this.#drained.secondsFor(this.#waiting.size, performance.now());
    const message = `at most ${threadCount} tasks of queries may run and ${parkedMax} be parked at a time; the limit is reached, others wait, and queries of this token had run longest`;
    return new QueryError('overloaded', message, undefined, { retryAfterS });
  }

  async #runTasks(query: QueryRun, tasks: QueryTasks): Promise<RunAnswer> {
    const { plan, output, rowsMax, template, covered, ...others } = query;
    const { tenant: _tenant, renewal: _renewal, isWhole: _isWhole, progress, ...rest } = others;
    progress?.begin(covered?.coverage.pieces.map(({ handle }) => handle) ?? rest.segments.flat());
    const part = {
      work: template ?? { plan, output, rowsMax },
      timeMsMax: this.#limits.queryMsMax,
      progress: progress?.shared,
      // Behind what is added: before it, V8 would make a hidden class each time.
      ...rest,
    };
    if (covered !== undefined) {
      const answer = await this.#runCovered(query, { part, covered, tasks });
      this.#noteCost(query, [answer.stats]);
      return answer;
    }
    const shares = this.#sharesOf(query);
    if (shares === undefined) {
      const rows = rowsOf(
        await tasks.run('turn', { kind: 'query', signal: newTaskSignal(), ...part }),
      );
      this.#noteCost(query, [rows.stats]);
      return answerOf(rows);
    }
    const answers = await Promise.all(
      shares.map(({ segments, slice }) =>
        tasks.run('turn', {
          kind: 'fragment',
          signal: newTaskSignal(),
          ...part,
          segments: [segments],
          slice,
        }),
      ),
    );
    const fragments = answers.map(partialOf);
    const partials = fragments.map(({ partial }) => partial);
    const stats = fragments.map((fragment) => fragment.stats);
    this.#noteStates(query, partials, stats);
    const answer = await this.#finish(query, partials, { part, tasks });
    this.#noteCost(query, [...stats, answer.stats]);
    return { ...answer, stats: statsOfAll(stats, answer.stats) };
  }

  /** Combines partial states and does the rest: here where that is little, else on a thread. */
  async #finish(
    query: QueryRun,
    partials: SentPartial[],
    { part, tasks, line = 'ahead' }: RunTasks & { readonly line?: 'turn' | 'ahead' },
  ): Promise<RunAnswer> {
    const here = this.#finishHere?.(query, partials);
    if (here !== undefined) return here;
    const signal = newTaskSignal();
    const finish = { kind: 'finish' as const, signal, ...part, segments: [], partials };
    return answerOf(rowsOf(await tasks.run(line, finish)));
  }

  /** States of many small parts take a while to add up: they are looked at now and then. */
  #noteStates(
    query: QueryRun,
    partials: readonly SentPartial[],
    stats: readonly TaskStats[],
  ): void {
    if (this.#costs.stateBytesPerRow(query) !== undefined) return;
    const byteSize = partials.reduce<number>((sum, partial) => sum + partialSize(partial), 0);
    const rowCount = stats.reduce((sum, { rowsScanned }) => sum + rowsScanned, 0);
    this.#costs.noteStates(query, { byteSize, rowCount });
  }

  #noteCost(query: QueryRun, parts: readonly TaskStats[]): void {
    if (query.isProfiled === true) return;
    const busyMs = parts.reduce((sum, { runMs }) => sum + runMs, 0);
    const rowCount = parts.reduce((sum, { rowsScanned }) => sum + rowsScanned, 0);
    this.#costs.note(query, { busyMs, rowCount }, isOfAllRows(query.covered));
  }

  /** Looks at what is not remembered, and combines it with what is. */
  async #runCovered(
    query: QueryRun,
    { part, covered, tasks }: RunTasks & { readonly covered: RunCoverage },
  ): Promise<RunAnswer> {
    const { coverage } = covered;
    const shares = sharesOfPieces(coverage.pieces, this.#workerCount);
    const answers = await Promise.all(
      shares.map((pieces) => {
        const segments = [pieces.map(({ handle }) => handle)];
        const orders = ordersOf(pieces, coverage);
        const signal = newTaskSignal();
        return tasks.run('turn', { kind: 'pieces', signal, ...part, segments, orders });
      }),
    );
    const stats: TaskStats[] = [];
    const partials: SentPartial[] = [...coverage.partials];
    for (const [index, answer] of answers.entries()) {
      assert(answer.kind === 'pieces', 'a task of pieces answers with what came of them');
      stats.push(answer.stats);
      partials.push(...takePieces(shares[index]!, answer.result, covered));
    }
    const line = shares.length === 0 ? 'turn' : 'ahead';
    const finished = await this.#finish(query, partials, { part, tasks, line });
    return { ...finished, stats: withRemembered(statsOfAll(stats, finished.stats), coverage) };
  }

  /** Segments dealt out by size, or, where these are too few or too unlike, their rows; undefined: not worth it. */
  #sharesOf(query: QueryRun): readonly FragmentShare[] | undefined {
    const segments = query.segments[0];
    if (query.segments.length !== 1 || segments === undefined) return undefined;
    if (this.#workerCount < 2 || query.isWhole === true) return undefined;
    if (this.#costs.isOversized(query)) return undefined;
    if (breakerOf(query.plan) === undefined) return undefined;
    const total = segments.reduce((sum, handle) => sum + sizeOf(handle), 0);
    if (total < FRAGMENT_BYTES_MIN) return undefined;
    const wholeMs = this.#costs.wholeMs(query);
    if (wholeMs !== undefined && wholeMs < FRAGMENTED_MS_MIN) return undefined;
    const stateBytesPerRow = this.#costs.stateBytesPerRow(query) ?? 0;
    if (stateBytesPerRow > FRAGMENT_STATE_BYTES_PER_ROW_MAX) return undefined;
    return fragmentShares(query, segments, this.#workerCount);
  }
}

/** What the tasks of a run know of it. */
type RunTasks = { readonly part: QueryPart; readonly tasks: QueryTasks };

/** Whether nobody waits for it yet. */
function isRenewal({ renewal }: QueryRun): boolean {
  return renewal?.aborted === false;
}

/** Field by field: where an object is spread and fields are added, V8 makes a hidden class each time. */
function withWaited(
  { json, rowCount, isTruncated, stats, release }: RunAnswer,
  waited?: Waited,
): RunAnswer {
  return { json, rowCount, isTruncated, stats, waited, release };
}

function threadBoundsOf(limits: PoolLimits, workerCount: number): ThreadBounds {
  const { answerBytesMax, answerBlockBytesMax, passingBytesMax, keptBytesMax } = limits;
  const { readersBytesMax, spilledBytesMax } = limits;
  const partialBytesMax = partialBytesWithin(limits.queriesBytesMax, workerCount);
  const ofAnswers = { answerBytesMax, answerBlockBytesMax, partialBytesMax };
  return { ...ofAnswers, passingBytesMax, keptBytesMax, readersBytesMax, spilledBytesMax };
}

/** Whether a run that failed so is to be run again, as a whole and over all of its rows. */
export function isRunWhole({ covered }: QueryRun, error: unknown): boolean {
  return error instanceof OversizedStatesError || mayFailForMemo(covered?.coverage, error);
}

const NONE_DROPPED: DroppedSegments = { count: 0, ids: [] };

/** Why a run is stopped: the caller may have said it, else it has gone. */
function cancellationOf(signal: AbortSignal | undefined): QueryError {
  const reason: unknown = signal?.reason;
  if (reason instanceof QueryError) return reason;
  return new QueryError('query_cancelled', 'the caller went away before the answer');
}

/** As its caller has it: given back to the thread that made it. */
function answerOf({ json, rowCount, isTruncated, stats }: RowsAnswer): RunAnswer {
  return { json: json.bytes, rowCount, isTruncated, stats, release: () => giveBack(json) };
}

function rowsOf(answer: DoneAnswer): RowsAnswer {
  assert(answer.kind === 'rows', 'a query task answers with rows');
  return answer;
}

function partialOf(answer: DoneAnswer): PartialAnswer {
  assert(answer.kind === 'partial', 'a fragment task answers with a partial state');
  return answer;
}
