import { must } from '../../engine/assert.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import { findScalarFunction } from '../../engine/function/registry.ts';
import type { ScalarOverload } from '../../engine/function/scalar-function.ts';

/** The overload whose concrete parameter kinds are `kinds`, or the only one. */
export function overloadOf(name: string, kinds?: string): ScalarOverload {
  const { overloads } = must(findScalarFunction(name), `there is a function ${name}`);
  if (kinds === undefined) return must(overloads[0]);
  const found = overloads.find(
    ({ parameters }) =>
      parameters
        .map((each) => (typeof each === 'object' ? each.kind : each))
        .slice(0, kinds.split(',').length)
        .join(',') === kinds,
  );
  return must(found, `${name} takes ${kinds}`);
}

/** Calls an overload as the evaluator does: NULLs do not reach one that propagates them. */
export function callOverload(overload: ScalarOverload, values: readonly SqlValue[]): SqlValue {
  if (overload.nulls === 'propagate' && values.includes(null)) return null;
  return overload.evaluate(...values);
}

export function call(name: string, ...values: readonly SqlValue[]): SqlValue {
  return callOverload(overloadOf(name), values);
}

export function callAs(name: string, kinds: string, ...values: readonly SqlValue[]): SqlValue {
  return callOverload(overloadOf(name, kinds), values);
}
