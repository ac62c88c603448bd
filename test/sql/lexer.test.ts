import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lexer, type Token } from '../../engine/sql/lexer.ts';
import { expectRefused } from './refused.ts';

function tokensOf(text: string): Token[] {
  const lexer = new Lexer(text);
  const tokens: Token[] = [];
  for (let token = lexer.next(); token.kind !== 'end'; token = lexer.next()) tokens.push(token);
  return tokens;
}

/** Kind and text of each token. */
function cut(text: string): string {
  return tokensOf(text)
    .map(({ kind, text: value }) => `${kind}:${value}`)
    .join(' ');
}

function stringOf(literal: string): string {
  const [token, ...others] = tokensOf(literal);
  assert.equal(token?.kind, 'string');
  assert.equal(others.length, 0, literal);
  return token.text;
}

test('words keep their case and are keywords in upper case', () => {
  const [token] = tokensOf('Select');
  assert.deepEqual([token?.text, token?.keyword], ['Select', 'SELECT']);
});

test('a word after a dot is no keyword and may begin with a digit', () => {
  const tokens = tokensOf('t.From . 2xx.5');
  assert.deepEqual(
    tokens.map(({ text }) => text),
    ['t', '.', 'From', '.', '2xx', '.', '5'],
  );
  assert.equal(tokens[2]?.keyword, '');
});

test('a dot before a digit begins a number unless a path can go on there', () => {
  assert.equal(cut('THEN .5'), 'word:THEN float:.5');
  assert.equal(cut('(.5)'), 'symbol:( float:.5 symbol:)');
  assert.equal(cut('logs.5'), 'word:logs symbol:. word:5');
  assert.equal(cut('`logs`.5'), 'quoted:logs symbol:. word:5');
  assert.equal(cut('f().5'), 'word:f symbol:( symbol:) symbol:. word:5');
});

test('numbers are decimal or hexadecimal integers, or floats', () => {
  assert.equal(cut('0 007 0xFf 0XA'), 'integer:0 integer:007 integer:0xFf integer:0XA');
  assert.equal(
    cut('1. 1.5 .5 1e10 1.E-3 2e+4'),
    'float:1. float:1.5 float:.5 float:1e10 float:1.E-3 float:2e+4',
  );
});

test('the longest symbol is taken', () => {
  assert.equal(
    cut('a<=b<>c||d|e'),
    'word:a symbol:<= word:b symbol:<> word:c symbol:|| word:d symbol:| word:e',
  );
});

test('comments and every kind of blank stand for a space', () => {
  assert.equal(
    cut('a -- b\nc # d\r\ne /* f\n * */ g\u00a0h\t/**/i'),
    'word:a word:c word:e word:g word:h word:i',
  );
  assert.equal(cut('a -- to the end'), 'word:a');
});

test('lines end at LF, CRLF and CR, and columns count from 1', () => {
  const places = tokensOf("a\n  b\r\nc\r d '''x\ny''' e").map(({ span }) => [
    span.line,
    span.column,
  ]);
  assert.deepEqual(places, [
    [1, 1],
    [2, 3],
    [3, 1],
    [4, 2],
    [4, 4],
    [5, 6],
  ]);
});

test('offsets of a token are half open and include its quotes', () => {
  const tokens = tokensOf("r'ab' `c` @Dd_1");
  assert.deepEqual(
    tokens.map(({ span }) => [span.start, span.end]),
    [
      [0, 5],
      [6, 9],
      [10, 15],
    ],
  );
  assert.equal(tokens[2]?.text, 'Dd_1');
});

test('strings stand in single, double and triple quotes', () => {
  assert.equal(stringOf(`'a"b'`), 'a"b');
  assert.equal(stringOf(`"a'b"`), "a'b");
  assert.equal(stringOf("'''a'b''c\nd'''"), "a'b''c\nd");
  assert.equal(stringOf('"""a"b""c"""'), 'a"b""c');
  assert.equal(stringOf("''"), '');
  assert.equal(stringOf("''''''"), '');
});

