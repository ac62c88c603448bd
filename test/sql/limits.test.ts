import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SQL_DEPTH_MAX, SQL_LENGTH_MAX, SQL_TREE_DEPTH_MAX } from '../../engine/limits.ts';
import { caret, QueryError } from '../../engine/query-error.ts';
import { parseQuery } from '../../engine/sql/query-parser.ts';
import { runsOf } from '../support/budget.ts';
import { anyCodePoint } from '../support/code-point.ts';
import { refusalOf } from './refused.ts';

function expectLimit(text: string, limit: string): void {
  const error = refusalOf(text);
  assert.equal(error.code, 'query_limit', error.message);
  assert.ok(error.message.endsWith(`(${limit})`), error.message);
}

test('a text of the greatest length is parsed and a longer one refused', () => {
  const query = 'SELECT 1';
  parseQuery(query + ' '.repeat(SQL_LENGTH_MAX - query.length));
  expectLimit(query + ' '.repeat(SQL_LENGTH_MAX - query.length + 1), 'SQL_LENGTH_MAX');
});

test('nesting is refused beyond its limit, however it is written', () => {
  const count = 10_000;
  const tooDeep = [
    `SELECT ${'('.repeat(count)}1${')'.repeat(count)}`,
    `SELECT ${'NOT '.repeat(count)}a`,
    `SELECT ${'- '.repeat(count)}a`,
    `SELECT ${'['.repeat(count)}`,
    `SELECT ${'f('.repeat(count)}`,
    `SELECT ${'a['.repeat(count)}`,
    `SELECT ${'CASE WHEN '.repeat(count)}`,
    `SELECT ${'CAST('.repeat(count)}`,
    `SELECT ${'INTERVAL '.repeat(count)}`,
    `SELECT ${'a IN ('.repeat(count)}`,
    `SELECT ${'a = NOT '.repeat(count)}b`,
    `SELECT ${'(SELECT '.repeat(count)}`,
    `SELECT ${'EXISTS(SELECT '.repeat(count)}`,
    `SELECT ${'STRUCT('.repeat(count)}`,
    `SELECT ${'f() OVER (PARTITION BY '.repeat(count)}`,
    `SELECT CAST(a AS ${'ARRAY<'.repeat(count)}`,
    `SELECT CAST(a AS ${'STRUCT<a '.repeat(count)}`,
    `SELECT a FROM ${'('.repeat(count)}`,
    `SELECT a FROM ${'(SELECT a FROM '.repeat(count)}t`,
    '('.repeat(count),
    'WITH a AS ('.repeat(count),
  ];
  for (const text of tooDeep) expectLimit(text, 'SQL_DEPTH_MAX');
});

test('parentheses are parsed up to the limit', () => {
  // The query and its expression are a level each.
  const nested = (levels: number) => `SELECT ${'('.repeat(levels)}1${')'.repeat(levels)}`;
  parseQuery(nested(SQL_DEPTH_MAX - 2));
  expectLimit(nested(SQL_DEPTH_MAX - 1), 'SQL_DEPTH_MAX');
});

test('the deepest nesting of every rank of operators fits the stack', () => {
  const levels = SQL_DEPTH_MAX - 2;
  parseQuery(`SELECT ${'1 or 1 and 1 = 1 + 1 * ('.repeat(levels)}1${')'.repeat(levels)}`);
});

test('chains are built without recursion and refused beyond their limit', () => {
  // The query, the select, its item, the first operand and its name are levels too.
  const links = SQL_TREE_DEPTH_MAX - 5;
  const chain = (operator: string, count: number) => `SELECT a${`${operator}a`.repeat(count)}`;
  for (const operator of [' AND ', ' OR ', '||', '+']) {
    parseQuery(chain(operator, links));
    expectLimit(chain(operator, links + 1), 'SQL_TREE_DEPTH_MAX');
    expectLimit(chain(operator, 20_000), 'SQL_TREE_DEPTH_MAX');
  }
  expectLimit(`SELECT a${'.b'.repeat(20_000)}`, 'SQL_TREE_DEPTH_MAX');
  expectLimit(`SELECT a${'[0]'.repeat(20_000)}`, 'SQL_TREE_DEPTH_MAX');
  expectLimit(`SELECT a FROM t${', t'.repeat(20_000)}`, 'SQL_TREE_DEPTH_MAX');
});

test('chains inside chains count together', () => {
  const tenth = SQL_TREE_DEPTH_MAX / 10;
  const text = `SELECT ${'('.repeat(11)}a${`${' + a'.repeat(tenth)})`.repeat(11)}`;
  expectLimit(text, 'SQL_TREE_DEPTH_MAX');
});

test('a list may be as long as the text', () => {
  const count = SQL_LENGTH_MAX / 2 - 100;
  const text = `SELECT ${Array(count).fill('a').join(',')}`;
  const { body } = parseQuery(text);
  assert.equal(body.kind === 'select' && body.items.length, count);
});

