import { arrayOf, BOOL, INT64, type SqlType, typeName } from '../../column/type.ts';
import type { Span } from '../../query-error.ts';
import type { Query, Expression as Syntax } from '../../sql/ast.ts';
import type { Capture, Column, Expression, Subquery } from '../expression.ts';
import { columnReference } from '../expression-walk.ts';
import type { LogicalPlan } from '../logical-plan.ts';
import type { Binding } from './binding.ts';
import { comparable } from './coercion.ts';
import type { ExpressionContext } from './context.ts';
import { OuterScope } from './outer-scope.ts';
import { refuse } from './refusal.ts';
import { typesText } from './types-text.ts';

type SubquerySyntax = Syntax & { readonly kind: 'subquery' };

type BoundSubquery = {
  readonly plan: LogicalPlan;
  readonly captures: readonly Capture[];
  readonly columns: readonly Column[];
};

/** `(SELECT …)`, `ARRAY(SELECT …)` and `EXISTS(SELECT …)`. */
export function bindSubquery(syntax: SubquerySyntax, context: ExpressionContext): Expression {
  const { form, span } = syntax;
  const { plan, captures, columns } = bindPlan(syntax.query, context);
  const shared = { op: 'subquery' as const, plan, captures, span };
  if (form === 'exists') return { ...shared, form, type: BOOL };
  const value = onlyColumn(columns, form === 'array' ? 'ARRAY(SELECT …)' : '(SELECT …)', span);
  if (form === 'scalar') return { ...shared, form, type: value.type, value };
  if (value.type.kind === 'ARRAY') {
    const got = typeName(value.type);
    refuse(`an array cannot hold arrays: ARRAY(SELECT …) of ${got}; select a STRUCT`, span);
  }
  const element = value.type.kind === 'NULL' ? INT64 : value.type;
  return { ...shared, form, type: arrayOf(element), value };
}

export type InQuerySyntax = {
  readonly input: Expression;
  readonly query: Query;
  readonly span: Span;
  /** `left = right`, of records. */
  readonly equal: (left: Expression, right: Expression) => Expression;
};

/** `input IN (SELECT …)`. Both sides are brought to one type, as those of `=` are. */
export function bindInQuery(syntax: InQuerySyntax, context: ExpressionContext): Expression {
  const { input, query, span } = syntax;
  const { binding } = context;
  const bound = bindPlan(query, context);
  const { plan, captures } = bound;
  const column = onlyColumn(bound.columns, 'IN (SELECT …)', query.span);
  if (input.type.kind === 'STRUCT' && column.type.kind === 'STRUCT') {
    return recordInRows(syntax, { plan, captures, column }, binding);
  }
  const operands = comparable([input, columnReference(column)], binding);
  if (operands === undefined) {
    const got = typesText([input, columnReference(column)]);
    return refuse(`IN cannot compare ${got}`, span);
  }
  const [wanted, expression] = operands as readonly [Expression, Expression];
  const value = binding.newColumn(column.name, expression.type);
  return {
    op: 'subquery',
    form: 'in',
    type: BOOL,
    input: wanted,
    captures,
    plan: binding.plan(
      { op: 'project', input: plan, columns: [{ column: value, expression }] },
      span,
    ),
    value,
    span,
  } satisfies Subquery;
}

export type RecordInArray = Omit<InQuerySyntax, 'query'> & {
  readonly array: Expression;
  readonly element: SqlType;
};

/** `record IN UNNEST(array)`: the array is computed for the row, and each of its elements is a row of the subquery. */
export function isRecordInArray(
  { array, element, ...of }: RecordInArray,
  binding: Binding,
): Expression {
  const captured = binding.newOuterColumn('array', array.type);
  const column = binding.newColumn('element', element);
  const unnest = {
    op: 'unnest',
    input: { op: 'one-row' },
    array: columnReference(captured),
    element: column,
    outer: false,
  } as const;
  const captures = [{ column: captured, expression: array }];
  const plan = binding.plan(unnest, of.span);
  const subquery = recordInRows(of, { plan, captures, column }, binding);
  // How values are compared follows from their types.
  const shape = `${typeName(of.input.type)} in ${typeName(array.type)}`;
  binding.identities.shareShape(subquery.plan, shape);
  return subquery;
}

type Rows = Omit<BoundSubquery, 'columns'> & { readonly column: Column };

/** A record is compared field by field with each row, so it is captured. */
function recordInRows(
  { input, span, equal }: Omit<InQuerySyntax, 'query'>,
  { plan, captures, column }: Rows,
  binding: Binding,
): Subquery {
  const wanted = binding.newOuterColumn('input', input.type);
  const expression = equal(columnReference(wanted), columnReference(column));
  const value = binding.newColumn('is_equal', BOOL);
  return {
    op: 'subquery',
    form: 'any',
    type: BOOL,
    captures: [...captures, { column: wanted, expression: input }],
    plan: binding.plan(
      { op: 'project', input: plan, columns: [{ column: value, expression }] },
      span,
    ),
    value,
    span,
  } satisfies Subquery;
}

function bindPlan(query: Query, context: ExpressionContext): BoundSubquery {
  const { binding, place, tables } = context;
  const outer = new OuterScope(place.scope, binding);
  const relation = binding.nested(query.span, () => tables.bind(query, binding, outer));
  return { ...outer.close(relation.plan), columns: relation.columns };
}

function onlyColumn(columns: readonly Column[], what: string, span: Span): Column {
  if (columns.length === 1) return columns[0]!;
  return refuse(
    `${what} takes one column; got ${columns.length}; SELECT AS STRUCT makes them one`,
    span,
  );
}
