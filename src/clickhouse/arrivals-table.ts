import { ONE_SERVER, storedName, type TableLayout } from './table-layout.ts';

/**
 * The table that numbers the events of all gateways, in one order for all of them. A gateway appends rows for a batch when
 * ClickHouse has all events of the batch, on whatever days they lie: who reads events by their numbers never skips any.
 *
 * | column                             | value                                                                  |
 * |------------------------------------|------------------------------------------------------------------------|
 * | `number_start`, `number_end`       | the numbers of the row, [start, end). Each row starts where another ends |
 * | `gateway`, `sequence_start`, `sequence_end` | the records that have them                                    |
 * | `stride`                           | how many numbers each record has: its event `e` has the one at `number_start + (sequence - sequence_start) * stride + e` |
 * | `events`                           | how many events these records have                                     |
 * | `sources`                          | names of their sources                                                 |
 * | `timestamp_min`, `timestamp_max`   | of the events, in microseconds                                         |
 * | `received_min`, `received_max`     | of the events, in seconds                                              |
 *
 * The first row has the number 0 and no record; its `gateway` is a random text, from which all gateways derive the key of
 * the ids of followed events. The last row says what the next number is, so neither is ever dropped; others are when their
 * events are gone (`arrivals-trim.ts`). There are no partitions: ClickHouse compares deduplication tokens within one only.
 */
export type ArrivalRow = {
  readonly number_start: number;
  readonly number_end: number;
  readonly gateway: string;
  readonly sequence_start: number;
  readonly sequence_end: number;
  readonly stride: number;
  readonly events: number;
  readonly sources: readonly string[];
  readonly timestamp_min: number;
  readonly timestamp_max: number;
  readonly received_min: number;
  readonly received_max: number;
};

export const ARRIVALS_TABLE = 'arrivals';

/**
 * Appends that ClickHouse remembers, to leave out those that another gateway made at the same number. So many would have
 * to happen between two consecutive requests of one gateway before a number could be given twice.
 */
const REMEMBERED_APPENDS = 10_000;

/** Rows of the table between two marks of its index: a poll reads the last few. */
const MARK_ROWS = 256;

/** All rows are on the first shard: ClickHouse compares deduplication tokens within one table. */
export const ARRIVALS_SHARD_KEY = 'number_start % 1';

/** The statement that makes the table of rows where it is missing, by default on one server. */
export function arrivalsTableStatement({
  layout = ONE_SERVER,
}: {
  readonly layout?: TableLayout | undefined;
} = {}): string {
  const { onCluster, engine, tokenWindow } = layout;
  return `CREATE TABLE IF NOT EXISTS ${storedName(ARRIVALS_TABLE, layout)}${onCluster} (
  number_start UInt64 CODEC(Delta, ZSTD),
  number_end UInt64 CODEC(Delta, ZSTD),
  gateway LowCardinality(String),
  sequence_start UInt64 CODEC(Delta, ZSTD),
  sequence_end UInt64 CODEC(Delta, ZSTD),
  stride UInt64 CODEC(ZSTD),
  events UInt64 CODEC(ZSTD),
  sources Array(LowCardinality(String)),
  timestamp_min Int64 CODEC(Delta, ZSTD),
  timestamp_max Int64 CODEC(Delta, ZSTD),
  received_min Int64 CODEC(Delta, ZSTD),
  received_max Int64 CODEC(Delta, ZSTD),
  INDEX starts number_start TYPE minmax GRANULARITY 1
)
ENGINE = ${engine}
ORDER BY number_end
SETTINGS ${tokenWindow(REMEMBERED_APPENDS)}, index_granularity = ${MARK_ROWS}`;
}
