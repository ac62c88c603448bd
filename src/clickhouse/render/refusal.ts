import { QueryError, type Span } from '../../../engine/columns.ts';

/** What the message of a refusal begins with; a few depend on values, and are raised when these are met. */
export const UNSUPPORTED = 'the ClickHouse store does not support';

/** Refuses what ClickHouse cannot compute with exactly the answers of the embedded engine. */
export function refuse(what: string, span: Span | undefined): never {
  throw new QueryError('invalid_sql', `${UNSUPPORTED} ${what}`, span);
}
