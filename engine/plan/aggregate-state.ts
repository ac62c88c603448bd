import type { AggregateState, CallModifiers } from '../aggregate/aggregate-function.ts';
import { DeferredState } from '../aggregate/deferred.ts';
import { distinctState } from '../aggregate/distinct.ts';
import { havingState } from '../aggregate/having.ts';
import { findAggregateFunction } from '../aggregate/registry.ts';
import { must } from '../assert.ts';
import { evaluateConstant } from './evaluate.ts';
import { overloadOf } from './evaluator/overload.ts';
import type { AggregateCall } from './logical-plan.ts';

/** A fresh state for one aggregate of a plan, its constants evaluated. */
export function aggregateStateOf(call: AggregateCall): AggregateState {
  let create = creators.get(call);
  if (create === undefined) {
    create = creatorOf(call);
    creators.set(call, create);
  }
  return create();
}

/** Of plans that are run again and again: to find an overload takes longer than to group a few rows. */
const creators = new WeakMap<AggregateCall, () => AggregateState>();

function creatorOf(call: AggregateCall): () => AggregateState {
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
}

function modifiersOf({ nulls, orderBy = [], limit, elements }: AggregateCall): CallModifiers {
  const count = limit === undefined ? undefined : Number(evaluateConstant(limit) ?? 0);
  const rowCount = count === undefined ? undefined : Math.max(0, count);
  return { nulls, order: orderBy, limit: rowCount, elements };
}
