import { must } from '../assert.ts';
import { FLOAT64, INT64, NUMBER, type SqlType, typeName, typesEqual } from '../column/type.ts';
import { findScalarFunction } from '../function/registry.ts';
import type {
  Constants,
  Failure,
  FunctionFacts,
  ParameterType,
  ScalarOverload,
} from '../function/scalar-function.ts';
import type { Expression } from './expression.ts';

/**
 * The overload that the binder chose, found again by the types of its arguments, which are as the
 * overload takes them by now.
 */
export function boundOverload(name: string, types: readonly SqlType[]): ScalarOverload {
  const { overloads } = must(findScalarFunction(name), `there is a function ${name}`);
  return overloadOf(name, overloads, types);
}

/** What the parameters of scalar and aggregate overloads have in common. */
type Parameters = Pick<ScalarOverload, 'parameters' | 'variadic' | 'optionalCount'>;

/** The same among the overloads of any function, scalar or aggregate. */
export function overloadOf<O extends Parameters>(
  name: string,
  overloads: readonly O[],
  types: readonly SqlType[],
): O {
  const fitting =
    overloads.find((overload) => takes(overload, types, isSame)) ??
    overloads.find((overload) => takes(overload, types, isWider));
  return must(fitting, `${name} takes (${types.map(typeName).join(', ')})`);
}

type TypeTest = (type: SqlType, wanted: SqlType) => boolean;

function takes(overload: Parameters, types: readonly SqlType[], test: TypeTest): boolean {
  const { parameters, variadic, optionalCount = 0 } = overload;
  if (types.length < parameters.length - optionalCount) return false;
  if (types.length > parameters.length && variadic === undefined) return false;
  return types.every((type, index) => takesType(parameters[index] ?? variadic!, type, test));
}

function takesType(parameter: ParameterType, type: SqlType, test: TypeTest): boolean {
  if (typeof parameter === 'object') return test(type, parameter);
  if (parameter === 'number') return NUMBERS.some((number) => test(type, number));
  if (parameter === 'array') return type.kind === 'ARRAY';
  return true;
}

const NUMBERS: readonly SqlType[] = [INT64, FLOAT64, NUMBER];

function isSame(type: SqlType, wanted: SqlType): boolean {
  return typesEqual(type, wanted) || type.kind === 'NULL';
}

/** What reads alike: a literal folded to INT64 beside FLOAT64, elements not known yet. */
function isWider(type: SqlType, wanted: SqlType): boolean {
  if (isSame(type, wanted)) return true;
  if (type.kind === 'ARRAY' && wanted.kind === 'ARRAY')
    return isWider(type.element, wanted.element);
  if (wanted.kind === 'FLOAT64') return type.kind === 'INT64';
  if (wanted.kind === 'NUMBER') return type.kind === 'INT64' || type.kind === 'FLOAT64';
  return wanted.kind === 'DYNAMIC';
}

export type Call = Extract<Expression, { op: 'call' }>;

const NO_FACTS: FunctionFacts = {};

/** What is known of a call, by the name of its function and the types of its arguments. */
export function factsOf(call: Call): FunctionFacts {
  return overloadOfCall(call).facts ?? NO_FACTS;
}

/** Whether a NULL in any argument makes the result NULL. */
export function isNullWhenNull(call: Call): boolean {
  return overloadOfCall(call).nulls === 'propagate';
}

function overloadOfCall(call: Call) {
  return boundOverload(
    call.name,
    call.arguments.map((argument) => argument.type),
  );
}

/** The arguments of a call, as its facts take them. */
export function constantsOf(call: Call): Constants {
  return call.arguments.map((argument) => (argument.op === 'literal' ? argument.value : undefined));
}

export function failureOf(call: Call): Failure {
  const { fails = 'by value' } = factsOf(call);
  return typeof fails === 'string' ? fails : fails(constantsOf(call));
}
