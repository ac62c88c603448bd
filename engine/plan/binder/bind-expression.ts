import { findAggregateFunction } from '../../aggregate/registry.ts';
import { unreachable } from '../../assert.ts';
import {
  BOOL,
  BYTES,
  FLOAT64,
  type SqlType,
  STRING,
  TIMESTAMP,
  typeName,
} from '../../column/type.ts';
import { findScalarFunction, isOperator, SAFE_PREFIX } from '../../function/registry.ts';
import type { ScalarFunction } from '../../function/scalar-function.ts';
import { hint } from '../../nearest-name.ts';
import { findWindowFunction } from '../../operator/window-functions.ts';
import { refuse } from '../../query-error.ts';
import type { Expression as Syntax } from '../../sql/ast.ts';
import type { Expression } from '../expression.ts';
import { bindField, bindName, bindStruct, bindSubscript } from './bind-access.ts';
import { bindAggregate } from './bind-aggregate.ts';
import {
  bindBetween,
  bindDistinctFrom,
  bindIn,
  bindIs,
  bindLike,
  bindLikeList,
  bindSubquery,
} from './bind-comparison.ts';
import {
  asTexts,
  bindArray,
  bindBinary,
  bindCase,
  bindCast,
  bindCoalesce,
  bindCurrentTime,
  bindExtract,
  bindIf,
  bindInterval,
  bindNullIf,
  bindUnary,
  integerLiteral,
  intervalArguments,
  partLiteral,
} from './bind-operator.ts';
import type { CommonTables } from './bind-table.ts';
import { bindWindowCall } from './bind-window.ts';
import type { Binding, ExpressionContext, Place } from './binding.ts';
import { coerce, textLiteral } from './coercion.ts';
import { chooseOverload } from './overload.ts';
import { functionNames, whyRefused } from './special-forms.ts';

/** Gives expressions of the syntax tree their meaning at one place of the query. */
export class ExpressionBinder implements ExpressionContext {
  readonly binding: Binding;
  readonly place: Place;
  readonly tables: CommonTables;

  constructor(binding: Binding, place: Place, tables: CommonTables) {
    this.binding = binding;
    this.place = place;
    this.tables = tables;
  }

  bind(syntax: Syntax): Expression {
    return this.binding.nested(syntax.span, () => {
      this.binding.spend(1, syntax.span);
      const bound = bindSyntax(syntax, this);
      if (this.binding.originOf(bound) !== undefined) return bound;
      return this.binding.at(bound, syntax.span, syntax.kind);
    });
  }

  bindAs(syntax: Syntax, type: SqlType, what: string): Expression {
    const bound = this.bind(syntax);
    const coerced = coerce(bound, type, this.binding);
    if (coerced !== undefined) return coerced;
    return refuse(`${what} takes ${typeName(type)}; got ${typeName(bound.type)}`, syntax.span);
  }

  in(place: Place): ExpressionContext {
    return new ExpressionBinder(this.binding, place, this.tables);
  }
}

function bindSyntax(syntax: Syntax, context: ExpressionContext): Expression {
  switch (syntax.kind) {
    case 'null':
      return { op: 'literal', type: { kind: 'NULL' }, value: null };
    case 'boolean':
      return { op: 'literal', type: BOOL, value: syntax.value };
    case 'integer':
      return integerLiteral(syntax.value, syntax.span);
    case 'float':
      return { op: 'literal', type: FLOAT64, value: syntax.value };
    case 'string':
      return { op: 'literal', type: STRING, value: syntax.value };
    case 'typed-literal':
      return textLiteral(syntax.text, syntax.type, syntax.span);
    case 'interval':
      return bindInterval(syntax, context);
    case 'parameter':
      return context.binding.parameter(syntax.name, syntax.span);
    case 'name':
      return bindName(syntax, context);
    case 'field':
      return bindField(syntax, context);
    case 'subscript':
      return bindSubscript(syntax, context);
    case 'unary':
      return bindUnary(syntax, context);
    case 'binary':
      return bindBinary(syntax, context);
    case 'is':
      return bindIs(syntax, context);
    case 'between':
      return bindBetween(syntax, context);
    case 'in':
      return bindIn(syntax, context);
    case 'like':
      return bindLike(syntax, context);
    case 'like-list':
      return bindLikeList(syntax, context);
    case 'case':
      return bindCase(syntax, context);
    case 'cast':
      return bindCast(syntax, context);
    case 'extract':
      return bindExtract(syntax, context);
    case 'array':
      return bindArray(syntax, context);
    case 'call':
      return bindCall(syntax, context);
    case 'bytes':
      return { op: 'literal', type: BYTES, value: syntax.value };
    case 'distinct-from':
      return bindDistinctFrom(syntax, context);
    case 'subquery':
      return bindSubquery(syntax, context);
    case 'struct':
      return bindStruct(syntax, context);
    default:
      return unreachable(syntax);
  }
}

export type CallSyntax = Syntax & { readonly kind: 'call' };

const NOW: Expression = { op: 'now', type: TIMESTAMP };

function bindCall(syntax: CallSyntax, context: ExpressionContext): Expression {
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
