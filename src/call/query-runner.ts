import type { QueryAnswer } from '../../engine/engine.ts';
import type { Pieces } from '../../engine/plan/pieces.ts';
import type { PreparedQuery } from '../../engine/plan/prepared-query.ts';
import type { Reach } from '../../engine/plan/reach.ts';
import type { Tenant } from '../../engine/pool/tenant-sets.ts';
import { QueryError } from '../../engine/query-error.ts';
import type { Clock } from '../clock.ts';
import type { ParameterValues } from '../definition/definition.ts';
import type { Endpoint } from '../definition/endpoint.ts';
import { fromQueryError, ServiceError } from '../errors.ts';
import { CALLS_MAX, QUERY_MS_MAX } from '../limits.ts';
import type { QueryEngine } from './query-engine.ts';
import type { BegunRun } from './shared-run.ts';

export type TimedAnswer = QueryAnswer & {
  /** When the run read the data, on the monotonic clock. */
  readonly startMs: number;
};

/** What a call asks. */
export type QueryCall = {
  readonly endpoint: Endpoint;
  readonly parameters: ParameterValues;
  /** What the caller may read. */
  readonly reach: Reach;
  /** The caller's own, over the endpoint's CTEs, to be run in the place of the endpoint's. */
  readonly callerQuery?: PreparedQuery | undefined;
};

/** Names of the columns of the answer, in their order. */
export function listColumns({ endpoint, callerQuery }: QueryCall): readonly string[] {
  return (callerQuery ?? endpoint.query).bound.output.map(({ name }) => name);
}

/** How a call is run. */
export type RunManner = {
  /** Whether the answer should tell how it was made. */
  readonly isExplained?: boolean;
  /** Whose time it takes; of a renewal nobody's in particular. */
  readonly tenant?: Tenant | undefined;
  /** There where nobody waits for it; aborted as soon as a caller does. */
  readonly renewal?: AbortSignal | undefined;
  /** How a caller's own text is planned and begun; absent where nobody waits for it. */
  readonly inTurns?: InTurns | undefined;
};

/** Does work in turns with that of others, and gives up where `isGone`. */
export type InTurns = <T>(pieces: Pieces<T>, isGone: () => boolean) => Promise<Awaited<T>>;

/** Runs queries, each in its time, and no more at once than there may be. */
export class QueryRunner {
  readonly #engine: Pick<QueryEngine, 'begin' | 'planInPieces'>;
  readonly #clock: Clock;
  readonly #limits: { readonly callsMax: number; readonly queryMsMax: number };
  /** Runs that the engine is not done with; it may be some time after their callers went away. */
  #runCount = 0;
  /** Ends the runs that are watched. */
  readonly #stops = new Set<(error: Error) => void>();

