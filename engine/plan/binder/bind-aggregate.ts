import type {
  AggregateFunction,
  AggregateModifier,
  AggregateOverload,
} from '../../aggregate/aggregate-function.ts';
import { type SqlType, typeName } from '../../column/type.ts';
import { refuse, type Span } from '../../query-error.ts';
import {
  type Column,
  type ColumnId,
  columnReference,
  columnsOf,
  type Expression,
  readsAny,
} from '../expression.ts';
import type { AggregateCall, SortKey } from '../logical-plan.ts';
import type { CallSyntax } from './bind-expression.ts';
import type { Binding, ExpressionContext } from './binding.ts';
import { checkGroupable, isScalar } from './coercion.ts';
import { chooseOverload, type Signature } from './overload.ts';
import { bindRowCount, sortKey } from './select-list.ts';

/** An aggregate becomes a column of the Aggregate below; its arguments are bound over FROM. */
export function bindAggregate(
  found: AggregateFunction,
  syntax: CallSyntax,
  context: ExpressionContext,
): Expression {
  const { place } = context;
  const { span } = syntax;
  const name = found.name.toUpperCase();
  if (place.aggregates === undefined) {
    refuse(`${name} is an aggregate and cannot stand in ${place.text}`, span);
  }
  const inside = context.in({
    text: `the arguments of ${name}`,
    scope: place.argumentScope ?? place.scope,
  });
  const { call, type } = bindAggregateCall(found, syntax, inside);
  return place.aggregates.add(call, type, span);
}

/** The call alone, its arguments bound by `inside`. */
export function bindAggregateCall(
  found: AggregateFunction,
  syntax: CallSyntax,
  inside: ExpressionContext,
): { readonly call: AggregateCall; readonly type: SqlType } {
  const { binding } = inside;
  const { span } = syntax;
  const name = found.name.toUpperCase();
  checkForm(found, syntax);
  const inputs = syntax.arguments.map((argument) => inside.bind(argument));
  const chosen = chooseOverload({
    name: found.name,
    overloads: found.overloads.map(signatureOf),
    arguments: inputs,
    span,
    binding,
  });
  const rowCount = inputs.length - chosen.overload.constantCount;
  const perRow = chosen.arguments.slice(0, rowCount);
  if (syntax.distinct) {
    for (const { type } of perRow) checkGroupable(`${name}(DISTINCT …)`, type, span);
  }
  const constants = chosen.arguments.slice(rowCount);
  checkConstants(name, constants, span);
  const call: AggregateCall = {
    name: found.name,
    arguments: perRow,
    constants,
    distinct: syntax.distinct,
    nulls: syntax.nulls,
    orderBy: takes(found, 'order')
      ? bindOrderOfRows(syntax, { inputs, perRow }, inside)
      : undefined,
    limit: bindRowCount('LIMIT', syntax.limit, binding),
    having: bindHaving(syntax, inside),
  };
  return { call, type: chosen.type };
}

/** What may stand between the parentheses, as far as the function alone decides. */
function checkForm(found: AggregateFunction, syntax: CallSyntax): void {
  const { span } = syntax;
  const name = found.name.toUpperCase();
  const takesRows = found.overloads.some(({ parameters }) => parameters.length === 0);
  if (syntax.star && !takesRows) refuse(`${name} does not take *`, span);
  if (!syntax.star && takesRows && syntax.arguments.length === 0) {
    refuse(`${name} takes * or a value`, span);
  }
  if (syntax.distinct && syntax.arguments.length === 0) {
    refuse(`${name}(DISTINCT …) needs an argument`, span);
  }
  const written: readonly (readonly [AggregateModifier, string, boolean])[] = [
    ['distinct', 'DISTINCT', syntax.distinct],
    ['nulls', `${(syntax.nulls ?? '').toUpperCase()} NULLS`, syntax.nulls !== undefined],
    ['order', 'ORDER BY', syntax.orderBy !== undefined],
    ['limit', 'LIMIT', syntax.limit !== undefined],
  ];
  for (const [modifier, text, isWritten] of written) {
    if (isWritten && !takes(found, modifier)) refuse(`${name} does not take ${text}`, span);
  }
}

function takes({ modifiers = ['distinct'] }: AggregateFunction, modifier: AggregateModifier) {
  return modifiers.includes(modifier);
}

/** The arguments of a call as they were bound, and the first of them, which each row has, coerced. */
type Arguments = { readonly inputs: readonly Expression[]; readonly perRow: readonly Expression[] };

/**
 * The keys by which rows are taken. Distinct values have no order of their own, so without ORDER BY
 * they go by value: the answer must not depend on which row came first.
 */
function bindOrderOfRows(
  syntax: CallSyntax,
  { inputs, perRow }: Arguments,
  inside: ExpressionContext,
): readonly SortKey[] {
  const { binding } = inside;
  const isSame = (left: Expression, right: Expression) =>
    binding.identities.of(left) === binding.identities.of(right);
  const items = syntax.orderBy ?? [];
  if (syntax.distinct && items.length === 0) {
    return perRow.map((expression) => ({ expression, descending: false, nullsFirst: true }));
  }
  return items.map((item) => {
    const { expression: written, span } = item;
    if (written.kind === 'integer') {
      refuse('ORDER BY inside an aggregate takes no positions of the select list', span);
    }
    const key = sortKey(item, inside.bind(written), binding);
    if (!syntax.distinct) return key;
    // What is told apart is the argument as the function takes it: a field's value as a text, say.
    const argument = perRow.find(
      (each, index) => isSame(each, key.expression) || isSame(inputs[index]!, key.expression),
    );
    if (argument === undefined) {
      refuse('with DISTINCT an aggregate can ORDER BY its arguments only', span);
    }
    return { ...key, expression: argument };
  });
}

function bindHaving({ having }: CallSyntax, inside: ExpressionContext): AggregateCall['having'] {
  if (having === undefined) return undefined;
  const { extreme, expression: written } = having;
  const expression = inside.bind(written);
  if (!isScalar(expression.type)) {
    refuse(
      `HAVING ${extreme.toUpperCase()} takes no lists, records or JSON; got ${typeName(expression.type)}`,
      written.span,
    );
  }
  return { extreme, expression };
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

type BoundAggregate = {
  readonly column: Column;
  readonly call: AggregateCall;
  /** Where the text names it first. */
  readonly span: Span;
};

/** The aggregates of one SELECT, each computed once however often the text names it. */
export class Aggregates {
  readonly #binding: Binding;
  readonly #byKey = new Map<string, BoundAggregate>();
  readonly #ids = new Set<ColumnId>();

  constructor(binding: Binding) {
    this.#binding = binding;
  }

  /** The column that will hold the aggregate's result. */
  add(call: AggregateCall, type: SqlType, span: Span): Expression {
    const key = this.#binding.identities.ofCall(call);
    const known = this.#byKey.get(key);
    if (known !== undefined) return { ...columnReference(known.column) };
    const column = this.#binding.newColumn(call.name, type);
    this.#byKey.set(key, { column, call, span });
    this.#ids.add(column.id);
    return this.#binding.at(columnReference(column), span, call.name.toUpperCase());
  }

  list(): readonly BoundAggregate[] {
    return [...this.#byKey.values()];
  }

  has(id: ColumnId): boolean {
    return this.#ids.has(id);
  }

  /** Whether an expression reads the result of an aggregate. */
  areIn(expression: Expression): boolean {
    return readsAny(expression, this.#ids);
  }
}
