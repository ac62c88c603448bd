import { randomBytes } from 'node:crypto';
import type { ClickHouseClient } from '@clickhouse/client';
import { must } from '../../engine/columns.ts';
import { ARRIVALS_TABLE, type ArrivalRow } from './arrivals-table.ts';
import { readRows } from './client.ts';
import { EVENTS_TABLE } from './schema.ts';
import { secondOf } from './shipped-row.ts';
import type { Stretch } from './stretches.ts';
import { storedName, type TableLayout } from './table-layout.ts';

/** Numbers that were given to events of some sources: [start, end). */
export type Arrived = {
  readonly start: number;
  readonly end: number;
  readonly sources: readonly string[];
  /** Whether the events are there. A replica may get them later than their numbers. */
  readonly isWhole: boolean;
};

/** Attempts of an append before it fails; its caller tries again later. Each other gateway may win one. */
const ATTEMPTS_MAX = 20;

/** Rows that are read at a time, and whose events are counted: those of a minute. */
export const ARRIVED_ROWS_MAX = 100;

/**
 * Rows of a source in which a page of old events is looked for. Each has the events of a post at least, and most of a
 * batch; a page that they do not fill is followed by another.
 */
const PAGE_ROWS = 64;

/** Bytes of the secret that the first row has. */
const SECRET_SIZE = 32;

/** What the table begins with and where it ends. */
export type JournalEnds = {
  /** The number that the next event gets. */
  readonly end: number;
  /** A random text, the same for all gateways. */
  readonly secret: string;
};

/**
 * Gives the events of all gateways their numbers, in one order for all.
 *
 * No gateway knows what the others append. So each reads where the table ends, and inserts its rows there under a token
 * that contains this number. Of several inserts with one token ClickHouse keeps the first, as a whole: the others read
 * again, and insert at the new end.
 */
export class ArrivalJournal {
  readonly #client: ClickHouseClient;
  readonly #make: () => Promise<TableLayout>;
  /** No row that this gateway is going to look for ends before. */
  #end = 0;
  #secret: string | undefined;

  /** `make` makes the table where it is missing. */
  constructor(client: ClickHouseClient, make: () => Promise<TableLayout>) {
    this.#client = client;
    this.#make = make;
  }

