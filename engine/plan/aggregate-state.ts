import type { AggregateState } from '../aggregate/aggregate-function.ts';
import { distinctState } from '../aggregate/distinct.ts';
import { findAggregateFunction } from '../aggregate/registry.ts';
import { must } from '../assert.ts';
import { evaluateConstant } from './evaluate.ts';
import { overloadOf } from './evaluator/overload.ts';
import type { AggregateCall } from './logical-plan.ts';

/** A fresh state for one aggregate of a plan, its constants evaluated. */
export function aggregateStateOf(call: AggregateCall): AggregateState {
  const aggregate = must(findAggregateFunction(call.name), 'a bound aggregate is registered');
  const types = call.arguments.map((argument) => argument.type);
  const overload = overloadOf(call.name, aggregate.overloads, types);
  const constants = call.constants.map(evaluateConstant);
  return call.distinct
    ? distinctState(overload, types, constants)
    : overload.create(types, constants);
}
