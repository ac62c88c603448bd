import { QueryError, type Span } from '../../../engine/query-error.ts';

/** Refuses what ClickHouse cannot compute with exactly the answers of the embedded engine. */
export function refuse(what: string, span: Span | undefined): never {
  throw new QueryError('invalid_sql', `the ClickHouse store does not support ${what}`, span);
}
