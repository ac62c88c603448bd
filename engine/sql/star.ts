import type { Span } from '../query-error.ts';
import type { Query } from './ast.ts';

/** The first `*` or `t.*` in a select list at any level of the query; COUNT(*) is none. */
export function findStar(query: Query): Span | undefined {
  let first: Span | undefined;
  const nodes: object[] = [query];
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    if ('kind' in node && node.kind === 'star') {
      // Every node of the tree has its place.
      const { span } = node as unknown as { readonly span: Span };
      if (first === undefined || span.start < first.start) first = span;
    }
    for (const child of Object.values(node)) {
      if (typeof child === 'object' && child !== null) nodes.push(child);
    }
  }
  return first;
}
