import { parseAlias } from './alias-parser.ts';
import type { Expression, Select, SelectItem } from './ast.ts';
import { parseExpression, parseExpressions } from './expression-parser.ts';
import { parseTables } from './table-parser.ts';
import type { TokenCursor } from './token-cursor.ts';

/** Parses from SELECT to the end of HAVING. */
export function parseSelect(cursor: TokenCursor): Select {
  const start = cursor.mustWord('SELECT').span;
  const distinct = cursor.isWord('DISTINCT');
  if (distinct || cursor.isWord('ALL')) cursor.advance();
  if (cursor.isWord('AS')) throw cursor.unsupported('SELECT AS STRUCT or AS VALUE');
  const items = parseItems(cursor);
  const hasFrom = cursor.acceptWords('FROM');
  const from = hasFrom ? parseTables(cursor) : undefined;
  // Without rows to look at there is nothing to filter or to group.
  const where = hasFrom && cursor.acceptWords('WHERE') ? parseExpression(cursor) : undefined;
  const groupBy = hasFrom && cursor.acceptWords('GROUP', 'BY') ? parseGroupBy(cursor) : [];
  const having = hasFrom && cursor.acceptWords('HAVING') ? parseExpression(cursor) : undefined;
  const span = cursor.spanFrom(start);
  return { kind: 'select', span, distinct, items, from, where, groupBy, having };
}

/** The select list; a comma may end it. */
function parseItems(cursor: TokenCursor): SelectItem[] {
  const items = [parseItem(cursor)];
  while (cursor.acceptSymbol(',') && !isListEnd(cursor)) items.push(parseItem(cursor));
  return items;
}

function isListEnd(cursor: TokenCursor): boolean {
  const { kind, keyword } = cursor.token;
  return kind === 'end' || cursor.isSymbol(')') || cursor.isSymbol(';') || LIST_ENDS.has(keyword);
}

const LIST_ENDS: ReadonlySet<string> = new Set(['FROM', 'ORDER', 'LIMIT']);

function parseItem(cursor: TokenCursor): SelectItem {
  const start = cursor.token.span;
  if (cursor.isSymbol('*')) return parseStar(cursor, undefined);
  const expression = parseExpression(cursor);
  if (cursor.isSymbol('.') && STAR_QUALIFIERS.has(expression.kind)) {
    cursor.advance();
    return parseStar(cursor, expression);
  }
  const alias = parseAlias(cursor);
  return { kind: 'expression', span: cursor.spanFrom(start), expression, alias };
}

/** A dot binds tighter than any operator, so only these can stand before `.*`. */
const STAR_QUALIFIERS: ReadonlySet<Expression['kind']> = new Set<Expression['kind']>([
  'name',
  'field',
  'subscript',
  'call',
  'parameter',
]);

function parseStar(cursor: TokenCursor, qualifier: Expression | undefined): SelectItem {
  const star = cursor.mustSymbol('*').span;
  for (const word of ['EXCEPT', 'REPLACE']) {
    if (cursor.isWord(word) && cursor.isSymbol('(', 1)) {
      throw cursor.unsupported(`SELECT * ${word}`);
    }
  }
  return { kind: 'star', span: cursor.spanFrom(qualifier?.span ?? star), qualifier };
}

function parseGroupBy(cursor: TokenCursor): Expression[] {
  const { keyword } = cursor.token;
  if (GROUPINGS.has(keyword)) throw cursor.unsupported(`GROUP BY ${keyword}`);
  return parseExpressions(cursor);
}

const GROUPINGS: ReadonlySet<string> = new Set(['ALL', 'ROLLUP', 'CUBE', 'GROUPING']);
