import { findAggregateFunction } from '../../aggregate/registry.ts';
import { TIMESTAMP } from '../../column/type.ts';
import { findScalarFunction, isOperator, SAFE_PREFIX } from '../../function/registry.ts';
import type { ScalarFunction } from '../../function/scalar-function.ts';
import { findWindowFunction } from '../../operator/window-functions.ts';
import type { Expression as Syntax } from '../../sql/ast.ts';
import type { Expression } from '../expression.ts';
import { bindAggregate } from './bind-aggregate.ts';
import { bindCoalesce, bindIf, bindNullIf } from './bind-conditional.ts';
import { asTexts, partLiteral } from './bind-operator.ts';
import { bindCurrentTime, intervalArguments } from './bind-time.ts';
import { bindWindowCall } from './bind-window.ts';
import type { ExpressionContext } from './context.ts';
import { hint } from './nearest-name.ts';
import { chooseOverload } from './overload.ts';
import { refuse } from './refusal.ts';
import { whyRefused } from './refused-functions.ts';
import { functionNames } from './special-forms.ts';

export type CallSyntax = Syntax & { readonly kind: 'call' };

const NOW: Expression = { op: 'now', type: TIMESTAMP };

export function bindCall(syntax: CallSyntax, context: ExpressionContext): Expression {
  const name = functionName(syntax);
  const { over } = syntax;
  if (over !== undefined) return bindWindowCall(name, { ...syntax, over }, context);
  if (findWindowFunction(name) !== undefined) {
    const upper = name.toUpperCase();
    refuse(`${upper} is computed over a window: write ${upper}(…) OVER (…)`, syntax.span);
  }
  const aggregate = findAggregateFunction(name);
  if (aggregate !== undefined) return bindAggregate(aggregate, syntax, context);
  refuseModifiers(name, syntax);
  if (syntax.star || syntax.distinct) return refuseAggregateForm(name, syntax);
  switch (name) {
    case 'if':
      return bindIf(syntax.arguments, syntax.span, context);
    case 'coalesce':
      return bindCoalesce('COALESCE', syntax.arguments, syntax.span, context);
    case 'ifnull':
      return bindCoalesce('IFNULL', syntax.arguments, syntax.span, context);
    default:
      return bindCurrentTime(name, syntax, context) ?? bindScalar(name, syntax, context);
  }
}

/** What may stand between the parentheses of an aggregate only. */
function refuseModifiers(name: string, syntax: CallSyntax): void {
  const { nulls, having, orderBy, limit, span } = syntax;
  const modifier =
    (nulls !== undefined && `${nulls.toUpperCase()} NULLS`) ||
    (having !== undefined && `HAVING ${having.extreme.toUpperCase()}`) ||
    (orderBy !== undefined && 'ORDER BY') ||
    (limit !== undefined && 'LIMIT');
  if (modifier !== false && functionNames().includes(name)) {
    refuse(`${name.toUpperCase()} is not an aggregate and cannot have ${modifier}`, span);
  }
}

function refuseAggregateForm(name: string, syntax: CallSyntax): never {
  if (!functionNames().includes(name)) return refuseName(name, syntax);
  const got = syntax.star ? '*' : 'DISTINCT';
  return refuse(`${name.toUpperCase()} is not an aggregate and cannot have ${got}`, syntax.span);
}

/** Lower case; without the names before a function of the user's own. */
function functionName(syntax: CallSyntax): string {
  const name = syntax.name.text.toLowerCase();
  if (name.startsWith(SAFE_PREFIX)) return name;
  const last = name.slice(name.lastIndexOf('.') + 1);
  return findScalarFunction(last)?.isOwn === true ? last : name;
}

function bindScalar(name: string, syntax: CallSyntax, context: ExpressionContext): Expression {
  const found = findScalarFunction(name);
  const bare = name.startsWith(SAFE_PREFIX) ? name.slice(SAFE_PREFIX.length) : name;
  if (found === undefined || isOperator(bare)) return refuseName(bare, syntax);
  const { binding } = context;
  const { span } = syntax;
  if (found.comparesFields === true) {
    const choice = bindNullIf(syntax.arguments, span, context);
    if (choice !== undefined) return choice;
  }
  const given = bindArguments(found, syntax, context);
  const inputs = [...(found.joinsTexts === true ? asTexts(given, span) : given)];
  if (found.readsClock === true) inputs.push({ ...NOW });
  const chosen = chooseOverload({
    name,
    overloads: found.overloads,
    arguments: inputs,
    span,
    binding,
  });
  return { op: 'call', type: chosen.type, name, arguments: chosen.arguments, span };
}

function refuseName(bare: string, syntax: CallSyntax): never {
  const { text, span } = syntax.name;
  const why = whyRefused(bare);
  if (why !== undefined) refuse(`${bare.toUpperCase()} cannot be called: ${why}`, span);
  const names = functionNames();
  if (names.includes(bare)) {
    refuse(`${bare.toUpperCase()} has no form with the prefix SAFE.`, span);
  }
  const nearest = hint(
    bare,
    names.map((each) => each.toUpperCase()),
  );
  return refuse(`there is no function ${text}${nearest}`, span);
}

/** Arguments as they come, date parts as literals, and an INTERVAL as its amount and its part. */
function bindArguments(
  found: ScalarFunction,
  syntax: CallSyntax,
  context: ExpressionContext,
): readonly Expression[] {
  const inputs: Expression[] = [];
  const takesPartAt = (index: number) =>
    found.overloads.some((overload) => overload.parameters[index] === 'part');
  for (const argument of syntax.arguments) {
    if (argument.kind === 'interval' && takesPartAt(inputs.length + 1)) {
      inputs.push(...intervalArguments(argument, context));
    } else {
      const part = takesPartAt(inputs.length) ? datePart(argument, context) : undefined;
      inputs.push(part ?? context.bind(argument));
    }
  }
  return inputs;
}

/** `DAY`, `WEEK(MONDAY)` or `'day'`; `undefined` for what cannot be a date part. */
function datePart(syntax: Syntax, context: ExpressionContext): Expression | undefined {
  const { span } = syntax;
  if (syntax.kind === 'name') return partLiteral(syntax.name, context);
  if (syntax.kind === 'string') return partLiteral({ span, text: syntax.value }, context);
  if (syntax.kind !== 'call' || syntax.arguments.length !== 1) return undefined;
  const day = syntax.arguments[0]!;
  if (day.kind !== 'name') return undefined;
  return partLiteral({ span, text: `${syntax.name.text}(${day.name.text})` }, context);
}
