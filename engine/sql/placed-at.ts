import type { Span } from '../query-error.ts';
import type { Query } from './ast.ts';

/** A copy of the tree in which everything stands at `span`: as if its whole text were there. */
export function placedAt(query: Query, span: Span): Query {
  // A tree is made of plain objects and lists, and no deeper than its parser lets it be.
  return placed(query, span) as Query;
}

function placed(node: unknown, span: Span): unknown {
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) return node.map((each) => placed(each, span));
  const copy: Record<string, unknown> = {};
  for (const [key, child] of Object.entries(node)) {
    copy[key] = key === 'span' ? span : placed(child, span);
  }
  return copy;
}
