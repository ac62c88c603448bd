import { BOOL, INT64, STRING, TIMESTAMP } from '../../column/type.ts';
import { FOLDED_ELEMENTS_MAX } from '../../limits.ts';
import { constantsOf, factsOf } from '../call-facts.ts';
import type { Column, ColumnId, Expression } from '../expression.ts';
import { conjunctsOf } from '../expression-walk.ts';
import type { Join, LogicalPlan } from '../logical-plan.ts';
import { joinAsConditions } from './join-with-rows.ts';
import { rewritePlan } from './plan-walk.ts';

/**
 * What joins as filters and bucket lists as ranges come to together, before the clock is known: an inner
 * join of times truncated to a unit with the list of all such units from some time ago until now is
 * `first <= time AND time <= last`. Only ends that wait for the clock are left, which a window can take.
 */
export function lateBucketsAsBounds(plan: LogicalPlan): LogicalPlan {
  return rewritePlan(plan, (node) =>
    node.op === 'join' && node.kind === 'inner' ? boundedJoin(node) : node,
  );
}

/** Buckets of one unit without a gap, as the expressions of the first and the last. */
type LateBuckets = {
  readonly element: Column;
  readonly widthUs: number;
  readonly first: Expression;
  readonly last: Expression;
};

/** Further conditions of the join would go to the list, of which there is none any more. */
function boundedJoin(join: Join): LogicalPlan {
  if (join.on === undefined || conjunctsOf(join.on).length > 1) return join;
  const left = lateBucketsOf(join.left);
  const buckets = left ?? lateBucketsOf(join.right);
  if (buckets === undefined) return join;
  const other = left === undefined ? join.left : join.right;
  const { element, widthUs, first, last } = buckets;
  const bounded = joinAsConditions(join, { other, element }, (time) =>
    truncationUs(time, other) === widthUs
      ? [compare('>=', time, first), compare('<=', time, last)]
      : undefined,
  );
  return bounded ?? join;
}

/** The one column of a relation, when it is such a list. */
function lateBucketsOf(plan: LogicalPlan): LateBuckets | undefined {
  if (plan.op === 'project') {
    const [item, ...others] = plan.columns;
    const below = lateBucketsOf(plan.input);
    if (item?.expression.op !== 'column' || others.length > 0) return undefined;
    const isSame = item.expression.id === below?.element.id;
    return below !== undefined && isSame ? { ...below, element: item.column } : undefined;
  }
  if (plan.op !== 'unnest' || plan.input.op !== 'one-row') return undefined;
  if (plan.outer || plan.offset !== undefined) return undefined;
  const ends = endsOf(plan.array);
  return ends === undefined ? undefined : { ...ends, element: plan.element };
}

/** The ends of a list of buckets until now, no more than a plan would have as its rows. */
function endsOf(array: Expression): Omit<LateBuckets, 'element'> | undefined {
  const now = array.op === 'call' ? array.arguments.at(-1) : undefined;
  if (array.op !== 'call' || now?.op !== 'now') return undefined;
  const buckets = factsOf(array).buckets?.(constantsOf(array));
  if (buckets === undefined || buckets.count > FOLDED_ELEMENTS_MAX) return undefined;
  const { start, part, widthUs } = buckets;
  const first = call('timestamp_sub', [now, literal(start.count), text(start.part)]);
  return {
    widthUs,
    first: call('timestamp_trunc', [first, text(part)]),
    last: call('timestamp_trunc', [now, text(part)]),
  };
}

/** The length of the units that a time was truncated to, where that is known: in an expression, or in a projection below. */
function truncationUs(time: Expression, plan: LogicalPlan): number | undefined {
  if (time.op === 'column') {
    const made = definitionOf(time.id, plan);
    return made === undefined ? undefined : truncationUs(made.expression, made.input);
  }
  return time.op === 'call' ? factsOf(time).timeStep?.(constantsOf(time))?.widthUs : undefined;
}

/** The expression that a column was projected from, below row-wise operators. */
function definitionOf(
  id: ColumnId,
  plan: LogicalPlan,
): { readonly expression: Expression; readonly input: LogicalPlan } | undefined {
  switch (plan.op) {
    case 'project': {
      const item = plan.columns.find(({ column }) => column.id === id);
      return item === undefined ? undefined : { expression: item.expression, input: plan.input };
    }
    case 'filter':
    case 'unnest':
    case 'sort':
      return definitionOf(id, plan.input);
    default:
      return undefined;
  }
}

function compare(name: string, left: Expression, right: Expression): Expression {
  return { op: 'call', type: BOOL, name, arguments: [left, right] };
}

function call(name: string, parts: readonly Expression[]): Expression {
  return { op: 'call', type: TIMESTAMP, name, arguments: parts };
}

function literal(value: number): Expression {
  return { op: 'literal', type: INT64, value };
}

function text(value: string): Expression {
  return { op: 'literal', type: STRING, value };
}
