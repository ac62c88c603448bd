import type { Column, ScanField } from '../../../engine/index.ts';
import { ARRIVALS_TABLE } from '../arrivals-table.ts';
import { nameOf } from './relation-sql.ts';

/** Numbers of events (`arrivals-table.ts`): [start, end). */
export type NumberRange = { readonly start: number; readonly end: number };

/**
 * The SELECT of a scan that reads only events with some numbers, and has these as arrivals.
 *
 * The table of events does not have the numbers: each event is joined with the last row of `arrivals` that begins at or
 * before its record. The times of these rows bound what is read of the table of events at all.
 */
export function numberedScan(scan: {
  /** The table of events. */
  readonly table: string;
  /** What is read of an event; each has a name. */
  readonly list: string;
  readonly conditions: readonly string[];
  readonly columns: readonly { readonly column: Column; readonly field: ScanField }[];
  readonly numbers: NumberRange;
  /** The name of the source, as SQL. */
  readonly source: string;
}): string {
  const { table, list, conditions, columns, numbers, source } = scan;
  const rows = `FROM ${ARRIVALS_TABLE} WHERE number_end > ${numbers.start} AND number_start < ${numbers.end} AND has(sources, ${source})`;
  const bound = (value: string) => `(SELECT ${value} ${rows})`;
  const time = (value: string) => `fromUnixTimestamp64Micro(${bound(value)}, 'UTC')`;
  const second = (value: string) => `toDateTime(${bound(value)}, 'UTC')`;
  const events = `SELECT ${list}, gateway, sequence, event FROM ${table}
PREWHERE source = ${source} AND timestamp >= ${time('min(timestamp_min)')} AND timestamp <= ${time('max(timestamp_max)')}
  AND received >= ${second('min(received_min)')} AND received <= ${second('max(received_max)')}
WHERE ${conditions.join(' AND ')}`;
  const items = columns.map(({ column, field }) =>
    field === 'arrival' ? `${ARRIVAL} AS ${nameOf(column)}` : nameOf(column),
  );
  return `SELECT ${items.length === 0 ? 'one' : items.join(', ')} FROM (${events}) AS shipped
GLOBAL ASOF INNER JOIN (SELECT gateway, sequence_start, sequence_end, number_start, stride ${rows}) AS arrived
ON shipped.gateway = arrived.gateway AND shipped.sequence >= arrived.sequence_start
WHERE sequence < sequence_end`;
}

const ARRIVAL = 'toNullable(toInt64(number_start + (sequence - sequence_start) * stride + event))';