test('a caret stands under the place of an error', () => {
  const text = 'SELECT a\n\tFROM t\r\n\tWERE x = 1';
  assert.equal(caret(text, refusalOf(text).span ?? fail()), '\tWERE x = 1\n\t^');
  assert.equal(caret('SELECT', refusalOf('SELECT').span ?? fail()), 'SELECT\n      ^');
  assert.equal(caret('', refusalOf('').span ?? fail()), '\n^');
});

test('a caret counts a character beyond 16 bits once and shows part of a long line', () => {
  const emoji = "SELECT '😀' é";
  assert.equal(caret(emoji, refusalOf(emoji).span ?? fail()), `${emoji}\n           ^`);
  const long = `SELECT ${'a,'.repeat(1000)} ) ${',b'.repeat(1000)}`;
  const [line, pointer] = caret(long, refusalOf(long).span ?? fail()).split('\n');
  assert.ok(line !== undefined && pointer !== undefined);
  assert.ok(line.length <= 240);
  assert.equal(line[pointer.indexOf('^')], ')');
});

function fail(): never {
  assert.fail('the error has no span');
}

/** Parses anything; whatever is thrown must be a QueryError with a place inside the text. */
function expectParsedOrRefused(text: string): void {
  try {
    parseQuery(text);
  } catch (error) {
    assert.ok(error instanceof QueryError, `${String(error)} for ${JSON.stringify(text)}`);
    assert.ok(error.span !== undefined);
    const { start, end, line, column } = error.span;
    assert.ok(start >= 0 && start <= end && end <= text.length && line >= 1 && column >= 1);
    const lines = text.slice(0, start).split(/\r\n|\r|\n/);
    // Inside CRLF the first half alone would read as a line break.
    if (!text.slice(0, start).endsWith('\r')) {
      assert.deepEqual([line, column], [lines.length, (lines.at(-1) ?? '').length + 1]);
    }
    caret(text, error.span);
  }
}

test('any characters are parsed or refused with a place', () => {
  fc.assert(fc.property(fc.string({ unit: anyCodePoint, maxLength: 60 }), expectParsedOrRefused), {
    numRuns: runsOf(2000),
  });
  const quotes = fc.constantFrom(...`'"\`\\rbR\n\r x0U/*-#@.1eé`);
  const text = fc.string({ unit: quotes, maxLength: 30 }).map((tail) => `SELECT ${tail}`);
  fc.assert(fc.property(text, expectParsedOrRefused), { numRuns: runsOf(5000) });
});

test('any words are parsed or refused with a place', () => {
  const words =
    `SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET WITH AS ( ) , . * [ ] ; a b \`c.d\` @p
    1 2.5 'x' + - / || = < NOT AND OR IN LIKE BETWEEN IS NULL TRUE CASE WHEN THEN ELSE END CAST
    SAFE_CAST EXTRACT INTERVAL DAY AT TIME ZONE TIMESTAMP JOIN LEFT CROSS INNER ON UNNEST DISTINCT
    ALL ARRAY IF ASC DESC NULLS FIRST LAST UNION EXISTS OVER :: INT64 CURRENT_TIMESTAMP EXCEPT
    REPLACE USING STRUCT < > >> <> | ~ ROWS RANGE PRECEDING IGNORE PARTITION WINDOW QUALIFY`.split(
      /\s+/,
    );
  const text = fc
    .array(fc.constantFrom(...words), { maxLength: 40 })
    .map((tail) => `SELECT a FROM t ${tail.join(' ')}`);
  fc.assert(fc.property(text, expectParsedOrRefused), { numRuns: runsOf(5000) });
  const bare = fc.array(fc.constantFrom(...words), { maxLength: 40 });
  fc.assert(
    fc.property(bare, (tail) => expectParsedOrRefused(`SELECT ${tail.join(' ')}`)),
    { numRuns: runsOf(5000) },
  );
});

test('blanks and comments between words change nothing but places', () => {
  const words =
    'SELECT a . b , count ( * ) AS n FROM t WHERE a = - 5 GROUP BY a ORDER BY n LIMIT 1';
  const plain = withoutSpans(parseQuery(words));
  const gap = fc.constantFrom(' ', '\n', '\t\r\n', ' /* FROM */ ', ' -- x\n', '#\n');
  const parts = words.split(' ');
  const gaps = fc.array(gap, { minLength: parts.length, maxLength: parts.length });
  fc.assert(
    fc.property(gaps, (between) => {
      const text = parts.map((part, index) => part + between[index]).join('');
      assert.deepEqual(withoutSpans(parseQuery(text)), plain);
    }),
  );
});

function withoutSpans(tree: unknown): unknown {
  const replacer = (key: string, value: unknown) => {
    if (key === 'span') return undefined;
    return typeof value === 'bigint' ? `${value}n` : value;
  };
  return JSON.parse(JSON.stringify(tree, replacer));
}
