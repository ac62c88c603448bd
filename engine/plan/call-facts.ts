import type { Constants, Failure, FunctionFacts } from '../function/function-facts.ts';
import { boundOverload } from './evaluator/overload.ts';
import type { Expression } from './expression.ts';

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