  /**
   * Resolves when the stretches, which are consecutive, have numbers. They get them once, however often this is called.
   * After a rejection they may have them. Calls must not overlap.
   */
  async append(gateway: string, stretches: readonly Stretch[], signal: AbortSignal): Promise<void> {
    const [first] = stretches;
    if (first === undefined) return;
    const layout = await this.#make();
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const { end, isThere } = await this.#look(gateway, first.sequenceStart, signal);
      if (isThere) return;
      const rows = end === 0 ? [firstRow()] : rowsFrom(end, gateway, stretches);
      await this.#insert(rows, end, layout, signal);
    }
    throw noRow(ATTEMPTS_MAX);
  }

  /** Reads the ends of the table, and makes its first row where it is empty. */
  async readEnds(signal: AbortSignal): Promise<JournalEnds> {
    const layout = await this.#make();
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const { end } = await this.#look('', 0, signal);
      if (end === 0) await this.#insert([firstRow()], end, layout, signal);
      else return { end, secret: await this.#readSecret(signal) };
    }
    throw noRow(ATTEMPTS_MAX);
  }

  /** The rows that end after a number, in order, at most ARRIVED_ROWS_MAX. */
  async read(after: number, signal: AbortSignal): Promise<readonly Arrived[]> {
    const rows = await this.#rows<NumberedRow>(
      `SELECT number_start AS start, number_end AS end, sources, events,
        timestamp_min AS min, timestamp_max AS max,
        received_min AS first, received_max AS last FROM ${ARRIVALS_TABLE}
        WHERE number_end > {after: UInt64} ORDER BY number_end LIMIT ${ARRIVED_ROWS_MAX}`,
      { after },
      signal,
    );
    const found = await this.#countEvents(rows, after, signal);
    return rows.map(({ start, end, sources, events }) => ({
      ...{ start: Number(start), end: Number(end), sources },
      isWhole: (found.get(Number(end)) ?? 0) >= Number(events),
    }));
  }

  /** Number of events of each row that are there, by the end of the row. */
  async #countEvents(
    rows: readonly NumberedRow[],
    after: number,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<number, number>> {
    const newest = rows.at(-1);
    if (newest === undefined) return new Map();
    const counts = await this.#rows<Record<'end' | 'found', string | number>>(
      `SELECT number_end AS end, count() AS found FROM (
        SELECT gateway, sequence FROM ${EVENTS_TABLE} PREWHERE source IN {sources: Array(String)}
        AND timestamp >= fromUnixTimestamp64Micro({min: Int64}, 'UTC')
        AND timestamp <= fromUnixTimestamp64Micro({max: Int64}, 'UTC')
        AND received >= toDateTime({first: UInt32}, 'UTC')
        AND received <= toDateTime({last: UInt32}, 'UTC')) AS shipped
      GLOBAL ASOF INNER JOIN (
        SELECT gateway, sequence_start, sequence_end, number_end FROM ${ARRIVALS_TABLE}
        WHERE number_end > {after: UInt64} AND number_end <= {through: UInt64}) AS arrived
      ON shipped.gateway = arrived.gateway AND shipped.sequence >= arrived.sequence_start
      WHERE sequence < sequence_end GROUP BY number_end`,
      {
        ...{ after, through: Number(newest.end) },
        sources: [...new Set(rows.flatMap(({ sources }) => sources))],
        min: Math.min(...rows.map(({ min }) => Number(min))),
        max: Math.max(...rows.map(({ max }) => Number(max))),
        first: Math.min(...rows.map(({ first }) => Number(first))),
        last: Math.max(...rows.map(({ last }) => Number(last))),
      },
      signal,
    );
    return new Map(counts.map(({ end, found }) => [Number(end), Number(found)]));
  }

  /**
   * The end of the first rows with events of a source after a number and before another one, where a row ends; that one if
   * there are none. Rows with older events alone are passed over.
   */
  async findPageEnd(
    page: {
      readonly source: string;
      readonly after: number;
      readonly before: number;
      readonly sinceUs: number | undefined;
    },
    signal: AbortSignal,
  ): Promise<number> {
    const { source, after, before, sinceUs } = page;
    const since = sinceUs === undefined ? '' : ' AND timestamp_max >= {since: Int64}';
    const [row] = await this.#rows<{ readonly end: string | number }>(
      `SELECT max(number_end) AS end FROM (SELECT number_end FROM ${ARRIVALS_TABLE}
        WHERE number_end > {after: UInt64} AND number_end <= {before: UInt64}
        AND has(sources, {source: String})${since} ORDER BY number_end LIMIT ${PAGE_ROWS})`,
      { source, after, before, ...(sinceUs === undefined ? {} : { since: sinceUs }) },
      signal,
    );
    return Number(must(row).end) || before;
  }

  /**
   * Has ClickHouse drop the rows of events that it received so many days ago, if there are at least `rowsMin`. It does so
   * after the promise has resolved. The first row and the last one stay. A `Distributed` table that an operator made is left
   * as it is.
   */
  async trim(
    { days, rowsMin }: { readonly days: number; readonly rowsMin: number },
    signal: AbortSignal,
  ): Promise<void> {
    const layout = await this.#make();
    const stored = storedName(ARRIVALS_TABLE, layout);
    const [table] = await this.#rows<OldRows>(
      `SELECT toInt64(toUnixTimestamp(now())) - {days: UInt32} * 86400 AS before, max(number_end) AS end,
        countIf(number_end > 1 AND received_max < before) AS found,
        (SELECT engine FROM system.tables WHERE database = currentDatabase() AND name = {table: String}) AS engine
        FROM ${ARRIVALS_TABLE}`,
      { days, table: stored },
      signal,
    );
    const { before, end, found, engine } = must(table);
    if (Number(found) < rowsMin || !engine.endsWith('MergeTree')) return;
    // Replicas take no change that reads the clock.
    await this.#client.command({
      query: `ALTER TABLE ${stored}${layout.onCluster} DELETE WHERE number_end > 1 AND number_end < ${Number(end)} AND received_max < ${Number(before)}`,
      abort_signal: signal,
    });
  }

  async #readSecret(signal: AbortSignal): Promise<string> {
    if (this.#secret !== undefined) return this.#secret;
    const [row] = await this.#rows<{ readonly secret: string }>(
      `SELECT gateway AS secret FROM ${ARRIVALS_TABLE} WHERE number_end <= 1`,
      {},
      signal,
    );
    if (row === undefined) throw new Error(`the first row of ${ARRIVALS_TABLE} is missing`);
    this.#secret = row.secret;
    return row.secret;
  }

  /** Where the table ends, and whether it has the record. */
  async #look(
    gateway: string,
    sequence: number,
    signal: AbortSignal,
  ): Promise<{ readonly end: number; readonly isThere: boolean }> {
    const [row] = await this.#rows<Record<'end' | 'found', string | number>>(
      `SELECT max(number_end) AS end, countIf(gateway = {gateway: String} AND sequence_start = {sequence: UInt64}) AS found
        FROM ${ARRIVALS_TABLE} WHERE number_end >= {known: UInt64}`,
      { gateway, sequence, known: this.#end },
      signal,
    );
    const { end, found } = must(row);
    const isThere = Number(found) > 0;
    // An attempt that is on its way inserts at the end that it has read, or not at all.
    this.#end = Math.max(this.#end, Number(end));
    return { end: this.#end, isThere };
  }

  async #insert(
    rows: readonly ArrivalRow[],
    end: number,
    { insertSettings }: TableLayout,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#client.insert({
      table: ARRIVALS_TABLE,
      format: 'JSONEachRow',
      columns: COLUMNS,
      values: rows,
      clickhouse_settings: {
        ...insertSettings,
        insert_deduplication_token: `${ARRIVALS_TABLE} ${end}`,
      },
      abort_signal: signal,
    });
  }

  #rows<Row>(
    query: string,
    parameters: Readonly<Record<string, string | number | readonly string[]>>,
    signal: AbortSignal,
  ): Promise<Row[]> {
    return readRows<Row>(this.#client, { query, query_params: parameters, abort_signal: signal });
  }
}

