import type { Expression, HavingExtreme, Name } from './ast.ts';
// biome-ignore lint/suspicious/noImportCycles: SQL nests queries and expressions in each other.
import { parseExpression, parseExpressions } from './expression-parser.ts';
// biome-ignore lint/suspicious/noImportCycles: SQL nests queries and expressions in each other.
import { parseCount, parseOrderItems } from './query-parser.ts';
import type { TokenCursor } from './token-cursor.ts';
// biome-ignore lint/suspicious/noImportCycles: SQL nests queries and expressions in each other.
import { parseWindow } from './window-parser.ts';

/** Parses the arguments of the function `name`, from the parenthesis that follows it, and OVER. */
export function parseCall(cursor: TokenCursor, name: Name): Expression {
  cursor.mustSymbol('(');
  const inside = parseInside(cursor);
  cursor.mustSymbol(')');
  // Of `f(g(x) IGNORE NULLS)` the words are f's: g has them only where OVER follows.
  const nulls = inside.nulls ?? (cursor.isWord('OVER', 2) ? parseNulls(cursor) : undefined);
  const over =
    cursor.isWord('OVER') && cursor.acceptWords('OVER') ? parseWindow(cursor) : undefined;
  return { kind: 'call', span: cursor.spanFrom(name.span), name, ...inside, nulls, over };
}

type Inside = Omit<Extract<Expression, { kind: 'call' }>, 'kind' | 'span' | 'name' | 'over'>;

/** `*`, perhaps with HAVING, or `[DISTINCT] arguments` and the modifiers of aggregates, in GoogleSQL's order. */
function parseInside(cursor: TokenCursor): Inside {
  if (cursor.isSymbol('*') && (cursor.isSymbol(')', 1) || cursor.isWord('HAVING', 1))) {
    cursor.advance();
    const having = cursor.isWord('HAVING') ? parseHaving(cursor) : undefined;
    return { arguments: [], star: true, distinct: false, having };
  }
  if (cursor.isSymbol(')')) return { arguments: [], star: false, distinct: false };
  const distinct = cursor.isWord('DISTINCT');
  if (distinct) cursor.advance();
  const values = parseExpressions(cursor);
  const nulls = parseNulls(cursor);
  const having = cursor.isWord('HAVING') ? parseHaving(cursor) : undefined;
  const orderBy = acceptRare(cursor, 'ORDER', 'BY') ? parseOrderItems(cursor) : undefined;
  const limit = acceptRare(cursor, 'LIMIT') ? parseCount(cursor) : undefined;
  return { arguments: values, star: false, distinct, nulls, having, orderBy, limit };
}

/** Accepts words that no error need offer. */
function acceptRare(cursor: TokenCursor, ...words: readonly [string, ...string[]]): boolean {
  return cursor.isWord(words[0]) && cursor.acceptWords(...words);
}

function parseNulls(cursor: TokenCursor): Inside['nulls'] {
  if (acceptRare(cursor, 'IGNORE', 'NULLS')) return 'ignore';
  return acceptRare(cursor, 'RESPECT', 'NULLS') ? 'respect' : undefined;
}

function parseHaving(cursor: TokenCursor): HavingExtreme {
  cursor.mustWord('HAVING');
  const extreme = cursor.acceptWords('MAX') ? 'max' : 'min';
  if (extreme === 'min') cursor.mustWord('MIN');
  return { extreme, expression: parseExpression(cursor) };
}
