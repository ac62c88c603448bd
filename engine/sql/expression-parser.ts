import { must } from '../assert.ts';
import type { QueryError, Span } from '../query-error.ts';
import type { BinaryOperator, Expression, Name, Query } from './ast.ts';
// biome-ignore lint/suspicious/noImportCycles: SQL nests queries and expressions in each other.
import { parseCall, parseCase, parseCast, parseExtract, parseInterval } from './call-parser.ts';
import { floatValue, integerValue, isName, type Token } from './lexer.ts';
// biome-ignore lint/suspicious/noImportCycles: SQL nests queries and expressions in each other.
import { continuesQuery, parseQueryBehind, parseQueryExpression } from './query-parser.ts';
import { findOperandRefusal, findSymbolRefusal, type TokenCursor } from './token-cursor.ts';
import { parseTypeName, parseTypeOfDoubleColon } from './type-parser.ts';

/**
 * Parses one expression by precedence climbing (Pratt, "Top down operator precedence", 1973).
 * Chains of binary operators are built in a loop, so only nesting recurses.
 */
export function parseExpression(cursor: TokenCursor): Expression {
  cursor.enter();
  const expression = parseOperand(cursor, TIGHTNESS.or);
  cursor.leave();
  return expression;
}

/** Expressions with commas between them; at least one. */
export function parseExpressions(cursor: TokenCursor): Expression[] {
  const expressions = [parseExpression(cursor)];
  while (cursor.acceptSymbol(',')) expressions.push(parseExpression(cursor));
  return expressions;
}

/**
 * How tightly operators bind. The order is that of GoogleSQL's own grammar, where `||` binds less
 * tightly than `*`; its documentation has the two in one rank.
 */
const TIGHTNESS = {
  or: 1,
  and: 2,
  not: 3,
  comparison: 4,
  bitOr: 5,
  bitXor: 6,
  bitAnd: 7,
  shift: 8,
  addition: 9,
  joining: 10,
  multiplication: 11,
} as const;

/** The longest expression here whose operators bind at least as tightly as `tightness`. */
function parseOperand(cursor: TokenCursor, tightness: number): Expression {
  const start = cursor.token.span;
  let left = parsePrefix(cursor);
  for (;;) {
    const infix = findInfix(cursor);
    if (infix === undefined || infix.tightness < tightness) return left;
    if (infix.operator === 'comparison') {
      left = parseComparison(cursor, left, start);
      if (findInfix(cursor)?.tightness === TIGHTNESS.comparison) {
        const got = cursor.describe(cursor.token);
        throw cursor.error(
          `comparisons cannot be chained: put the one before ${got} in parentheses`,
        );
      }
    } else {
      cursor.advance();
      const right = parseOperand(cursor, infix.tightness + 1);
      const span = cursor.spanFrom(start);
      left = { kind: 'binary', span, operator: infix.operator, left, right };
    }
  }
}

type Infix = { readonly operator: BinaryOperator | 'comparison'; readonly tightness: number };

const COMPARISON: Infix = { operator: 'comparison', tightness: TIGHTNESS.comparison };

const INFIX_SYMBOLS: ReadonlyMap<string, Infix> = new Map<string, Infix>([
  ['*', { operator: '*', tightness: TIGHTNESS.multiplication }],
  ['/', { operator: '/', tightness: TIGHTNESS.multiplication }],
  ['||', { operator: '||', tightness: TIGHTNESS.joining }],
  ['+', { operator: '+', tightness: TIGHTNESS.addition }],
  ['-', { operator: '-', tightness: TIGHTNESS.addition }],
  ['<<', { operator: '<<', tightness: TIGHTNESS.shift }],
  ['>>', { operator: '>>', tightness: TIGHTNESS.shift }],
  ['&', { operator: '&', tightness: TIGHTNESS.bitAnd }],
  ['^', { operator: '^', tightness: TIGHTNESS.bitXor }],
  ['|', { operator: '|', tightness: TIGHTNESS.bitOr }],
  ['=', COMPARISON],
  ['!=', COMPARISON],
  ['<>', COMPARISON],
  ['<', COMPARISON],
  ['<=', COMPARISON],
  ['>', COMPARISON],
  ['>=', COMPARISON],
]);

