import type { Expression, Name } from './ast.ts';
import { parseExpressions } from './expression-parser.ts';
import type { TokenCursor } from './token-cursor.ts';

/** Parses the arguments of the function `name`, from the parenthesis that follows it. */
export function parseCall(cursor: TokenCursor, name: Name): Expression {
  cursor.mustSymbol('(');
  if (cursor.isSymbol('*') && cursor.isSymbol(')', 1)) {
    cursor.advance();
    cursor.advance();
    return call(cursor, { name, arguments: [], star: true, distinct: false });
  }
  if (cursor.isSymbol(')')) {
    cursor.advance();
    return call(cursor, { name, arguments: [], star: false, distinct: false });
  }
  const distinct = cursor.isWord('DISTINCT');
  if (distinct) cursor.advance();
  const values = parseExpressions(cursor);
  const modifier = MODIFIERS.get(cursor.token.keyword);
  if (modifier !== undefined) throw cursor.unsupported(`${modifier} inside a function call`);
  cursor.mustSymbol(')');
  return call(cursor, { name, arguments: values, star: false, distinct });
}

/** What an aggregate function of GoogleSQL may carry behind its arguments. */
const MODIFIERS: ReadonlyMap<string, string> = new Map([
  ['ORDER', 'ORDER BY'],
  ['LIMIT', 'LIMIT'],
  ['HAVING', 'HAVING'],
  ['IGNORE', 'IGNORE NULLS'],
  ['RESPECT', 'RESPECT NULLS'],
]);

type Call = Extract<Expression, { kind: 'call' }>;

function call(cursor: TokenCursor, parts: Omit<Call, 'kind' | 'span'>): Call {
  return { kind: 'call', span: cursor.spanFrom(parts.name.span), ...parts };
}