type OldRows = Record<'before' | 'end' | 'found', string | number> & { readonly engine: string };

type NumberedRow = Record<
  'start' | 'end' | 'events' | 'min' | 'max' | 'first' | 'last',
  string | number
> & {
  readonly sources: readonly string[];
};

const COLUMNS: [string, ...string[]] = [
  'number_start',
  'number_end',
  'gateway',
  'sequence_start',
  'sequence_end',
  'stride',
  'events',
  'sources',
  'timestamp_min',
  'timestamp_max',
  'received_min',
  'received_max',
];

/** It takes number 0, so that an empty table is not mistaken for one that begins. */
function firstRow(): ArrivalRow {
  return {
    ...{ number_start: 0, number_end: 1, gateway: randomBytes(SECRET_SIZE).toString('hex') },
    ...{ sequence_start: 0, sequence_end: 0, stride: 0, events: 0, sources: [] },
    ...{ timestamp_min: 0, timestamp_max: 0, received_min: 0, received_max: 0 },
  };
}

function noRow(attempts: number): Error {
  return new Error(
    `${attempts} inserts into ${ARRIVALS_TABLE} are acknowledged, and none is there`,
  );
}

function rowsFrom(start: number, gateway: string, stretches: readonly Stretch[]): ArrivalRow[] {
  let end = start;
  return stretches.map((stretch) => {
    const { sequenceStart, sequenceEnd, stride, rowCount: events, sources } = stretch;
    const numberStart = end;
    end += (sequenceEnd - sequenceStart) * stride;
    return {
      ...{ number_start: numberStart, number_end: end, gateway, stride, events, sources },
      ...{ sequence_start: sequenceStart, sequence_end: sequenceEnd },
      timestamp_min: stretch.timestampUsMin,
      timestamp_max: stretch.timestampUsMax,
      received_min: secondOf(stretch.receivedUsMin),
      received_max: secondOf(stretch.receivedUsMax),
    };
  });
}
