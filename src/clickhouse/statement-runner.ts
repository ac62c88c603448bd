import type { ClickHouseClient } from '@clickhouse/client';
import { QUERIES_WAITING_MAX, QueryError } from '../../engine/columns.ts';
import {
  newScanCounters,
  PoolCounters,
  type PoolStats,
  type Tenant,
  taskStatsOf,
  WORK_KINDS,
} from '../../engine/index.ts';
import { QUERY_MS_MAX } from '../limits.ts';
import type { RenderedQuery } from './render/query-sql.ts';
import { toQueryError } from './statement-error.ts';
import { runStatement, type StatementAnswer } from './statement-run.ts';
import { cancelledQuery, StatementTurns } from './statement-turns.ts';

/** Statements of this process at once: ClickHouse runs a hundred by default, for all gateways and all others. */
export const STATEMENTS_MAX = 24;

export type StatementRunnerOptions = {
  readonly client: ClickHouseClient;
  /** Makes the table of events, once. */
  readonly makeTable: () => Promise<unknown>;
  /** ClickHouse has every event that was acknowledged before this time. */
  readonly completeUntilUs: () => number;
  /** Bytes of all answers that are being read or sent. */
  readonly answersBytesMax: number;
  readonly nowMs: () => number;
};

/** Who waits for an answer. */
export type StatementCaller = {
  readonly tenant: Tenant | undefined;
  /** Aborted when nobody waits any more. */
  readonly signal: AbortSignal | undefined;
};

/** An answer with what its run has measured. */
export type RunStatement = StatementAnswer & {
  /** The answer has every event that was acknowledged before this time. */
  readonly completeUntilUs: number;
  /** Milliseconds of waiting for a turn, and of the run. */
  readonly queueMs: number;
  readonly runMs: number;
  /** To be called when the rows are not read any more; may be called again. */
  readonly release: () => void;
};

/** Runs statements at ClickHouse: so many at once, in turns of their tenants, each within its limits. */
export class StatementRunner {
  readonly #options: StatementRunnerOptions;
  readonly #turns: StatementTurns;
  readonly #counters = new PoolCounters();
  #answersBytes = 0;
  #isAway = false;

  constructor(options: StatementRunnerOptions) {
    this.#options = options;
    const limits = { runningMax: STATEMENTS_MAX, waitingMax: QUERIES_WAITING_MAX };
    this.#turns = new StatementTurns(limits, options.nowMs);
  }

  get waitingCount(): number {
    return this.#turns.waitingCount;
  }

  /** Whether the last statement found ClickHouse away. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** ClickHouse has every event that was acknowledged before this time. */
  completeUntilUs(): number {
    return this.#options.completeUntilUs();
  }

  /** Rejects with a QueryError, and soon after the signal of the caller is aborted with `query_cancelled`. */
  async run(
    statement: RenderedQuery,
    bounds: { readonly rowsMax: number; readonly bytesMax: number },
    { tenant, signal }: StatementCaller,
  ): Promise<RunStatement> {
    const { client, completeUntilUs, nowMs } = this.#options;
    const { hold, release } = this.#holder();
    const calledMs = nowMs();
    try {
      return await this.#turns.take({ tenant, signal }, async () => {
        const beganMs = nowMs();
        const queueMs = beganMs - calledMs;
        const untilUs = completeUntilUs();
        await this.makeTable();
        const within = { ...bounds, msMax: QUERY_MS_MAX, signal, hold };
        const answer = await runStatement(client, statement, within);
        const runMs = nowMs() - beganMs;
        this.#noteSuccess(answer, runMs);
        return { ...answer, completeUntilUs: untilUs, queueMs, runMs, release };
      });
    } catch (error) {
      release();
      // What the client says of a request that was broken off says nothing of ClickHouse.
      const isCancelled = signal?.aborted === true;
      const known = isCancelled ? cancelledQuery() : error;
      if (!isCancelled) this.#isAway = isUnavailable(known);
      this.noteFailure(known);
      throw known;
    }
  }

  /** Makes the table of events, once. Rejects with a QueryError. */
  async makeTable(): Promise<void> {
    try {
      await this.#options.makeTable();
    } catch (error) {
      throw toQueryError(error, []);
    }
  }

  /** Counts a query that failed. */
  noteFailure(error: unknown): void {
    this.#counters.queryFailed(error, false);
  }

  /** As of worker threads, of which there are none. */
  stats(): PoolStats {
    const idle = { waiting: 0, running: 0, parked: 0, waitMs: 0, runMs: 0 };
    const kinds = WORK_KINDS.map((kind) => [kind, idle] as const);
    const { waitingCount: waiting, runningCount: running } = this.#turns;
    const work = Object.fromEntries(kinds) as PoolStats['work'];
    return {
      ...this.#counters.counts(),
      ...{ workers: 0, workersAlive: 0, workersLost: 0, workersEnded: 0, threadsBytes: 0 },
      queriesBytes: this.#answersBytes,
      queriesWaiting: waiting,
      work: { ...work, call: { ...idle, waiting, running } },
    };
  }

  async close(): Promise<void> {
    await this.#options.client.close();
  }

  #noteSuccess({ rowsRead }: StatementAnswer, runMs: number): void {
    this.#isAway = false;
    const counters = newScanCounters();
    counters.rowsScanned = rowsRead;
    this.#counters.querySucceeded(taskStatsOf(counters, runMs));
  }

  /** Counts the bytes of one answer, until it is released. */
  #holder(): { readonly hold: (bytes: number) => void; readonly release: () => void } {
    const { answersBytesMax } = this.#options;
    let heldBytes = 0;
    return {
      hold: (bytes) => {
        this.#answersBytes += bytes - heldBytes;
        heldBytes = bytes;
        // An answer that is the only one always has room.
        if (this.#answersBytes <= answersBytesMax || this.#answersBytes === bytes) return;
        throw new QueryError(
          'overloaded',
          `all answers that are being read may have ${answersBytesMax} bytes; the limit is reached`,
        );
      },
      release: () => {
        this.#answersBytes -= heldBytes;
        heldBytes = 0;
      },
    };
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof QueryError && error.code === 'store_unavailable';
}
