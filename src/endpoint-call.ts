import type { QueryAnswer } from '../engine/engine.ts';
import { QueryError } from '../engine/query-error.ts';
import type { Endpoint } from './catalogue.ts';
import type { Clock } from './clock.ts';
import type { ParameterValues } from './definition.ts';
import { fromQueryError, ServiceError } from './errors.ts';
import { CALLS_MAX, QUERY_MS_MAX } from './limits.ts';
import type { QueryEngine } from './query-engine.ts';

export type EndpointAnswer = QueryAnswer & {
  /** Milliseconds from the call to its answer. */
  readonly runMs: number;
};

/** Calls endpoints: the one place every call passes before it runs. */
export class EndpointCaller {
  readonly #engine: Pick<QueryEngine, 'run'>;
  readonly #clock: Clock;
  readonly #limits: { readonly callsMax: number; readonly queryMsMax: number };
  /** Runs that the engine is not done with; it may be some time after their callers went away. */
  #runCount = 0;

  constructor(options: {
    readonly engine: Pick<QueryEngine, 'run'>;
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

  /**
   * The answer at this moment. `cancelled` stops the run when its caller has gone.
   *
   * @throws ServiceError for what goes wrong with a query, and when too many are under way.
   */
  async call(
    endpoint: Endpoint,
    parameters: ParameterValues,
    cancelled: AbortSignal,
  ): Promise<EndpointAnswer> {
    if (this.#runCount >= this.#limits.callsMax) {
      throw new ServiceError(
        'overloaded',
        `at most ${this.#limits.callsMax} calls may be under way at once; there are as many`,
      );
    }
    const startMs = this.#clock.monotonicMs();
    try {
      const answer = await this.#runInTime(endpoint, parameters, cancelled);
      return { ...answer, runMs: this.#clock.monotonicMs() - startMs };
    } catch (error) {
      throw error instanceof QueryError ? fromQueryError(error) : error;
    }
  }

  /** Answers in time even where the engine is slow to notice that it should stop. */
  async #runInTime(
    endpoint: Endpoint,
    parameters: ParameterValues,
    cancelled: AbortSignal,
  ): Promise<QueryAnswer> {
    const abort = new AbortController();
    const { queryMsMax } = this.#limits;
    const stopped = new Promise<never>((_resolve, reject) => {
      abort.signal.addEventListener('abort', () => reject(abort.signal.reason), { once: true });
    });
    const timer = setTimeout(() => {
      const message = `a query may run for ${queryMsMax} ms; this one did not end in that time`;
      abort.abort(new QueryError('query_timeout', message));
    }, queryMsMax);
    const cancel = (): void => {
      abort.abort(new QueryError('query_cancelled', 'the caller went away before the answer'));
    };
    cancelled.addEventListener('abort', cancel, { once: true });
    if (cancelled.aborted) cancel();
    const run = this.#run(endpoint, parameters, abort.signal);
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
      clearTimeout(timer);
      cancelled.removeEventListener('abort', cancel);
    }
  }

  #run(endpoint: Endpoint, parameters: ParameterValues, signal: AbortSignal): Promise<QueryAnswer> {
    const run = this.#engine.run(endpoint.query, {
      parameters,
      nowUs: this.#clock.nowUs(),
      rowsMax: endpoint.definition.rowsMax,
      signal,
    });
    this.#runCount += 1;
    const end = (): void => {
      this.#runCount -= 1;
    };
    run.then(end, end);
    return run;
  }
}
