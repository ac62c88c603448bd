import type { SqlValue } from '../../column/value.ts';
import {
  parseDate,
  parseDatetime,
  parseTimeOfDay,
  parseTimestamp,
} from '../../function/time/timestamp-text.ts';
import { QueryError, type Span } from '../../query-error.ts';
import type { Expression } from '../expression.ts';

/** Reads a time written as text, by its type. */
const PARSERS: Readonly<Record<TimeKind, (text: string) => SqlValue>> = {
  TIMESTAMP: parseTimestamp,
  DATETIME: parseDatetime,
  DATE: parseDate,
  TIME: parseTimeOfDay,
};

export type TimeKind = 'TIMESTAMP' | 'DATETIME' | 'DATE' | 'TIME';

/** A time written as text; a text that is no such time is the query's mistake. */
export function timeLiteral(text: string, kind: TimeKind, span: Span | undefined): Expression {
  try {
    return { op: 'literal', type: { kind }, value: PARSERS[kind](text) };
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    throw new QueryError('invalid_sql', error.message, span);
  }
}
