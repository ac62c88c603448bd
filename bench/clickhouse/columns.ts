import type { PreparedQuery } from '../../engine/plan/prepared-query.ts';
import { addColumnsStatements, savedPathsOf } from '../../src/clickhouse/fields/field-columns.ts';
import { type FieldColumn, fieldColumnOf, keyOf } from '../../src/clickhouse/fields/field-path.ts';
import type { FindField } from '../../src/clickhouse/fields/field-plan.ts';
import { DIRECTORY } from './records.ts';

/** The columns that a service adds to the table for its saved queries. */
export type SavedColumns = { readonly statement: string; readonly find: FindField };

export function columnsOf(endpoints: readonly { readonly query: PreparedQuery }[]): SavedColumns {
  const columns = new Map<string, FieldColumn>();
  for (const { query } of endpoints) {
    for (const path of savedPathsOf(query, DIRECTORY.sources)) {
      columns.set(keyOf(path), fieldColumnOf(path));
    }
  }
  return {
    statement: addColumnsStatements([...columns.values()], { isFilled: false })[0]!,
    find: (path) => columns.get(keyOf(path))?.name,
  };
}
