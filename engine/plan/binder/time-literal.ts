import type { SqlType } from '../../column/type.ts';
import { parseDatetime, parseTimestamp } from '../../function/timestamp-text.ts';
import { QueryError, type Span } from '../../query-error.ts';
import type { Expression } from '../expression.ts';

/** A TIMESTAMP or DATETIME written as text; a text that is no such time is the query's mistake. */
export function timeLiteral(text: string, type: SqlType, span: Span | undefined): Expression {
  try {
    const value = type.kind === 'TIMESTAMP' ? parseTimestamp(text) : parseDatetime(text);
    return { op: 'literal', type, value };
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    throw new QueryError('invalid_sql', error.message, span);
  }
}
