import { INT64, typeName } from '../../column/type.ts';
import { SELECT_COLUMNS_MAX } from '../../limits.ts';
import { hint } from '../../nearest-name.ts';
import { QueryError, refuse, type Span } from '../../query-error.ts';
import type { Name, OrderItem, SelectItem, Expression as Syntax } from '../../sql/ast.ts';
import type { Expression } from '../expression.ts';
import type { LogicalPlan, SortKey } from '../logical-plan.ts';
import { pathText } from './bind-access.ts';
import type { ExpressionBinder } from './bind-expression.ts';
import type { Binding, ExpressionContext } from './binding.ts';
import { isScalar } from './coercion.ts';
import {
  type FromScope,
  itemsNamed,
  type RangeVariable,
  type ScopeColumn,
  structField,
} from './scope.ts';

/** One column of a select list, bound over FROM and, where it names them, aggregates. */
export type SelectColumn = {
  readonly name: string;
  /** Whether the text gave it no name; then `name` is made up. */
  readonly isAnonymous: boolean;
  readonly expression: Expression;
  readonly span: Span;
};

/** Binds a select list, stars expanded; columns without a name become f0_, f1_ and so on. */
export function bindSelectList(
  items: readonly SelectItem[],
  from: FromScope,
  binder: ExpressionBinder,
): readonly SelectColumn[] {
  const columns: SelectColumn[] = [];
  let anonymousCount = 0;
  const add = (name: string | undefined, expression: Expression, span: Span) => {
    const isAnonymous = name === undefined || name === '';
    const given = isAnonymous ? `f${anonymousCount++}_` : name;
    if (columns.length === SELECT_COLUMNS_MAX) {
      const sentence = `SELECT gives more than ${SELECT_COLUMNS_MAX} columns`;
      throw new QueryError('query_limit', sentence, span);
    }
    columns.push({ name: given, isAnonymous, expression, span });
  };
  for (const item of items) {
    if (item.kind === 'star') {
      for (const column of starColumns(item, from, binder)) {
        binder.binding.spendCopy(column.expression, item.span);
        const expression = { ...column.expression };
        add(column.name, binder.binding.at(expression, item.span, column.name), item.span);
      }
    } else {
      const name = item.alias?.text ?? impliedName(item.expression);
      add(name, binder.bind(item.expression), item.span);
    }
  }
  return columns;
}

/** The last word of a path names a column that has no alias. */
export function impliedName(syntax: Syntax): string | undefined {
  if (syntax.kind === 'name') return syntax.name.text;
  return syntax.kind === 'field' ? syntax.field.text : undefined;
}

/** What a star gives: without the columns EXCEPT names, others in the place of those REPLACE names. */
function starColumns(
  item: StarItem,
  from: FromScope,
  binder: ExpressionBinder,
): readonly ScopeColumn[] {
  const all = expandedStar(item, from, binder);
  const { except = [], replace = [] } = item;
  checkNames('EXCEPT', except, all);
  const excepted = new Set(except.map(({ text }) => text.toLowerCase()));
  const kept = all.filter(({ name }) => !excepted.has(name.toLowerCase()));
  if (kept.length === 0 && except.length > 0) {
    refuse('EXCEPT leaves none of the columns of *', item.span);
  }
  checkNames(
    'REPLACE',
    replace.map(({ name }) => name),
    kept,
  );
  const replacements = new Map(
    replace.map(({ name, expression }) => [name.text.toLowerCase(), binder.bind(expression)]),
  );
  return kept.map((column) => {
    const expression = replacements.get(column.name.toLowerCase());
    return expression === undefined ? column : { name: column.name, expression };
  });
}

/** Each name is one of the columns, and stands once. */
function checkNames(clause: string, names: readonly Name[], columns: readonly ScopeColumn[]): void {
  const earlier = new Set<string>();
  for (const name of names) {
    if (itemsNamed(columns, name.text).length === 0) {
      const known = columns.map((column) => column.name);
      refuse(
        `${clause} names ${name.text}, which is not a column of *${hint(name.text, known)}`,
        name.span,
      );
    }
    if (earlier.has(name.text.toLowerCase())) {
      refuse(`${clause} names ${name.text} twice`, name.span);
    }
    earlier.add(name.text.toLowerCase());
  }
}

/** Whether there are keys of events that a star does not give. */
export function leavesKeysOut(items: readonly SelectItem[], from: FromScope): boolean {
  return items.some((item) => {
    if (item.kind !== 'star') return false;
    const { qualifier } = item;
    if (qualifier === undefined) return from.variables.some(hasOtherKeys);
    const variable = qualifier.kind === 'name' ? from.findVariable(qualifier.name.text) : undefined;
    return variable !== undefined && hasOtherKeys(variable);
  });
}

function hasOtherKeys({ dynamic, leavesKeysOut: isLeftOut }: RangeVariable): boolean {
  return dynamic?.of === 'root' || isLeftOut === true;
}

type StarItem = SelectItem & { readonly kind: 'star' };

function expandedStar(
  item: StarItem,
  from: FromScope,
  binder: ExpressionBinder,
): readonly ScopeColumn[] {
  const { qualifier } = item;
  if (qualifier === undefined) {
    if (from.variables.length === 0) refuse('SELECT * needs a FROM', item.span);
    return from.variables.flatMap((variable) => variable.bareStar ?? variable.star);
  }
  const variable = qualifier.kind === 'name' ? from.findVariable(qualifier.name.text) : undefined;
  if (variable?.value.op === 'struct') return variable.star;
  const value = binder.bind(qualifier);
  if (value.type.kind === 'STRUCT') {
    return value.type.fields.map((field, index) => ({
      name: field.name ?? '',
      expression: structField(value, field.type, index),
    }));
  }
  const text = pathText(qualifier);
  if (value.type.kind === 'DYNAMIC') {
    refuse(
      `${text}.* cannot be expanded: its fields are known from the data only; name them`,
      item.span,
    );
  }
  return refuse(`${text}.* needs a table or a record`, item.span);
}

/** The select column that a bare word names in GROUP BY, HAVING and ORDER BY. */
export function findAlias(
  columns: readonly SelectColumn[],
  name: Name,
  identityOf: (expression: Expression) => number,
): SelectColumn | undefined {
  const matches = itemsNamed(columns, name.text).filter((column) => !column.isAnonymous);
  const meanings = new Set(matches.map((column) => identityOf(column.expression)));
  if (meanings.size > 1) {
    refuse(`${name.text} is ambiguous: the select list gives that name twice`, name.span);
  }
  return matches[0];
}

/** The select column that a whole number in GROUP BY or ORDER BY counts out, from 1. */
export function columnAtOrdinal(
  columns: readonly SelectColumn[],
  syntax: Syntax & { readonly kind: 'integer' },
  clause: string,
): SelectColumn {
  const column = columns[Number(syntax.value) - 1];
  if (column !== undefined) return column;
  return refuse(
    `${clause} ${syntax.value} is outside the select list, 1 to ${columns.length}`,
    syntax.span,
  );
}

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
