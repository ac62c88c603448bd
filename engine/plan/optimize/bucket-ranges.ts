import { BOOL, TIMESTAMP } from '../../column/type.ts';
import { constantsOf, factsOf } from '../call-facts.ts';
import type { Expression } from '../expression.ts';
import { isLiteral } from '../expression-walk.ts';
import type { LogicalPlan } from '../logical-plan.ts';
import { rewriteExpressions } from './plan-walk.ts';

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
  const terms = [compare('>=', timestamp!, window.startUs), compare('<', timestamp!, window.endUs)];
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

function compare(name: string, left: Expression, rightUs: number): Expression {
  const right: Expression = { op: 'literal', type: TIMESTAMP, value: rightUs };
  return { op: 'call', type: BOOL, name, arguments: [left, right] };
}
