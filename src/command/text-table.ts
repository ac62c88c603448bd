/** Rows of an answer as a table for a terminal: column names, a rule, and at most `rowsMax` rows. */
export function textTable(
  rows: readonly Readonly<Record<string, unknown>>[],
  rowsMax: number,
): string {
  const [first] = rows;
  if (first === undefined) return '(no rows)';
  const names = Object.keys(first);
  const shown = rows.slice(0, rowsMax);
  const cells = shown.map((row) => names.map((name) => cellText(row[name], name)));
  const widths = names.map((name, column) =>
    Math.max(name.length, ...cells.map((row) => row[column]!.length)),
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
  return text.length > CELL_WIDTH_MAX ? `${text.slice(0, CELL_WIDTH_MAX - 1)}…` : text;
}
