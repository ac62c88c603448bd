import { typeName } from '../../column/type.ts';
import type { Name } from '../../sql/ast.ts';
import type { Expression } from '../expression.ts';
import { conjunctionOf } from '../expression-walk.ts';
import { comparison } from './bind-comparison.ts';
import type { Binding } from './binding.ts';
import { coerceAll, commonType, isScalar } from './coercion.ts';
import { refuse } from './refusal.ts';
import {
  FromScope,
  mergedVariable,
  type RangeVariable,
  type ScopeColumn,
  withoutColumns,
} from './scope.ts';

type Sides = {
  readonly left: { readonly variables: readonly RangeVariable[] };
  readonly right: { readonly variables: readonly RangeVariable[] };
  readonly kind: 'inner' | 'left' | 'right' | 'full';
};

/**
 * `JOIN … USING (a, b)`: the columns of both sides are equal by pairs, and each pair is one column
 * for whoever names it without a table, the first ones of `*`.
 */
export function bindUsing(
  names: readonly Name[],
  { left, right, kind }: Sides,
  binding: Binding,
): { readonly on: Expression; readonly variables: readonly RangeVariable[] } {
  const terms: Expression[] = [];
  const merged: ScopeColumn[] = [];
  const scopes = [left, right].map(({ variables }) => new FromScope(variables));
  const mergedNames = new Set<string>();
  for (const name of names) {
    if (mergedNames.has(name.text.toLowerCase())) continue;
    mergedNames.add(name.text.toLowerCase());
    const values = scopes.map((scope) => {
      const value = { ...scope.value(name, binding) };
      if (isScalar(value.type)) return binding.at(value, name.span, name.text);
      return refuse(
        `USING takes no lists, records or JSON; got ${typeName(value.type)}`,
        name.span,
      );
    }) as [Expression, Expression];
    terms.push(comparison('=', values[0], values[1], name.span, binding));
    merged.push({ name: name.text, expression: mergedValue(kind, values, name, binding) });
  }
  const others = [...left.variables, ...right.variables].map((variable) =>
    withoutColumns(variable, mergedNames),
  );
  return { on: conjunctionOf(terms), variables: [mergedVariable(merged), ...others] };
}

/** The side that has a value in every row; where neither has, the one of the two that is there. */
function mergedValue(
  kind: Sides['kind'],
  values: readonly [Expression, Expression],
  name: Name,
  binding: Binding,
): Expression {
  if (kind !== 'full') return kind === 'right' ? values[1] : values[0];
  const type = commonType(values);
  const coerced = type === undefined ? undefined : coerceAll(values, type, binding);
  if (type === undefined || coerced === undefined) {
    const [left, right] = values.map((value) => typeName(value.type));
    return refuse(`USING needs values of one type; got ${left} and ${right}`, name.span);
  }
  return { op: 'coalesce', type, arguments: coerced };
}
