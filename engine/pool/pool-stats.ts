import { must } from '../assert.ts';
import type { SegmentHandle } from '../column/segment.ts';
import { addScanCounters, newScanCounters, type ScanCounters } from '../operator/scan.ts';
import { combineProfiles } from '../plan/plan-profile.ts';
import { QueryError, type QueryErrorCode } from '../query-error.ts';
import { type TaskStats, taskStatsOf, type Waited } from './task.ts';
import type { WorkStats } from './task-scheduler.ts';
import type { WorkKind } from './work-shares.ts';

/** `internal` is a bug in weir. The caller sees the others as they are. */
type FailureCode = QueryErrorCode | 'internal';

/** What the workers have done since the start, and do now. Plain numbers; counts never go down. */
export type PoolStats = {
  /** Threads that may run at a time; they start when they are needed. */
  readonly workers: number;
  /** Threads that there are now, those whose task is parked among them. */
  readonly workersAlive: number;
  /** Threads that died of themselves: out of memory, or by an error outside of a task. */
  readonly workersLost: number;
  /** Threads ended by force, for what they ran did not stop in time. */
  readonly workersEnded: number;
  /** Bytes that tasks hold: heaps and arrays, as measured last. */
  readonly queriesBytes: number;
  /** Bytes that threads keep beside, their code among it. */
  readonly threadsBytes: number;
  /** Queries that were answered. */
  readonly queriesSucceeded: number;
  /** Queries that were not, by code. Those refused and those whose caller had gone are among them. */
  readonly queriesFailed: ReadonlyMap<FailureCode, number>;
  /** Those of the failed that were stopped by ending a thread, by code: `query_timeout` and `query_cancelled`. */
  readonly queriesEnded: ReadonlyMap<FailureCode, number>;
  /** Queries that have begun on no thread yet, now and at most so far. */
  readonly queriesWaiting: number;
  readonly queriesWaitingMax: number;
  /** Tasks by kind of work; a query in fragments has several. */
  readonly work: Readonly<Record<WorkKind, WorkStats>>;
  readonly sealsSucceeded: number;
  readonly sealsFailed: number;
  /** What the scans of the answered queries did. */
  readonly scans: Readonly<ScanCounters>;
  /** Milliseconds on the threads; of a query in fragments its longest, and its last task. */
  readonly runMs: number;
};

type Counts = Omit<
  PoolStats,
  | 'workers'
  | 'workersAlive'
  | 'workersLost'
  | 'workersEnded'
  | 'queriesBytes'
  | 'threadsBytes'
  | 'queriesWaiting'
  | 'work'
>;

/** Counts what ends. */
export class PoolCounters {
  #queriesSucceeded = 0;
  readonly #queriesFailed = new Map<FailureCode, number>();
  readonly #queriesEnded = new Map<FailureCode, number>();
  #queriesWaitingMax = 0;
  #sealsSucceeded = 0;
  #sealsFailed = 0;
  /** Not of the shape that those of runs have. */
  readonly #scans: ScanCounters = { ...newScanCounters() };
  #runMs = 0;

