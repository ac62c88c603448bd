import type { AggregateState, CallModifiers } from '../aggregate/aggregate-function.ts';
import { DeferredState } from '../aggregate/deferred.ts';
import { distinctState } from '../aggregate/distinct.ts';
import { havingState } from '../aggregate/having.ts';
import { findAggregateFunction } from '../aggregate/registry.ts';
import { must } from '../assert.ts';
import { findOnce } from '../column/caches.ts';
import type { SqlType } from '../column/type.ts';
import { GROUP_ORDER } from '../operator/aggregate.ts';
import type { Leading } from '../operator/leading-groups.ts';
import type { OrderKey } from '../operator/sort.ts';
import type { WindowCallOptions } from '../operator/window.ts';
import type { Bound, Frame } from '../operator/window-frame.ts';
import { findWindowFunction } from '../operator/window-functions.ts';
import { QueryError } from '../query-error.ts';
import { overloadOf } from './call-facts.ts';
import { evaluateConstant } from './evaluate.ts';
import type { ColumnId } from './expression.ts';
import {
  type AggregateCall,
  type FrameBound,
  rowExpressionsOf,
  type SortKey,
  type WindowCall,
  type WindowFrame,
} from './logical-plan.ts';
import { canFail } from './optimize/can-fail.ts';
import type { PhysicalPlan, PhysicalTop } from './physical-plan.ts';
import { type RowOrder, rowInputsOf } from './physical-walk.ts';

/** A fresh state for one aggregate of a plan, its constants evaluated. */
export function aggregateStateOf(call: AggregateCall): AggregateState {
  return creatorOf(call)();
}

/** Found once: to find an overload takes longer than to group a few rows. */
const creatorOf = findOnce((call: AggregateCall): (() => AggregateState) => {
  const aggregate = must(findAggregateFunction(call.name), 'a bound aggregate is registered');
  const types = call.arguments.map((argument) => argument.type);
  const overload = overloadOf(call.name, aggregate.overloads, types);
  const constants = call.constants.map(evaluateConstant);
  const modifiers = modifiersOf(call);
  const keyTypes = (call.orderBy ?? []).map((key) => key.expression.type);
  // What has no modifier but DISTINCT depends on the set of its values alone.
  const isOrderFree = aggregate.modifiers === undefined;
  const create = () => {
    const plain = overload.create(types, constants, modifiers);
    return call.distinct ? distinctState(plain, [...types, ...keyTypes], isOrderFree) : plain;
  };
  const { having, isDeferred } = call;
  const plain = having === undefined ? create : () => havingState(create, having.extreme);
  return isDeferred ? () => new DeferredState(plain) : plain;
});

function modifiersOf({ nulls, orderBy = [], limit, elements }: AggregateCall): CallModifiers {
  const count = limit === undefined ? undefined : Number(evaluateConstant(limit) ?? 0);
  const rowCount = count === undefined ? undefined : Math.max(0, count);
  return { nulls, order: orderBy, limit: rowCount, elements };
}

/** What computes one call of a window, its constants evaluated; `type` is that of its result. */
export function windowRunOf(call: WindowCall, type: SqlType): WindowCallOptions['run'] {
  const { function: called, ignoresNulls } = call;
  const isDeferred = called.isDeferred === true;
  const found = findWindowFunction(called.name);
  if (found !== undefined) {
    const kernel = found.prepare(called.constants.map(evaluateConstant));
    return { kind: 'function', kernel, ignoresNulls, isDeferred };
  }
  const collects = called.orderBy !== undefined;
  return { kind: 'aggregate', create: () => aggregateStateOf(called), type, collects, isDeferred };
}

/** The frame with its amounts evaluated. */
export function frameOf({ unit, start, end }: WindowFrame): Frame {
  return { unit, start: boundOf(start), end: boundOf(end) };
}

function boundOf(bound: FrameBound): Bound {
  if (!('amount' in bound)) return bound;
  const amount = evaluateConstant(bound.amount);
  const isNumber = typeof amount === 'number' || typeof amount === 'bigint';
  if (isNumber && amount >= 0) return { kind: bound.kind, amount };
  const got = amount === null ? 'NULL' : String(amount);
  throw new QueryError(
    'query_failed',
    `the bound of a frame is a number of at least 0; got ${got}`,
  );
}

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

/** The order of a sort's input, which has this layout, as keys: without those that the sort has already. */
export function keysBehind(
  keys: readonly SortKey[],
  layout: readonly ColumnId[],
  { columns }: RowOrder,
): readonly OrderKey[] {
  const ordered = new Set(
    keys.flatMap(({ expression }) => (expression.op === 'column' ? [expression.id] : [])),
  );
  return columns
    .filter((id) => !ordered.has(id))
    .map((id) => {
      const index = layout.indexOf(id);
      return { ...GROUP_ORDER, expression: (chunk) => chunk.column(index) };
    });
}

/** Whether what a projection computes might fail: it is computed of those rows alone that somebody asks for. */
function canFailBelow(plan: PhysicalPlan): boolean {
  if (plan.op === 'project' && plan.columns.some(({ expression }) => canFail(expression))) {
    return true;
  }
  return rowInputsOf(plan).some(canFailBelow);
}
