import { SQL_TOKENS_WITHIN_MAX } from '../limits.ts';
import type { CommonTable } from '../sql/ast.ts';
import { parseQuery } from '../sql/parser.ts';
import { bindQuery } from './bind-query.ts';
import type { BindEnvironment } from './binder/binding.ts';
import type { BoundQuery } from './logical-plan.ts';
import { type Pieces, runPieces } from './pieces.ts';

/** A query that has been parsed and bound; a plain value, valid as long as the sources are. */
export type PreparedQuery = {
  readonly text: string;
  readonly bound: BoundQuery;
  /** Its WITH, for texts that may name these tables and no others. */
  readonly commonTables: readonly CommonTable[];
};

/** Parses and binds without an engine. Throws a QueryError `invalid_sql` with its place in the text. */
export function prepareQuery(text: string, environment: BindEnvironment): PreparedQuery {
  return runPieces(prepareInPieces(text, environment));
}

/** As `prepareQuery`, with a pause between parsing and binding. */
export function* prepareInPieces(
  text: string,
  environment: BindEnvironment,
): Pieces<PreparedQuery> {
  const isSent = environment.within !== undefined;
  const query = parseQuery(text, isSent ? SQL_TOKENS_WITHIN_MAX : undefined);
  yield;
  return { text, bound: bindQuery(query, environment), commonTables: query.with };
}
