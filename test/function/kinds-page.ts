import type { SqlType } from '../../engine/column/type.ts';
import { arrayOf, BOOL, FLOAT64, INT64, NUMBER, STRING } from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import { readAs } from '../../engine/function/dynamic.ts';
import type { FieldForm } from './field-forms.ts';
import { jsonNested } from './nested.ts';

/** What is wanted of a field, in words, and the type. */
const WANTED: readonly (readonly [string, SqlType])[] = [
  [
    'a text: text functions, `LIKE`, regular expressions, an operator whose other side is a STRING',
    STRING,
  ],
  ['a number: arithmetic, `SUM`, `AVG`, an operator whose other side is a number', NUMBER],
  ['a FLOAT64: mathematical functions, arithmetic with a FLOAT64', FLOAT64],
  ['an INT64: positions, lengths, bits, `MOD`', INT64],
  ['a condition: `WHERE`, `AND`, `IF`', BOOL],
  ['a list of texts', arrayOf(STRING)],
];

const SAMPLES: readonly (readonly [string, SqlValue])[] = [
  ['`true`', true],
  ['`200`', 200],
  ['`1.5`', 1.5],
  ['2^64 − 1', 2n ** 64n - 1n],
  ['`"ann"`', 'ann'],
  ['`["a", 1]`', jsonNested(['a', 1])],
  ['a record', jsonNested({ a: 1 })],
];

/** The rows of the table of readings, as the documents have them. */
export function readingRows(): readonly string[] {
  const rows = WANTED.map(([words, type]) => [
    words,
    ...SAMPLES.map(([, value]) => cellOf(readAs(value, type))),
  ]);
  return [['wanted', ...SAMPLES.map(([words]) => words)], SAMPLES.map(() => '---'), ...rows].map(
    (row, index) => rowText(index === 1 ? ['---', ...row] : row),
  );
}

function rowText(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function cellOf(value: SqlValue): string {
  if (value === null) return 'NULL';
  if (Array.isArray(value)) return `[${value.map(cellOf).join(', ')}]`;
  return typeof value === 'string' ? `'${value}'` : String(value);
}

/** Headings of the readings, in this order. */
const READINGS: ReadonlyMap<string, string> = new Map([
  ['STRING', 'A text is wanted'],
  ['CAST STRING', 'Anything is made a text, as CAST does: a record and a list their JSON'],
  ['NUMBER', 'A number is wanted'],
  ['FLOAT64', 'A FLOAT64 is wanted'],
  ['INT64', 'An INT64 is wanted'],
  ['BOOL', 'A condition is wanted'],
  ['ARRAY<STRING>', 'A list of texts is wanted'],
  ['ARRAY<INT64>', 'A list of INT64 is wanted'],
  ['ARRAY<DYNAMIC>', 'A list of anything is wanted'],
  ['DYNAMIC', 'What is there is taken as it is'],
]);

/** KINDS.md: as what a field of unknown kind is read, wherever it stands. */
export function kindsPage(forms: readonly FieldForm[]): string {
  const unknown = forms.filter(({ reading }) => !READINGS.has(reading));
  if (unknown.length > 0) throw new Error(`there is no heading for ${unknown[0]!.reading}`);
  const sections = Array.from(READINGS, ([reading, heading]) => {
    const texts = forms.filter((form) => form.reading === reading).map(({ text }) => text);
    return [`## ${heading}`, '', ...texts.map((text) => `- \`${text}\``), ''].join('\n');
  });
  return [
    '# Fields of unknown kind',
    '',
    'The field is `·`; for what else stands beside it types are written. `dynamic.test.ts` makes this page',
    '(`WEIR_UPDATE_GOLDEN=1`), and holds each line against a field of each kind.',
    '',
    ...readingRows(),
    '',
    ...sections,
  ].join('\n');
}
