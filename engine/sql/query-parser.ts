import type { Span } from '../query-error.ts';
import type { CommonTable, Expression, OrderItem, Query, QueryBody, SetOperation } from './ast.ts';
// biome-ignore lint/suspicious/noImportCycles: SQL nests queries and expressions in each other.
import { parseExpression } from './expression-parser.ts';
// biome-ignore lint/suspicious/noImportCycles: SQL nests queries and expressions in each other.
import { parsePrimary } from './primary-parser.ts';
// biome-ignore lint/suspicious/noImportCycles: SQL nests queries and expressions in each other.
import { parseSelect } from './select-parser.ts';
import type { TokenCursor } from './token-cursor.ts';

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
