import { must } from '../assert.ts';
import { SQL_LENGTH_MAX, SQL_TREE_DEPTH_MAX } from '../limits.ts';
import { QueryError, type Span } from '../query-error.ts';
import type {
  CommonTable,
  Expression,
  Name,
  OrderItem,
  Query,
  QueryBody,
  Select,
  SelectItem,
  SetOperation,
  TableExpression,
} from './ast.ts';
// biome-ignore lint/suspicious/noImportCycles: SQL nests queries and expressions in each other.
import { parseNamedWindows } from './call-parser.ts';
// biome-ignore lint/suspicious/noImportCycles: SQL nests queries and expressions in each other.
import { parseExpression, parseExpressions, parsePrimary } from './expression-parser.ts';
import { isName, type Token } from './lexer.ts';
import { findStatementRefusal, TokenCursor } from './token-cursor.ts';

/**
 * Parses one GoogleSQL query; one `;` may end it. Takes time linear in the text.
 *
 * Throws a QueryError: `invalid_sql` with the place of the first word that was not understood, or
 * `query_limit` for a text that is too long or too deep, or has more than `tokensMax` words, numbers and symbols.
 */
export function parseQuery(text: string, tokensMax = SQL_LENGTH_MAX): Query {
  if (text.length > SQL_LENGTH_MAX) {
    const message = `the query has ${text.length} characters; at most ${SQL_LENGTH_MAX} are allowed (SQL_LENGTH_MAX)`;
    throw new QueryError('query_limit', message);
  }
  const cursor = new TokenCursor(text, tokensMax);
  const refused = findStatementRefusal(cursor.token);
  if (refused !== undefined) throw cursor.error(refused);
  const query = parseQueryExpression(cursor);
  if (cursor.isSymbol(';')) mustEndAfterSemicolon(cursor);
  cursor.mustEnd();
  checkTreeDepth(query);
  return query;
}

function mustEndAfterSemicolon(cursor: TokenCursor): void {
  cursor.advance();
  if (cursor.token.kind === 'end') return;
  const got = cursor.describe(cursor.token);
  throw cursor.error(`only one query is allowed, and ";" ends it; got ${got} after it`);
}

/** Parses `[WITH …] SELECT … [ORDER BY …] [LIMIT …]`, up to what cannot belong to it. */
export function parseQueryExpression(cursor: TokenCursor): Query {
  cursor.enter();
  const start = cursor.token.span;
  const commonTables = parseCommonTables(cursor);
  const body = parseSetOperation(cursor, parseInput(cursor), start);
  const query = parseQueryTail(cursor, { start, with: commonTables, body });
  cursor.leave();
  return query;
}

/** Whether a query in parentheses, which has just been read, goes on behind them. */
export function continuesQuery(cursor: TokenCursor): boolean {
  const { keyword } = cursor.token;
  return SET_OPERATORS.has(keyword) || keyword === 'ORDER' || keyword === 'LIMIT';
}

/** The query that begins with `first` in parentheses, which were opened at `start`. */
export function parseQueryBehind(cursor: TokenCursor, first: Query, start: Span): Query {
  const input: QueryBody = { kind: 'query', span: cursor.spanFrom(start), query: first };
  return parseQueryTail(cursor, { start, with: [], body: parseSetOperation(cursor, input, start) });
}

type QueryHead = {
  readonly start: Span;
  readonly with: readonly CommonTable[];
  readonly body: QueryBody;
};

/** What may follow the body of a query. */
function parseQueryTail(cursor: TokenCursor, head: QueryHead): Query {
  const orderBy = cursor.acceptWords('ORDER', 'BY') ? parseOrderItems(cursor) : [];
  const hasLimit = cursor.acceptWords('LIMIT');
  const limit = hasLimit ? parseCount(cursor) : undefined;
  const offset = hasLimit && cursor.acceptWords('OFFSET') ? parseCount(cursor) : undefined;
  const span = cursor.spanFrom(head.start);
  return { span, with: head.with, body: head.body, orderBy, limit, offset };
}

function parseCommonTables(cursor: TokenCursor): CommonTable[] {
  const tables: CommonTable[] = [];
  if (!cursor.isWord('WITH')) return tables;
  cursor.advance();
  if (cursor.isWord('RECURSIVE')) throw cursor.unsupported('WITH RECURSIVE');
  do {
    const name = cursor.mustName();
    cursor.mustWord('AS');
    cursor.mustSymbol('(');
    const query = parseQueryExpression(cursor);
    cursor.mustSymbol(')');
    tables.push({ span: cursor.spanFrom(name.span), name, query });
  } while (cursor.acceptSymbol(','));
  return tables;
}

/** The set operations behind `first`, all of one kind. */
function parseSetOperation(cursor: TokenCursor, first: QueryBody, start: Span): QueryBody {
  const kind = acceptSetOperator(cursor);
  if (kind === undefined) return first;
  const inputs = [first, parseInput(cursor)];
  for (;;) {
    const at = cursor.token.span;
    const next = acceptSetOperator(cursor);
    if (next === undefined) break;
    if (next.operator !== kind.operator || next.all !== kind.all) {
      throw cursor.error('different set operations need parentheses around the first one', at);
    }
    inputs.push(parseInput(cursor));
  }
  return { kind: 'set-operation', span: cursor.spanFrom(start), ...kind, inputs };
}

type SetKind = Pick<SetOperation, 'operator' | 'all'>;

