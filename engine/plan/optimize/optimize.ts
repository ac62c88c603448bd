import type { SourceSchema } from '../../column/snapshot.ts';
import { INT64 } from '../../column/type.ts';
import type { Column } from '../expression.ts';
import type { BoundQuery, LogicalPlan } from '../logical-plan.ts';
import { bucketListsAsRanges } from './bucket-ranges.ts';
import { computeConstantRelations } from './constant-relations.ts';
import { type CallValues, foldPlan } from './fold.ts';
import { joinsAsFilters } from './join-with-rows.ts';
import { settleOrder, withoutArrivals } from './order.ts';
import { ColumnIds } from './plan-walk.ts';
import { pruneColumns } from './prune-columns.ts';
import { pushFilters, spreadEmptiness } from './push-filters.ts';
import { scopeScans } from './scan-scope.ts';

/** What the optimiser knows of one call. */
export type CallContext = CallValues & {
  readonly sources: readonly SourceSchema[];
  /** Rows the caller wants at most. */
  readonly rowsMax: number;
};

/**
 * The plan of one call: the bound plan with parameters and clock folded in, every rewrite applied.
 * Each pass is a function from plan to plan that keeps the answer; their order matters only for how
 * much they find to do.
 */
export function optimize(query: BoundQuery, context: CallContext): LogicalPlan {
  const folded = foldPlan(limited(query.plan, context.rowsMax), context);
  const joined = joinsAsFilters(pushFilters(computeConstantRelations(folded)));
  const pushed = bucketListsAsRanges(spreadEmptiness(pushFilters(foldPlan(joined, context))));
  const ordered = settleOrder(pushed, new ColumnIds(pushed));
  const trimmed = withoutArrivals(ordered, query.output);
  const pruned = pruneColumns(scopeScans(trimmed, context.sources), idsOf(query.output));
  return pruned;
}

function limited(plan: LogicalPlan, rowsMax: number): LogicalPlan {
  return { op: 'limit', input: plan, count: { op: 'literal', type: INT64, value: rowsMax } };
}

function idsOf(columns: readonly Column[]): Set<number> {
  return new Set(columns.map((column) => column.id));
}
