import type { Span } from '../query-error.ts';
import { parseAlias } from './alias-parser.ts';
import type { Name, Query, TableExpression } from './ast.ts';
// biome-ignore lint/suspicious/noImportCycles: SQL nests queries and expressions in each other.
import { parseExpression } from './expression-parser.ts';
// biome-ignore lint/suspicious/noImportCycles: SQL nests queries and expressions in each other.
import { continuesQuery, parseQueryBehind, parseQueryExpression } from './query-parser.ts';
import type { TokenCursor } from './token-cursor.ts';

type JoinExpression = Extract<TableExpression, { kind: 'join' }>;
type Join = JoinExpression['join'];

/** Parses what follows FROM: tables joined from left to right, commas included. */
export function parseTables(cursor: TokenCursor): TableExpression {
  const start = cursor.token.span;
  return parseJoins(cursor, parseTable(cursor), start);
}

/** The joins behind the table `first`, which begins at `start`. */
function parseJoins(cursor: TokenCursor, first: TableExpression, start: Span): TableExpression {
  let left = first;
  for (;;) {
    const join = acceptJoin(cursor);
    if (join === undefined) return left;
    const right = parseRight(cursor, join);
    const condition = parseCondition(cursor, join, right);
    left = { kind: 'join', span: cursor.spanFrom(start), join, left, right, ...condition };
  }
}

/**
 * What stands to the right of a join. Another join before this one's condition belongs to it:
 * `a JOIN b JOIN c ON … ON …`.
 */
function parseRight(cursor: TokenCursor, join: Join): TableExpression {
  const start = cursor.token.span;
  const table = parseTable(cursor);
  if (join === 'comma' || join === 'cross' || mayBeArray(table)) return table;
  if (!JOIN_WORDS.has(cursor.token.keyword)) return table;
  cursor.enter();
  const right = parseJoins(cursor, table, start);
  cursor.leave();
  return right;
}

const JOIN_WORDS: ReadonlySet<string> = new Set([
  'JOIN',
  'INNER',
  'CROSS',
  'LEFT',
  'RIGHT',
  'FULL',
]);

function acceptJoin(cursor: TokenCursor): Join | undefined {
  if (cursor.acceptSymbol(',')) return 'comma';
  if (cursor.acceptWords('JOIN')) return 'inner';
  if (cursor.isWord('INNER') && cursor.acceptWords('INNER', 'JOIN')) return 'inner';
  if (cursor.isWord('CROSS') && cursor.acceptWords('CROSS', 'JOIN')) return 'cross';
  const outer = OUTER_JOINS.get(cursor.token.keyword);
  if (outer === undefined) return undefined;
  cursor.advance();
  cursor.acceptWords('OUTER');
  cursor.mustWord('JOIN');
  return outer;
}

const OUTER_JOINS: ReadonlyMap<string, Join> = new Map([
  ['LEFT', 'left'],
  ['RIGHT', 'right'],
  ['FULL', 'full'],
]);

/** An array of the row to the left belongs to it anyway, so its join may go without ON. */
function parseCondition(cursor: TokenCursor, join: Join, right: TableExpression): Condition {
  if (join === 'comma' || join === 'cross') return {};
  if (cursor.acceptWords('ON')) return { on: parseExpression(cursor) };
  if (cursor.acceptWords('USING')) return { using: parseUsing(cursor) };
  if (mayBeArray(right)) return {};
  throw cursor.unexpected();
}

function mayBeArray(table: TableExpression): boolean {
  return table.kind === 'unnest' || (table.kind === 'table' && table.path.length > 1);
}

type Condition = Pick<JoinExpression, 'on' | 'using'>;

function parseUsing(cursor: TokenCursor): Name[] {
  cursor.mustSymbol('(');
  const names = [cursor.mustName('a column of both sides')];
  while (cursor.acceptSymbol(',')) names.push(cursor.mustName('a column of both sides'));
  cursor.mustSymbol(')');
  return names;
}

