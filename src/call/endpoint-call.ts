import { must } from '../../engine/assert.ts';
import type { QueryAnswer } from '../../engine/engine.ts';
import type { QueryExplanation } from '../../engine/plan/explanation.ts';
import type { RunStats } from '../../engine/pool/run-stats.ts';
import type { Tenant } from '../../engine/pool/tenant-sets.ts';
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
import { KeptAnswer } from './kept-answer.ts';
import type { QueryEngine } from './query-engine.ts';
import {
  type InTurns,
  listColumns,
  type QueryCall,
  QueryRunner,
  type RunManner,
} from './query-runner.ts';
import { type CallKey, type CallStats, ResultCache } from './result-cache.ts';
import { type SharedRun, SharedRuns } from './shared-run.ts';

/** An answer of a run for this caller alone: its definition keeps none. */
export type RunAnswer = {
  readonly kind: 'run';
  readonly answer: QueryAnswer;
  /** Names of the columns, in their order. */
  readonly columns: readonly string[];
  readonly truncatedTo: number | undefined;
  /**
   * Makes the digest of the rows: to be called before their `release`.
   *
   * No getter: V8 gives an object literal with one a hidden class of its own, which keeps all that the getter can
   * see until a full collection, and scavenges then copy what they should drop.
   */
  readonly digest: () => string;
};

/** An answer that others get too. */
export type SharedAnswer = {
  readonly kind: 'shared';
  readonly answer: KeptAnswer;
  /** It was kept; was made by this call, and is kept now or not; or by a run that another began. */
  readonly from: 'cache' | 'kept-run' | 'run' | 'run-of-another';
  /** Milliseconds since its run read the data. */
  readonly ageMs: number;
  /** Days that the answer lacks rows or values of; none where it was kept. */
  readonly lostDays: QueryAnswer['lostDays'];
  /** What the run did that this call began. */
  readonly stats: RunStats | undefined;
};

export type EndpointAnswer = RunAnswer | SharedAnswer;

/** Who waits for the answer. */
export type Caller = {
  /** Whose time runs take that are begun for this caller. */
  readonly tenant?: Tenant;
  /** Aborted when the caller has gone; asked for only when there is something to wait for. */
  readonly cancelled: () => AbortSignal;
  /** How a text of the caller's own is planned and begun. */
  readonly inTurns?: InTurns;
};

/** What a run for the cache gives to all who wait for it. */
type SharedResult = {
  readonly answer: KeptAnswer;
  readonly isKept: boolean;
  readonly startMs: number;
  readonly lostDays: QueryAnswer['lostDays'];
  readonly stats: RunStats;
};

