import { QueryError } from '../../engine/columns.ts';

type Settings = Readonly<Record<string, string | number>>;

/** Seconds for which a change waits for the servers of a cluster that are there. The others make it when they are back. */
const CHANGE_SECONDS_MAX = 5;

/** Of each statement that makes or changes tables. */
export const CHANGE_SETTINGS: Settings = {
  distributed_ddl_task_timeout: CHANGE_SECONDS_MAX,
  distributed_ddl_output_mode: 'null_status_on_timeout_only_active',
};

/**
 * Of each statement that reads tables which may be over several shards: a join, or a list in a condition, has the rows of all
 * shards.
 */
export const SHARD_SETTINGS: Settings = {
  distributed_product_mode: 'global',
};

/** A week: a batch may be sent again after an outage as long as that. ClickHouse forgets tokens after an hour by default. */
const REMEMBERED_SECONDS = 7 * 86_400;

/** Where the rows of the tables are: on one server, on the replicas of one shard, or divided among several shards. */
export type TableLayout = {
  /** Behind the name of a table in a statement that makes or changes it. */
  readonly onCluster: string;
  readonly engine: string;
  /** The settings of a table for how many deduplication tokens of inserts ClickHouse remembers. */
  readonly tokenWindow: (batches: number) => string;
  readonly insertSettings: Settings;
  /** The cluster whose shards have a part of the rows each; `undefined`: a table has all of them. */
  readonly shardsOf: string | undefined;
};

export const ONE_SERVER: TableLayout = {
  onCluster: '',
  engine: 'MergeTree',
  tokenWindow: (batches) => `non_replicated_deduplication_window = ${batches}`,
  insertSettings: {},
  shardsOf: undefined,
};

/**
 * With a path of its own: ClickHouse's default one holds a number that differs from server to server, if a table is not made
 * on all of them at once. Then they are no replicas of each other.
 */
const REPLICATED =
  "ReplicatedMergeTree('/clickhouse/tables/{database}/{table}/{shard}', '{replica}')";

/** Of each insert where there are replicas: it is acknowledged when most of them have it, and fails before its client gives up. */
const QUORUM_SETTINGS: Settings = {
  insert_quorum: 'auto',
  insert_quorum_timeout: 20_000,
};

/** On the replicas of each shard of a cluster. `isSharded`: there are several shards. */
function clusterLayout(cluster: string, isSharded: boolean): TableLayout {
  return {
    onCluster: ` ON CLUSTER ${cluster}`,
    engine: REPLICATED,
    tokenWindow: (batches) =>
      `replicated_deduplication_window = ${batches}, replicated_deduplication_window_seconds = ${REMEMBERED_SECONDS}`,
    insertSettings: QUORUM_SETTINGS,
    shardsOf: isSharded ? cluster : undefined,
  };
}

/** The name of the table that has the rows of a table, or those of a shard. */
export function storedName(table: string, { shardsOf }: TableLayout): string {
  return shardsOf === undefined ? table : `${table}_of_shard`;
}

/** The names of a table and, if it is another one, of the table that has its rows. In this order a change is safe. */
export function changedNames(table: string, layout: TableLayout): readonly string[] {
  return Array.from(new Set([storedName(table, layout), table]));
}

/**
 * The statement that makes the table over those of all shards; `undefined` where there are not several. `shardKey` is an
 * expression of its columns: rows for which it is equal come to one shard. `storedName` must be on each.
 */
export function distributedStatement(
  table: string,
  shardKey: string,
  layout: TableLayout,
): string | undefined {
  const { onCluster, shardsOf } = layout;
  if (shardsOf === undefined) return undefined;
  const stored = storedName(table, layout);
  return `CREATE TABLE IF NOT EXISTS ${table}${onCluster} AS ${stored}
ENGINE = Distributed(${shardsOf}, currentDatabase(), ${stored}, ${shardKey})
COMMENT 'weir: ${stored} of all shards'`;
}

/** What ClickHouse says of a table that is there. */
export type PresentTable = Record<'name' | 'engine' | 'comment', string>;

/** By name. */
export type PresentTables = ReadonlyMap<string, PresentTable>;

/**
 * The layout of tables on a cluster.
 *
 * @throws QueryError if one of them is there, and its rows are in a table of another name.
 */
export function layoutOnCluster(
  cluster: string,
  of: {
    readonly isSharded: boolean;
    readonly tables: readonly string[];
    readonly present: PresentTables;
  },
): TableLayout {
  const { isSharded, tables, present } = of;
  const layout = clusterLayout(cluster, isSharded);
  for (const table of tables) {
    const stored = storedName(table, layout);
    if (!present.has(table) || present.has(stored)) continue;
    throw new QueryError(
      'store_unavailable',
      `the table ${table} in ClickHouse has its rows in other tables than ${stored}: leave CLICKHOUSE_CLUSTER empty, and change these tables yourself`,
    );
  }
  return layout;
}