const SET_OPERATORS: ReadonlyMap<string, SetKind['operator']> = new Map([
  ['UNION', 'union'],
  ['EXCEPT', 'except'],
  ['INTERSECT', 'intersect'],
]);

function acceptSetOperator(cursor: TokenCursor): SetKind | undefined {
  const { keyword } = cursor.token;
  const operator = SET_OPERATORS.get(keyword);
  if (operator === undefined) return undefined;
  cursor.advance();
  const all = cursor.isWord('ALL');
  if (all && operator !== 'union') throw cursor.unsupported(`${keyword} ALL`);
  if (all) {
    cursor.advance();
  } else {
    if (operator === 'union') cursor.want('ALL');
    cursor.mustWord('DISTINCT');
  }
  for (const word of ['BY', 'CORRESPONDING', 'STRICT']) {
    if (cursor.isWord(word)) throw cursor.unsupported(`${keyword} … ${word}`);
  }
  return { operator, all };
}

/** A SELECT, or a query in parentheses. */
function parseInput(cursor: TokenCursor): QueryBody {
  if (cursor.isWord('SELECT')) return parseSelect(cursor);
  if (!cursor.isSymbol('(')) {
    for (const phrase of ['SELECT', 'WITH', '"("']) cursor.want(phrase);
    throw cursor.unexpected();
  }
  const start = cursor.mustSymbol('(').span;
  const query = parseQueryExpression(cursor);
  cursor.mustSymbol(')');
  return { kind: 'query', span: cursor.spanFrom(start), query };
}

export function parseOrderItems(cursor: TokenCursor): OrderItem[] {
  const items: OrderItem[] = [];
  do {
    const expression = parseExpression(cursor);
    const descending = cursor.acceptWords('DESC');
    if (!descending) cursor.acceptWords('ASC');
    const nulls = parseNulls(cursor);
    items.push({ span: cursor.spanFrom(expression.span), expression, descending, nulls });
  } while (cursor.acceptSymbol(','));
  return items;
}

function parseNulls(cursor: TokenCursor): OrderItem['nulls'] {
  if (!cursor.acceptWords('NULLS')) return undefined;
  if (cursor.acceptWords('FIRST')) return 'first';
  cursor.mustWord('LAST');
  return 'last';
}

/** A number of rows: an integer or a parameter, or a CAST of one. */
export function parseCount(cursor: TokenCursor): Expression {
  const first = cursor.token;
  const { kind, keyword, span } = first;
  if (kind === 'integer' || kind === 'parameter' || keyword === 'CAST') {
    const count = parsePrimary(cursor);
    const plain = count.kind === 'cast' ? count.input : count;
    if (plain.kind === 'integer' || plain.kind === 'parameter') return count;
  }
  const got = cursor.describe(first);
  throw cursor.error(`expected an integer or a parameter; got ${got}`, span);
}

/** Parses from SELECT to the end of WINDOW. */
function parseSelect(cursor: TokenCursor): Select {
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

type JoinExpression = Extract<TableExpression, { kind: 'join' }>;
type Join = JoinExpression['join'];

/** Parses what follows FROM: tables joined from left to right, commas included. */
function parseTables(cursor: TokenCursor): TableExpression {
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

/**
 * Parses `AS name`, or a name alone. What follows an alias is a reserved word, a sign or the end;
 * before anything else a name alone is taken for a misspelt keyword (`FORM t`, `WERE x = 1`) and
 * left where it is, so that the error points at it.
 */
function parseAlias(cursor: TokenCursor): Name | undefined {
  if (cursor.isWord('AS')) {
    cursor.advance();
    return cursor.mustName();
  }
  const isAlias = isName(cursor.token) && !beginsOperand(cursor.peek(1));
  return isAlias ? cursor.mustName() : undefined;
}

function beginsOperand(token: Token): boolean {
  switch (token.kind) {
    case 'symbol':
      return token.text === '(';
    case 'end':
      return false;
    case 'word':
      return isName(token) && !TABLE_OPERATORS.has(token.keyword);
    default:
      return true;
  }
}

/** Words that are not reserved and yet may follow the alias of a table. */
const TABLE_OPERATORS: ReadonlySet<string> = new Set(['PIVOT', 'UNPIVOT', 'MATCH_RECOGNIZE']);

/**
 * Throws `query_limit` if a node of the tree lies deeper than SQL_TREE_DEPTH_MAX. The parser builds
 * chains (`a AND b AND …`, `a.b.c…`, joins) in loops, each link a level of the tree; whoever walks
 * the tree later recurses. This walk does not.
 */
function checkTreeDepth(query: Query): void {
  const nodes: object[] = [query];
  const depths: number[] = [1];
  let span: Span = query.span;
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    const depth = must(depths.pop(), 'each node has its depth');
    if ('span' in node) span = node.span as Span;
    if (depth > SQL_TREE_DEPTH_MAX) {
      const message = `the query has a chain of more than ${SQL_TREE_DEPTH_MAX} links (SQL_TREE_DEPTH_MAX)`;
      throw new QueryError('query_limit', message, span);
    }
    // A list is no level of its own.
    const childDepth = Array.isArray(node) ? depth : depth + 1;
    for (const key in node) {
      if (key === 'span') continue;
      const child: unknown = (node as Record<string, unknown>)[key];
      if (typeof child !== 'object' || child === null) continue;
      nodes.push(child);
      depths.push(childDepth);
    }
  }
}