/**
 * Calls endpoints: the one place every call passes before it runs. What a definition lets be kept
 * is kept here, made once for all who ask at the same time, and made anew while it is in use.
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
  /** What is due and waits for its turn, the oldest first. */
  #due: CallKey[] = [];
  /** Set while one is under way; never rejects. */
  #renewal: Promise<void> | undefined;
  /** Its run, and what is aborted once a caller waits for that. */
  #renewing:
    | { readonly run: SharedRun<SharedResult>; readonly wanted: AbortController }
    | undefined;
  /** Milliseconds that renewals may take now; less than 0 where the last one took more. */
  #renewalMs = 0;
  #tickMs: number | undefined;
  readonly #hasWaiting: () => boolean;
  readonly #closing = new AbortController();

  constructor(options: {
    readonly engine: Pick<QueryEngine, 'begin' | 'planInPieces'>;
    readonly clock: Clock;
    readonly callsMax?: number | undefined;
    readonly queryMsMax?: number | undefined;
    /** Digests of answers are made with it: the same ones after a restart. A random one unless given. */
    readonly instanceKey?: InstanceKey;
    /** Whether queries wait for a thread: no renewal begins then. None do unless given. */
    readonly hasWaiting?: () => boolean;
    /** Hears of renewals that failed: no caller does. */
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
   * The answer at this moment, or a kept one that its definition calls young enough: without a promise
   * where there is nothing to be waited for.
   *
   * Rejects with a ServiceError for what goes wrong with a query, when too many are under way, and
   * with `query_cancelled` when the caller has gone.
   */
  call(call: QueryCall, caller: Caller): EndpointAnswer | Promise<EndpointAnswer> {
    if (!this.#cache.takes(call.endpoint)) return this.#runAlone(call, caller);
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
   * How the answer of this moment is made. The query runs for it, and its rows are dropped: nothing
   * is kept, and nothing kept is looked at.
   *
   * @throws ServiceError for what `call` rejects with.
   */
  async explain(call: QueryCall, caller: Caller): Promise<QueryExplanation> {
    const manner = { isExplained: true, tenant: caller.tenant, inTurns: caller.inTurns };
    const run = this.#runner.begin({ ...call, ...manner }, caller.cancelled);
    const { explanation, release } = await run.answer;
    release();
    return must(explanation, 'a run that is to be explained is');
  }

  /** Forgets the answers of a definition, those of runs under way among them. */
  drop(definitionId: string): void {
    this.#cache.drop(definitionId);
  }

  /**
   * Lets answers go whose time is over and makes those anew that are in use and due. To be called
   * about once a second.
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

  /** Begins no more renewals, and cancels those under way that no caller waits for. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#due = [];
    await this.#renewal;
  }

  /** Stops all runs: the service is about to end, and those who wait are told to come back. */
  giveUp(): void {
    this.#runner.stopAll(new ServiceError('draining', 'the service is stopping'));
  }

  /** Runs for this caller alone. */
  #runAlone(
    call: QueryCall,
    { tenant, cancelled, inTurns }: Caller,
  ): RunAnswer | Promise<RunAnswer> {
    const { endpoint, parameters, reach, callerQuery } = call;
    const answer = this.#runner.run(
      { endpoint, parameters, reach, callerQuery, tenant, inTurns },
      cancelled,
    );
    const columns = listColumns(call);
    const toRunAnswer = (made: QueryAnswer): RunAnswer => ({
      kind: 'run',
      columns,
      answer: made,
      truncatedTo: truncatedTo(made),
      digest: () => this.#digest.digest(made.json),
    });
    return answer instanceof Promise ? answer.then(toRunAnswer) : toRunAnswer(answer);
  }

  /** Waits for the run of this key: the one under way, or one that this call begins. */
  async #wait(key: CallKey, caller: Caller): Promise<SharedAnswer> {
    if (this.#callersWaiting >= CALLERS_WAITING_MAX) {
      throw new ServiceError(
        'overloaded',
        `at most ${CALLERS_WAITING_MAX} callers may wait at once; there are as many`,
      );
    }
    const underWay = this.#runs.find(key.text);
    const run = underWay ?? this.#begin(key, { tenant: key.tenant, inTurns: caller.inTurns });
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
      const { answer, ended } = this.#runner.begin({ ...key, ...manner }, () => signal, earlier);
      return { answer: answer.then((answered) => this.#keep(key, answered)), ended };
    });
  }

  /** Copies what is on loan, once, for all who wait and for the cache, which takes no answer that lacks rows. */
  #keep(key: CallKey, run: QueryAnswer & { readonly startMs: number }): SharedResult {
    const answer = new KeptAnswer(run.json, {
      digest: this.#digest.digest(run.json),
      columns: listColumns(key),
      truncatedTo: truncatedTo(run),
    });
    run.release();
    const { startMs, lostDays, stats } = run;
    const nowMs = this.#clock.monotonicMs();
    const isWhole = lostDays.length === 0;
    const isKept = isWhole && this.#cache.put(key, answer, { madeMs: startMs, nowMs });
    // One that was kept before the damage stays until its time is over.
    if (!isWhole) this.#cache.putOffRenewal(key, nowMs);
    return { answer, isKept, startMs, lostDays, stats };
  }

  /**
   * Begins the renewal that is due first, unless one is under way, and goes on with the next. Renewals are guests: what
   * callers leave no time or no room for waits for the next tick.
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

  /** Never rejects: who calls in the meantime has the old answer, or an error of a run of its own. */
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

/** The rows of an answer that `max_rows` cut. */
function truncatedTo({ isTruncated, rowCount }: QueryAnswer): number | undefined {
  return isTruncated ? rowCount : undefined;
}