  querySucceeded(stats: TaskStats): void {
    this.#queriesSucceeded++;
    addScanCounters(this.#scans, stats);
    this.#runMs += stats.runMs;
  }

  queryFailed(error: unknown, wasEnded: boolean): void {
    const code = error instanceof QueryError ? error.code : 'internal';
    count(this.#queriesFailed, code);
    if (wasEnded) count(this.#queriesEnded, code);
  }

  queriesWait(waiting: number): void {
    this.#queriesWaitingMax = Math.max(this.#queriesWaitingMax, waiting);
  }

  sealEnded(hasSucceeded: boolean): void {
    if (hasSucceeded) this.#sealsSucceeded++;
    else this.#sealsFailed++;
  }

  counts(): Counts {
    return {
      queriesSucceeded: this.#queriesSucceeded,
      queriesFailed: new Map(this.#queriesFailed),
      queriesEnded: new Map(this.#queriesEnded),
      queriesWaitingMax: this.#queriesWaitingMax,
      sealsSucceeded: this.#sealsSucceeded,
      sealsFailed: this.#sealsFailed,
      scans: { ...this.#scans },
      runMs: this.#runMs,
    };
  }
}

function count(counts: Map<FailureCode, number>, code: FailureCode): void {
  counts.set(code, (counts.get(code) ?? 0) + 1);
}

/** What a run did, and how long each part of it took. */
export type RunStats = Omit<TaskStats, 'profile'> & {
  /** Milliseconds on the main thread: folding, rewriting, physical plan, snapshot. */
  readonly planMs: number;
  /** Milliseconds between the threads: waiting for a worker, and messages there and back. */
  readonly queueMs: number;
  /** Of these, waiting for a worker, and what the workers ran meanwhile; absent where the run had none. */
  readonly waited?: Waited | undefined;
};

/** Field by field: to leave one out of an object by `...` takes a microsecond. */
export function runStatsOf(
  task: TaskStats,
  main: Pick<RunStats, 'planMs' | 'queueMs' | 'waited'>,
): RunStats {
  return {
    rowsScanned: task.rowsScanned,
    rowsFromMemo: task.rowsFromMemo,
    rowsSkipped: task.rowsSkipped,
    segmentsScanned: task.segmentsScanned,
    segmentsSkipped: task.segmentsSkipped,
    runMs: task.runMs,
    planMs: main.planMs,
    queueMs: main.queueMs,
    waited: main.waited,
  };
}

/** Of a query in fragments, which ran side by side: it took as long as its longest, and the finish. */
export function statsOfAll(fragments: readonly TaskStats[], finish: TaskStats): TaskStats {
  const counters = newScanCounters();
  for (const stats of [...fragments, finish]) addScanCounters(counters, stats);
  const runMs = finish.runMs + Math.max(0, ...fragments.map((stats) => stats.runMs));
  const { profile } = finish;
  if (profile === undefined) return taskStatsOf(counters, runMs);
  const profiles = fragments.map((stats) => must(stats.profile, 'each fragment is profiled'));
  return taskStatsOf(counters, runMs, combineProfiles(profiles, profile));
}

/** Rows done, and tasks that threads have begun. */
const ROWS_DONE = 0;
const TASKS_BEGUN = 1;

/** Counters of one run that its threads share with the main thread: rows done, tasks begun. */
export type SharedProgress = BigInt64Array;

/**
 * How far a run is. Its threads count rows as they pass them, looked at or not; whoever asks reads
 * the counters. A run that is begun anew begins at 0.
 */
export class RunProgress {
  readonly shared: SharedProgress = new BigInt64Array(new SharedArrayBuffer(16));
  #rowsTotal = 0;

  /** Called before the tasks of the run are begun, with the segments that they scan. */
  begin(segments: readonly SegmentHandle[]): void {
    Atomics.store(this.shared, ROWS_DONE, 0n);
    Atomics.store(this.shared, TASKS_BEGUN, 0n);
    this.#rowsTotal = segments.reduce((sum, handle) => sum + rowCountOf(handle), 0);
  }

  get rowsTotal(): number {
    return this.#rowsTotal;
  }

  /** Never more than there are: a segment that several scans read counts once for each. */
  get rowsDone(): number {
    return Math.min(Number(Atomics.load(this.shared, ROWS_DONE)), this.#rowsTotal);
  }

  /** Whether a thread has taken it up. */
  get hasBegun(): boolean {
    return Atomics.load(this.shared, TASKS_BEGUN) > 0n;
  }
}

/** Counts a task of the run, on its thread. */
export function noteTask(shared: SharedProgress): void {
  Atomics.add(shared, TASKS_BEGUN, 1n);
}

/** Counts rows of a task, on its thread. */
export function noteRows(shared: SharedProgress, rowCount: number): void {
  Atomics.add(shared, ROWS_DONE, BigInt(rowCount));
}

function rowCountOf(handle: SegmentHandle): number {
  if (handle.kind === 'open') return handle.rowCount;
  return handle.content?.rowCount ?? handle.backing?.rowCount ?? 0;
}
