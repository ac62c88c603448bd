import { must } from '../assert.ts';
import { SQL_TREE_DEPTH_MAX } from '../limits.ts';
import { QueryError, type Span } from '../query-error.ts';
import type { Query } from './ast.ts';

/**
 * Throws `query_limit` if a node of the tree lies deeper than SQL_TREE_DEPTH_MAX. The parser builds
 * chains (`a AND b AND …`, `a.b.c…`, joins) in loops, each link a level of the tree; whoever walks
 * the tree later recurses. This walk does not.
 */
export function checkTreeDepth(query: Query): void {
  const nodes: object[] = [query];
  const depths: number[] = [1];
  let span: Span = query.span;
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    const depth = must(depths.pop(), 'each node has its depth');
    if ('span' in node) span = node.span as Span;
    if (depth > SQL_TREE_DEPTH_MAX) {
      const message = `the query has a chain of more than ${SQL_TREE_DEPTH_MAX} links (SQL_TREE_DEPTH_MAX)`;
      throw new QueryError('query_limit', message, span);
    }
    // A list is no level of its own.
    const childDepth = Array.isArray(node) ? depth : depth + 1;
    for (const key in node) {
      if (key === 'span') continue;
      const child: unknown = (node as Record<string, unknown>)[key];
      if (typeof child !== 'object' || child === null) continue;
      nodes.push(child);
      depths.push(childDepth);
    }
  }
}
