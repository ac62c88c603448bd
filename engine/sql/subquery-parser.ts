import type { Expression, Query } from './ast.ts';
// biome-ignore lint/suspicious/noImportCycles: SQL nests queries and expressions in each other.
import { parseExpressions } from './expression-parser.ts';
// biome-ignore lint/suspicious/noImportCycles: SQL nests queries and expressions in each other.
import { continuesQuery, parseQueryBehind, parseQueryExpression } from './query-parser.ts';
import type { TokenCursor } from './token-cursor.ts';

/** What stands between parentheses: a query, or a list of expressions, which is empty then. */
export type QueryOrList = {
  readonly query?: Query;
  readonly list: readonly Expression[];
};

/**
 * Parses what follows an opening parenthesis, up to the closing one. A second parenthesis may open
 * a value (`((SELECT 1) + 1)`) or the first part of a query (`((SELECT 1) UNION ALL SELECT 2)`);
 * only what follows it tells.
 */
export function parseQueryOrList(cursor: TokenCursor): QueryOrList {
  const start = cursor.token.span;
  if (beginsQuery(cursor)) return { query: parseQueryExpression(cursor), list: [] };
  const list = parseExpressions(cursor);
  const only = list.length === 1 ? list[0] : undefined;
  if (only?.kind !== 'subquery' || only.form !== 'scalar') return { list };
  return continuesQuery(cursor)
    ? { query: parseQueryBehind(cursor, only.query, start), list: [] }
    : { list };
}

/** `WITH (` begins an expression of GoogleSQL's that has no form here. */
function beginsQuery(cursor: TokenCursor): boolean {
  return cursor.isWord('SELECT') || (cursor.isWord('WITH') && !cursor.isSymbol('(', 1));
}

/** `(SELECT …)` behind EXISTS and ARRAY. */
export function parseSubqueryOf(cursor: TokenCursor): Query {
  cursor.mustSymbol('(');
  const query = parseQueryExpression(cursor);
  cursor.mustSymbol(')');
  return query;
}
