import { must } from '../../engine/columns.ts';
import type {
  QueryAnswer,
  QueryExplanation,
  RunProgress,
  RunStats,
  Tenant,
} from '../../engine/index.ts';
import type { Clock } from '../clock.ts';
import { ServiceError } from '../errors.ts';
import { InstanceKey } from '../instance-key.ts';
import {
  CACHE_BYTES_MAX,
  CALLERS_WAITING_MAX,
  RENEWAL_MS_SAVED_MAX,
  RENEWAL_TIME_SHARE,
} from '../limits.ts';
import type { Log } from '../log.ts';
import { StackThrottle } from '../log-throttle.ts';
import { AnswerDigest } from './answer-digest.ts';
import type { ResultColumn } from './answer-format.ts';
import { KeptAnswer } from './kept-answer.ts';
import type { QueryEngine } from './query-engine.ts';
import {
  type InTurns,
  type QueryCall,
  QueryRunner,
  type RunCall,
  type RunManner,
  toRunCall,
} from './query-runner.ts';
import { type CallKey, type CallStats, ResultCache } from './result-cache.ts';
import { type SharedRun, SharedRuns } from './shared-run.ts';

/** The answer of a run for one caller; its definition keeps no answers. */
export type RunAnswer = {
  readonly kind: 'run';
  readonly answer: QueryAnswer;
  readonly columns: readonly ResultColumn[];
  readonly truncatedTo: number | undefined;
  /**
   * Computes the digest of the rows. Call it before their `release`.
   *
   * It is not a getter: V8 gives an object literal with a getter a hidden class of its own, which
   * retains everything the getter can see until a full collection, and scavenges then copy what
   * they should drop.
   */
  readonly digest: () => string;
};

/** An answer that several callers may get. */
export type SharedAnswer = {
  readonly kind: 'shared';
  readonly answer: KeptAnswer;
  /**
   * Where the answer is from: the cache, a run of this call whose answer is now kept or not, or a
   * run of another call.
   */
  readonly from: 'cache' | 'kept-run' | 'run' | 'run-of-another';
  /** Milliseconds since the run read the data. */
  readonly ageMs: number;
  /** Days of which the answer lacks rows or values; empty for a kept answer. */
  readonly lostDays: QueryAnswer['lostDays'];
  /** Statistics of the run, if this call began it. */
  readonly stats: RunStats | undefined;
};

export type EndpointAnswer = RunAnswer | SharedAnswer;

/** The caller that waits for an answer. */
export type Caller = {
  /** The tenant that pays for runs begun for this caller. */
  readonly tenant?: Tenant;
  /** The signal of a caller that has gone; requested only if there is something to wait for. */
  readonly cancelled: () => AbortSignal;
  /** Told how far a run is that is begun for this caller. */
  readonly progress?: RunProgress | undefined;
  /** How a caller's own text is planned and begun. */
  readonly inTurns?: InTurns;
};

/** The result of a run for the cache, for all callers that wait for it. */
type SharedResult = {
  readonly answer: KeptAnswer;
  readonly isKept: boolean;
  readonly startMs: number;
  readonly lostDays: QueryAnswer['lostDays'];
  readonly stats: RunStats;
};

/**
 * Calls endpoints. Every call passes through it before it runs. It keeps answers as their
 * definitions allow, runs a query once for all that call it at the same time, and renews kept
 * answers in use.
 */
export class EndpointCaller {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #stacks: StackThrottle;
  readonly #runner: QueryRunner;
  readonly #cache: ResultCache;
  readonly #digest: AnswerDigest;
  readonly #runs = new SharedRuns<SharedResult>();
  readonly #counts = { hit: 0, miss: 0, collapsed: 0, renewal: 0, renewalFailure: 0 };
  #callersWaiting = 0;
  /** Renewals that are due and wait, the oldest first. */
  #due: CallKey[] = [];
  /** The running renewal; never rejects. */
  #renewal: Promise<void> | undefined;
  /** The run of the renewal, and a controller that is aborted when a caller waits for it. */
  #renewing:
    | { readonly run: SharedRun<SharedResult>; readonly wanted: AbortController }
    | undefined;
  /** Milliseconds that renewals may take now; negative after one that took more. */
  #renewalMs = 0;
  #tickMs: number | undefined;
  readonly #hasWaiting: () => boolean;
  readonly #closing = new AbortController();

