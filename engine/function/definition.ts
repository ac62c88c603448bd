import type { SqlValue } from '../column/value.ts';
import type { ScalarFunction, ScalarOverload } from './scalar-function.ts';

export type Evaluate = ScalarOverload['evaluate'];
export type Kernel = NonNullable<ScalarOverload['kernel']>;

/**
 * An `evaluate` written for the values that its overload takes. The binder lets only calls through
 * whose arguments have the types of the parameters, so what arrives are those values.
 */
export function typed<Values extends readonly (SqlValue | undefined)[], Result extends SqlValue>(
  evaluate: (...values: Values) => Result,
): (...values: SqlValue[]) => Result {
  return evaluate as unknown as (...values: SqlValue[]) => Result;
}

export function scalarFunction(
  name: string,
  ...overloads: readonly ScalarOverload[]
): ScalarFunction {
  return { name, overloads };
}
