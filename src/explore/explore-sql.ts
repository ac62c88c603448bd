import { QueryError } from '../../engine/columns.ts';
import { parseExpression, TokenCursor } from '../../engine/index.ts';
import { fromQueryError, ServiceError } from '../errors.ts';
import type { ExploreCursor } from './explore-cursor.ts';
import type { KnownField } from './field-path.ts';
import { formatTimestamp, quoteField, quoteName, quoteText } from './sql-text.ts';
import { findUnit } from './time-buckets.ts';
import type { ExploredWindow } from './time-window.ts';

/** The events that are explored: of a source, and conditions that all must hold. */
export type ExploredEvents = {
  readonly source: string;
  readonly conditions: readonly string[];
};

/** The columns of a list. */
export const LIST_COLUMNS = ['id', 'timestamp', 'event_message', 'project', 'metadata'];

/** Values of the field of series; all others are one series. */
const SERIES_MAX = 10;

/** The condition that an event is of a project, by the rule of its source: with several records the first one counts. */
export function formatProject(projectPath: readonly string[], project: string): string {
  return `${formatFirst(projectPath)} = ${quoteText(project)}`;
}

/**
 * Checks that a caller's condition is one expression.
 *
 * @throws ServiceError with the place in it.
 */
export function checkCondition(text: string, lengthMax: number): void {
  if (text.length > lengthMax) {
    const message = `where may have at most ${lengthMax} characters; got ${text.length}`;
    throw new ServiceError('query_limit', message, { parameter: 'where' });
  }
  try {
    const cursor = new TokenCursor(text, lengthMax);
    parseExpression(cursor);
    cursor.mustEnd();
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    const { message, details } = fromQueryError(error, text);
    throw new ServiceError('invalid_sql', `where: ${message}`, { ...details, parameter: 'where' });
  }
}

/** Where the list begins. */
export type ListStart = {
  readonly direction: 'before' | 'after';
  readonly cursor: ExploreCursor;
};

/** Events of a window, newest first; `after` a cursor those that follow it. */
export function formatList(
  events: ExploredEvents,
  window: ExploredWindow,
  { start, limit }: { readonly start: ListStart | undefined; readonly limit: number },
): string {
  const rowsMax = limit + (start?.cursor.seenCount ?? 0);
  const keys = ['timestamp', 'id'];
  const conditions = [...formatWindow(window), ...(start === undefined ? [] : formatStart(start))];
  const from = formatFrom(events, conditions);
  const newestFirst = `ORDER BY ${keys.map((key) => `t.${key} DESC`).join(', ')}`;
  const columns = LIST_COLUMNS.map((column) => `t.${column}`).join(', ');
  if (start?.direction !== 'after') {
    return `SELECT ${columns}\n${from}\n${newestFirst}\nLIMIT ${rowsMax}`;
  }
  const oldestFirst = `ORDER BY ${keys.map((key) => `t.${key}`).join(', ')}`;
  const next = `SELECT ${columns}\n${from}\n${oldestFirst}\nLIMIT ${rowsMax}`;
  return `SELECT ${columns}\nFROM (\n${next}\n) AS t\n${newestFirst}`;
}

/** The newest event before a window. */
export function formatOlder(events: ExploredEvents, { fromUs }: ExploredWindow): string {
  const from = formatFrom(events, formatWindow({ fromUs: -Infinity, toUs: fromUs }));
  return `SELECT t.timestamp\n${from}\nORDER BY t.timestamp DESC\nLIMIT 1`;
}

/** The most frequent values of a field in a window. */
export function formatSeries(
  events: ExploredEvents,
  window: ExploredWindow,
  field: KnownField,
): string {
  const value = formatValue(field);
  const from = formatFrom(events, [...formatWindow(window), `${value} IS NOT NULL`]);
  return `SELECT ${value} AS series, COUNT(*) AS count\n${from}\nGROUP BY series\nORDER BY count DESC, series\nLIMIT ${SERIES_MAX}`;
}