  constructor(options: {
    readonly engine: Pick<QueryEngine, 'begin' | 'planInPieces'>;
    readonly clock: Clock;
    readonly callsMax?: number | undefined;
    readonly queryMsMax?: number | undefined;
    /** The key of digests, which makes them equal after a restart. Random by default. */
    readonly instanceKey?: InstanceKey;
    /** Whether queries wait for a thread; no renewal begins then. By default none do. */
    readonly hasWaiting?: () => boolean;
    /** Receives failed renewals, because no caller sees them. */
    readonly log?: Log;
    /** Bytes of kept answers; with 0 every call runs, whatever its definition says. */
    readonly cacheBytesMax?: number;
    readonly cacheEntriesMax?: number;
  }) {
    this.#clock = options.clock;
    this.#digest = new AnswerDigest(options.instanceKey ?? InstanceKey.random());
    this.#log = options.log ?? (() => {});
    this.#hasWaiting = options.hasWaiting ?? (() => false);
    this.#stacks = new StackThrottle(() => options.clock.monotonicMs());
    this.#runner = new QueryRunner(options);
    this.#cache = new ResultCache({
      byteSizeMax: options.cacheBytesMax ?? CACHE_BYTES_MAX,
      entryCountMax: options.cacheEntriesMax,
    });
  }

  /**
   * Returns the current answer, or a kept one that is young enough for its definition. It returns a
   * promise only if there is something to wait for.
   *
   * Rejects with a ServiceError for a failed query, for too many calls, and with `query_cancelled`
   * when the caller has gone.
   */
  call(call: QueryCall, caller: Caller): EndpointAnswer | Promise<EndpointAnswer> {
    if (!this.#cache.takes(call.endpoint)) return this.run(toRunCall(call), caller);
    const key = this.#cache.createKey(call, caller.tenant);
    const nowMs = this.#clock.monotonicMs();
    const kept = this.#cache.find(key, nowMs);
    if (kept === undefined) return this.#wait(key, caller);
    this.#counts.hit += 1;
    const { answer, madeMs } = kept;
    const ageMs = nowMs - madeMs;
    return { kind: 'shared', answer, from: 'cache', ageMs, lostDays: [], stats: undefined };
  }

  /**
   * Answers a query for one caller: it runs, and nothing is kept.
   *
   * @throws ServiceError for what `call` rejects with.
   */
  run(
    call: RunCall,
    { tenant, cancelled, progress, inTurns }: Caller,
  ): RunAnswer | Promise<RunAnswer> {
    const { query, isSent, rowsMax, parameters, reach, snapshot } = call;
    const answer = this.#runner.run(
      { query, isSent, rowsMax, parameters, reach, snapshot, tenant, progress, inTurns },
      cancelled,
    );
    const toRunAnswer = (made: QueryAnswer): RunAnswer => ({
      kind: 'run',
      columns: query.bound.output,
      answer: made,
      truncatedTo: truncatedTo(made),
      digest: () => this.#digest.digest(made.json),
    });
    return answer instanceof Promise ? answer.then(toRunAnswer) : toRunAnswer(answer);
  }

  /**
   * Explains how the current answer is made. The query runs and its rows are dropped; the cache is
   * neither read nor written.
   *
   * @throws ServiceError for the same reasons as `call`.
   */
  async explain(call: RunCall, caller: Caller): Promise<QueryExplanation> {
    const { tenant, progress, inTurns } = caller;
    const manner = { isExplained: true, tenant, progress, inTurns };
    const run = this.#runner.begin({ ...call, ...manner }, caller.cancelled);
    const { explanation, release } = await run.answer;
    release();
    return must(explanation, 'a run that is to be explained is');
  }

  /** Drops the kept answers of a definition, and does not keep those of running queries. */
  drop(definitionId: string): void {
    this.#cache.drop(definitionId);
  }

  /**
   * Drops expired answers and renews those that are in use and due. Call it about once a second.
   */
  tick(): void {
    if (this.#closing.signal.aborted) return;
    const nowMs = this.#clock.monotonicMs();
    this.#cache.expire(nowMs);
    this.#due = this.#cache.listDue(nowMs);
    const moreMs = (nowMs - (this.#tickMs ?? nowMs)) * RENEWAL_TIME_SHARE;
    this.#renewalMs = Math.min(this.#renewalMs + moreMs, RENEWAL_MS_SAVED_MAX);
    this.#tickMs = nowMs;
    this.#renewDue();
  }

  stats(): CallStats {
    return {
      runsUnderWay: this.#runner.runCount,
      cache: {
        entryCount: this.#cache.entryCount,
        byteSize: this.#cache.byteSize,
        hitCount: this.#counts.hit,
        missCount: this.#counts.miss,
        collapsedCount: this.#counts.collapsed,
        renewalCount: this.#counts.renewal,
        renewalFailureCount: this.#counts.renewalFailure,
        evictionCount: this.#cache.evictionCount,
      },
    };
  }

  /** Begins no more renewals, and cancels running ones that no caller waits for. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#due = [];
    await this.#renewal;
  }

  /** Stops all runs, because the service is about to end. Their callers are told to try again. */
  giveUp(): void {
    this.#runner.stopAll(new ServiceError('draining', 'the service is stopping'));
  }

  /** Waits for the run of this key: one that is under way, or a new one. */
  async #wait(key: CallKey, caller: Caller): Promise<SharedAnswer> {
    if (this.#callersWaiting >= CALLERS_WAITING_MAX) {
      throw new ServiceError(
        'overloaded',
        `at most ${CALLERS_WAITING_MAX} callers may wait at once; the limit is reached`,
      );
    }
    const underWay = this.#runs.find(key.text);
    const { progress, inTurns } = caller;
    const run = underWay ?? this.#begin(key, { tenant: key.tenant, progress, inTurns });
    if (underWay === undefined) this.#counts.miss += 1;
    else this.#counts.collapsed += 1;
    if (this.#renewing?.run === run) this.#renewing.wanted.abort();
    this.#callersWaiting += 1;
    try {
      const { answer, isKept, startMs, lostDays, stats } = await run.wait(caller.cancelled());
      const ageMs = this.#clock.monotonicMs() - startMs;
      const shared = { kind: 'shared', answer, ageMs, lostDays } as const;
      if (underWay !== undefined) return { ...shared, from: 'run-of-another', stats: undefined };
      return { ...shared, from: isKept ? 'kept-run' : 'run', stats };
    } finally {
      this.#callersWaiting -= 1;
    }
  }

  #begin(key: CallKey, manner: Omit<RunManner, 'isExplained'>): SharedRun<SharedResult> {
    return this.#runs.begin(key.text, (signal, earlier) => {
      const { answer, ended } = this.#runner.begin(
        { ...toRunCall(key), ...manner },
        () => signal,
        earlier,
      );
      return { answer: answer.then((answered) => this.#keep(key, answered)), ended };
    });
  }

  /**
   * Copies borrowed rows once, for all that wait and for the cache. The cache takes no answer that
   * lacks rows.
   */
  #keep(key: CallKey, run: QueryAnswer & { readonly startMs: number }): SharedResult {
    const answer = new KeptAnswer(run.json, {
      digest: this.#digest.digest(run.json),
      columns: toRunCall(key).query.bound.output,
      truncatedTo: truncatedTo(run),
      completeUntilUs: run.completeUntilUs,
    });
    run.release();
    const { startMs, lostDays, stats } = run;
    const nowMs = this.#clock.monotonicMs();
    const isWhole = lostDays.length === 0;
    const isKept = isWhole && this.#cache.put(key, answer, { madeMs: startMs, nowMs });
    // An answer kept before the damage stays until it expires.
    if (!isWhole) this.#cache.putOffRenewal(key, nowMs);
    return { answer, isKept, startMs, lostDays, stats };
  }

  /**
   * Begins the renewal that is due first, unless one is running, and continues with the next.
   * Renewals use only the time and room that callers leave; the others wait for the next tick.
   */
  #renewDue(): void {
    while (this.#renewal === undefined && this.#mayRenew()) {
      const key = this.#due.shift();
      if (key === undefined) return;
      const startMs = this.#clock.monotonicMs();
      if (!this.#cache.isDue(key, startMs)) continue;
      if (this.#runs.find(key.text) !== undefined) continue;
      this.#renewal = this.#renew(key).then(() => {
        this.#renewal = undefined;
        this.#renewalMs -= this.#clock.monotonicMs() - startMs;
        this.#renewDue();
      });
    }
  }

  #mayRenew(): boolean {
    return this.#renewalMs >= 0 && this.#runner.hasRoom && !this.#hasWaiting();
  }

  /**
   * Renews a kept answer; never rejects. Calls meanwhile get the old answer, or the error of their
   * own run.
   */
  async #renew(key: CallKey): Promise<void> {
    const wanted = new AbortController();
    try {
      const run = this.#begin(key, { renewal: wanted.signal });
      this.#renewing = { run, wanted };
      await run.wait(this.#closing.signal);
      this.#counts.renewal += 1;
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      this.#counts.renewalFailure += 1;
      const isExpected = error instanceof ServiceError;
      this.#log({
        level: 'error',
        event: 'renewal_failed',
        endpoint: key.endpoint.definition.name,
        error: isExpected ? error.message : this.#stacks.describe(error),
      });
      this.#cache.putOffRenewal(key, this.#clock.monotonicMs());
    } finally {
      this.#renewing = undefined;
    }
  }
}

/** The number of rows of an answer that `max_rows` cut. */
function truncatedTo({ isTruncated, rowCount }: QueryAnswer): number | undefined {
  return isTruncated ? rowCount : undefined;
}
