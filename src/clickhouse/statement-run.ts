import type { ClickHouseClient } from '@clickhouse/client';
import { JsonBuffer, QueryError } from '../../engine/columns.ts';
import { Slices, yieldToEventLoop } from '../../ingest/event-loop.ts';
import { type Cell, rowJson } from './render/answer.ts';
import type { RenderedQuery } from './render/query-sql.ts';
import { toQueryError } from './statement-error.ts';
import { SHARD_SETTINGS } from './table-layout.ts';

/** Bytes of rows that are written before other work of the thread may run. */
const ROWS_SLICE_BYTES = 64 * 1024;

/** Bytes of memory that ClickHouse may use for one query: the rest of a usual server is for merges and others. */
const QUERY_MEMORY_BYTES_MAX = 4 * 1024 * 1024 * 1024;

/** Of each statement that only reads. */
export const READING_SETTINGS: Readonly<Record<string, string | number>> = {
  ...SHARD_SETTINGS,
  // The status of the answer says whether all rows are there.
  wait_end_of_query: 1,
  // A statement can change nothing, and is stopped when its connection is closed.
  readonly: '2',
  cancel_http_readonly_queries_on_client_close: 1,
  max_memory_usage: String(QUERY_MEMORY_BYTES_MAX),
  timeout_overflow_mode: 'throw',
  result_overflow_mode: 'throw',
};

/** Bounds of one answer. */
export type StatementBounds = {
  readonly rowsMax: number;
  readonly bytesMax: number;
  readonly msMax: number;
  readonly signal: AbortSignal | undefined;
  /** Called with the number of bytes that the rows have so far; throws if there is no room for them. */
  readonly hold: (bytes: number) => void;
};

export type StatementAnswer = {
  /** A JSON array, UTF-8. */
  readonly json: Uint8Array;
  readonly rowCount: number;
  readonly isTruncated: boolean;
  /** Rows of the table that ClickHouse read. */
  readonly rowsRead: number;
};

/** Runs a statement and reads its rows as they come. Rejects with a QueryError. */
export async function runStatement(
  client: ClickHouseClient,
  statement: RenderedQuery,
  bounds: StatementBounds,
): Promise<StatementAnswer> {
  const { rowsMax, bytesMax, hold } = bounds;
  const out = new JsonBuffer();
  const slices = new Slices(ROWS_SLICE_BYTES);
  let rowCount = 0;
  const result = await asQueryErrors(statement, () => query(client, statement, bounds));
  try {
    out.raw('[');
    for await (const cells of readRows(result, statement)) {
      // The plan gives one more row where there are more.
      if (rowCount === rowsMax) return finish(out, { rowCount, isTruncated: true, result });
      const row = Buffer.from(rowJson(cells, statement.output));
      if (rowCount > 0) out.raw(',');
      out.rawBytes(row, 0, row.length);
      rowCount += 1;
      if (out.size > bytesMax) throw tooLarge(rowCount, out.size, bytesMax);
      hold(out.size);
      if (slices.isOver(out.size)) await yieldToEventLoop();
    }
    return finish(out, { rowCount, isTruncated: false, result });
  } finally {
    result.close();
  }
}

function query(
  client: ClickHouseClient,
  { sql, parameters, settings }: RenderedQuery,
  { rowsMax, bytesMax, msMax, signal }: StatementBounds,
) {
  return client.query({
    query: sql,
    query_params: parameters,
    format: 'JSONCompactEachRow',
    clickhouse_settings: {
      ...settings,
      max_execution_time: Math.ceil(msMax / 1000),
      max_result_rows: String(rowsMax + 1),
      // ClickHouse counts its own form of the rows, without the names of columns: this bounds a single long row.
      max_result_bytes: String(2 * bytesMax),
    },
    ...(signal === undefined ? {} : { abort_signal: signal }),
  });
}

type Result = Awaited<ReturnType<typeof query>>;

async function* readRows(
  result: Result,
  statement: RenderedQuery,
): AsyncGenerator<readonly Cell[]> {
  const pages = result.stream<readonly Cell[]>()[Symbol.asyncIterator]();
  for (;;) {
    const page = await asQueryErrors(statement, () => pages.next());
    if (page.done === true) return;
    for (const row of page.value) yield row.json();
  }
}

async function asQueryErrors<T>({ failures }: RenderedQuery, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw toQueryError(error, failures);
  }
}

function finish(
  out: JsonBuffer,
  of: { readonly rowCount: number; readonly isTruncated: boolean; readonly result: Result },
): StatementAnswer {
  const { rowCount, isTruncated, result } = of;
  out.raw(']');
  return { json: out.take(), rowCount, isTruncated, rowsRead: readRowsRead(result) };
}

/** By the summary that ClickHouse sends with its answer; 0 without one. */
function readRowsRead({ response_headers: headers }: Result): number {
  const summary = /"read_rows":"(\d{1,15})"/.exec(String(headers['x-clickhouse-summary']));
  return Number(summary?.[1] ?? 0);
}

function tooLarge(rowCount: number, size: number, bytesMax: number): QueryError {
  return new QueryError(
    'answer_too_large',
    `an answer may have at most ${bytesMax} bytes; its first ${rowCount} rows have ${size}`,
  );
}
