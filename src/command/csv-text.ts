import { must } from '../../engine/assert.ts';

/** `null` for a field without quotes and text: CSV of ours writes NULL so, and nothing else. */
type CsvValue = string | number | boolean | null;

/** A table as the service writes it. */
export type CsvTable = {
  readonly names: readonly string[];
  readonly rows: readonly (readonly CsvValue[])[];
};

/**
 * Reads CSV that the service wrote (`src/call/csv-rewriter.ts`): what stands in quotes is text, what does
 * not a number, a word or NULL. A number with more digits than a double has stays the text that it is.
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
