import { INT64, typeName } from '../../column/type.ts';
import type { Span } from '../../query-error.ts';
import type { OrderItem, Expression as Syntax } from '../../sql/ast.ts';
import type { Expression } from '../expression.ts';
import type { LogicalPlan, SortKey } from '../logical-plan.ts';
import type { Binding } from './binding.ts';
import { isScalar } from './coercion.ts';
import type { ExpressionContext } from './context.ts';
import { refuse } from './refusal.ts';
import { columnAtOrdinal, type SelectColumn } from './select-list.ts';

export type BoundOrder = { readonly key: SortKey; readonly span: Span };

/** The keys of ORDER BY: positions in the select list, names of it, or any expression. */
export function bindOrder(
  items: readonly OrderItem[],
  list: readonly SelectColumn[],
  context: ExpressionContext,
): readonly BoundOrder[] {
  return items.map((item) => {
    const { expression: syntax, span } = item;
    const expression =
      syntax.kind === 'integer'
        ? columnAtOrdinal(list, syntax, 'ORDER BY').expression
        : context.bind(syntax);
    return { key: sortKey(item, expression, context.binding), span };
  });
}

/** One item of an ORDER BY, given what it means. */
export function sortKey(item: OrderItem, expression: Expression, binding: Binding): SortKey {
  const { descending, nulls, span } = item;
  binding.spendCopy(expression, span);
  if (!isScalar(expression.type)) {
    refuse(`ORDER BY takes no lists, records or JSON; got ${typeName(expression.type)}`, span);
  }
  const nullsFirst = nulls === undefined ? !descending : nulls === 'first';
  return { expression, descending, nullsFirst };
}

export function sorted(
  plan: LogicalPlan,
  order: readonly BoundOrder[],
  binding: Binding,
): LogicalPlan {
  const first = order[0];
  if (first === undefined) return plan;
  return binding.plan({ op: 'sort', input: plan, keys: order.map(({ key }) => key) }, first.span);
}

/** LIMIT or OFFSET: a whole number, or an INT64 parameter. */
export function bindRowCount(
  clause: 'LIMIT' | 'OFFSET',
  syntax: Syntax | undefined,
  binding: Binding,
): Expression | undefined {
  if (syntax === undefined) return undefined;
  if (syntax.kind === 'integer' && syntax.value >= 0n) {
    return { op: 'literal', type: INT64, value: Number(syntax.value) };
  }
  if (syntax.kind === 'parameter') {
    const parameter = binding.parameter(syntax.name, syntax.span);
    if (parameter.type.kind === 'INT64') return parameter;
    const got = typeName(parameter.type);
    refuse(`${clause} takes an INT64 parameter; @${syntax.name} is ${got}`, syntax.span);
  }
  return refuse(
    `${clause} takes a whole number from 0 or an INT64 parameter; got another expression`,
    syntax.span,
  );
}
