import { QueryError } from '../../engine/columns.ts';

/** Seconds for which a change waits for the servers of a cluster that are there. The others make it when they are back. */
const CHANGE_SECONDS_MAX = 5;

/** Of each statement that makes or changes tables. */
export const CHANGE_SETTINGS: Readonly<Record<string, string | number>> = {
  distributed_ddl_task_timeout: CHANGE_SECONDS_MAX,
  distributed_ddl_output_mode: 'null_status_on_timeout_only_active',
};

/**
 * Of each statement that reads tables which may be over several shards: a join, or a list in a condition, has the rows of all
 * shards. Every statement reads every shard: a project has rows on several ones after shards were added.
 */
export const SHARD_SETTINGS: Readonly<Record<string, string | number>> = {
  distributed_product_mode: 'global',
};

/** Where the rows of the tables are: on one server, on the replicas of one shard, or divided among several shards. */
export type TableLayout = {
  /** Behind the name of a table in a statement that makes or changes it. */
  readonly onCluster: string;
  readonly engine: string;
  /** The setting for how many deduplication tokens of inserts ClickHouse remembers. */
  readonly windowSetting: string;
  /** The cluster whose shards have a part of the rows each; `undefined`: a table has all of them. */
  readonly shardsOf: string | undefined;
};

export const ONE_SERVER: TableLayout = {
  onCluster: '',
  engine: 'MergeTree',
  windowSetting: 'non_replicated_deduplication_window',
  shardsOf: undefined,
};

/** On the replicas of each shard of a cluster. `isSharded`: there are several shards. */
function clusterLayout(cluster: string, isSharded: boolean): TableLayout {
  return {
    onCluster: ` ON CLUSTER ${cluster}`,
    engine: 'ReplicatedMergeTree',
    windowSetting: 'replicated_deduplication_window',
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
 * The statement that makes the table over those of all shards. `shardKey` is an expression of its columns: rows for which it
 * is equal come to one shard. There must be several shards, and `storedName` on each.
 */
export function distributedStatement(
  table: string,
  shardKey: string,
  layout: TableLayout & { readonly shardsOf: string },
): string {
  const stored = storedName(table, layout);
  return `CREATE TABLE IF NOT EXISTS ${table}${layout.onCluster} AS ${stored}
ENGINE = Distributed(${layout.shardsOf}, currentDatabase(), ${stored}, ${shardKey})
COMMENT 'weir: ${stored} of all shards'`;
}

/** What ClickHouse says of a table that is there. */
export type PresentTable = Record<'name' | 'engine' | 'comment', string>;

/**
 * The layout of the tables: that of the table which is there, or, if there is none, of the cluster.
 *
 * @throws QueryError of a `Distributed` table whose rows are in tables of other names.
 */
export function findLayout(
  cluster: string | undefined,
  {
    table,
    present,
    shardCount,
  }: {
    readonly table: string;
    readonly present: readonly PresentTable[];
    readonly shardCount: number;
  },
): TableLayout {
  if (cluster === undefined) return ONE_SERVER;
  const there = present.find(({ name }) => name === table);
  const isSharded = there === undefined ? shardCount > 1 : there.engine === 'Distributed';
  const layout = clusterLayout(cluster, isSharded);
  const stored = storedName(table, layout);
  if (there !== undefined && !present.some(({ name }) => name === stored)) {
    throw new QueryError(
      'store_unavailable',
      `the table ${table} in ClickHouse has its rows in other tables than ${stored}: leave CLICKHOUSE_CLUSTER empty, and change these tables yourself`,
    );
  }
  return layout;
}
