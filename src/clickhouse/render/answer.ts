import {
  assert,
  datetimeIsoText,
  elementTypeOf,
  formatDate,
  formatTimeOfDay,
  QueryError,
  type SqlType,
} from '../../../engine/columns.ts';
import type { Column } from '../../../engine/index.ts';

/** A value of a row as ClickHouse sends it: a text, a number of at most 32 bits or a double, or a list where it has parts. */
export type Cell = null | string | number | readonly Cell[];

/** Integers beyond it, 2^53, are quoted for JavaScript's sake. */
const EXACT_MAX = 2n ** 53n;

/**
 * A row as the JSON object that the embedded engine answers.
 *
 * @throws QueryError `query_failed` for an array that holds NULL.
 */
export function rowJson(cells: readonly Cell[], output: readonly Column[]): string {
  const fields = output.map(({ name, type }, index) => {
    return `${JSON.stringify(name)}:${cellJson(cellAt(cells, index), type)}`;
  });
  return `{${fields.join(',')}}`;
}

function cellAt(cells: readonly Cell[], index: number): Cell {
  const cell = cells[index];
  assert(cell !== undefined, 'there is a cell for each column');
  return cell;
}

function cellJson(cell: Cell, type: SqlType): string {
  if (type.kind === 'ARRAY') return arrayJson(cell as readonly Cell[], type);
  if (type.kind === 'STRUCT') return structJson(cell as readonly Cell[], type);
  if (type.kind === 'INTERVAL') return JSON.stringify((cell as readonly Cell[])[0] ?? null);
  if (type.kind === 'NUMBER') return numberJson(cell as readonly Cell[]);
  return cell === null ? 'null' : scalarJson(String(cell), type);
}

/** An integer, or a double; the other one is NULL. */
function numberJson([whole = null, fraction = null]: readonly Cell[]): string {
  if (whole !== null) return integerJson(String(whole));
  return fraction === null ? 'null' : floatJson(String(fraction));
}

function scalarJson(text: string, { kind }: SqlType): string {
  switch (kind) {
    case 'BOOL':
      return text === '1' ? 'true' : 'false';
    case 'STRING':
      return JSON.stringify(text);
    case 'BYTES':
      return JSON.stringify(Buffer.from(text, 'hex').toString('base64'));
    case 'DYNAMIC':
    case 'JSON':
      return text;
    case 'DATETIME':
      return JSON.stringify(datetimeIsoText(amountOf(text)));
    case 'DATE':
      return JSON.stringify(formatDate(Number(text)));
    case 'TIME':
      return JSON.stringify(formatTimeOfDay(Number(text)));
    case 'FLOAT64':
      return floatJson(text);
    default:
      return integerJson(text);
  }
}

function amountOf(digits: string): number | bigint {
  const near = Number(digits);
  return Number.isSafeInteger(near) ? near : BigInt(digits);
}

function integerJson(digits: string): string {
  const value = BigInt(digits);
  return value > EXACT_MAX || value < -EXACT_MAX ? `"${digits}"` : digits;
}

const SPECIAL_FLOATS: ReadonlyMap<string, string> = new Map([
  ['nan', '"NaN"'],
  ['-nan', '"NaN"'],
  ['inf', '"Infinity"'],
  ['-inf', '"-Infinity"'],
]);

function floatJson(text: string): string {
  return SPECIAL_FLOATS.get(text) ?? String(Number(text));
}

/** An answer does not tell a NULL array from an empty one. */
function arrayJson([elements]: readonly Cell[], type: SqlType): string {
  if (elements === undefined) return '[]';
  const element = elementTypeOf(type);
  const texts = (elements as readonly Cell[]).map((each) => {
    if (!isMissing(each, element)) return cellJson(each, element);
    throw new QueryError('query_failed', 'an array in an answer cannot hold NULL, as in BigQuery');
  });
  return `[${texts.join(',')}]`;
}

/** A record and an INTERVAL are lists of at most one item; a number has two forms. */
function isMissing(cell: Cell, { kind }: SqlType): boolean {
  if (kind === 'NUMBER') return (cell as readonly Cell[]).every((form) => form === null);
  if (kind !== 'STRUCT' && kind !== 'INTERVAL') return cell === null;
  return (cell as readonly Cell[]).length === 0;
}

function structJson(
  [fields]: readonly Cell[],
  type: Extract<SqlType, { readonly kind: 'STRUCT' }>,
): string {
  if (fields === undefined) return 'null';
  const texts = type.fields.map((field, index) => {
    const cell = cellAt(fields as readonly Cell[], index);
    return `${JSON.stringify(field.name ?? `_field_${index + 1}`)}:${cellJson(cell, field.type)}`;
  });
  return `{${texts.join(',')}}`;
}
