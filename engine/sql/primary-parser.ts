import type { QueryError } from '../query-error.ts';
import type { Expression, Name } from './ast.ts';
// biome-ignore lint/suspicious/noImportCycles: SQL nests queries and expressions in each other.
import { parseCall } from './call-parser.ts';
// biome-ignore lint/suspicious/noImportCycles: SQL nests queries and expressions in each other.
import { parseExpression, parseExpressions } from './expression-parser.ts';
import { floatValue, integerValue } from './number-literal.ts';
// biome-ignore lint/suspicious/noImportCycles: SQL nests queries and expressions in each other.
import { parseCase, parseCast, parseExtract, parseInterval } from './special-form-parser.ts';
// biome-ignore lint/suspicious/noImportCycles: SQL nests queries and expressions in each other.
import { parseQueryOrList, parseSubqueryOf } from './subquery-parser.ts';
import { isName, type Token } from './token.ts';
import type { TokenCursor } from './token-cursor.ts';
import { parseTypeName, parseTypeOfDoubleColon } from './type-parser.ts';
import { findOperandRefusal } from './unsupported.ts';

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
