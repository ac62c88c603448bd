import type { BegunAnswer, QueryAnswer, RunOptions } from '../../engine/engine.ts';
import type { ParameterDeclaration, Views } from '../../engine/plan/logical-plan.ts';
import type { Pieces } from '../../engine/plan/pieces.ts';
import type { PreparedQuery } from '../../engine/plan/prepared-query.ts';
import type { Reach } from '../../engine/plan/reach.ts';

/** Of each run the service says what it may read: nothing is open for want of a word. */
export type BoundedRunOptions = RunOptions & { readonly reach: Reach };

/** What the service asks of the engine. */
export interface QueryEngine {
  /**
   * Parses and binds a text whose parameters are all among those declared; with `within`, as one that
   * may name the tables of these texts and no sources; with `views`, as one that, or whose tables, may name these.
   *
   * @throws QueryError with the place in the text.
   */
  prepare(
    text: string,
    parameters: readonly ParameterDeclaration[],
    within?: readonly PreparedQuery['commonTables'][],
    views?: Views,
  ): PreparedQuery;
  /** As `prepare`, for a text of which nobody knows how long it takes. */
  prepareInPieces(...text: Parameters<QueryEngine['prepare']>): Pieces<PreparedQuery>;
  /** What `begin` is to be given as `planned`, with the same options. Throws a QueryError. */
  planInPieces(
    query: PreparedQuery,
    options: Omit<BoundedRunOptions, 'signal'>,
  ): Pieces<NonNullable<RunOptions['planned']>>;
  /**
   * Runs it over everything that is visible at the moment of the call, and in reach of its caller. Rejects with a QueryError;
   * once `signal` is aborted, soon and with `query_cancelled`.
   */
  run(query: PreparedQuery, options: BoundedRunOptions): Promise<QueryAnswer>;
  /** How many wait for a thread. */
  readonly queriesWaiting: number;
  /** As `run`, without a promise where the answer is there in this turn of the event loop. Never throws. */
  begin(query: PreparedQuery, options: Omit<BoundedRunOptions, 'signal'>): BegunAnswer;
}
