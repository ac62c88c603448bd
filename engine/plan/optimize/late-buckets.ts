import { BOOL, INT64, STRING, TIMESTAMP } from '../../column/type.ts';
import { fixedPartUs, type TimeUnit } from '../../function/time/time-part.ts';
import { FOLDED_ELEMENTS_MAX } from '../../limits.ts';
import type { Column, ColumnId, Expression } from '../expression.ts';
import { conjunctsOf, isLiteral } from '../expression-walk.ts';
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
  readonly unit: string;
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
  const { element, unit, first, last } = buckets;
  const bounded = joinAsConditions(join, { other, element }, (time) =>
    truncationUnit(time, other) === unit
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

/** Those of the function's windows. */
const UNITS: ReadonlySet<string> = new Set(['SECOND', 'MINUTE', 'HOUR', 'DAY']);

/**
 * `GENERATE_TIMESTAMP_TRUNC_ARRAY(count, 'unit_step')` as the function has it: one time for each step, from
 * the one `count` units ago. Two at least, and no more than a plan would have as its rows.
 */
function endsOf(array: Expression): Omit<LateBuckets, 'element'> | undefined {
  if (array.op !== 'call' || array.name !== 'generate_timestamp_trunc_array') return undefined;
  const [count, window, now] = array.arguments as readonly [Expression, Expression, Expression];
  if (now.op !== 'now' || !isLiteral(count) || !isLiteral(window)) return undefined;
  if (typeof count.value !== 'number' || typeof window.value !== 'string') return undefined;
  const [unit = '', step = '', ...more] = window.value.toUpperCase().split('_');
  if (!UNITS.has(unit) || !UNITS.has(step) || more.length > 0) return undefined;
  const [unitUs, stepUs] = [unit, step].map((name) => fixedPartUs(name as TimeUnit)!) as [
    number,
    number,
  ];
  const steps = (count.value * unitUs) / stepUs;
  if (!(steps >= 1) || unitUs < stepUs || steps + 1 > FOLDED_ELEMENTS_MAX) return undefined;
  const start = call('timestamp_sub', [now, literal(count.value), text(unit)]);
  return {
    unit: step,
    first: call('timestamp_trunc', [start, text(step)]),
    last: call('timestamp_trunc', [now, text(step)]),
  };
}

/** The unit that a time was truncated to, where that is known: in an expression, or in a projection below. */
function truncationUnit(time: Expression, plan: LogicalPlan): string | undefined {
  if (time.op === 'column') {
    const made = definitionOf(time.id, plan);
    return made === undefined ? undefined : truncationUnit(made.expression, made.input);
  }
  if (time.op !== 'call' || time.name !== 'timestamp_trunc') return undefined;
  const [, part, zone] = time.arguments;
  return zone === undefined && part !== undefined && isLiteral(part)
    ? String(part.value)
    : undefined;
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
