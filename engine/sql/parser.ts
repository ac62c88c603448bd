import { SQL_LENGTH_MAX } from '../limits.ts';
import { QueryError } from '../query-error.ts';
import type { Query } from './ast.ts';
import { parseQueryExpression } from './query-parser.ts';
import { TokenCursor } from './token-cursor.ts';
import { checkTreeDepth } from './tree-depth.ts';
import { findStatementRefusal } from './unsupported.ts';

/**
 * Parses one GoogleSQL query; one `;` may end it. Takes time linear in the text.
 *
 * Throws a QueryError: `invalid_sql` with the place of the first word that was not understood, or
 * `query_limit` for a text that is too long or too deep, or has more than `tokensMax` words, numbers and symbols.
 */
export function parseQuery(text: string, tokensMax = SQL_LENGTH_MAX): Query {
  if (text.length > SQL_LENGTH_MAX) {
    const message = `the query has ${text.length} characters; at most ${SQL_LENGTH_MAX} are allowed (SQL_LENGTH_MAX)`;
    throw new QueryError('query_limit', message);
  }
  const cursor = new TokenCursor(text, tokensMax);
  const refused = findStatementRefusal(cursor.token);
  if (refused !== undefined) throw cursor.error(refused);
  const query = parseQueryExpression(cursor);
  if (cursor.isSymbol(';')) mustEndAfterSemicolon(cursor);
  cursor.mustEnd();
  checkTreeDepth(query);
  return query;
}

function mustEndAfterSemicolon(cursor: TokenCursor): void {
  cursor.advance();
  if (cursor.token.kind === 'end') return;
  const got = cursor.describe(cursor.token);
  throw cursor.error(`only one query is allowed, and ";" ends it; got ${got} after it`);
}
