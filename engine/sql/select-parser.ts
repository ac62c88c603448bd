import { parseAlias } from './alias-parser.ts';
import type { Expression, Name, Select, SelectItem } from './ast.ts';
// biome-ignore lint/suspicious/noImportCycles: SQL nests queries and expressions in each other.
import { parseExpression, parseExpressions } from './expression-parser.ts';
// biome-ignore lint/suspicious/noImportCycles: SQL nests queries and expressions in each other.
import { parseTables } from './table-parser.ts';
import type { TokenCursor } from './token-cursor.ts';
// biome-ignore lint/suspicious/noImportCycles: SQL nests queries and expressions in each other.
import { parseNamedWindows } from './window-parser.ts';

/** Parses from SELECT to the end of WINDOW. */
export function parseSelect(cursor: TokenCursor): Select {
  const start = cursor.mustWord('SELECT').span;
  const distinct = cursor.isWord('DISTINCT');
  if (distinct || cursor.isWord('ALL')) cursor.advance();
  const asStruct = acceptAsStruct(cursor);
  const items = parseItems(cursor);
  const hasFrom = cursor.acceptWords('FROM');
  const from = hasFrom ? parseTables(cursor) : undefined;
  // Without rows to look at there is nothing to filter or to group.
  const where = hasFrom && cursor.acceptWords('WHERE') ? parseExpression(cursor) : undefined;
  const groupBy = hasFrom && cursor.acceptWords('GROUP', 'BY') ? parseGroupBy(cursor) : [];
  const having = hasFrom && cursor.acceptWords('HAVING') ? parseExpression(cursor) : undefined;
  const qualify = hasFrom && acceptRare(cursor, 'QUALIFY') ? parseExpression(cursor) : undefined;
  const windows = acceptRare(cursor, 'WINDOW') ? parseNamedWindows(cursor) : undefined;
  const span = cursor.spanFrom(start);
  const clauses = { from, where, groupBy, having, qualify, windows };
  return { kind: 'select', span, distinct, asStruct, items, ...clauses };
}

/** Accepts a clause that no error need offer. */
function acceptRare(cursor: TokenCursor, keyword: string): boolean {
  return cursor.isWord(keyword) && cursor.acceptWords(keyword);
}

function acceptAsStruct(cursor: TokenCursor): boolean {
  if (!cursor.isWord('AS')) return false;
  if (!cursor.isWord('STRUCT', 1)) throw cursor.unsupported('SELECT AS VALUE or AS a type');
  cursor.advance();
  cursor.advance();
  return true;
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

const LIST_ENDS: ReadonlySet<string> = new Set([
  'FROM',
  'WINDOW',
  'UNION',
  'EXCEPT',
  'INTERSECT',
  'ORDER',
  'LIMIT',
]);

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
  'subquery',
  'struct',
]);

function parseStar(cursor: TokenCursor, qualifier: Expression | undefined): SelectItem {
  const star = cursor.mustSymbol('*').span;
  const except = parseExcept(cursor);
  const replace = parseReplace(cursor);
  const span = cursor.spanFrom(qualifier?.span ?? star);
  return { kind: 'star', span, qualifier, except, replace };
}

/** `EXCEPT (a, b)`; without the parenthesis EXCEPT is the set operation. */
function parseExcept(cursor: TokenCursor): Name[] | undefined {
  if (!cursor.isWord('EXCEPT') || !cursor.isSymbol('(', 1)) return undefined;
  cursor.advance();
  cursor.mustSymbol('(');
  const names = [cursor.mustName('a column of the star')];
  while (cursor.acceptSymbol(',')) names.push(cursor.mustName('a column of the star'));
  cursor.mustSymbol(')');
  return names;
}

/** `REPLACE (expression AS name, …)`. */
function parseReplace(cursor: TokenCursor): StarItem['replace'] {
  if (!cursor.isWord('REPLACE') || !cursor.isSymbol('(', 1)) return undefined;
  cursor.advance();
  cursor.mustSymbol('(');
  const replaced: { expression: Expression; name: Name }[] = [];
  do {
    const expression = parseExpression(cursor);
    if (cursor.isWord('AS')) cursor.advance();
    replaced.push({ expression, name: cursor.mustName('AS and a column of the star') });
  } while (cursor.acceptSymbol(','));
  cursor.mustSymbol(')');
  return replaced;
}

type StarItem = Extract<SelectItem, { kind: 'star' }>;

function parseGroupBy(cursor: TokenCursor): Select['groupBy'] {
  const { keyword } = cursor.token;
  if (keyword === 'ALL') {
    cursor.advance();
    return 'all';
  }
  if (GROUPINGS.has(keyword)) throw cursor.unsupported(`GROUP BY ${keyword}`);
  return parseExpressions(cursor);
}

const GROUPINGS: ReadonlySet<string> = new Set(['ROLLUP', 'CUBE', 'GROUPING']);
