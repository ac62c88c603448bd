import type { VectorFunction } from '../../column/chunk.ts';
import { QueryError } from '../../query-error.ts';
import type { Expression } from '../expression.ts';
import { liftFunction } from './lift.ts';
import { membershipTest } from './membership.ts';
import { boundOverload } from './overload.ts';
import { stringTest } from './text-test.ts';

type Call = Extract<Expression, { op: 'call' }>;

/** A call of a function of the registry; its errors tell where it stands in the text. */
export function callFunction(
  call: Call,
  compile: (part: Expression) => VectorFunction,
): VectorFunction {
  return withSpan(call, compileForm(call, compile));
}

function compileForm(call: Call, compile: (part: Expression) => VectorFunction): VectorFunction {
  const ofString = stringTest(call);
  if (ofString !== undefined) return liftFunction(ofString.test, [compile(ofString.input)]);
  const membership = membershipTest(call);
  if (membership !== undefined) {
    return liftFunction(membership, [compile(call.arguments[0]!)]);
  }
  const types = call.arguments.map((argument) => argument.type);
  const overload = boundOverload(call.name, types);
  const evaluate = overload.evaluateTyped?.(types) ?? overload.evaluate;
  return liftFunction({ ...overload, evaluate, type: call.type }, call.arguments.map(compile));
}

function withSpan({ span }: Call, evaluate: VectorFunction): VectorFunction {
  if (span === undefined) return evaluate;
  return (chunk) => {
    try {
      return evaluate(chunk);
    } catch (error) {
      if (!(error instanceof QueryError) || error.span !== undefined) throw error;
      throw new QueryError(error.code, error.message, span);
    }
  };
}