const INFIX_WORDS: ReadonlyMap<string, Infix> = new Map<string, Infix>([
  ['AND', { operator: 'and', tightness: TIGHTNESS.and }],
  ['OR', { operator: 'or', tightness: TIGHTNESS.or }],
  ['LIKE', COMPARISON],
  ['IN', COMPARISON],
  ['BETWEEN', COMPARISON],
  ['IS', COMPARISON],
]);

/** The operator at the current token; `NOT` is one only as the first word of a comparison. */
function findInfix(cursor: TokenCursor): Infix | undefined {
  const token = cursor.token;
  if (token.kind === 'symbol') {
    const refused = findSymbolRefusal(token);
    if (refused !== undefined) throw cursor.error(refused);
    return INFIX_SYMBOLS.get(token.text);
  }
  if (token.keyword !== 'NOT') return INFIX_WORDS.get(token.keyword);
  const negated = INFIX_WORDS.get(cursor.peek(1).keyword);
  return negated === COMPARISON && !cursor.isWord('IS', 1) ? COMPARISON : undefined;
}

/** Prefix operators, each a level of nesting; then a primary with its fields and subscripts. */
function parsePrefix(cursor: TokenCursor): Expression {
  const start = cursor.token.span;
  const operator = findPrefix(cursor);
  if (operator === undefined) return parsePrimary(cursor);
  if (operator === '-' && isSignOfLiteral(cursor)) {
    cursor.advance();
    const token = cursor.advance();
    const span = cursor.spanFrom(start);
    return { kind: 'integer', span, value: integerValue(token, '-', span) };
  }
  cursor.enter();
  cursor.advance();
  const input = operator === 'not' ? parseOperand(cursor, TIGHTNESS.not) : parsePrefix(cursor);
  cursor.leave();
  return { kind: 'unary', span: cursor.spanFrom(start), operator, input };
}

type Prefix = Extract<Expression, { kind: 'unary' }>['operator'];

function findPrefix(cursor: TokenCursor): Prefix | undefined {
  if (cursor.isWord('NOT')) return 'not';
  for (const operator of ['-', '+', '~'] as const) if (cursor.isSymbol(operator)) return operator;
  return undefined;
}

/** Whether the minus here is part of an integer: nothing behind it binds tighter. */
function isSignOfLiteral(cursor: TokenCursor): boolean {
  return cursor.peek(1).kind === 'integer' && !cursor.isSymbol('[', 2) && !cursor.isSymbol('::', 2);
}

/** What follows the left side of a comparison; the right sides bind tighter than it. */
function parseComparison(cursor: TokenCursor, input: Expression, start: Span): Expression {
  if (cursor.isWord('IS')) return parseIs(cursor, input, start);
  const negated = cursor.isWord('NOT');
  if (negated) cursor.advance();
  const { keyword, text } = cursor.advance();
  switch (keyword) {
    case 'IN':
      return parseIn(cursor, { input, start, negated });
    case 'LIKE':
      return parseLike(cursor, { input, start, negated });
    case 'BETWEEN': {
      const low = parseCompared(cursor);
      cursor.mustWord('AND');
      const high = parseCompared(cursor);
      return { kind: 'between', span: cursor.spanFrom(start), input, low, high, negated };
    }
    default: {
      const operator = must(COMPARISON_OPERATORS.get(text), 'every comparison has an operator');
      const right = parseCompared(cursor);
      return { kind: 'binary', span: cursor.spanFrom(start), operator, left: input, right };
    }
  }
}

/** A side of a comparison. */
function parseCompared(cursor: TokenCursor): Expression {
  return parseOperand(cursor, TIGHTNESS.bitOr);
}

const COMPARISON_OPERATORS: ReadonlyMap<string, BinaryOperator> = new Map<string, BinaryOperator>([
  ['=', '='],
  ['!=', '!='],
  ['<>', '!='],
  ['<', '<'],
  ['<=', '<='],
  ['>', '>'],
  ['>=', '>='],
]);

function parseIs(cursor: TokenCursor, input: Expression, start: Span): Expression {
  cursor.mustWord('IS');
  const negated = cursor.isWord('NOT');
  if (negated) cursor.advance();
  if (cursor.acceptWords('DISTINCT', 'FROM')) {
    const right = parseCompared(cursor);
    return { kind: 'distinct-from', span: cursor.spanFrom(start), left: input, right, negated };
  }
  for (const test of ['null', 'true', 'false', 'unknown'] as const) {
    if (cursor.acceptWords(test.toUpperCase())) {
      return { kind: 'is', span: cursor.spanFrom(start), input, test, negated };
    }
  }
  throw cursor.unexpected();
}

