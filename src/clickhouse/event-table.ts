import { Readable } from 'node:stream';
import type { ClickHouseClient } from '@clickhouse/client';
import { QueryError } from '../../engine/columns.ts';
import { ArrivalJournal } from './arrival-journal.ts';
import { ARRIVALS_TABLE } from './arrivals-table.ts';
import { type ClickHouseConnection, openClient, readRows } from './client.ts';
import {
  type ArrivalRange,
  Arrivals,
  type DayCount,
  type GatewayPart,
  type MovedTable,
} from './moved-table.ts';
import { EVENTS_TABLE, SCHEMA_VERSION, schemaVersionOf, tableStatements } from './schema.ts';
import { ARRIVAL_SQL, SHIPPED_COLUMNS } from './shipped-row.ts';
import type { Stretch } from './stretches.ts';
import {
  CHANGE_SETTINGS,
  layoutOnCluster,
  ONE_SERVER,
  type PresentTable,
  type PresentTables,
  storedName,
  type TableLayout,
} from './table-layout.ts';

/**
 * Milliseconds without a byte from ClickHouse after which an insert counts as failed. A batch takes a second; a cluster
 * that merges a lot takes several.
 */
const INSERT_MS_MAX = 30_000;

/** More than any batch has: an insert is one block, and so happens as a whole or not at all. */
const BLOCK_ROWS = 100_000_000;
const BLOCK_BYTES = 4 * 1024 * 1024 * 1024;

/** One batch is on its way at a time, and its rows may be counted while an insert is given up. */
const REQUESTS_MAX = 4;

export type ClickHouseOptions = ClickHouseConnection & {
  readonly table: string;
  /** How the tables are made where they are missing; without it, they must be there. */
  readonly made?: MadeTables | undefined;
  /** Instead of INSERT_MS_MAX; for tests. */
  readonly insertMsMax?: number | undefined;
};

type MadeTables = {
  /** The cluster that has the tables; on one server by default. */
  readonly cluster?: string | undefined;
  readonly retentionDays?: number | undefined;
};

/** Where events are kept. */
export interface EventTable {
  /**
   * Resolves when the rows are in the table, as a whole, or an earlier insert with the same token put them there. After a
   * rejection they may be in the table. `rows` must not change before that.
   */
  insert(rows: Uint8Array, token: string, signal: AbortSignal): Promise<void>;
  /** Resolves to the number of rows in the table, without those that are there again. */
  count(rows: RowsOfDay, signal: AbortSignal): Promise<number>;
  /** Gives the events of consecutive records their numbers, once. After a rejection they may have them. */
  appendArrivals(
    gateway: string,
    stretches: readonly Stretch[],
    signal: AbortSignal,
  ): Promise<void>;
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
export class ClickHouseTable implements MovedTable {
  readonly #client: ClickHouseClient;
  readonly #table: string;
  readonly #made: MadeTables | undefined;
  /** The numbers of all events. */
  readonly journal: ArrivalJournal;
  /** Set while the tables are being made, and when they are. */
  #making: Promise<TableLayout> | undefined;

  constructor(options: ClickHouseOptions) {
    this.#table = options.table;
    this.#made = options.made;
    this.#client = openClient(options, {
      silentMsMax: options.insertMsMax ?? INSERT_MS_MAX,
      requestsMax: REQUESTS_MAX,
      settings: {
        ...CHANGE_SETTINGS,
        // The answer comes when the rows are in the table, on all shards.
        async_insert: 0,
        wait_end_of_query: 1,
        distributed_foreground_insert: 1,
        insert_deduplicate: 1,
        max_insert_block_size: String(BLOCK_ROWS),
        min_insert_block_size_rows: String(BLOCK_ROWS),
        min_insert_block_size_bytes: String(BLOCK_BYTES),
      },
    });
    this.journal = new ArrivalJournal(this.#client, () => this.make());
  }

  /**
   * Makes the tables, once, and resolves to where they are. After a rejection they may be there, and the next call tries
   * again. Rejects with a QueryError `store_unavailable` where a newer weir has made them.
   */
  async make(): Promise<TableLayout> {
    this.#making ??= this.#makeAll();
    try {
      return await this.#making;
    } catch (error) {
      this.#making = undefined;
      throw error;
    }
  }

  async #makeAll(): Promise<TableLayout> {
    const present = await this.#presentTables();
    const layout = await this.#layoutOf(present);
    const version = versionOf(present.get(storedName(EVENTS_TABLE, layout)));
    if (version > SCHEMA_VERSION) {
      throw new QueryError(
        'store_unavailable',
        `the tables in ClickHouse are of version ${version}; this weir knows versions up to ${SCHEMA_VERSION}: start a newer one`,
      );
    }
    if (this.#made === undefined) return layout;
    const { retentionDays } = this.#made;
    for (const { sql, since, makes } of tableStatements({ layout, retentionDays })) {
      // What is there is not made again: a replica refuses other columns than those that its table has by now.
      const isDone = makes === undefined ? version >= since : present.has(makes);
      if (!isDone) await this.#client.command({ query: sql });
    }
    return layout;
  }

