import type { AggregateFunction, AggregateOverload } from '../../aggregate/aggregate-function.ts';
import type { Span } from '../../query-error.ts';
import type { Expression } from '../expression.ts';
import { columnsOf } from '../expression-walk.ts';
import type { CallSyntax } from './bind-call.ts';
import { isScalar } from './coercion.ts';
import type { ExpressionContext } from './context.ts';
import { chooseOverload, type Signature } from './overload.ts';
import { refuse } from './refusal.ts';

/** An aggregate becomes a column of the Aggregate below; its arguments are bound over FROM. */
export function bindAggregate(
  found: AggregateFunction,
  syntax: CallSyntax,
  context: ExpressionContext,
): Expression {
  const { place, binding } = context;
  const { span } = syntax;
  const name = found.name.toUpperCase();
  if (place.aggregates === undefined) {
    refuse(`${name} is an aggregate and cannot stand in ${place.text}`, span);
  }
  if (syntax.star && found.name !== 'count') refuse(`${name} does not take *`, span);
  if (syntax.distinct && syntax.arguments.length === 0) {
    refuse(`${name}(DISTINCT …) needs an argument`, span);
  }
  const inside = context.in({
    text: `the arguments of ${name}`,
    scope: place.argumentScope ?? place.scope,
  });
  const inputs = syntax.arguments.map((argument) => inside.bind(argument));
  if (!syntax.star && found.name === 'count' && inputs.length === 0) {
    refuse('COUNT takes * or a value', span);
  }
  const chosen = chooseOverload({
    name: found.name,
    overloads: found.overloads.map(signatureOf),
    arguments: inputs,
    span,
    binding,
  });
  const rowCount = inputs.length - chosen.overload.constantCount;
  const perRow = chosen.arguments.slice(0, rowCount);
  const constants = chosen.arguments.slice(rowCount);
  checkConstants(name, constants, span);
  if (syntax.distinct && perRow.some(({ type }) => !isScalar(type))) {
    refuse(`${name}(DISTINCT …) takes no lists or records`, span);
  }
  return place.aggregates.add(
    { name: found.name, arguments: perRow, constants, distinct: syntax.distinct },
    chosen.type,
    span,
  );
}

/** Constants stand after the arguments evaluated per row; the result depends on the latter only. */
function signatureOf(overload: AggregateOverload): Signature & { readonly constantCount: number } {
  const { parameters, constants = [], result } = overload;
  return {
    parameters: [...parameters, ...constants],
    constantCount: constants.length,
    result:
      typeof result === 'function' ? (types) => result(types.slice(0, parameters.length)) : result,
  };
}

function checkConstants(name: string, constants: readonly Expression[], span: Span): void {
  if (constants.some((constant) => columnsOf(constant).size > 0)) {
    refuse(`the last argument of ${name} must be a constant, the same for all rows`, span);
  }
}
