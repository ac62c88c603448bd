import { must } from '../assert.ts';
import type { Span } from '../query-error.ts';
import type { BinaryOperator, Expression } from './ast.ts';
import { integerValue } from './number-literal.ts';
// biome-ignore lint/suspicious/noImportCycles: SQL nests queries and expressions in each other.
import { parsePrimary } from './primary-parser.ts';
// biome-ignore lint/suspicious/noImportCycles: SQL nests queries and expressions in each other.
import { parseQueryOrList } from './subquery-parser.ts';
import type { TokenCursor } from './token-cursor.ts';
import { findSymbolRefusal } from './unsupported.ts';

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
