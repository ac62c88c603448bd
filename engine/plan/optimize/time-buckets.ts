import { BOOL, INT64, STRING, TIMESTAMP } from '../../column/type.ts';
import type { SqlValue } from '../../column/value.ts';
import { FOLDED_ELEMENTS_MAX } from '../../limits.ts';
import { constantsOf, factsOf } from '../call-facts.ts';
import {
  type Column,
  type ColumnId,
  columnReference,
  columnsOf,
  conjunctionOf,
  conjunctsOf,
  type Expression,
  isLiteral,
  substitute,
} from '../expression.ts';
import {
  type Join,
  type LogicalPlan,
  outputOf,
  type Rows,
  rewriteExpressions,
  rewritePlan,
} from '../logical-plan.ts';
import { canFailByValue } from './can-fail.ts';

/**
 * Turns an inner join with a constant, duplicate-free list `c` on `e = c` into a filter: a row finds
 * its partner exactly when `e` is in the list, and the partner's value is `e` itself.
 */
export function joinsAsFilters(plan: LogicalPlan): LogicalPlan {
  return rewritePlan(plan, (node) =>
    node.op === 'join' && node.kind === 'inner' ? joinAsFilter(node) : node,
  );
}

function joinAsFilter(join: Join): LogicalPlan {
  const list =
    join.left.op === 'rows' ? join.left : join.right.op === 'rows' ? join.right : undefined;
  if (list === undefined || list.columns.length !== 1) return join;
  const other = list === join.left ? join.right : join.left;
  const element = list.columns[0]!;
  const values = distinctValues(list);
  if (values === undefined) return join;
  const filtered = joinAsConditions(join, { other, element }, (partner) =>
    membership(partner, values, element),
  );
  return filtered ?? join;
}

/**
 * An inner join of `other` with a duplicate-free list of `element` on `e = element`, as a filter:
 * `isMember` gives the conditions that tell whether `e` is in the list. `undefined` where there is no
 * such equality, or where it gives none.
 */
function joinAsConditions(
  join: Join,
  { other, element }: { readonly other: LogicalPlan; readonly element: Column },
  isMember: (partner: Expression) => readonly Expression[] | undefined,
): LogicalPlan | undefined {
  if (join.on === undefined) return undefined;
  const terms = conjunctsOf(join.on);
  const match = terms.findIndex((term) => partnerOf(term, element.id) !== undefined);
  if (match < 0) return undefined;
  const partner = partnerOf(terms[match]!, element.id)!;
  if (partner.type.kind !== element.type.kind) return undefined;
  // What can fail stays behind the conditions before it.
  if (match > 0 && canFailByValue(partner)) return undefined;
  const members = isMember(partner);
  if (members === undefined) return undefined;
  const others = terms.filter((_, index) => index !== match);
  const conditions = [
    ...members,
    ...others.map((term) => substitute(term, new Map([[element.id, partner]]))),
  ];
  return {
    op: 'project',
    input: { op: 'filter', input: other, predicate: conjunctionOf(conditions) },
    columns: outputOf(join).map((column) => ({
      column,
      expression: column.id === element.id ? partner : columnReference(column),
    })),
  };
}

/** The other side of `e = element` or `element = e`, when it does not read the element itself. */
function partnerOf(term: Expression, element: ColumnId): Expression | undefined {
  if (term.op !== 'call' || term.name !== '=') return undefined;
  const [left, right] = term.arguments as readonly [Expression, Expression];
  if (left.op === 'column' && left.id === element && !columnsOf(right).has(element)) return right;
  if (right.op === 'column' && right.id === element && !columnsOf(left).has(element)) return left;
  return undefined;
}

/** Ascending, NULLs left out (they equal nothing); undefined when a value repeats or is no scalar. */
function distinctValues(list: Rows): readonly (number | string)[] | undefined {
  const values: (number | string)[] = [];
  for (const [value] of list.rows) {
    if (value === null) continue;
    if (typeof value !== 'number' && typeof value !== 'string') return undefined;
    if (Number.isNaN(value)) continue;
    values.push(value);
  }
  if (new Set(values).size !== values.length) return undefined;
  return values.sort((left, right) => (left < right ? -1 : 1));
}

function membership(
  partner: Expression,
  values: readonly (number | string)[],
  element: Column,
): readonly Expression[] {
  if (values.length === 0) return [{ op: 'literal', type: BOOL, value: false }];
  const literals = values.map((value) => literalOf(value, element));
  return [{ op: 'call', type: BOOL, name: 'in', arguments: [partner, ...literals] }];
}

function literalOf(value: SqlValue, element: Column): Expression {
  return { op: 'literal', type: element.type, value };
}

/**
 * Turns membership in a list of buckets into bucket arithmetic: when `t` truncated to a unit is
 * looked for in a list that holds every such unit between its ends, that is
 * `first <= t AND t < last + unit`, which costs two comparisons and which a scan can skip by.
 */
export function bucketListsAsRanges(plan: LogicalPlan): LogicalPlan {
  return rewriteExpressions(plan, (expression) => bucketRange(expression) ?? expression);
}

function bucketRange(expression: Expression): Expression | undefined {
  if (expression.op !== 'call' || expression.name !== 'in') return undefined;
  const [tested, ...list] = expression.arguments as readonly [Expression, ...Expression[]];
  if (tested.op !== 'call') return undefined;
  // Units of one length only: months have none, nor weeks, which begin on a day of choice.
  const unitUs = factsOf(tested).timeStep?.(constantsOf(tested))?.widthUs;
  const window = unitUs === undefined ? undefined : windowOf(list, unitUs);
  if (window === undefined) return undefined;
  const [timestamp] = tested.arguments;
  const terms = [
    compareUs('>=', timestamp!, window.startUs),
    compareUs('<', timestamp!, window.endUs),
  ];
  return { op: 'call', type: BOOL, name: 'and', arguments: terms };
}

/** [first, last + unit) of an ascending list without gaps; undefined for any other. */
function windowOf(
  list: readonly Expression[],
  unitUs: number,
): { readonly startUs: number; readonly endUs: number } | undefined {
  const values = list.map((item) => (isLiteral(item) ? item.value : null));
  const startUs = values[0];
  if (typeof startUs !== 'number' || startUs % unitUs !== 0) return undefined;
  const endUs = startUs + values.length * unitUs;
  const isWhole = values.every((value, index) => value === startUs + index * unitUs);
  return isWhole && Number.isSafeInteger(endUs) ? { startUs, endUs } : undefined;
}

function compareUs(name: string, left: Expression, rightUs: number): Expression {
  return compare(name, left, { op: 'literal', type: TIMESTAMP, value: rightUs });
}

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
