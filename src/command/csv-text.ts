import { must } from '../../engine/columns.ts';

/** `null` is an empty field without quotes, which the service writes only for NULL. */
type CsvValue = string | number | boolean | null;

/** A parsed CSV table. */
export type CsvTable = {
  readonly names: readonly string[];
  readonly rows: readonly (readonly CsvValue[])[];
};

/**
 * Parses CSV from the service (`src/call/csv-rewriter.ts`): quoted fields are text, others a
 * number, a word or NULL. A number with more digits than a double stays text.
 */
export function parseCsvText(text: string): CsvTable {
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  const lines: CsvValue[][] = [];
  let line: CsvValue[] = [];
  while (field.lastIndex < text.length) {
    const [, quoted, bare, end] = must(field.exec(text), 'what the service wrote is CSV');
    line.push(quoted === undefined ? parseCsvValue(bare!) : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    lines.push(line);
    line = [];
  }
  const [names = [], ...rows] = lines;
  return { names: names.map(String), rows };
}

function parseCsvValue(text: string): CsvValue {
  if (text === '') return null;
  if (text === 'true' || text === 'false') return text === 'true';
  return String(Number(text)) === text ? Number(text) : text;
}
