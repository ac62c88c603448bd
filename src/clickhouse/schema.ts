import { ARRIVALS_SHARD_KEY, ARRIVALS_TABLE, arrivalsTableStatement } from './arrivals-table.ts';
import {
  changedNames,
  distributedStatement,
  ONE_SERVER,
  storedName,
  type TableLayout,
} from './table-layout.ts';

/**
 * The table that holds the events of all sources in ClickHouse. `test/clickhouse/schema.test.ts` makes it, and compares
 * what is read from it with the embedded engine.
 *
 * | column            | value                                                                                   |
 * |-------------------|-----------------------------------------------------------------------------------------|
 * | `source`          | name of the source                                                                      |
 * | `project`         | the project key of the event; empty where it has none, and where it names several       |
 * | `is_mixed`        | whether it names several projects: then it passes every condition on the project key    |
 * | `timestamp`       | to the microsecond                                                                      |
 * | `id`              | as the embedded engine stores it                                                        |
 * | `event_message`   | NULL where the event has none                                                           |
 * | `named_project`   | the column `project` of a query: what the event names at the top level, or NULL         |
 * | `body`            | JSON of the root record: all further keys at the top level, `metadata` among them, as answers show them, in a form that ClickHouse can parse (`readable-json.ts`) |
 * | `posted_body`     | that JSON as it was posted, where it differs from `body`; else NULL                      |
 * | `is_readable`     | whether ClickHouse can parse `body`                                                      |
 * | `received`        | when the gateway got the post, to the second; 0 for events of moved segment files        |
 * | `gateway`, `sequence`, `event` | the order of arrival: which weir took the event in, the sequence of its post in the log there, its position in the post |
 */
export type EventRow = {
  readonly source: string;
  readonly project: string;
  readonly is_mixed: boolean;
  /** Microseconds since the epoch. */
  readonly timestamp: number | bigint;
  readonly id: string;
  readonly event_message: string | null;
  readonly named_project: string | null;
  readonly body: string;
  readonly posted_body: string | null;
  readonly gateway: string;
  readonly sequence: number | bigint;
  readonly event: number;
  /** Seconds since the epoch. */
  readonly received: number;
};

export const EVENTS_TABLE = 'events';

/**
 * The version of the tables. Those of older versions are changed step by step; newer ones are left alone, for nobody here
 * knows what they hold. A version is only ever followed by the next one.
 */
export const SCHEMA_VERSION = 2;

/** The comment of the table of rows states the version; without one it is version 0. */
const COMMENT_START = 'weir: version ';

/** What `project` is of an event of no project, and of several. No project has this key. */
export const NO_PROJECT = '';

/**
 * Batches that ClickHouse remembers in each partition, to leave out those that are sent again. A batch may be sent
 * again as long as it is in the log of a gateway: this is more than a log holds.
 */
const REMEMBERED_BATCHES = 10_000;

/** How the table is made. */
type TableOptions = {
  /** On one server by default. */
  readonly layout?: TableLayout | undefined;
  /** ClickHouse drops a day this long after it; by default it keeps all. */
  readonly retentionDays?: number | undefined;
};

const RECEIVED = "received DateTime('UTC') CODEC(Delta, ZSTD)";
/** Rows that were received long before others are not read to find those. */
const RECEIVED_INDEX = 'received received TYPE minmax GRANULARITY 1';

/** The indexed expression: the index takes no NULL. ClickHouse uses it only for conditions on this very expression. */
export const INDEXED_MESSAGE = "ifNull(event_message, '')";

/**
 * A Bloom filter for each granule (some 8,000 rows): 32 KiB, three hashes of each four characters in a row. ClickHouse skips
 * a granule if the filter lacks four characters of the text that is searched for. With 60,000 different fours in a granule,
 * the filter has one in eight of those that do not occur. A text of ten characters has seven fours, so few granules are
 * read in vain.
 */
const MESSAGE_INDEX = `message_texts ${INDEXED_MESSAGE} TYPE ngrambf_v1(4, 32768, 3, 0) GRANULARITY 1`;

/** The events of a project come to one shard, and so do those of no project and of several. */
const EVENTS_SHARD_KEY = 'cityHash64(project)';

