import type { SqlValue } from '../../column/value.ts';
import { parseJson } from '../../function/json/json-value.ts';
import {
  parseDate,
  parseDatetime,
  parseTimeOfDay,
  parseTimestamp,
} from '../../function/time/timestamp-text.ts';
import { QueryError, type Span } from '../../query-error.ts';
import type { Expression } from '../expression.ts';

/** Reads a value written as text, by its type. */
const PARSERS: Readonly<Record<TimeKind | 'JSON', (text: string) => SqlValue>> = {
  TIMESTAMP: parseTimestamp,
  DATETIME: parseDatetime,
  DATE: parseDate,
  TIME: parseTimeOfDay,
  JSON: (text) => parseJson(text, 'a JSON literal'),
};

export type TimeKind = 'TIMESTAMP' | 'DATETIME' | 'DATE' | 'TIME';

/** A time or JSON written as text; a text that is none is the query's mistake. */
export function textLiteral(
  text: string,
  kind: TimeKind | 'JSON',
  span: Span | undefined,
): Expression {
  try {
    return { op: 'literal', type: { kind }, value: PARSERS[kind](text) };
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    throw new QueryError('invalid_sql', error.message, span);
  }
}