/** The values of which the histogram has a series each. */
export type HistogramSeries = { readonly field: KnownField; readonly values: readonly string[] };

/**
 * How many events are in each bucket of a window and in each series, newest first. Events without a value are the series
 * NULL; all values that have none of their own are one series, whose `is_other` is true.
 */
export function formatHistogram(
  events: ExploredEvents,
  window: ExploredWindow,
  {
    bucketUs,
    series,
  }: { readonly bucketUs: number; readonly series?: HistogramSeries | undefined },
): string {
  const unit = findUnit(bucketUs);
  const from = formatFrom(events, formatWindow(window));
  const keys = series === undefined ? [] : formatSeriesKeys(series);
  const names = ['start', ...(series === undefined ? [] : ['series', 'is_other'])];
  const columns = [`TIMESTAMP_TRUNC(t.timestamp, ${unit.name}) AS start`, ...keys];
  const byUnit = `SELECT ${columns.join(',\n  ')},\n  COUNT(*) AS count\n${from}\nGROUP BY ${names.join(', ')}`;
  const order = ['start DESC', ...names.slice(1)].join(', ');
  if (bucketUs === unit.us) return `${byUnit}\nORDER BY ${order}`;
  const start = `TIMESTAMP_MICROS(DIV(UNIX_MICROS(u.start), ${bucketUs}) * ${bucketUs}) AS start`;
  const others = names.slice(1).map((name) => `u.${name}`);
  return `SELECT ${[start, ...others, 'SUM(u.count) AS count'].join(', ')}\nFROM (\n${byUnit}\n) AS u\nGROUP BY ${names.join(', ')}\nORDER BY ${order}`;
}

function formatSeriesKeys({ field, values }: HistogramSeries): readonly string[] {
  const value = formatValue(field);
  if (values.length === 0) return ['CAST(NULL AS STRING) AS series', 'FALSE AS is_other'];
  const among = `${value} IN (${values.map(quoteText).join(', ')})`;
  return [
    `CASE WHEN ${among} THEN ${value} END AS series`,
    `COALESCE(NOT ${among}, FALSE) AS is_other`,
  ];
}

/** The first value of a field that an event has, as a text. */
function formatValue({ path, isInLists, isAlone }: KnownField): string {
  const first = formatFirst(path);
  if (path.length === 1 && !isInLists) return `CAST(${first} AS STRING)`;
  return `CAST(${first}${isInLists && !isAlone ? '[SAFE_OFFSET(0)]' : ''} AS STRING)`;
}

function formatFirst(path: readonly string[]): string {
  return `t.${path.map(quoteField).join('[SAFE_OFFSET(0)].')}`;
}

function formatStart({ direction, cursor }: ListStart): readonly string[] {
  const { timestampUs, id, seenCount } = cursor;
  const sign = direction === 'before' ? '<' : '>';
  const time = formatTimestamp(timestampUs);
  const idSign = seenCount === 0 ? sign : `${sign}=`;
  return [
    `t.timestamp ${sign}= ${time}`,
    `(t.timestamp ${sign} ${time} OR t.id ${idSign} ${quoteText(id)})`,
  ];
}

function formatWindow({ fromUs, toUs }: ExploredWindow): readonly string[] {
  return [
    ...(Number.isFinite(fromUs) ? [`t.timestamp >= ${formatTimestamp(fromUs)}`] : []),
    ...(Number.isFinite(toUs) ? [`t.timestamp < ${formatTimestamp(toUs)}`] : []),
  ];
}

function formatFrom({ source, conditions }: ExploredEvents, more: readonly string[]): string {
  const all = [...more, ...conditions];
  const where = all.length === 0 ? '' : `\nWHERE ${all.join('\n  AND ')}`;
  return `FROM ${quoteName(source)} AS t${where}`;
}
