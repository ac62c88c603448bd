import { shownText } from '../shown-text.ts';

/** Formats rows of an answer as a table: column names, a rule, and at most `rowsMax` rows. */
export function textTable(
  rows: readonly Readonly<Record<string, unknown>>[],
  rowsMax: number,
): string {
  const [first] = rows;
  if (first === undefined) return '(no rows)';
  const names = Object.keys(first);
  return tableText(
    names,
    rows.map((row) => names.map((name) => row[name])),
    rowsMax,
  );
}

/** Formats rows without names of columns; there may be none. */
export function tableText(
  columnNames: readonly string[],
  rows: readonly (readonly unknown[])[],
  rowsMax: number = rows.length,
): string {
  const names = columnNames.map(shownText);
  const shown = rows.slice(0, rowsMax);
  const cells = shown.map((row) => names.map((name, column) => cellText(row[column], name)));
  const widths = columnWidths([names, ...cells]);
  const line = (texts: readonly string[]) =>
    texts
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '─'.repeat(width)).join('  ');
  const more = rows.length - shown.length;
  const rest = more > 0 ? [`… and ${more} more ${more === 1 ? 'row' : 'rows'}`] : [];
  return [line(names), rule, ...cells.map(line), ...rest].join('\n');
}

/** The length of the longest cell of each column. */
export function columnWidths(rows: readonly (readonly string[])[]): readonly number[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
    }
  }
  return widths;
}

const CELL_WIDTH_MAX = 44;

function cellText(value: unknown, name: string): string {
  const text =
    name === 'timestamp' && typeof value === 'number'
      ? new Date(value / 1000).toISOString()
      : typeof value === 'string'
        ? value
        : JSON.stringify(value);
  const line = shownText(text);
  return line.length > CELL_WIDTH_MAX ? `${line.slice(0, CELL_WIDTH_MAX - 1)}…` : line;
}
