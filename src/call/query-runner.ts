import { QueryError } from '../../engine/columns.ts';
import type {
  HeldSnapshot,
  Pieces,
  PreparedQuery,
  QueryAnswer,
  Reach,
  RunProgress,
  Tenant,
} from '../../engine/index.ts';
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

/** A call of an endpoint. */
export type QueryCall = {
  readonly endpoint: Endpoint;
  readonly parameters: ParameterValues;
  /** What the caller may read. */
  readonly reach: Reach;
  /** The caller's own query over the endpoint's CTEs, run instead of the endpoint's. */
  readonly callerQuery?: PreparedQuery | undefined;
};

/** A query and everything that its answer depends on. */
export type RunCall = {
  readonly query: PreparedQuery;
  /** Whether it is the caller's own text, which may take any time to plan. */
  readonly isSent: boolean;
  readonly rowsMax: number;
  readonly parameters: ParameterValues;
  /** What the caller may read. */
  readonly reach: Reach;
  /** What it reads, if that is not what is there now. */
  readonly snapshot?: HeldSnapshot | undefined;
};

export function toRunCall({ endpoint, parameters, reach, callerQuery }: QueryCall): RunCall {
  return {
    query: callerQuery ?? endpoint.query,
    isSent: callerQuery !== undefined,
    rowsMax: endpoint.definition.rowsMax,
    parameters,
    reach,
  };
}

/** How a call is run. */
export type RunManner = {
  /** Whether the answer explains how it was made. */
  readonly isExplained?: boolean;
  /** The tenant that the time is charged to; `undefined` for a renewal. */
  readonly tenant?: Tenant | undefined;
  /** Present if no caller waits; aborted as soon as one does. */
  readonly renewal?: AbortSignal | undefined;
  /** Told how far the run is. */
  readonly progress?: RunProgress | undefined;
  /** How a caller's own text is planned and begun; absent if no caller waits. */
  readonly inTurns?: InTurns | undefined;
};

/** Does work in turns with other work, and stops if `isGone`. */
export type InTurns = <T>(pieces: Pieces<T>, isGone: () => boolean) => Promise<Awaited<T>>;

/** Runs queries within their time limits, and limits how many run at once. */
export class QueryRunner {
  readonly #engine: Pick<QueryEngine, 'begin' | 'planInPieces'>;
  readonly #clock: Clock;
  readonly #limits: { readonly callsMax: number; readonly queryMsMax: number };
  /** Runs that the engine has not finished. A run may outlast its callers. */
  #runCount = 0;
  /** Functions that end the watched runs. */
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

  /** Whether another run may begin. */
  get hasRoom(): boolean {
    return this.#runCount < this.#limits.callsMax;
  }

  /**
   * Runs for one caller. Returns the answer if it is available in this turn of the event loop, or a
   * promise of it, which rejects as documented at `begin` and when too many runs are under way.
   */
  run(call: RunCall & RunManner, cancelled: () => AbortSignal): QueryAnswer | Promise<QueryAnswer> {
    if (!this.hasRoom) return Promise.reject(this.#overloaded());
    if (call.isSent) {
      return this.#watched(call, (signal) => this.#answer(call, signal), cancelled).answer;
    }
    const begun = this.#engine.begin(...this.#createQuery(call));
    if (typeof begun !== 'function') return begun;
    return this.#watched(call, begun, cancelled).answer;
  }

  /**
   * Begins a run after `earlier` has settled. Its answer rejects with a ServiceError if the query
   * fails, soon after `cancelled`, and when its time is over. `cancelled` is requested only if the
   * answer does not come in this turn of the event loop.
   *
   * @throws ServiceError when too many runs are under way.
   */
  begin(
    call: RunCall & RunManner,
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
      `at most ${this.#limits.callsMax} calls may be under way at once; the limit is reached`,
    );
  }

  /** A run that has to be waited for, counted until the engine has finished it. */
  #watched<Answer extends QueryAnswer>(
    { query, isSent }: RunCall,
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
      throw error instanceof QueryError
        ? fromQueryError(error, isSent ? query.text : undefined)
        : error;
    });
    return { answer, ended };
  }

  /** Stops all running queries; their callers get this error. */
  stopAll(error: Error): void {
    for (const stop of this.#stops) stop(error);
  }

  /** Answers in time even if the engine is slow to stop. */
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
      // Setting up the watch costs as much as a small run, whose answer comes before this is
      // called.
      watching = setImmediate(() => {
        unwatch = this.#watch(cancelled(), stop);
      });
    });
    try {
      // `race` handles both, so that neither rejection is unhandled after the other has won.
      return await Promise.race([stopped, run]);
    } catch (error) {
      // Release an answer that comes too late.
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

  /**
   * Calls `stop` when the caller has gone, when the time is over, or when all runs are stopped. The
   * function that it returns ends the watch.
   */
  #watch(cancelled: AbortSignal, stop: (error: Error) => void): () => void {
    const { queryMsMax } = this.#limits;
    const timer = setTimeout(() => {
      const message = `a query may run for ${queryMsMax} ms; this one exceeded that time`;
      stop(new QueryError('query_timeout', message));
    }, queryMsMax);
    // The process is kept alive by what waits for the answer, not by this timer.
    timer.unref();
    const cancel = (): void => {
      stop(new QueryError('query_cancelled', 'the caller disconnected before the answer'));
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

  /** Plans a caller's own text in pieces, because that may take long. */
  async #answer(call: RunCall & RunManner, signal: AbortSignal): Promise<QueryAnswer> {
    if (call.isSent) {
      const inTurns = call.inTurns ?? inTurnsOfTheLoop;
      return inTurns(this.#planAndBegin(call, signal), () => signal.aborted);
    }
    const begun = this.#engine.begin(...this.#createQuery(call));
    return typeof begun === 'function' ? begun(signal) : begun;
  }

  *#planAndBegin(
    call: RunCall & RunManner,
    signal: AbortSignal,
  ): Pieces<QueryAnswer | Promise<QueryAnswer>> {
    const [query, options] = this.#createQuery(call);
    const planned = yield* this.#engine.planInPieces(query, options);
    yield;
    const begun = this.#engine.begin(query, { ...options, planned });
    return typeof begun === 'function' ? begun(signal) : begun;
  }

  #createQuery({
    query,
    rowsMax,
    parameters,
    reach,
    snapshot,
    isExplained,
    tenant,
    renewal,
    progress,
  }: RunCall & RunManner): Parameters<QueryEngine['begin']> {
    const nowUs = this.#clock.nowUs();
    return [
      query,
      { parameters, nowUs, rowsMax, reach, snapshot, isExplained, tenant, renewal, progress },
    ];
  }
}

/** Runs one piece in each turn of the event loop. */
async function inTurnsOfTheLoop<T>(pieces: Pieces<T>, isGone: () => boolean): Promise<Awaited<T>> {
  while (!isGone()) {
    const step = pieces.next();
    if (step.done === true) return await step.value;
    await new Promise(setImmediate);
  }
  throw new QueryError('query_cancelled', 'the caller disconnected before the answer');
}