function parseTable(cursor: TokenCursor): TableExpression {
  const start = cursor.token.span;
  if (cursor.isWord('UNNEST')) return parseUnnest(cursor);
  if (cursor.isSymbol('(')) {
    const inner = parseParenthesised(cursor);
    return inner.kind === 'join' ? inner : parseSubquery(cursor, inner.query, start);
  }
  const path = parsePath(cursor);
  if (cursor.isSymbol('(')) throw cursor.unsupported('a table function', start);
  const alias = parseAlias(cursor);
  const withOffset = cursor.isWord('WITH') ? parseWithOffset(cursor) : undefined;
  return { kind: 'table', span: cursor.spanFrom(start), path, alias, withOffset };
}

/** The query has been read with its parentheses, which begin at `start`. */
function parseSubquery(cursor: TokenCursor, query: Query, start: Span): TableExpression {
  const alias = parseAlias(cursor);
  return { kind: 'subquery', span: cursor.spanFrom(start), query, alias };
}

type Parenthesised = { readonly kind: 'query'; readonly query: Query } | JoinExpression;

/** A query, or joined tables, between parentheses. */
function parseParenthesised(cursor: TokenCursor): Parenthesised {
  cursor.enter();
  cursor.mustSymbol('(');
  const inner = parseBetweenParentheses(cursor);
  cursor.mustSymbol(')');
  cursor.leave();
  return inner;
}

/**
 * Behind a second parenthesis may stand a query that goes on (`((SELECT …) LIMIT 1)`) or the first
 * of joined tables (`((SELECT …) AS a JOIN b …)`); only what follows it tells.
 */
function parseBetweenParentheses(cursor: TokenCursor): Parenthesised {
  const start = cursor.token.span;
  if (cursor.isWord('SELECT') || cursor.isWord('WITH')) {
    return { kind: 'query', query: parseQueryExpression(cursor) };
  }
  if (!cursor.isSymbol('(')) return mustBeJoin(cursor, parseTables(cursor));
  const inner = parseParenthesised(cursor);
  if (inner.kind === 'join') return mustBeJoin(cursor, parseJoins(cursor, inner, start));
  if (cursor.isSymbol(')') || continuesQuery(cursor)) {
    return { kind: 'query', query: parseQueryBehind(cursor, inner.query, start) };
  }
  const first = parseSubquery(cursor, inner.query, start);
  return mustBeJoin(cursor, parseJoins(cursor, first, start));
}

function mustBeJoin(cursor: TokenCursor, tables: TableExpression): JoinExpression {
  if (tables.kind === 'join') return tables;
  throw cursor.unexpected();
}

/** `UNNEST(array) [[AS] alias] [WITH OFFSET [[AS] alias]]`. */
function parseUnnest(cursor: TokenCursor): TableExpression {
  const start = cursor.mustWord('UNNEST').span;
  cursor.mustSymbol('(');
  const array = parseExpression(cursor);
  if (cursor.isSymbol(',')) throw cursor.unsupported('UNNEST of several arrays', start);
  cursor.mustSymbol(')');
  const alias = parseAlias(cursor);
  const withOffset = parseWithOffset(cursor);
  return { kind: 'unnest', span: cursor.spanFrom(start), array, alias, withOffset };
}

function parseWithOffset(cursor: TokenCursor): Name | undefined {
  if (!cursor.acceptWords('WITH')) return undefined;
  const { span } = cursor.mustWord('OFFSET');
  return parseAlias(cursor) ?? { span, text: 'offset' };
}

/**
 * Dotted names. A name in backticks is one name, dots and all; a bare one may hold dashes, if no
 * blank stands beside them.
 */
function parsePath(cursor: TokenCursor): Name[] {
  const path = [parseDashedName(cursor)];
  while (cursor.isSymbol('.')) {
    cursor.advance();
    path.push(cursor.mustFieldName());
  }
  return path;
}

function parseDashedName(cursor: TokenCursor): Name {
  const isBare = cursor.token.kind === 'word';
  let { span, text } = cursor.mustName('a table, a subquery or UNNEST');
  while (isBare && cursor.isSymbol('-')) {
    const dash = cursor.token;
    const part = cursor.peek(1);
    const isPart = part.kind === 'word' || part.kind === 'integer';
    if (!isPart || dash.span.start !== span.end || part.span.start !== dash.span.end) break;
    cursor.advance();
    cursor.advance();
    text += `-${part.text}`;
    span = cursor.spanFrom(span);
  }
  return { span, text };
}