  constructor(options: {
    readonly engine: Pick<QueryEngine, 'begin' | 'planInPieces'>;
    readonly clock: Clock;
    readonly callsMax?: number | undefined;
    readonly queryMsMax?: number | undefined;
  }) {
    this.#engine = options.engine;
    this.#clock = options.clock;
    this.#limits = {
      callsMax: options.callsMax ?? CALLS_MAX,
      queryMsMax: options.queryMsMax ?? QUERY_MS_MAX,
    };
  }

  get runCount(): number {
    return this.#runCount;
  }

  /** Whether one more may begin. */
  get hasRoom(): boolean {
    return this.#runCount < this.#limits.callsMax;
  }

  /**
   * Runs for one caller: the answer, where it is there in this turn of the event loop, or a promise of it, which rejects
   * as `begin` says, and when too many are under way.
   */
  run(
    call: QueryCall & RunManner,
    cancelled: () => AbortSignal,
  ): QueryAnswer | Promise<QueryAnswer> {
    if (!this.hasRoom) return Promise.reject(this.#overloaded());
    if (call.callerQuery !== undefined) {
      return this.#watched(call, (signal) => this.#answer(call, signal), cancelled).answer;
    }
    const begun = this.#engine.begin(...this.#createQuery(call));
    if (typeof begun !== 'function') return begun;
    return this.#watched(call, begun, cancelled).answer;
  }

  /**
   * Begins a run, once `earlier` has settled. Its answer rejects with a ServiceError for what goes
   * wrong with a query: soon after `cancelled`, and when its time is over. `cancelled` is asked for only
   * when the answer does not come in this turn of the event loop.
   *
   * @throws ServiceError when too many are under way.
   */
  begin(
    call: QueryCall & RunManner,
    cancelled: () => AbortSignal,
    earlier?: Promise<void>,
  ): BegunRun<TimedAnswer> {
    if (!this.hasRoom) throw this.#overloaded();
    const run = async (signal: AbortSignal): Promise<TimedAnswer> => {
      if (earlier !== undefined) {
        await earlier;
        signal.throwIfAborted();
      }
      const startMs = this.#clock.monotonicMs();
      return { ...(await this.#answer(call, signal)), startMs };
    };
    return this.#watched(call, run, cancelled);
  }

  #overloaded(): ServiceError {
    return new ServiceError(
      'overloaded',
      `at most ${this.#limits.callsMax} calls may be under way at once; there are as many`,
    );
  }

  /** A run that has to be waited for, counted until the engine is done with it. */
  #watched<Answer extends QueryAnswer>(
    { callerQuery }: QueryCall,
    begin: (signal: AbortSignal) => Promise<Answer>,
    cancelled: () => AbortSignal,
  ): BegunRun<Answer> {
    const abort = new AbortController();
    const run = begin(abort.signal);
    this.#runCount += 1;
    const end = (): void => {
      this.#runCount -= 1;
    };
    const ended = run.then(end, end);
    const answer = this.#inTime(run, abort, cancelled).catch((error: unknown): never => {
      throw error instanceof QueryError ? fromQueryError(error, callerQuery?.text) : error;
    });
    return { answer, ended };
  }

  /** Stops what is under way; its callers get this error. */
  stopAll(error: Error): void {
    for (const stop of this.#stops) stop(error);
  }

  /** Answers in time even where the engine is slow to notice that it should stop. */
  async #inTime<Answer extends QueryAnswer>(
    run: Promise<Answer>,
    abort: AbortController,
    cancelled: () => AbortSignal,
  ): Promise<Answer> {
    let unwatch = (): void => {};
    let watching: NodeJS.Immediate | undefined;
    const stopped = new Promise<never>((_resolve, reject) => {
      const stop = (error: Error): void => {
        abort.abort(error);
        reject(error);
      };
      // Watching takes as long as a small run does, whose answer is there before this is called.
      watching = setImmediate(() => {
        unwatch = this.#watch(cancelled(), stop);
      });
    });
    try {
      // `race` watches both, so that neither rejects unseen after the other has won.
      return await Promise.race([stopped, run]);
    } catch (error) {
      // An answer that comes after all has no reader.
      run.then(
        (answer) => answer.release(),
        () => {},
      );
      throw error;
    } finally {
      clearImmediate(watching);
      unwatch();
    }
  }

  /** Calls `stop` when the caller has gone, when the time is over, and with all others; until what it returns is called. */
  #watch(cancelled: AbortSignal, stop: (error: Error) => void): () => void {
    const { queryMsMax } = this.#limits;
    const timer = setTimeout(() => {
      const message = `a query may run for ${queryMsMax} ms; this one did not end in that time`;
      stop(new QueryError('query_timeout', message));
    }, queryMsMax);
    // What waits for the answer holds the process, where anything does.
    timer.unref();
    const cancel = (): void => {
      stop(new QueryError('query_cancelled', 'the caller went away before the answer'));
    };
    cancelled.addEventListener('abort', cancel, { once: true });
    if (cancelled.aborted) cancel();
    this.#stops.add(stop);
    return () => {
      this.#stops.delete(stop);
      clearTimeout(timer);
      cancelled.removeEventListener('abort', cancel);
    };
  }

  /** How long a caller's own text takes to plan nobody knows: that is done in pieces. */
  async #answer(call: QueryCall & RunManner, signal: AbortSignal): Promise<QueryAnswer> {
    if (call.callerQuery !== undefined) {
      const inTurns = call.inTurns ?? inTurnsOfTheLoop;
      return inTurns(this.#planAndBegin(call, signal), () => signal.aborted);
    }
    const begun = this.#engine.begin(...this.#createQuery(call));
    return typeof begun === 'function' ? begun(signal) : begun;
  }

  *#planAndBegin(
    call: QueryCall & RunManner,
    signal: AbortSignal,
  ): Pieces<QueryAnswer | Promise<QueryAnswer>> {
    const [query, options] = this.#createQuery(call);
    const planned = yield* this.#engine.planInPieces(query, options);
    yield;
    const begun = this.#engine.begin(query, { ...options, planned });
    return typeof begun === 'function' ? begun(signal) : begun;
  }

  #createQuery({
    endpoint,
    parameters,
    reach,
    callerQuery,
    isExplained,
    tenant,
    renewal,
  }: QueryCall & RunManner): Parameters<QueryEngine['begin']> {
    const options = {
      parameters,
      nowUs: this.#clock.nowUs(),
      rowsMax: endpoint.definition.rowsMax,
      reach,
      isExplained,
      tenant,
      renewal,
    };
    return [callerQuery ?? endpoint.query, options];
  }
}

/** One piece in each turn of the event loop. */
async function inTurnsOfTheLoop<T>(pieces: Pieces<T>, isGone: () => boolean): Promise<Awaited<T>> {
  while (!isGone()) {
    const step = pieces.next();
    if (step.done === true) return await step.value;
    await new Promise(setImmediate);
  }
  throw new QueryError('query_cancelled', 'the caller went away before the answer');
}
