import { Readable } from 'node:stream';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { SHIPPED_COLUMNS } from './ship-batch.ts';

/**
 * Milliseconds without a byte from ClickHouse after which an insert counts as failed. A batch takes a second; a cluster
 * that merges a lot takes several.
 */
const INSERT_MS_MAX = 30_000;

/** More than any batch has: an insert is one block, and so happens as a whole or not at all. */
const BLOCK_ROWS = 100_000_000;
const BLOCK_BYTES = 4 * 1024 * 1024 * 1024;

export type ClickHouseOptions = {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly database: string;
  readonly table: string;
  /** Instead of INSERT_MS_MAX; for tests. */
  readonly insertMsMax?: number | undefined;
};

/** Where events are kept. */
export interface EventTable {
  /**
   * Resolves when the rows are in the table, as a whole, or an earlier insert with the same token put them there. After a
   * rejection they may be in the table. `rows` must not change before that.
   */
  insert(rows: Uint8Array, token: string, signal: AbortSignal): Promise<void>;
  /** Resolves to the number of rows in the table. */
  count(rows: RowsOfDay, signal: AbortSignal): Promise<number>;
  close(): Promise<void>;
}

/** The rows of a gateway's records [first, end) on one UTC day, written as `2026-07-01`. */
export type RowsOfDay = {
  readonly gateway: string;
  readonly first: number;
  readonly end: number;
  readonly day: string;
};

/** The table of events in ClickHouse. */
export class ClickHouseTable implements EventTable {
  readonly #client: ClickHouseClient;
  readonly #table: string;

  constructor(options: ClickHouseOptions) {
    const { url, username, password, database, table, insertMsMax = INSERT_MS_MAX } = options;
    this.#table = table;
    this.#client = createClient({
      ...{ url, username, password, database },
      request_timeout: insertMsMax,
      // Failures are reported where they are tried again.
      log: { level: ClickHouseLogLevel.OFF },
      clickhouse_settings: {
        // The answer comes when the rows are in the table.
        async_insert: 0,
        wait_end_of_query: 1,
        insert_deduplicate: 1,
        max_insert_block_size: String(BLOCK_ROWS),
        min_insert_block_size_rows: String(BLOCK_ROWS),
        min_insert_block_size_bytes: String(BLOCK_BYTES),
      },
    });
  }

  async insert(rows: Uint8Array, token: string, signal: AbortSignal): Promise<void> {
    await this.#client.insert({
      table: this.#table,
      columns: [...SHIPPED_COLUMNS],
      format: 'TabSeparated',
      values: Readable.from([rows], { objectMode: false }),
      clickhouse_settings: { insert_deduplication_token: token },
      abort_signal: signal,
    });
  }

  async count(rows: RowsOfDay, signal: AbortSignal): Promise<number> {
    const answer = await this.#client.query({
      query: `SELECT count() AS count FROM ${this.#table} WHERE gateway = {gateway: String}
        AND sequence >= {first: UInt64} AND sequence < {end: UInt64} AND toDate(timestamp) = {day: Date}`,
      query_params: rows,
      format: 'JSONEachRow',
      abort_signal: signal,
    });
    const [counted] = await answer.json<{ readonly count: string | number }>();
    return Number(counted?.count);
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}
