import type { Span } from '../query-error.ts';
import type { Query } from './ast.ts';

/**
 * A copy of the tree in which everything stands at `span`: as if its whole text were there. With the
 * `name` of a view, whose text it is, each place also tells where it was in that.
 */
export function placedAt(query: Query, span: Span, name?: string): Query {
  const placeOf = (was: Span): Span =>
    name === undefined ? span : { ...span, view: { name, line: was.line, column: was.column } };
  // A tree is made of plain objects and lists, and no deeper than its parser lets it be.
  return placed(query, placeOf) as Query;
}

function placed(node: unknown, placeOf: (was: Span) => Span): unknown {
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) return node.map((each) => placed(each, placeOf));
  const copy: Record<string, unknown> = {};
  for (const [key, child] of Object.entries(node)) {
    copy[key] = key === 'span' ? placeOf(child as Span) : placed(child, placeOf);
  }
  return copy;
}
