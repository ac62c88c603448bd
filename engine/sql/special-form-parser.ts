import type { Expression, Name } from './ast.ts';
// biome-ignore lint/suspicious/noImportCycles: SQL nests queries and expressions in each other.
import { parseExpression } from './expression-parser.ts';
import type { TokenCursor } from './token-cursor.ts';
import { parseTypeName } from './type-parser.ts';

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

/** `CAST(input AS type [FORMAT format [AT TIME ZONE zone]])`, and SAFE_CAST. */
export function parseCast(cursor: TokenCursor): Expression {
  const { span: start, keyword } = cursor.advance();
  cursor.mustSymbol('(');
  const input = parseExpression(cursor);
  cursor.mustWord('AS');
  const type = parseTypeName(cursor);
  const hasFormat = cursor.isWord('FORMAT') && cursor.acceptWords('FORMAT');
  const format = hasFormat ? parseExpression(cursor) : undefined;
  const timeZone = hasFormat ? parseTimeZone(cursor) : undefined;
  cursor.mustSymbol(')');
  const safe = keyword === 'SAFE_CAST';
  return { kind: 'cast', span: cursor.spanFrom(start), input, type, safe, format, timeZone };
}

/** `EXTRACT(part FROM input [AT TIME ZONE zone])`. */
export function parseExtract(cursor: TokenCursor): Expression {
  const start = cursor.mustWord('EXTRACT').span;
  cursor.mustSymbol('(');
  const part = parsePart(cursor);
  cursor.mustWord('FROM');
  const input = parseExpression(cursor);
  const timeZone = parseTimeZone(cursor);
  cursor.mustSymbol(')');
  return { kind: 'extract', span: cursor.spanFrom(start), part, input, timeZone };
}

/** `DAY`, or `WEEK(MONDAY)` as one name. */
function parsePart(cursor: TokenCursor): Name {
  const { span, text } = cursor.mustName('a date part such as DAY');
  if (!cursor.isSymbol('(')) return { span, text };
  cursor.advance();
  const day = cursor.mustName('a day such as MONDAY');
  cursor.mustSymbol(')');
  return { span: cursor.spanFrom(span), text: `${text}(${day.text})` };
}

function parseTimeZone(cursor: TokenCursor): Expression | undefined {
  return cursor.acceptWords('AT', 'TIME', 'ZONE') ? parseExpression(cursor) : undefined;
}

/** `INTERVAL amount part`, `INTERVAL text part TO part`. */
export function parseInterval(cursor: TokenCursor): Expression {
  const start = cursor.mustWord('INTERVAL').span;
  const amount = parseExpression(cursor);
  const part = cursor.mustName('a date part such as DAY');
  const hasLast = cursor.isWord('TO') && cursor.acceptWords('TO');
  const lastPart = hasLast ? cursor.mustName('a date part such as DAY') : undefined;
  return { kind: 'interval', span: cursor.spanFrom(start), amount, part, lastPart };
}
