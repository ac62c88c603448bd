import type { FieldCounts } from '../../engine/columns.ts';
import type {
  BegunAnswer,
  FieldsOrder,
  HeldSnapshot,
  ParameterDeclaration,
  Pieces,
  PreparedQuery,
  QueryAnswer,
  Reach,
  RunOptions,
  SnapshotScope,
  Views,
  Within,
} from '../../engine/index.ts';

/** Options of a run. The reach is required, so that a missing one cannot open everything. */
export type BoundedRunOptions = RunOptions & {
  readonly reach: Reach;
  /**
   * Where the text wants only rows that arrived before this one. The text has to say so, too. With `arrivalAfter` it
   * bounds what ClickHouse looks at.
   */
  readonly arrivalEnd?: number;
};

/** What the service needs of the engine. */
export interface QueryEngine {
  /**
   * Parses and binds a text whose parameters are all declared. With `within`, it was sent and may
   * name these tables only; with `views`, it and its tables may name these.
   *
   * @throws QueryError with the place in the text.
   */
  prepare(
    text: string,
    parameters: readonly ParameterDeclaration[],
    within?: Within,
    views?: Views,
  ): PreparedQuery;
  /** Does the work of `prepare` in pieces, for a text that may take long. */
  prepareInPieces(...text: Parameters<QueryEngine['prepare']>): Pieces<PreparedQuery>;
  /**
   * Plans a query in pieces. The result is the option `planned` of `begin`, which needs the same
   * other options. Throws a QueryError.
   */
  planInPieces(
    query: PreparedQuery,
    options: Omit<BoundedRunOptions, 'signal'>,
  ): Pieces<NonNullable<RunOptions['planned']>>;
  /**
   * Runs a query over everything that is visible at the time of the call and within its reach.
   * Rejects with a QueryError, and soon after `signal` is aborted with `query_cancelled`.
   */
  run(query: PreparedQuery, options: BoundedRunOptions): Promise<QueryAnswer>;
  /** How many queries wait for a thread. */
  readonly queriesWaiting: number;
  /**
   * Begins a run and returns no promise if the answer is available in this turn of the event loop.
   * Never throws.
   */
  begin(query: PreparedQuery, options: Omit<BoundedRunOptions, 'signal'>): BegunAnswer;
  /** Counts the fields of the events of a source. Rejects as `run` does. */
  countFields(
    order: FieldsOrder & { readonly reach: Reach },
    signal?: AbortSignal,
  ): Promise<FieldCounts>;
  /** Holds the rows of a source that are published now, for several runs. To be released. */
  takeSnapshot(scope: SnapshotScope): HeldSnapshot;
}
