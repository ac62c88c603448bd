import { unreachable } from '../assert.ts';
import type { Span } from '../query-error.ts';
import type { Query, QueryBody } from './ast.ts';

/**
 * The first `*` or `t.*` among the columns a query gives: in its own select list, or in those its set
 * operation is of. What subqueries and CTEs select is seen by the query alone, and COUNT(*) is none.
 */
export function findOutputStar(query: Query): Span | undefined {
  return findBodyStar(query.body);
}

function findBodyStar(body: QueryBody): Span | undefined {
  switch (body.kind) {
    case 'select':
      return body.items.find((item) => item.kind === 'star')?.span;
    case 'query':
      return findOutputStar(body.query);
    case 'set-operation':
      for (const input of body.inputs) {
        const star = findBodyStar(input);
        if (star !== undefined) return star;
      }
      return undefined;
    default:
      return unreachable(body);
  }
}