/** What stands before IN or LIKE. */
type Membership = { readonly input: Expression; readonly start: Span; readonly negated: boolean };

function parseLike(cursor: TokenCursor, { input, start, negated }: Membership): Expression {
  const { keyword } = cursor.token;
  if (keyword !== 'ANY' && keyword !== 'SOME' && keyword !== 'ALL') {
    const pattern = parseCompared(cursor);
    return { kind: 'like', span: cursor.spanFrom(start), input, pattern, negated };
  }
  cursor.advance();
  if (cursor.isWord('UNNEST')) throw cursor.unsupported(`LIKE ${keyword} UNNEST`);
  cursor.mustSymbol('(');
  const { query, list: patterns } = parseQueryOrList(cursor);
  if (query !== undefined) throw cursor.unsupported(`LIKE ${keyword} (SELECT …)`, query.span);
  cursor.mustSymbol(')');
  const all = keyword === 'ALL';
  return { kind: 'like-list', span: cursor.spanFrom(start), input, patterns, all, negated };
}

function parseIn(cursor: TokenCursor, { input, start, negated }: Membership): Expression {
  if (cursor.acceptWords('UNNEST')) {
    cursor.mustSymbol('(');
    const array = parseExpression(cursor);
    cursor.mustSymbol(')');
    return { kind: 'in', span: cursor.spanFrom(start), input, list: [], array, negated };
  }
  cursor.mustSymbol('(');
  const { query, list } = parseQueryOrList(cursor);
  cursor.mustSymbol(')');
  return { kind: 'in', span: cursor.spanFrom(start), input, list, query, negated };
}

/**
 * Parses a literal, name, call or parenthesised expression with its fields, subscripts and casts by
 * `::`. The latter are PostgreSQL's, whose clients write them, and bind as tightly as there.
 */
export function parsePrimary(cursor: TokenCursor): Expression {
  const start = cursor.token.span;
  let expression = parseAtom(cursor);
  for (;;) {
    if (cursor.isSymbol('.') && !cursor.isSymbol('*', 1)) {
      cursor.advance();
      const field = cursor.mustFieldName();
      expression = { kind: 'field', span: cursor.spanFrom(start), input: expression, field };
    } else if (cursor.isSymbol('[')) {
      const { mode, index } = parseSubscript(cursor);
      const span = cursor.spanFrom(start);
      expression = { kind: 'subscript', span, input: expression, mode, index };
    } else if (cursor.isSymbol('::')) {
      cursor.advance();
      const type = parseTypeOfDoubleColon(cursor);
      expression = {
        kind: 'cast',
        span: cursor.spanFrom(start),
        input: expression,
        type,
        safe: false,
      };
    } else {
      return expression;
    }
  }
}

function parseAtom(cursor: TokenCursor): Expression {
  const { kind, span, text } = cursor.token;
  switch (kind) {
    case 'word':
      return parseWord(cursor);
    case 'quoted':
      return parsePath(cursor);
    case 'integer':
      return { kind, span, value: integerValue(cursor.advance(), '', span) };
    case 'float':
      return { kind, span, value: floatValue(cursor.advance()) };
    case 'string':
    case 'bytes':
      cursor.advance();
      return { kind, span, value: text };
    case 'parameter':
      cursor.advance();
      return { kind, span, name: text };
    default:
      if (text === '(') return parseParenthesised(cursor);
      if (text === '[') return parseArray(cursor);
      throw unexpectedOperand(cursor);
  }
}

function parseWord(cursor: TokenCursor): Expression {
  const { keyword, span } = cursor.token;
  const isCall = cursor.isSymbol('(', 1);
  switch (keyword) {
    case 'NULL':
      cursor.advance();
      return { kind: 'null', span };
    case 'TRUE':
    case 'FALSE':
      cursor.advance();
      return { kind: 'boolean', span, value: keyword === 'TRUE' };
    case 'CASE':
      return parseCase(cursor);
    case 'CAST':
      return parseCast(cursor);
    case 'EXTRACT':
      return parseExtract(cursor);
    case 'INTERVAL':
      return parseInterval(cursor);
    case 'ARRAY':
      return isCall ? parseArraySubquery(cursor) : parseArray(cursor);
    case 'STRUCT':
      return parseStruct(cursor);
    case 'EXISTS':
      return parseExists(cursor);
    case 'SAFE_CAST':
      return isCall ? parseCast(cursor) : parsePath(cursor);
    case 'IF':
    case 'LEFT':
    case 'RIGHT':
      // Reserved, and yet the names of functions.
      if (isCall) return parsePath(cursor);
      throw unexpectedOperand(cursor);
    default:
      if (!isName(cursor.token)) throw unexpectedOperand(cursor);
      if (cursor.peek(1).kind === 'string') return parseTypedLiteral(cursor);
      return parsePath(cursor);
  }
}

