import type { FrameBound, NamedWindow, Window, WindowFrame } from './ast.ts';
// biome-ignore lint/suspicious/noImportCycles: SQL nests queries and expressions in each other.
import { parseExpression, parseExpressions } from './expression-parser.ts';
// biome-ignore lint/suspicious/noImportCycles: SQL nests queries and expressions in each other.
import { parseOrderItems } from './query-parser.ts';
import type { TokenCursor } from './token-cursor.ts';

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
export function parseWindow(cursor: TokenCursor): Window {
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