  async #presentTables(): Promise<PresentTables> {
    const tables = await readRows<PresentTable>(this.#client, {
      query: 'SELECT name, engine, comment FROM system.tables WHERE database = currentDatabase()',
    });
    return new Map(tables.map((table) => [table.name, table]));
  }

  async #layoutOf(present: PresentTables): Promise<TableLayout> {
    const cluster = this.#made?.cluster;
    if (cluster === undefined) return ONE_SERVER;
    const events = present.get(EVENTS_TABLE);
    const isSharded =
      events === undefined ? (await this.#countShards(cluster)) > 1 : isDistributed(events);
    const tables = [EVENTS_TABLE, ARRIVALS_TABLE];
    return layoutOnCluster(cluster, { isSharded, tables, present });
  }

  async #countShards(cluster: string): Promise<number> {
    const [shards] = await readRows<{ readonly count: string | number }>(this.#client, {
      query:
        'SELECT max(shard_num) AS count FROM system.clusters WHERE cluster = {cluster: String}',
      query_params: { cluster },
    });
    return Number(shards?.count);
  }

  appendArrivals(
    gateway: string,
    stretches: readonly Stretch[],
    signal: AbortSignal,
  ): Promise<void> {
    return this.journal.append(gateway, stretches, signal);
  }

  async insert(rows: Uint8Array, token: string, signal: AbortSignal): Promise<void> {
    const { insertSettings } = await this.make();
    await this.#client.insert({
      table: this.#table,
      columns: [...SHIPPED_COLUMNS],
      format: 'TabSeparated',
      values: Readable.from([rows], { objectMode: false }),
      clickhouse_settings: { ...insertSettings, insert_deduplication_token: token },
      abort_signal: signal,
    });
  }

  async count(rows: RowsOfDay, signal: AbortSignal): Promise<number> {
    await this.make();
    const [counted] = await readRows<{ readonly count: string | number }>(this.#client, {
      query: `SELECT uniqExact(sequence, event) AS count FROM ${this.#table} WHERE gateway = {gateway: String}
        AND sequence >= {first: UInt64} AND sequence < {end: UInt64} AND toDate(timestamp) = {day: Date}`,
      query_params: rows,
      abort_signal: signal,
    });
    return Number(counted?.count);
  }

  async countDays(
    gateway: string,
    part: GatewayPart,
    signal: AbortSignal,
  ): Promise<readonly DayCount[]> {
    await this.make();
    const counts = await readRows<Record<'source' | 'day' | 'count', string>>(this.#client, {
      query: `SELECT source, toString(toDate(timestamp)) AS day, toString(count()) AS count FROM ${this.#table}
        WHERE gateway = {gateway: String} AND sequence >= {first: UInt64} AND sequence < {end: UInt64}
        GROUP BY source, day`,
      query_params: { gateway, ...part },
      abort_signal: signal,
    });
    return counts.map(({ source, day, count }) => ({ source, day, count: Number(count) }));
  }

  async findArrivals(gateway: string, range: ArrivalRange, signal: AbortSignal): Promise<Arrivals> {
    await this.make();
    const { source, day, arrivalMin, arrivalMax, projects } = range;
    const ofProjects =
      projects === undefined
        ? ''
        : 'AND project >= unhex({projectFirst: String}) AND project <= unhex({projectLast: String})';
    const answer = await this.#client.query({
      query: `SELECT toString(${ARRIVAL_SQL}) AS arrival FROM ${this.#table}
        WHERE source = {source: String} AND toDate(timestamp) = {day: Date} AND gateway = {gateway: String}
        AND ${ARRIVAL_SQL} BETWEEN {arrivalMin: UInt64} AND {arrivalMax: UInt64} ${ofProjects}`,
      query_params: {
        ...{ source, day, gateway, arrivalMin, arrivalMax },
        projectFirst: hexText(projects?.first),
        projectLast: hexText(projects?.last),
      },
      format: 'JSONCompactEachRow',
      abort_signal: signal,
    });
    const arrivals: number[] = [];
    for await (const rows of answer.stream<[string]>()) {
      for (const row of rows) arrivals.push(Number(row.json()[0]));
    }
    return new Arrivals(Float64Array.from(arrivals).sort());
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}

/** What is not there is made as it is now. `Distributed` tables that operators made they change, too. */
function versionOf(table: PresentTable | undefined): number {
  if (table === undefined || isDistributed(table)) return SCHEMA_VERSION;
  return schemaVersionOf(table.comment);
}

function isDistributed({ engine }: PresentTable): boolean {
  return engine === 'Distributed';
}

function hexText(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? []).toString('hex');
}