/**
 * A statement that makes a table where it is missing, or changes tables of an older version. It may be run again: services
 * start at the same time.
 */
export type TableStatement = { readonly sql: string } & (
  | { readonly makes: string; readonly since?: never }
  /** Tables of this version and newer ones are not changed by it. */
  | { readonly since: number; readonly makes?: never }
);

/** The statements that make all tables of weir, in their order. */
export function tableStatements(options: TableOptions = {}): readonly TableStatement[] {
  const { layout = ONE_SERVER } = options;
  const alter = (table: string): string => `ALTER TABLE ${table}${layout.onCluster}`;
  const stored = storedName(EVENTS_TABLE, layout);
  const received = changedNames(EVENTS_TABLE, layout).map((table) => ({
    sql: `${alter(table)} ADD COLUMN IF NOT EXISTS ${RECEIVED}`,
    since: 1,
  }));
  return [
    { sql: eventsTableStatement(options), makes: stored },
    ...received,
    { sql: `${alter(stored)} ADD INDEX IF NOT EXISTS ${RECEIVED_INDEX}`, since: 1 },
    // Parts that are there get it as ClickHouse merges them.
    { sql: `${alter(stored)} ADD INDEX IF NOT EXISTS ${MESSAGE_INDEX}`, since: 2 },
    ...overShards(EVENTS_TABLE, EVENTS_SHARD_KEY, layout),
    { sql: arrivalsTableStatement(options), makes: storedName(ARRIVALS_TABLE, layout) },
    ...overShards(ARRIVALS_TABLE, ARRIVALS_SHARD_KEY, layout),
    // Behind all others: what is broken off before is done again.
    {
      sql: `${alter(stored)} MODIFY COMMENT '${schemaComment(SCHEMA_VERSION)}'`,
      since: SCHEMA_VERSION,
    },
  ];
}

/** The statement that makes a table over those of all shards, if there are several. */
function overShards(
  table: string,
  shardKey: string,
  layout: TableLayout,
): readonly TableStatement[] {
  const sql = distributedStatement(table, shardKey, layout);
  return sql === undefined ? [] : [{ sql, makes: table }];
}

/** The comment of a table of events of a version. */
function schemaComment(version: number): string {
  return `${COMMENT_START}${version}`;
}

/** The version that the comment of a table of events states. */
export function schemaVersionOf(comment: string): number {
  const version = Number(comment.startsWith(COMMENT_START) && comment.slice(COMMENT_START.length));
  return Number.isSafeInteger(version) ? version : 0;
}

/** The statement that makes the table of rows where it is missing. */
export function eventsTableStatement({
  layout = ONE_SERVER,
  retentionDays,
}: TableOptions = {}): string {
  const { onCluster, engine, tokenWindow } = layout;
  const settings = [tokenWindow(REMEMBERED_BATCHES), 'ttl_only_drop_parts = 1'];
  const ttl =
    retentionDays === undefined
      ? ''
      : `\nTTL toDateTime(timestamp) + toIntervalDay(${retentionDays + 1})`;
  return `CREATE TABLE IF NOT EXISTS ${storedName(EVENTS_TABLE, layout)}${onCluster} (
  source LowCardinality(String),
  project String,
  is_mixed Bool,
  timestamp DateTime64(6, 'UTC') CODEC(Delta, ZSTD),
  id String,
  event_message Nullable(String) CODEC(ZSTD(3)),
  named_project Nullable(String) CODEC(ZSTD(3)),
  body String CODEC(ZSTD(3)),
  posted_body Nullable(String) CODEC(ZSTD(3)),
  is_readable Bool MATERIALIZED isValidJSON(JSONExtractRaw(body)),
  gateway LowCardinality(String),
  sequence UInt64,
  event UInt32,
  ${RECEIVED},
  INDEX ${RECEIVED_INDEX},
  INDEX ${MESSAGE_INDEX}
)
ENGINE = ${engine}
PARTITION BY toDate(timestamp)
ORDER BY (source, project, timestamp, gateway, sequence, event)${ttl}
SETTINGS ${settings.join(', ')}
COMMENT '${schemaComment(SCHEMA_VERSION)}'`;
}
