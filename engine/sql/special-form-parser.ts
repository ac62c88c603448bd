import type { Expression, TypeName } from './ast.ts';
import { parseExpression } from './expression-parser.ts';
import type { TokenCursor } from './token-cursor.ts';

/** `CASE [operand] WHEN … THEN … [ELSE …] END`. */
export function parseCase(cursor: TokenCursor): Expression {
  const start = cursor.mustWord('CASE').span;
  const operand = cursor.isWord('WHEN') ? undefined : parseExpression(cursor);
  const branches: { when: Expression; then: Expression }[] = [];
  cursor.mustWord('WHEN');
  do {
    const when = parseExpression(cursor);
    cursor.mustWord('THEN');
    branches.push({ when, then: parseExpression(cursor) });
  } while (cursor.acceptWords('WHEN'));
  const otherwise = cursor.acceptWords('ELSE') ? parseExpression(cursor) : undefined;
  cursor.mustWord('END');
  return { kind: 'case', span: cursor.spanFrom(start), operand, branches, otherwise };
}

/** `CAST(input AS type)` and `SAFE_CAST(input AS type)`. */
export function parseCast(cursor: TokenCursor): Expression {
  const { span: start, keyword } = cursor.advance();
  cursor.mustSymbol('(');
  const input = parseExpression(cursor);
  cursor.mustWord('AS');
  const type = parseTypeName(cursor);
  if (cursor.isWord('FORMAT')) throw cursor.unsupported('CAST … FORMAT');
  cursor.mustSymbol(')');
  const safe = keyword === 'SAFE_CAST';
  return { kind: 'cast', span: cursor.spanFrom(start), input, type, safe };
}

function parseTypeName(cursor: TokenCursor): TypeName {
  const { span, keyword } = cursor.token;
  // ARRAY and STRUCT are reserved words, yet types; whether a type is known is not asked here.
  if (keyword === 'ARRAY' || keyword === 'STRUCT') throw cursor.unsupported(`CAST to ${keyword}`);
  const { text } = cursor.mustName('a type');
  if (cursor.isSymbol('(') || cursor.isSymbol('<')) {
    throw cursor.unsupported('a type with parameters', span);
  }
  const kind = text.toUpperCase();
  return { span, kind: TYPE_ALIASES.get(kind) ?? kind };
}

const TYPE_ALIASES: ReadonlyMap<string, string> = new Map([
  ['INT', 'INT64'],
  ['SMALLINT', 'INT64'],
  ['INTEGER', 'INT64'],
  ['BIGINT', 'INT64'],
  ['TINYINT', 'INT64'],
  ['BYTEINT', 'INT64'],
  ['BOOLEAN', 'BOOL'],
  ['DECIMAL', 'NUMERIC'],
  ['BIGDECIMAL', 'BIGNUMERIC'],
]);

/** `EXTRACT(part FROM input [AT TIME ZONE zone])`. */
export function parseExtract(cursor: TokenCursor): Expression {
  const start = cursor.mustWord('EXTRACT').span;
  cursor.mustSymbol('(');
  const part = cursor.mustName('a date part such as DAY');
  if (cursor.isSymbol('(')) throw cursor.unsupported(`EXTRACT(${part.text}(…) …)`, part.span);
  cursor.mustWord('FROM');
  const input = parseExpression(cursor);
  const hasZone = cursor.acceptWords('AT', 'TIME', 'ZONE');
  const timeZone = hasZone ? parseExpression(cursor) : undefined;
  cursor.mustSymbol(')');
  return { kind: 'extract', span: cursor.spanFrom(start), part, input, timeZone };
}

/** `INTERVAL amount part`. */
export function parseInterval(cursor: TokenCursor): Expression {
  const start = cursor.mustWord('INTERVAL').span;
  const amount = parseExpression(cursor);
  const part = cursor.mustName('a date part such as DAY');
  if (cursor.isWord('TO')) throw cursor.unsupported('INTERVAL … TO …');
  return { kind: 'interval', span: cursor.spanFrom(start), amount, part };
}
