import { shownText } from '../shown-text.ts';

/** Rows of an answer as a table for a terminal: column names, a rule, and at most `rowsMax` rows. */
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

/** The same of rows without names, which may be none. */
export function tableText(
  columnNames: readonly string[],
  rows: readonly (readonly unknown[])[],
  rowsMax: number = rows.length,
): string {
  const names = columnNames.map(shownText);
  const shown = rows.slice(0, rowsMax);
  const cells = shown.map((row) => row.map((value, column) => cellText(value, names[column]!)));
  const widths = names.map((name, column) =>
    cells.reduce((width, row) => Math.max(width, row[column]!.length), name.length),
  );
  const line = (texts: readonly string[]) =>
    texts
      .map((text, column) => text.padEnd(widths[column]!))
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '─'.repeat(width)).join('  ');
  const more = rows.length - shown.length;
  const rest = more > 0 ? [`… and ${more} more ${more === 1 ? 'row' : 'rows'}`] : [];
  return [line(names), rule, ...cells.map(line), ...rest].join('\n');
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