function unexpectedOperand(cursor: TokenCursor): QueryError {
  const refused = findOperandRefusal(cursor.token);
  if (refused !== undefined) return cursor.error(refused);
  return cursor.error(`expected an expression; got ${cursor.describe(cursor.token)}`);
}

/** A name, or dotted names; with arguments behind them they name a function. */
function parsePath(cursor: TokenCursor): Expression {
  const first = cursor.advance();
  if (NOW_FUNCTIONS.has(first.keyword) && !cursor.isSymbol('(')) return parseNow(first);
  const name: Name = { span: first.span, text: first.text };
  const fields: Name[] = [];
  while (cursor.isSymbol('.') && !cursor.isSymbol('*', 1)) {
    cursor.advance();
    fields.push(cursor.mustFieldName());
  }
  if (cursor.isSymbol('(')) {
    const text = [name, ...fields].map((each) => each.text).join('.');
    return parseCall(cursor, { span: cursor.spanFrom(first.span), text });
  }
  let path: Expression = { kind: 'name', span: first.span, name };
  for (const field of fields) {
    const span = { ...first.span, end: field.span.end };
    path = { kind: 'field', span, input: path, field };
  }
  return path;
}

/** Functions that SQL lets one write without parentheses. */
const NOW_FUNCTIONS: ReadonlySet<string> = new Set([
  'CURRENT_DATE',
  'CURRENT_DATETIME',
  'CURRENT_TIME',
  'CURRENT_TIMESTAMP',
]);

function parseNow({ span, text }: Token): Expression {
  const name = { span, text };
  return { kind: 'call', span, name, arguments: [], star: false, distinct: false };
}

/** A word with a string behind it: `TIMESTAMP '…'`. */
function parseTypedLiteral(cursor: TokenCursor): Expression {
  const { keyword, span: start } = cursor.token;
  if (UNSUPPORTED_LITERALS.has(keyword)) throw cursor.unsupported(`a ${keyword} literal`);
  const type = LITERAL_TYPES.find((each) => each === keyword);
  if (type === undefined) return parsePath(cursor);
  cursor.advance();
  const { text } = cursor.advance();
  return { kind: 'typed-literal', span: cursor.spanFrom(start), type, text };
}

const LITERAL_TYPES = ['TIMESTAMP', 'DATETIME', 'DATE', 'TIME', 'JSON'] as const;

const UNSUPPORTED_LITERALS: ReadonlySet<string> = new Set([
  'NUMERIC',
  'DECIMAL',
  'BIGNUMERIC',
  'BIGDECIMAL',
]);

/** A value, a row of several, or the value of a query. */
function parseParenthesised(cursor: TokenCursor): Expression {
  const { span: start } = cursor.mustSymbol('(');
  const { query, list } = parseQueryOrList(cursor);
  cursor.mustSymbol(')');
  const span = cursor.spanFrom(start);
  if (query !== undefined) return { kind: 'subquery', span, form: 'scalar', query };
  const only = list.length === 1 ? list[0] : undefined;
  if (only !== undefined) return only;
  return { kind: 'struct', span, fields: list.map((expression) => ({ expression })) };
}

function parseExists(cursor: TokenCursor): Expression {
  const { span: start } = cursor.mustWord('EXISTS');
  const query = parseSubqueryOf(cursor);
  return { kind: 'subquery', span: cursor.spanFrom(start), form: 'exists', query };
}

/** `ARRAY(SELECT …)`. */
function parseArraySubquery(cursor: TokenCursor): Expression {
  const { span: start } = cursor.mustWord('ARRAY');
  const query = parseSubqueryOf(cursor);
  return { kind: 'subquery', span: cursor.spanFrom(start), form: 'array', query };
}

