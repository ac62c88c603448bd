import { arrayOf, INT64 } from '../../column/type.ts';
import type { ColumnId, Expression } from '../expression.ts';
import { childrenOf } from '../expression-walk.ts';
import type { Aggregate, LogicalPlan } from '../logical-plan.ts';
import { expressionsOf, plansWithin, rewritePlan } from './plan-walk.ts';

/** How a column is read: at some offsets only, or in any way at all. */
type Use = Set<number> | 'whole';

/**
 * Tells quantiles of which only elements at constant offsets are read which these are: a hundred others of
 * each group need not be picked. The list has its length all the same. `output`: columns that leave.
 */
export function nameQuantileOffsets(plan: LogicalPlan, output: ReadonlySet<ColumnId>): LogicalPlan {
  const plans = [...plansWithin(plan)];
  const hasQuantiles = plans.some(
    (one) => one.op === 'aggregate' && one.aggregates.some(isQuantiles),
  );
  if (!hasQuantiles) return plan;
  const uses = usesOf(plans, output);
  return rewritePlan(plan, (one) => {
    if (one.op !== 'aggregate') return one;
    const aggregates = one.aggregates.map((item) => {
      const use = isQuantiles(item) ? uses(item.column.id) : 'whole';
      return use === 'whole' ? item : withOffsets(item, use);
    });
    return { ...one, aggregates };
  });
}

type AggregateItem = Aggregate['aggregates'][number];

/** Quantiles of which no offsets are named yet. */
function isQuantiles({ call }: AggregateItem): boolean {
  return call.name === 'approx_quantiles' && call.constants.length === 1;
}

function withOffsets(item: AggregateItem, use: ReadonlySet<number>): AggregateItem {
  const value = [...use].sort((left, right) => left - right);
  const offsets: Expression = { op: 'literal', type: arrayOf(INT64), value };
  return { ...item, call: { ...item.call, constants: [...item.call.constants, offsets] } };
}

/** How each column is read, by itself and under the other names that projections give it. */
function usesOf(
  plans: readonly LogicalPlan[],
  output: ReadonlySet<ColumnId>,
): (id: ColumnId) => Use {
  const direct = new Map<ColumnId, Use>();
  const names = new Map<ColumnId, ColumnId[]>();
  for (const id of output) direct.set(id, 'whole');
  for (const plan of plans) {
    if (plan.op === 'union') {
      for (const { from } of plan.columns) for (const id of from) direct.set(id, 'whole');
    } else if (plan.op === 'project') {
      for (const { column, expression } of plan.columns) {
        if (expression.op !== 'column') noteUses(expression, direct);
        else names.set(expression.id, [...(names.get(expression.id) ?? []), column.id]);
      }
    } else {
      for (const expression of expressionsOf(plan)) noteUses(expression, direct);
    }
  }
  return (id) => {
    const offsets = new Set<number>();
    // A projection may pass a column on under its own name.
    const met = new Set([id]);
    for (const name of met) {
      const use = direct.get(name) ?? [];
      if (use === 'whole') return use;
      for (const offset of use) offsets.add(offset);
      for (const further of names.get(name) ?? []) met.add(further);
    }
    return offsets;
  };
}

function noteUses(expression: Expression, uses: Map<ColumnId, Use>): void {
  const element = constantElement(expression);
  if (element !== undefined) {
    const use = uses.get(element.id);
    if (use !== 'whole') uses.set(element.id, (use ?? new Set()).add(element.offset));
    return;
  }
  if (expression.op === 'column') uses.set(expression.id, 'whole');
  for (const child of childrenOf(expression)) noteUses(child, uses);
}

/** The column and the offset of an element that is read at a constant one. */
function constantElement(
  expression: Expression,
): { readonly id: ColumnId; readonly offset: number } | undefined {
  if (expression.op !== 'call' || expression.name !== 'array_offset') return undefined;
  const [list, offset] = expression.arguments;
  if (list?.op !== 'column' || offset?.op !== 'literal') return undefined;
  return typeof offset.value === 'number' ? { id: list.id, offset: offset.value } : undefined;
}
