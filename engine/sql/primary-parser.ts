import type { QueryError } from '../query-error.ts';
import type { Expression, Name } from './ast.ts';
import { parseCall } from './call-parser.ts';
import { parseExpression, parseExpressions } from './expression-parser.ts';
import { floatValue, integerValue } from './number-literal.ts';
import { parseCase, parseCast, parseExtract, parseInterval } from './special-form-parser.ts';
import { isName, type Token } from './token.ts';
import type { TokenCursor } from './token-cursor.ts';
import { findOperandRefusal } from './unsupported.ts';

/** Parses a literal, name, call or parenthesised expression with its fields and subscripts. */
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
      return parseArray(cursor);
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
  const names: Name[] = [{ span: first.span, text: first.text }];
  while (cursor.isSymbol('.') && !cursor.isSymbol('*', 1)) {
    cursor.advance();
    names.push(cursor.mustFieldName());
  }
  if (cursor.isSymbol('(')) {
    const text = names.map((name) => name.text).join('.');
    return parseCall(cursor, { span: cursor.spanFrom(first.span), text });
  }
  let path: Expression = { kind: 'name', span: first.span, name: names[0] };
  for (const field of names.slice(1)) {
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
  if (keyword !== 'TIMESTAMP' && keyword !== 'DATETIME') return parsePath(cursor);
  cursor.advance();
  const { text } = cursor.advance();
  return { kind: 'typed-literal', span: cursor.spanFrom(start), type: keyword, text };
}

const UNSUPPORTED_LITERALS: ReadonlySet<string> = new Set([
  'DATE',
  'TIME',
  'NUMERIC',
  'DECIMAL',
  'BIGNUMERIC',
  'BIGDECIMAL',
  'JSON',
]);

function parseParenthesised(cursor: TokenCursor): Expression {
  const open = cursor.mustSymbol('(');
  if (cursor.isWord('SELECT') || cursor.isWord('WITH')) {
    throw cursor.unsupported('a subquery inside an expression', open.span);
  }
  const expression = parseExpression(cursor);
  if (cursor.isSymbol(',')) throw cursor.unsupported('a STRUCT written as (…, …)', open.span);
  cursor.mustSymbol(')');
  return expression;
}

/** `[a, b]` or `ARRAY[a, b]`. */
function parseArray(cursor: TokenCursor): Expression {
  const start = cursor.token.span;
  if (cursor.isWord('ARRAY')) {
    cursor.advance();
    if (cursor.isSymbol('(')) throw cursor.unsupported('ARRAY(SELECT …)', start);
    if (cursor.isSymbol('<')) throw cursor.unsupported('ARRAY<…> with a type', start);
  }
  cursor.mustSymbol('[');
  const elements = cursor.isSymbol(']') ? [] : parseExpressions(cursor);
  cursor.mustSymbol(']');
  return { kind: 'array', span: cursor.spanFrom(start), elements };
}

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
