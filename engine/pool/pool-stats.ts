import { addScanCounters, newScanCounters, type ScanCounters } from '../operator/scan.ts';
import { QueryError, type QueryErrorCode } from '../query-error.ts';
import type { TaskStats } from './task.ts';
import type { WorkStats } from './task-scheduler.ts';
import type { WorkKind } from './work-shares.ts';

/** `internal` is a bug in weir. The caller sees the others as they are. */
export type FailureCode = QueryErrorCode | 'internal';

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
  /** … and that threads keep beside, their code among it. */
  readonly threadsBytes: number;
  /** Queries that were answered. */
  readonly queriesSucceeded: number;
  /** Queries that were not, by code. Those refused and those whose caller had gone are among them. */
  readonly queriesFailed: ReadonlyMap<FailureCode, number>;
  /** … of these, stopped by ending a thread, by code: `query_timeout` and `query_cancelled`. */
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
