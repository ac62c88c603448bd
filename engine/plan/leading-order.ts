import { findAggregateFunction } from '../aggregate/registry.ts';
import type { Leading } from '../operator/leading-groups.ts';
import { rowExpressionsOf } from './aggregate-call.ts';
import { canFail } from './optimize/can-fail.ts';
import type { PhysicalPlan, PhysicalTop } from './physical-plan.ts';
import { rowInputsOf } from './physical-walk.ts';

/**
 * What top rows want of the groups below, where they are ordered by the MAX of each descending or the MIN ascending first
 * of all, as in "the slowest paths" or "who was here last"; `undefined` where they are not, or rows of other groups could
 * fail that would not be looked at.
 */
export function leadingOf({ input, keys, count }: PhysicalTop): Leading | undefined {
  const [first] = keys;
  if (input.op !== 'aggregate' || input.keys.length === 0) return undefined;
  if (first?.expression.op !== 'column' || count < 1) return undefined;
  const { id } = first.expression;
  const aggregate = input.aggregates.findIndex(({ column }) => column.id === id);
  const call = input.aggregates[aggregate]?.call;
  const found = call && findAggregateFunction(call.name);
  if (found?.extreme !== (first.descending ? 'max' : 'min')) return undefined;
  const expressions = [
    ...input.keys.map(({ expression }) => expression),
    ...input.aggregates.flatMap((item) => rowExpressionsOf(item.call)),
  ];
  if (expressions.some(canFail) || canFailBelow(input.input)) return undefined;
  const { descending, nullsFirst } = first;
  return { aggregate, count, descending, nullsFirst };
}

/** Whether what a projection computes might fail: it is computed of those rows alone that somebody asks for. */
function canFailBelow(plan: PhysicalPlan): boolean {
  if (plan.op === 'project' && plan.columns.some(({ expression }) => canFail(expression))) {
    return true;
  }
  return rowInputsOf(plan).some(canFailBelow);
}
