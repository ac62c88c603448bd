import type { SqlType } from '../column/type.ts';
import { BYTES } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import type { FunctionDoc } from './function-doc.ts';
import { sameAs } from './function-doc.ts';
import type { FunctionFacts } from './function-facts.ts';
import type { ParameterType, ScalarFunction, ScalarOverload } from './scalar-function.ts';

export type Evaluate = ScalarOverload['evaluate'];
export type Kernel = NonNullable<ScalarOverload['kernel']>;
export type InPlace = NonNullable<ScalarOverload['inPlace']>;

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
  doc: FunctionDoc,
  ...overloads: readonly ScalarOverload[]
): ScalarFunction {
  return { name, doc, overloads };
}

/** One function under two names. */
export function withAlias(
  [name, alias]: readonly [string, string],
  doc: FunctionDoc,
  ...overloads: readonly ScalarOverload[]
): readonly [ScalarFunction, ScalarFunction] {
  return [
    scalarFunction(name, doc, ...overloads),
    scalarFunction(alias, sameAs(name, alias, doc), ...overloads),
  ];
}

/** An overload with facts. */
export function withFacts(facts: FunctionFacts, overload: ScalarOverload): ScalarOverload {
  return { ...overload, facts };
}

/**
 * An overload for STRING, and the same for BYTES. Bytes are a string of one character each, so what
 * counts and compares code points counts and compares bytes there.
 */
export function textAndBytes(ofText: ScalarOverload): readonly ScalarOverload[] {
  return [ofText, ofBytes(ofText)];
}

/** The same with BYTES wherever there is STRING. */
export function ofBytes(ofText: ScalarOverload): ScalarOverload {
  const { parameters, variadic, result } = ofText;
  return {
    ...ofText,
    measure: undefined,
    part: undefined,
    parameters: parameters.map(bytesForText),
    variadic: variadic && bytesForText(variadic),
    result: typeof result === 'function' ? result : typeOfBytes(result),
  };
}

function bytesForText(parameter: ParameterType): ParameterType {
  return typeof parameter === 'object' ? typeOfBytes(parameter) : parameter;
}

function typeOfBytes(type: SqlType): SqlType {
  if (type.kind === 'ARRAY') return { kind: 'ARRAY', element: typeOfBytes(type.element) };
  return type.kind === 'STRING' ? BYTES : type;
}
