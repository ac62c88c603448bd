import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CsvRewriter } from '../../../src/call/csv-rewriter.ts';
import { NdjsonRewriter } from '../../../src/call/ndjson-rewriter.ts';
import { type RowsRewriter, rewriteAll } from '../../../src/call/rows-rewriter.ts';
import { anyCodePoint } from '../../support/code-point.ts';
import { type CsvField, parseCsv } from '../../support/parse-csv.ts';

type Rows = readonly Readonly<Record<string, unknown>>[];

function textOf(rewriter: RowsRewriter): string {
  const pieces: Uint8Array[] = [];
  for (let piece = rewriter.next(); piece !== undefined; piece = rewriter.next()) {
    pieces.push(piece);
  }
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(pieces));
}

function csvOf(rows: Rows, columns: readonly string[], pieceBytes?: number): string {
  return textOf(new CsvRewriter(Buffer.from(JSON.stringify(rows)), columns, pieceBytes));
}

function ndjsonOf(rows: Rows, pieceBytes?: number): string {
  const json = Buffer.from(JSON.stringify(rows));
  const text = textOf(new NdjsonRewriter(json, pieceBytes));
  assert.equal(
    json.toString(),
    Buffer.from(JSON.stringify(rows)).toString(),
    'rows stay as they are',
  );
  return text;
}

/**
 * Text that is difficult to encode: quotes, backslashes, newlines, control characters, all of
 * Unicode.
 */
const anyText = fc.oneof(
  fc.string({ unit: anyCodePoint }),
  fc.string({ unit: fc.constantFrom('"', '\\', ',', '\r', '\n', '[', '}', '\u0000', 'é', '😀') }),
);

/** A lone surrogate, as the engine writes it, has no UTF-8. */
const anyLoneText = fc.string({ unit: fc.constantFrom('\ud83d', '\ude00', 'a', '"') });

const anyValue = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  anyText,
  anyLoneText,
  fc.array(fc.jsonValue(), { maxLength: 3 }),
  fc.array(fc.dictionary(anyText, fc.oneof(anyText, fc.jsonValue())), { maxLength: 2 }),
);

/** Rows of one answer, all with the same names in the same order. */
const anyRows = fc
  .tuple(fc.uniqueArray(anyText, { minLength: 1, maxLength: 4 }), fc.nat(4))
  // Numeric names would change the order of a JavaScript object's keys.
  .map(([names, rowCount]) => ({ names: names.map((name) => `c${name}`), rowCount }))
  .chain(({ names, rowCount }) =>
    fc.record({
      names: fc.constant(names),
      rows: fc.array(
        fc
          .tuple(...names.map(() => anyValue))
          .map((values) => Object.fromEntries(names.map((name, index) => [name, values[index]]))),
        { minLength: rowCount, maxLength: rowCount },
      ),
    }),
  );

const anyPieceBytes = fc.integer({ min: 8, max: 40 });

/** The text in valid UTF-8: lone surrogates become U+FFFD. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}

/** The CSV field of a value. */
function fieldOf(value: unknown, isAlone: boolean): CsvField {
  if (value === null) return { text: '', isQuoted: isAlone };
  if (typeof value === 'string') return { text: wellFormed(value), isQuoted: true };
  if (typeof value === 'object') return { text: JSON.stringify(value), isQuoted: true };
  return { text: JSON.stringify(value), isQuoted: false };
}

test('parsed CSV has the names and values of all rows, for all piece sizes', () => {
  fc.assert(
    fc.property(anyRows, anyPieceBytes, ({ names, rows }, pieceBytes) => {
      const [header, ...lines] = parseCsv(csvOf(rows, names, pieceBytes));
      assert.deepEqual(
        header!.map(({ text }) => text),
        names.map(wellFormed),
      );
      assert.deepEqual(
        lines,
        rows.map((row) => Object.values(row).map((value) => fieldOf(value, names.length === 1))),
      );
    }),
  );
});

test('NDJSON has the rows as they were written, for all piece sizes', () => {
  fc.assert(
    fc.property(anyRows, anyPieceBytes, ({ rows }, pieceBytes) => {
      const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
      assert.equal(ndjsonOf(rows, pieceBytes), wellFormed(text));
    }),
  );
});

test('a table as CSV, in full', () => {
  const rows = [
    { id: 'a', n: 1.5, ok: true, 'a "b", c': [{ path: ['/x', null] }], none: null },
    { id: '', n: -0.1, ok: false, 'a "b", c': [], none: 'two\r\nlines' },
    { id: '=1+1', n: null, ok: null, 'a "b", c': 'say "hi"', none: null },
  ];
  assert.equal(
    csvOf(rows, Object.keys(rows[0]!)),
    [
      'id,n,ok,"a ""b"", c",none',
      '"a",1.5,true,"[{""path"":[""/x"",null]}]",',
      '"",-0.1,false,"[]","two\r\nlines"',
      '"=1+1",,,"say ""hi""",',
      '',
    ].join('\r\n'),
  );
});

test('without rows, CSV has its header row and NDJSON is empty', () => {
  assert.equal(csvOf([], ['id', 'n']), 'id,n\r\n');
  assert.equal(ndjsonOf([]), '');
});

test('a row with a single NULL is not an empty line, and a row without columns is one', () => {
  assert.equal(csvOf([{ a: null }, { a: 'b' }], ['a']), 'a\r\n""\r\n"b"\r\n');
  assert.equal(csvOf([{}, {}], []), '\r\n\r\n\r\n');
});

test('all kinds of escapes become the characters they mean', () => {
  const json = '[{"a":"\\u0041\\u00e9\\ud83d\\ude00\\ud83dx\\/\\b\\f\\u0022\\\\n"}]';
  const text = textOf(new CsvRewriter(Buffer.from(json), ['a']));
  assert.equal(text, 'a\r\n"Aé😀\ufffdx/\b\f""\\n"\r\n');
});

test('joining all pieces yields to the event loop between them', async () => {
  const rows = Array.from({ length: 20_000 }, (_, n) => ({ n, text: `row ${n}` }));
  let turns = 0;
  const turn = (): void => {
    turns += 1;
    turning = setImmediate(turn);
  };
  let turning = setImmediate(turn);
  const bytes = await rewriteAll(new CsvRewriter(Buffer.from(JSON.stringify(rows)), ['n', 'text']));
  clearImmediate(turning);
  assert.equal(bytes.toString(), csvOf(rows, ['n', 'text']));
  assert.ok(turns >= Math.floor(bytes.length / 65_536), `${turns} turns`);
});
