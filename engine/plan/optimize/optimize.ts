import type { SourceSchema } from '../../column/segment.ts';
import { INT64 } from '../../column/type.ts';
import { WorkBudget } from '../../function/work-meter.ts';
import { FOLDING_STEPS_MAX } from '../../limits.ts';
import type { Column } from '../expression.ts';
import { type BoundQuery, ColumnIds, type LogicalPlan } from '../logical-plan.ts';
import { type Pieces, runPieces } from '../pieces.ts';
import type { Reach } from '../reach.ts';
import { type CallValues, computeConstantRelations, foldPlan } from './fold.ts';
import { settleOrder, withoutArrivals } from './order.ts';
import { liftProjections, nameQuantileOffsets, pruneColumns } from './prune-columns.ts';
import { pushFilters, sinkUnnests, spreadEmptiness } from './push-filters.ts';
import { needTexts, scopeScans } from './scan-scope.ts';
import { settleSubqueries } from './subqueries.ts';
import { bucketListsAsRanges, joinsAsFilters } from './time-buckets.ts';

/** What the optimiser knows of a call, whose clock it may not know yet. */
export type PlanContext = CallValues & {
  readonly sources: readonly SourceSchema[];
  /** Rows the caller wants at most: the plan gives one more, which tells that there are more. */
  readonly rowsMax: number;
  /** What the run may read; absent: everything. */
  readonly reach?: Reach | undefined;
};

/** What is known of one call when it runs. */
export type CallContext = PlanContext & { readonly nowUs: number };

/** One rewrite: a function from plan to plan that keeps the answer. */
export type Pass = { readonly name: string } & (
  | { readonly apply: Rewrite<LogicalPlan> }
  | { readonly applyInPieces: Rewrite<Pieces<LogicalPlan>> }
);

type Rewrite<Result> = (plan: LogicalPlan, context: PlanContext, query: BoundQuery) => Result;

/** The pass that takes conditions on timestamps into the windows of scans. */
export const SCOPE_SCANS: Pass = {
  name: 'scope scans',
  apply: (plan, { sources }) => scopeScans(plan, sources),
};

const SUBQUERIES: Pass = {
  name: 'subqueries',
  applyInPieces: (plan, context) =>
    settleSubqueries(plan, context, (query, ids, isOrdered) => {
      const order: Pass = {
        name: SETTLE_ORDER.name,
        apply: (inner) => withoutArrivals(settleOrder(inner, ids, isOrdered), query.output),
      };
      const passes = PASSES.map((pass) => (pass === SETTLE_ORDER ? order : pass));
      return applyInPieces(query, context, passes);
    }),
};

const SETTLE_ORDER: Pass = {
  name: 'settle order',
  apply: (plan, _context, { output }) =>
    withoutArrivals(settleOrder(plan, new ColumnIds(plan), true), output),
};

/** In the order they run, which matters only for how much they find to do. */
export const PASSES: readonly Pass[] = [
  { name: 'fold', apply: foldPlan },
  { name: 'constant relations', apply: computeConstantRelations },
  SUBQUERIES,
  { name: 'sink unnests', apply: sinkUnnests },
  { name: 'push filters', apply: pushFilters },
  { name: 'joins as filters', apply: joinsAsFilters },
  { name: 'fold what that made constant', apply: foldPlan },
  { name: 'push the filters that joins became', apply: pushFilters },
  { name: 'spread emptiness', apply: spreadEmptiness },
  { name: 'bucket lists as ranges', apply: bucketListsAsRanges },
  { name: 'lift projections', apply: liftProjections },
  SETTLE_ORDER,
  SCOPE_SCANS,
  {
    name: 'needed texts',
    apply: (plan, { budget }) =>
      budget === undefined ? needTexts(plan) : (budget.run(() => needTexts(plan)) ?? plan),
  },
  {
    name: 'prune columns',
    apply: (plan, _context, { output }) => pruneColumns(plan, idsOf(output)),
  },
  {
    name: 'quantile offsets',
    apply: (plan, _context, { output }) => nameQuantileOffsets(plan, idsOf(output)),
  },
];

/** The plan of one call: the bound plan with parameters and clock folded in, every pass applied. */
export function optimize(
  query: BoundQuery,
  context: PlanContext,
  passes: readonly Pass[] = PASSES,
): LogicalPlan {
  return runPieces(optimizeInPieces(query, context, passes));
}

/** Pauses after each pass, those over the plans of subqueries among them. */
export function optimizeInPieces(
  query: BoundQuery,
  context: PlanContext,
  passes: readonly Pass[] = PASSES,
): Pieces<LogicalPlan> {
  const budgeted = { ...context, budget: new WorkBudget(FOLDING_STEPS_MAX) };
  const plan = limited(query.plan, context.rowsMax + 1);
  return applyInPieces({ ...query, plan }, budgeted, passes);
}

function* applyInPieces(
  query: BoundQuery,
  context: PlanContext,
  passes: readonly Pass[],
): Pieces<LogicalPlan> {
  let { plan } = query;
  for (const pass of passes) {
    if ('apply' in pass) plan = pass.apply(plan, context, query);
    else plan = yield* pass.applyInPieces(plan, context, query);
    yield;
  }
  return plan;
}

function limited(plan: LogicalPlan, rowCount: number): LogicalPlan {
  return { op: 'limit', input: plan, count: { op: 'literal', type: INT64, value: rowCount } };
}

function idsOf(columns: readonly Column[]): Set<number> {
  return new Set(columns.map((column) => column.id));
}
