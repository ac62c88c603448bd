import { SQL_LENGTH_MAX } from '../limits.ts';
import { QueryError } from '../query-error.ts';
import type { Query } from './ast.ts';
import { parseQueryExpression } from './query-parser.ts';
import { TokenCursor } from './token-cursor.ts';
import { checkTreeDepth } from './tree-depth.ts';

/**
 * Parses one GoogleSQL query; one `;` may end it. Takes time linear in the text.
 *
 * Throws a QueryError: `invalid_sql` with the place of the first word that was not understood, or
 * `query_limit` for a text that is too long or too deep.
 */
export function parseQuery(text: string): Query {
  if (text.length > SQL_LENGTH_MAX) {
    const message = `the query has ${text.length} characters; at most ${SQL_LENGTH_MAX} are allowed (SQL_LENGTH_MAX)`;
    throw new QueryError('query_limit', message);
  }
  const cursor = new TokenCursor(text);
  const query = parseQueryExpression(cursor);
  if (cursor.isSymbol(';')) cursor.advance();
  cursor.mustEnd();
  checkTreeDepth(query);
  return query;
}
