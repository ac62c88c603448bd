import type { CellValue } from './question.ts';
import type { Column, Table } from './table.ts';

/** The values of one event in the order of a table's columns. */
export type EventRow = readonly CellValue[];

/** The rows of some events, given as NDJSON: for engines that are handed values one by one. */
export function eventRows(table: Table, text: string): readonly EventRow[] {
  const rows: EventRow[] = [];
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start);
    const event: unknown = JSON.parse(text.slice(start, end));
    rows.push(table.columns.map((column) => cellOf(event, column)));
    start = end + 1;
  }
  return rows;
}

function cellOf(event: unknown, { path, type }: Column): CellValue {
  let value = event;
  for (const key of path) value = (value as Record<string, unknown> | undefined)?.[key];
  if (type === 'json') return JSON.stringify(value);
  return (value ?? null) as CellValue;
}