test('every escape of GoogleSQL is resolved', () => {
  assert.equal(stringOf(String.raw`'\a\b\f\n\r\t\v'`), '\u0007\b\f\n\r\t\v');
  assert.equal(stringOf(`'\\\\\\?\\"\\'\\\`'`), '\\?"\'`');
  assert.equal(stringOf(String.raw`'\101\x41\X41\u0041\U0001F600'`), 'AAAA😀');
  assert.equal(stringOf(String.raw`'''\'\'\''''`), "'''");
});

test('a raw string keeps its backslashes, which still guard the quote after them', () => {
  assert.equal(stringOf(String.raw`r'\d+\''`), String.raw`\d+\'`);
  assert.equal(stringOf(String.raw`R"\\"`), String.raw`\\`);
  assert.equal(stringOf("r'''a\n\\''''"), "a\n\\'");
});

test('a doubled quote inside a one-line string is one quote', () => {
  assert.equal(stringOf("'it''s'"), "it's");
  assert.equal(stringOf('"a""b"'), 'a"b');
  assert.equal(stringOf("'a'''"), "a'");
});

test('a name in backticks holds dots, dashes, keywords and escapes', () => {
  assert.equal(cut('`a.b-c`.`select` `x\\`y`'), 'quoted:a.b-c symbol:. quoted:select quoted:x`y');
});

test('a broken literal is refused where it begins or at its escape', () => {
  expectRefused("SELECT 'a", "this string has no closing '", "'a");
  expectRefused('SELECT """a"', 'this string has no closing """', '"""a');
  expectRefused("SELECT r'a\\'", "this string has no closing '", "'a\\");
  const lineBreak = 'this string may not contain a line break; one in three quotes may';
  expectRefused("SELECT 'a\nb'", lineBreak, "'a");
  expectRefused("SELECT r'a\\\nb'", lineBreak, "'a\\");
  expectRefused('SELECT `a\n`', 'this name may not contain a line break', '`a');
  expectRefused('SELECT ``', 'a name in backticks may not be empty', '``');
  expectRefused('SELECT /* a', 'this comment has no closing */', '/*');
  const advice = 'write \\\\ for a backslash, or r before the opening quote';
  expectRefused("SELECT 'a\\d'", `unknown escape "\\d": ${advice}`, '\\d');
  expectRefused("SELECT '\\x4'", 'the escape \\x needs 2 hexadecimal digits', '\\x4');
  expectRefused("SELECT '\\18'", 'the escape \\ needs 3 octal digits', '\\18');
  expectRefused("SELECT '\\400'", 'the escape \\400 names no character', '\\400');
  expectRefused("SELECT '\\uD800'", 'the escape \\uD800 names no character', '\\uD800');
  expectRefused("SELECT '\\U00110000'", 'the escape \\U00110000 names no character', '\\U');
});

test('bytes have one character per byte, and escapes that name bytes', () => {
  const value = (text: string) => {
    const token = new Lexer(text).next();
    return [token.kind, token.text];
  };
  assert.deepEqual(value("b'a'"), ['bytes', 'a']);
  assert.deepEqual(value('B"\\xff\\101\\n"'), ['bytes', '\u00ffA\n']);
  assert.deepEqual(value("b'é😀'"), ['bytes', '\u00c3\u00a9\u00f0\u009f\u0098\u0080']);
  assert.deepEqual(value("rb'\\x41'"), ['bytes', '\\x41']);
  assert.deepEqual(value("bR'''a\n'b'''"), ['bytes', "a\n'b"]);
  const advice = 'write \\\\ for a backslash, or r before the opening quote';
  expectRefused("SELECT b'\\u0041'", `unknown escape "\\u": ${advice}`, '\\u');
});

test('a number that runs into letters is refused whole', () => {
  for (const text of ['12abc', '0x', '1e', '1.5x']) {
    expectRefused(`SELECT ${text}`, `"${text}" is neither a number nor a name`, text);
  }
});

test('a character that SQL does not know is refused', () => {
  expectRefused('SELECT é', 'the character "é" has no meaning outside quotes', 'é');
  expectRefused('SELECT 1 😀', 'the character "😀" has no meaning outside quotes', '😀');
  expectRefused('SELECT @ a', 'expected the name of a parameter after "@"', '@');
});
