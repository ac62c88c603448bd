import type { Question } from './question.ts';
import type { Column, ColumnType, Table } from './table.ts';
import { statsWindow, UNIT_US } from './window.ts';

export const DATABASE = 'peers';

/** Codecs that cost little to undo: what is asked again and again lies uncompressed in memory. */
const TYPES: Readonly<Record<ColumnType, string>> = {
  time: 'Int64 CODEC(Delta(8), LZ4)',
  uuid: 'UUID',
  category: 'LowCardinality(String)',
  text: 'String',
  json: 'String CODEC(ZSTD(1))',
  integer: 'UInt32 CODEC(T64, LZ4)',
  float: 'Float64',
};

/** Types of what is sent, by those of the columns it becomes. */
const SENT_TYPES: Readonly<Record<ColumnType, string>> = {
  time: 'Int64',
  uuid: 'UUID',
  category: 'String',
  text: 'String',
  json: 'String',
  integer: 'UInt32',
  float: 'Float64',
};

/** Tokens for those who look for one; grams of four for parts of words and for expressions. */
const URL_INDEXES = `,
  INDEX url_tokens url TYPE text(tokenizer = splitByNonAlpha),
  INDEX url_grams url TYPE ngrambf_v1(4, 16384, 3, 0) GRANULARITY 1`;

/** Rows between two marks; few where a row is kilobytes and a hundred of them are asked for. */
const GRANULARITY = { narrow: 8192, wide: 256 } as const;

/** For one INSERT: what the columns leave out of an event is skipped. */
export const INSERT_SETTINGS: Readonly<Record<string, number>> = {
  async_insert: 0,
  input_format_skip_unknown_fields: 1,
  input_format_json_ignore_unknown_keys_in_named_tuple: 1,
};

/** For INSERTs that fill a table: indexes are made when its parts are merged. */
export const LOAD_SETTINGS: Readonly<Record<string, number>> = {
  ...INSERT_SETTINGS,
  materialize_skip_indexes_on_insert: 0,
};

/**
 * A table sorted by project and time. Days are parts of their own where queries read a time of all
 * projects; months elsewhere, since each part costs a call of one project half a millisecond.
 */
export function creation(
  table: Table,
  settings: Readonly<Record<string, number>> = {},
): readonly string[] {
  const { name, columns, reached } = table;
  const list = columns.map((column) => `${column.name} ${TYPES[column.type]}`);
  const hasUrl = columns.some((column) => column.name === 'url');
  const isWide = columns.some((column) => column.type === 'json');
  const part = reached === 'by time' ? 'toYYYYMMDD' : 'toYYYYMM';
  const all = { index_granularity: isWide ? GRANULARITY.wide : GRANULARITY.narrow, ...settings };
  return [
    `DROP TABLE IF EXISTS ${DATABASE}.${name}`,
    `CREATE TABLE ${DATABASE}.${name} (${list}${hasUrl ? URL_INDEXES : ''})
      ENGINE = MergeTree
      PARTITION BY ${part}(fromUnixTimestamp64Micro(timestamp, 'UTC'))
      ORDER BY (project, timestamp)
      SETTINGS ${Object.entries(all).map(([key, value]) => `${key} = ${value}`)}`,
  ];
}

export function stagingName({ name }: Table): string {
  return `${name}_posted`;
}

/** What events are inserted into as they were sent: it keeps nothing and passes them on as rows. */
export function stagingCreation(table: Table): readonly string[] {
  const { name, columns } = table;
  const staging = `${DATABASE}.${stagingName(table)}`;
  const tops = Array.from(new Set(columns.map(({ path }) => path[0]!)));
  const sent = tops.map((top) => `${top} ${typeAt(columns, [top])}`);
  const list = columns.map((column) => `${column.path.join('.')} AS ${column.name}`);
  return [
    `DROP TABLE IF EXISTS ${staging}_view`,
    `DROP TABLE IF EXISTS ${staging}`,
    `CREATE TABLE ${staging} (${sent}) ENGINE = Null`,
    `CREATE MATERIALIZED VIEW ${staging}_view TO ${DATABASE}.${name} AS
      SELECT ${list} FROM ${staging}`,
  ];
}

/** The type of what lies under some keys: that of the column there, or a record of what lies below. */
function typeAt(columns: readonly Column[], path: readonly string[]): string {
  const below = columns.filter((column) => path.every((key, index) => column.path[index] === key));
  const [first] = below;
  if (first!.path.length === path.length) return SENT_TYPES[first!.type];
  const keys = new Set(below.map((column) => column.path[path.length]!));
  return `Tuple(${Array.from(keys, (key) => `${key} ${typeAt(columns, [...path, key])}`)})`;
}

/** What a materialized view would keep of each project and hour, made in one go. */
export function rollUpCreation(): readonly string[] {
  return [
    `DROP TABLE IF EXISTS ${DATABASE}.invocations_hourly`,
    `CREATE TABLE ${DATABASE}.invocations_hourly (
        project LowCardinality(String), hour Int64,
        count SimpleAggregateFunction(sum, UInt64), errors SimpleAggregateFunction(sum, UInt64),
        least SimpleAggregateFunction(min, UInt32), greatest SimpleAggregateFunction(max, UInt32),
        total SimpleAggregateFunction(sum, UInt64),
        quantiles AggregateFunction(quantilesTDigest(0.95, 0.99), UInt32))
      ENGINE = AggregatingMergeTree ORDER BY (project, hour) SETTINGS index_granularity = 256`,
    `INSERT INTO ${DATABASE}.invocations_hourly
      SELECT project, timestamp - timestamp % ${UNIT_US.hour} AS hour, count(),
        countIf(status_code >= 400), min(execution_time_ms), max(execution_time_ms),
        sum(execution_time_ms), quantilesTDigestState(0.95, 0.99)(execution_time_ms)
      FROM ${DATABASE}.invocations GROUP BY project, hour`,
    `OPTIMIZE TABLE ${DATABASE}.invocations_hourly FINAL`,
  ];
}

/** The statistics of one project from whole hours; `undefined` where buckets are shorter. */
export function rollUpText(
  question: Question,
  quoted: (value: string) => string,
): string | undefined {
  if (question.kind !== 'invocation-stats') return undefined;
  const { startUs, unit } = statsWindow(question.interval);
  if (unit !== 'day' && unit !== 'hour') return undefined;
  return `SELECT hour - hour % ${UNIT_US[unit]} AS bucket, min(least), max(greatest),
      sum(total) / sum(count) AS mean, quantilesTDigestMerge(0.95, 0.99)(quantiles),
      sum(count) AS counts, sum(errors)
    FROM ${DATABASE}.invocations_hourly
    WHERE project = ${quoted(question.project)} AND hour >= ${startUs}
    GROUP BY bucket ORDER BY bucket`;
}
