import type { AggregateFunction } from '../../aggregate/aggregate-function.ts';
import { findAggregateFunction } from '../../aggregate/registry.ts';
import { type ColumnId, childrenOf, type Expression, isLiteral } from '../expression.ts';
import {
  type Aggregate,
  type AggregateCall,
  expressionsOf,
  inputsOf,
  type LogicalPlan,
  rewriteExpressions,
  rewritePlan,
} from '../logical-plan.ts';

/** How a column is read: at some offsets only, by itself or under other names; or in any way at all. */
type Use =
  | { readonly offsets: ReadonlySet<number>; readonly names: ReadonlySet<ColumnId> }
  | 'whole';

/**
 * Makes lists, such as quantiles, of which only elements at constant offsets are read, lists of these alone: a hundred
 * others of each group need not be there. `output`: columns that leave.
 */
export function nameQuantileOffsets(plan: LogicalPlan, output: ReadonlySet<ColumnId>): LogicalPlan {
  const plans = operatorsOf(plan);
  const hasLists = plans.some((one) => one.op === 'aggregate' && one.aggregates.some(isList));
  if (!hasLists) return plan;
  const uses = usesOf(plans, output);
  /** The offsets that lists have elements of, by each name of theirs. */
  const named = new Map<ColumnId, readonly number[]>();
  const shortened = rewritePlan(plan, (one) => {
    if (one.op !== 'aggregate') return one;
    const aggregates = one.aggregates.map((item) => {
      const use = isList(item) ? uses(item.column.id) : 'whole';
      if (use === 'whole' || !hasElements(item, use.offsets)) return item;
      const offsets = [...use.offsets].sort((left, right) => left - right);
      for (const name of use.names) named.set(name, offsets);
      return { ...item, call: { ...item.call, elements: offsets } };
    });
    return { ...one, aggregates };
  });
  return rewriteExpressions(shortened, (expression) => {
    const element = constantElement(expression);
    const offsets = element && named.get(element.id);
    if (element === undefined || offsets === undefined) return expression;
    return elementAt(element.call, offsets.indexOf(element.offset));
  });
}

/** A plan and all below it. A generator within a generator would pass each on once for each level. */
function operatorsOf(plan: LogicalPlan): readonly LogicalPlan[] {
  const operators = [plan];
  // The list grows meanwhile.
  for (const operator of operators) operators.push(...inputsOf(operator));
  return operators;
}

type Call = Extract<Expression, { op: 'call' }>;

type AggregateItem = Aggregate['aggregates'][number];

/** A list that may have some of its elements alone, of which none are named yet. */
function isList({ call }: AggregateItem): boolean {
  return call.elements === undefined && elementCounter(call) !== undefined;
}

function elementCounter({ name }: AggregateCall): AggregateFunction['elementCount'] {
  return findAggregateFunction(name)?.elementCount;
}

/** Whether a list, where there is one, has all these elements: else to read them is an error. */
function hasElements({ call }: AggregateItem, offsets: ReadonlySet<number>): boolean {
  const constants = call.constants.map((each) => (isLiteral(each) ? each.value : null));
  const count = elementCounter(call)?.(constants) ?? 0;
  return [...offsets].every((offset) => offset >= 0 && offset < count);
}

function elementAt(element: Call, value: number): Expression {
  const [list, offset] = element.arguments;
  return { ...element, arguments: [list!, { op: 'literal', type: offset!.type, value }] };
}

/** How a column is read by one name. */
type DirectUse = Set<number> | 'whole';

/** How each column is read, by itself and under the other names that projections give it. */
function usesOf(
  plans: readonly LogicalPlan[],
  output: ReadonlySet<ColumnId>,
): (id: ColumnId) => Use {
  const direct = new Map<ColumnId, DirectUse>();
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
    return { offsets, names: met };
  };
}

function noteUses(expression: Expression, uses: Map<ColumnId, DirectUse>): void {
  const element = constantElement(expression);
  if (element !== undefined) {
    const use = uses.get(element.id);
    if (use !== 'whole') uses.set(element.id, (use ?? new Set()).add(element.offset));
    return;
  }
  if (expression.op === 'column') uses.set(expression.id, 'whole');
  for (const child of childrenOf(expression)) noteUses(child, uses);
}

type ConstantElement = { readonly call: Call; readonly id: ColumnId; readonly offset: number };

/** The column and the offset of an element that is read at a constant one. */
function constantElement(expression: Expression): ConstantElement | undefined {
  if (expression.op !== 'call' || expression.name !== 'array_offset') return undefined;
  const [list, offset] = expression.arguments;
  if (list?.op !== 'column' || offset?.op !== 'literal') return undefined;
  const { value } = offset;
  return typeof value === 'number' ? { call: expression, id: list.id, offset: value } : undefined;
}
