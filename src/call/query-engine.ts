import type { BegunAnswer, PreparedQuery, QueryAnswer, RunOptions } from '../../engine/engine.ts';
import type { ParameterDeclaration, Views } from '../../engine/plan/logical-plan.ts';
import type { Reach } from '../../engine/plan/reach.ts';

/** Of each run the service says what it may read: nothing is open for want of a word. */
export type BoundedRunOptions = RunOptions & { readonly reach: Reach };

/** What the service asks of the engine. */
export interface QueryEngine {
  /**
   * Parses and binds a text whose parameters are all among those declared; with `within`, as one that
   * may name these tables and no sources; with `views`, as one that, or whose tables, may name these.
   *
   * @throws QueryError with the place in the text.
   */
  prepare(
    text: string,
    parameters: readonly ParameterDeclaration[],
    within?: PreparedQuery['commonTables'],
    views?: Views,
  ): PreparedQuery;
  /**
   * Runs it over everything that is visible at the moment of the call, and in reach of its caller. Rejects with a QueryError;
   * once `signal` is aborted, soon and with `query_cancelled`.
   */
  run(query: PreparedQuery, options: BoundedRunOptions): Promise<QueryAnswer>;
  /** As `run`, without a promise where the answer is there in this turn of the event loop. Never throws. */
  begin(query: PreparedQuery, options: Omit<BoundedRunOptions, 'signal'>): BegunAnswer;
}
