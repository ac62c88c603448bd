import type {
  Expression,
  FrameBound,
  HavingExtreme,
  Name,
  NamedWindow,
  Window,
  WindowFrame,
} from './ast.ts';
// biome-ignore lint/suspicious/noImportCycles: SQL nests queries and expressions in each other.
import { parseExpression, parseExpressions } from './expression-parser.ts';
// biome-ignore lint/suspicious/noImportCycles: SQL nests queries and expressions in each other.
import { parseCount, parseOrderItems } from './query-parser.ts';
import type { TokenCursor } from './token-cursor.ts';
import { parseTypeName } from './type-parser.ts';

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

/** What follows the word WINDOW: `name AS (…), other AS name`. */
export function parseNamedWindows(cursor: TokenCursor): NamedWindow[] {
  const windows: NamedWindow[] = [];
  do {
    const name = cursor.mustName('the name of a window');
    cursor.mustWord('AS');
    windows.push({ name, window: parseWindow(cursor) });
  } while (cursor.acceptSymbol(','));
  return windows;
}

/** What follows OVER: the name of a window, or its parts in parentheses. */
function parseWindow(cursor: TokenCursor): Window {
  const start = cursor.token.span;
  if (!cursor.isSymbol('(')) {
    const base = cursor.mustName('the name of a window or "("');
    return { span: base.span, base, partitionBy: [], orderBy: [] };
  }
  cursor.mustSymbol('(');
  // PARTITION, ROWS and RANGE are reserved: a name here can only be that of a window.
  const { kind, keyword } = cursor.token;
  const isBase = kind === 'quoted' || (kind === 'word' && !WINDOW_WORDS.has(keyword));
  const base = isBase ? cursor.mustName() : undefined;
  const partitionBy = cursor.acceptWords('PARTITION', 'BY') ? parseExpressions(cursor) : [];
  const orderBy = cursor.acceptWords('ORDER', 'BY') ? parseOrderItems(cursor) : [];
  const frame = parseFrame(cursor);
  cursor.mustSymbol(')');
  return { span: cursor.spanFrom(start), base, partitionBy, orderBy, frame };
}

const WINDOW_WORDS: ReadonlySet<string> = new Set(['PARTITION', 'ORDER', 'ROWS', 'RANGE']);

/** `ROWS start`, `RANGE BETWEEN start AND end`. */
function parseFrame(cursor: TokenCursor): WindowFrame | undefined {
  const start = cursor.token.span;
  const unit = cursor.acceptWords('ROWS')
    ? 'rows'
    : cursor.acceptWords('RANGE')
      ? 'range'
      : undefined;
  if (unit === undefined) return undefined;
  if (!cursor.acceptWords('BETWEEN')) {
    const bound = parseBound(cursor);
    return { span: cursor.spanFrom(start), unit, start: bound, end: { kind: 'current-row' } };
  }
  const first = parseBound(cursor);
  cursor.mustWord('AND');
  const end = parseBound(cursor);
  return { span: cursor.spanFrom(start), unit, start: first, end };
}

function parseBound(cursor: TokenCursor): FrameBound {
  if (cursor.acceptWords('CURRENT', 'ROW')) return { kind: 'current-row' };
  if (cursor.acceptWords('UNBOUNDED')) return { kind: `unbounded-${parseDirection(cursor)}` };
  const amount = parseExpression(cursor);
  return { kind: parseDirection(cursor), amount };
}

function parseDirection(cursor: TokenCursor): 'preceding' | 'following' {
  if (cursor.acceptWords('PRECEDING')) return 'preceding';
  cursor.mustWord('FOLLOWING');
  return 'following';
}

/** `CASE [operand] WHEN … THEN … [ELSE …] END`. */
export function parseCase(cursor: TokenCursor): Expression {
  const start = cursor.mustWord('CASE').span;
  const operand = cursor.isWord('WHEN') ? undefined : parseExpression(cursor);
  const branches: { when: Expression; then: Expression }[] = [];
  cursor.mustWord('WHEN');
  do {
    const when = parseExpression(cursor);
    cursor.mustWord('THEN');
    branches.push({ when, then: parseExpression(cursor) });
  } while (cursor.acceptWords('WHEN'));
  const otherwise = cursor.acceptWords('ELSE') ? parseExpression(cursor) : undefined;
  cursor.mustWord('END');
  return { kind: 'case', span: cursor.spanFrom(start), operand, branches, otherwise };
}

/** `CAST(input AS type [FORMAT format [AT TIME ZONE zone]])`, and SAFE_CAST. */
export function parseCast(cursor: TokenCursor): Expression {
  const { span: start, keyword } = cursor.advance();
  cursor.mustSymbol('(');
  const input = parseExpression(cursor);
  cursor.mustWord('AS');
  const type = parseTypeName(cursor);
  const hasFormat = cursor.isWord('FORMAT') && cursor.acceptWords('FORMAT');
  const format = hasFormat ? parseExpression(cursor) : undefined;
  const timeZone = hasFormat ? parseTimeZone(cursor) : undefined;
  cursor.mustSymbol(')');
  const safe = keyword === 'SAFE_CAST';
  return { kind: 'cast', span: cursor.spanFrom(start), input, type, safe, format, timeZone };
}

/** `EXTRACT(part FROM input [AT TIME ZONE zone])`. */
export function parseExtract(cursor: TokenCursor): Expression {
  const start = cursor.mustWord('EXTRACT').span;
  cursor.mustSymbol('(');
  const part = parsePart(cursor);
  cursor.mustWord('FROM');
  const input = parseExpression(cursor);
  const timeZone = parseTimeZone(cursor);
  cursor.mustSymbol(')');
  return { kind: 'extract', span: cursor.spanFrom(start), part, input, timeZone };
}

/** `DAY`, or `WEEK(MONDAY)` as one name. */
function parsePart(cursor: TokenCursor): Name {
  const { span, text } = cursor.mustName('a date part such as DAY');
  if (!cursor.isSymbol('(')) return { span, text };
  cursor.advance();
  const day = cursor.mustName('a day such as MONDAY');
  cursor.mustSymbol(')');
  return { span: cursor.spanFrom(span), text: `${text}(${day.text})` };
}

function parseTimeZone(cursor: TokenCursor): Expression | undefined {
  return cursor.acceptWords('AT', 'TIME', 'ZONE') ? parseExpression(cursor) : undefined;
}

/** `INTERVAL amount part`, `INTERVAL text part TO part`. */
export function parseInterval(cursor: TokenCursor): Expression {
  const start = cursor.mustWord('INTERVAL').span;
  const amount = parseExpression(cursor);
  const part = cursor.mustName('a date part such as DAY');
  const hasLast = cursor.isWord('TO') && cursor.acceptWords('TO');
  const lastPart = hasLast ? cursor.mustName('a date part such as DAY') : undefined;
  return { kind: 'interval', span: cursor.spanFrom(start), amount, part, lastPart };
}