/** `[a, b]`, `ARRAY[a, b]` or `ARRAY<type>[a, b]`. */
function parseArray(cursor: TokenCursor): Expression {
  const start = cursor.token.span;
  const isTyped = cursor.isWord('ARRAY') && cursor.isSymbol('<', 1);
  const type = isTyped ? parseTypeName(cursor) : undefined;
  if (cursor.isWord('ARRAY')) cursor.advance();
  cursor.mustSymbol('[');
  const elements = cursor.isSymbol(']') ? [] : parseExpressions(cursor);
  cursor.mustSymbol(']');
  return { kind: 'array', span: cursor.spanFrom(start), elements, type };
}

/** `STRUCT(1 AS a, b)` or `STRUCT<a INT64, STRING>(1, b)`, where the type alone names fields. */
function parseStruct(cursor: TokenCursor): Expression {
  const start = cursor.token.span;
  const isTyped = cursor.isSymbol('<', 1) || cursor.isSymbol('<>', 1);
  const type = isTyped ? parseTypeName(cursor) : undefined;
  if (!isTyped) cursor.mustWord('STRUCT');
  cursor.mustSymbol('(');
  const fields: StructField[] = [];
  if (!cursor.isSymbol(')')) {
    do {
      const expression = parseExpression(cursor);
      const hasName = !isTyped && cursor.acceptWords('AS');
      const name = hasName ? cursor.mustName() : isTyped ? undefined : lastNameOf(expression);
      fields.push({ expression, name });
    } while (cursor.acceptSymbol(','));
  }
  cursor.mustSymbol(')');
  return { kind: 'struct', span: cursor.spanFrom(start), fields, type };
}

/** A path names the field it is put into. */
function lastNameOf(expression: Expression): Name | undefined {
  if (expression.kind === 'name') return expression.name;
  return expression.kind === 'field' ? expression.field : undefined;
}

type StructField = Extract<Expression, { kind: 'struct' }>['fields'][number];

type Subscript = Pick<Extract<Expression, { kind: 'subscript' }>, 'mode' | 'index'>;

const SUBSCRIPT_MODES: ReadonlyMap<string, Subscript['mode']> = new Map([
  ['OFFSET', 'offset'],
  ['SAFE_OFFSET', 'safe_offset'],
  ['ORDINAL', 'ordinal'],
  ['SAFE_ORDINAL', 'safe_ordinal'],
]);

function parseSubscript(cursor: TokenCursor): Subscript {
  cursor.mustSymbol('[');
  const mode = cursor.isSymbol('(', 1) ? SUBSCRIPT_MODES.get(cursor.token.keyword) : undefined;
  // The parentheses of `OFFSET(…)` are those of an expression.
  if (mode !== undefined) cursor.advance();
  const index = mode === undefined ? parseExpression(cursor) : parseParenthesised(cursor);
  cursor.mustSymbol(']');
  return { mode: mode ?? 'plain', index };
}

/** What stands between parentheses: a query, or a list of expressions, which is empty then. */
type QueryOrList = {
  readonly query?: Query;
  readonly list: readonly Expression[];
};

/**
 * Parses what follows an opening parenthesis, up to the closing one. A second parenthesis may open
 * a value (`((SELECT 1) + 1)`) or the first part of a query (`((SELECT 1) UNION ALL SELECT 2)`);
 * only what follows it tells.
 */
function parseQueryOrList(cursor: TokenCursor): QueryOrList {
  const start = cursor.token.span;
  if (beginsQuery(cursor)) return { query: parseQueryExpression(cursor), list: [] };
  const list = parseExpressions(cursor);
  const only = list.length === 1 ? list[0] : undefined;
  if (only?.kind !== 'subquery' || only.form !== 'scalar') return { list };
  return continuesQuery(cursor)
    ? { query: parseQueryBehind(cursor, only.query, start), list: [] }
    : { list };
}

/** `WITH (` begins an expression of GoogleSQL's that has no form here. */
function beginsQuery(cursor: TokenCursor): boolean {
  return cursor.isWord('SELECT') || (cursor.isWord('WITH') && !cursor.isSymbol('(', 1));
}

/** `(SELECT …)` behind EXISTS and ARRAY. */
function parseSubqueryOf(cursor: TokenCursor): Query {
  cursor.mustSymbol('(');
  const query = parseQueryExpression(cursor);
  cursor.mustSymbol(')');
  return query;
}
