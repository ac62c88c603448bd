import type { ClickHouseOptions } from '../../src/clickhouse/event-table.ts';
import { tableStatements } from '../../src/clickhouse/schema.ts';
import type { ChdbUnderTest } from './chdb.ts';

export const DATABASE = 'weir';

/** Makes an empty database with the table of events. */
export function makeDatabase(chdb: ChdbUnderTest): void {
  chdb.run(`DROP DATABASE IF EXISTS ${DATABASE}`);
  chdb.run(`CREATE DATABASE ${DATABASE}`);
  chdb.run(`USE ${DATABASE}`);
  for (const { sql } of tableStatements()) chdb.run(sql);
}

/** How the client reaches a server of these tests. */
export function connectionTo(url: string, insertMsMax?: number): ClickHouseOptions {
  return {
    url,
    username: 'default',
    password: '',
    database: DATABASE,
    table: `${DATABASE}.events`,
    insertMsMax,
  };
}
