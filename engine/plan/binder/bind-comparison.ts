import {
  arrayOf,
  BOOL,
  BYTES,
  DYNAMIC,
  FLOAT64,
  INT64,
  isNumber,
  type SqlType,
  STRING,
  type StructField,
  typeName,
  typesEqual,
} from '../../column/type.ts';
import { readingBeside } from '../../function/dynamic.ts';
import { refuse, type Span } from '../../query-error.ts';
import type { BinaryOperator, Query, Expression as Syntax } from '../../sql/ast.ts';
import {
  type Capture,
  type Column,
  columnReference,
  type Expression,
  type Subquery,
} from '../expression.ts';
import type { LogicalPlan } from '../logical-plan.ts';
import { combined } from './bind-access.ts';
import type { Binding, ExpressionContext } from './binding.ts';
import {
  coerce,
  coerceAll,
  commonType,
  comparable,
  hasField,
  isGroupable,
  isScalar,
  isTime,
  JSON_HELP,
  typesText,
} from './coercion.ts';
import { OuterScope, structField } from './scope.ts';

type Kind<K extends Syntax['kind']> = Syntax & { readonly kind: K };

type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>=';

export function isComparison(operator: BinaryOperator): operator is Comparison {
  return ['=', '!=', '<', '<=', '>', '>='].includes(operator);
}

export function comparison(
  operator: Comparison,
  left: Expression,
  right: Expression,
  span: Span,
  binding: Binding,
): Expression {
  if (left.type.kind === 'STRUCT' && right.type.kind === 'STRUCT') {
    if (operator !== '=' && operator !== '!=') {
      refuse(`${operator} does not compare records; got ${typesText([left, right])}`, span);
    }
    const equal = recordsEqual([left, right], span, binding);
    return operator === '=' ? equal : not(equal, span);
  }
  const operands = comparable([left, right], binding);
  if (operands === undefined) return refuseComparison(operator, [left, right], span);
  return { op: 'call', type: BOOL, name: operator, arguments: operands, span };
}

/** Records are equal when all fields are, pair by pair; their names do not matter. */
function recordsEqual(
  [left, right]: readonly [Expression, Expression],
  span: Span,
  binding: Binding,
): Expression {
  const [fields, others] = [left.type, right.type].map((type) =>
    type.kind === 'STRUCT' ? type.fields : [],
  ) as [readonly StructField[], readonly StructField[]];
  if (fields.length !== others.length || fields.length === 0) {
    return refuseComparison('=', [left, right], span);
  }
  const terms = fields.map((field, index) => {
    for (const side of [left, right]) binding.spendCopy(side, span);
    const pair = [
      structField(left, field.type, index),
      structField(right, others[index]!.type, index),
    ] as const;
    return comparison('=', ...pair, span, binding);
  });
  return combined('and', terms, span);
}

/** `operand = value` for each value, all of them brought to one type as those of IN are. */
export function equalities(
  operand: Expression,
  values: readonly Expression[],
  span: Span,
  binding: Binding,
): readonly Expression[] {
  if (operand.type.kind === 'STRUCT') {
    return values.map((value) => comparison('=', operand, value, span, binding));
  }
  const all = [operand, ...values];
  // A field is compared with each value as that wants it.
  if (hasField([operand])) {
    return values.map((value) => comparison('=', operand, value, span, binding));
  }
  const operands = comparable(all, binding) ?? refuseComparison('CASE', distinctTypes(all), span);
  const [compared, ...wanted] = operands as readonly [Expression, ...Expression[]];
  return wanted.map((value) => ({
    op: 'call',
    type: BOOL,
    name: '=',
    arguments: [compared, value],
    span,
  }));
}

function refuseComparison(what: string, operands: readonly Expression[], span: Span): never {
  const hasTime = operands.some(({ type }) => isTime(type));
  const hasDynamic = operands.some(({ type }) => type.kind === 'DYNAMIC');
  const hasJson = operands.some(({ type }) => !isGroupable(type));
  const help =
    hasTime && hasDynamic
      ? '; to read a metadata field as a time write TIMESTAMP(field)'
      : hasJson
        ? `; ${JSON_HELP}`
        : '';
  refuse(`${what} cannot compare ${typesText(operands)}${help}`, span);
}

/** GoogleSQL refuses operators beside a bare NULL: the result is always NULL, and never meant. */
export function refuseBareNull(operator: string, operands: readonly Syntax[]): void {
  const bare = operands.find(({ kind }) => kind === 'null');
  if (bare === undefined) return;
  const help = operator === '=' || operator === '!=' ? '; write IS NULL or IS NOT NULL' : '';
  refuse(`${operator} cannot have a bare NULL as an operand${help}`, bare.span);
}

export function bindIs(syntax: Kind<'is'>, context: ExpressionContext): Expression {
  const { test, span, negated } = syntax;
  const input =
    test === 'null'
      ? context.bind(syntax.input)
      : context.bindAs(syntax.input, BOOL, `IS ${test.toUpperCase()}`);
  const result: Expression = {
    op: 'call',
    type: BOOL,
    name: test === 'unknown' ? 'is_null' : `is_${test}`,
    arguments: [input],
    span,
  };
  return negated ? not(result, span) : result;
}

export function bindBetween(syntax: Kind<'between'>, context: ExpressionContext): Expression {
  const { span, negated } = syntax;
  const { binding } = context;
  const all = [syntax.input, syntax.low, syntax.high].map((each) => context.bind(each));
  binding.spendCopy(all[0]!, span);
  const bounds = hasField(all.slice(0, 1))
    ? boundsOf(all, (operator, ...sides) => comparison(operator, ...sides, span, binding))
    : boundsOf(
        comparable(all, binding) ?? refuseComparison('BETWEEN', all, span),
        (name, ...sides) => ({ op: 'call', type: BOOL, name, arguments: sides, span }),
      );
  const result: Expression = { op: 'call', type: BOOL, name: 'and', arguments: bounds, span };
  return negated ? not(result, span) : result;
}

type Compare = (operator: '>=' | '<=', left: Expression, right: Expression) => Expression;

function boundsOf(operands: readonly Expression[], compare: Compare): readonly Expression[] {
  const [input, low, high] = operands as readonly [Expression, Expression, Expression];
  return [compare('>=', input, low), compare('<=', input, high)];
}

/** `in(input, item, item, …)`, `in_array(input, array)` for IN UNNEST, or a subquery. */
export function bindIn(syntax: Kind<'in'>, context: ExpressionContext): Expression {
  const { span, negated, query } = syntax;
  const input = context.bind(syntax.input);
  const result =
    query !== undefined
      ? bindInQuery({ input, query, span, equal: equalIn(span, context) }, context)
      : syntax.array === undefined
        ? inList(input, syntax.list, span, context)
        : inArray(input, syntax.array, span, context);
  return negated ? not(result, span) : result;
}

/** Makes `left = right`. */
function equalIn(
  span: Span,
  { binding }: ExpressionContext,
): (left: Expression, right: Expression) => Expression {
  return (left, right) => comparison('=', left, right, span, binding);
}

function inList(
  input: Expression,
  list: readonly Syntax[],
  span: Span,
  context: ExpressionContext,
): Expression {
  const items = list.map((item) => context.bind(item));
  if (input.type.kind === 'STRUCT') return isSomeRecord(input, items, span, context.binding);
  const groups = hasField([input]) ? itemsByReading(items) : [items];
  const terms = groups.map((group, index): Expression => {
    if (index > 0) context.binding.spendCopy(input, span);
    const operands = comparable([input, ...group], context.binding);
    if (operands === undefined)
      return refuseComparison('IN', distinctTypes([input, ...items]), span);
    return { op: 'call', type: BOOL, name: 'in', arguments: operands, span };
  });
  return combined('or', terms, span);
}

/** Records are equal field by field. */
function isSomeRecord(
  input: Expression,
  items: readonly Expression[],
  span: Span,
  binding: Binding,
): Expression {
  const terms = items.map((item, index) => {
    if (index > 0) binding.spendCopy(input, span);
    return comparison('=', input, item, span, binding);
  });
  return combined('or', terms, span);
}

/** Items beside which a field is read alike stand together; a NULL with any. */
function itemsByReading(items: readonly Expression[]): readonly (readonly Expression[])[] {
  const groups = new Map<string, Expression[]>();
  const nulls = items.filter(({ type }) => type.kind === 'NULL');
  for (const item of items) {
    if (item.type.kind === 'NULL') continue;
    const key = typeName(readingBeside(item.type) ?? item.type);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  const [first = [], ...others] = groups.values();
  return [[...first, ...nulls], ...others];
}

/** The first expression of each type. */
function distinctTypes(expressions: readonly Expression[]): readonly Expression[] {
  return [...new Map(expressions.map((each) => [typeName(each.type), each])).values()];
}

function inArray(
  input: Expression,
  syntax: Syntax,
  span: Span,
  context: ExpressionContext,
): Expression {
  const { binding } = context;
  const bound = context.bind(syntax);
  const element = bound.type.kind === 'ARRAY' ? bound.type.element : DYNAMIC;
  if (bound.type.kind !== 'ARRAY' && coerce(bound, arrayOf(element), binding) === undefined) {
    return refuse(`IN UNNEST takes an ARRAY; got ${typeName(bound.type)}`, syntax.span);
  }
  const isWritten = bound.op === 'array' && bound.elements.length > 0;
  if (isWritten && input.type.kind === 'STRUCT') {
    return isSomeRecord(input, bound.elements, span, binding);
  }
  if (input.type.kind === 'STRUCT' && element.kind === 'STRUCT') {
    return isRecordInArray(
      { input, array: bound, element, span, equal: equalIn(span, context) },
      binding,
    );
  }
  const operands = comparableWithElements(input, bound, element, binding);
  if (operands === undefined) {
    const elements = typeName(arrayOf(element));
    return refuse(
      `IN UNNEST cannot compare ${typeName(input.type)} with elements of ${elements}`,
      span,
    );
  }
  return { op: 'call', type: BOOL, name: 'in_array', arguments: operands, span };
}

/** By the rules of `=`, which a field or an element of unknown kind is read by. */
function comparableWithElements(
  input: Expression,
  array: Expression,
  element: SqlType,
  binding: Binding,
): readonly Expression[] | undefined {
  if (!isScalar(input.type) || !isScalar(element)) return undefined;
  if (element.kind === 'DYNAMIC') {
    const reading = readingBeside(input.type);
    const read = reading && coerce(array, arrayOf(reading), binding);
    return read && [input, read];
  }
  if (typesEqual(input.type, element)) return [input, array];
  const asElement =
    input.type.kind === 'DYNAMIC'
      ? fieldBeside(input, element, binding)
      : coerce(input, isNumber(element) ? FLOAT64 : element, binding);
  if (asElement !== undefined) return [asElement, array];
  const asArray = coerce(array, arrayOf(input.type), binding);
  return asArray === undefined ? undefined : [input, asArray];
}

function fieldBeside(field: Expression, type: SqlType, binding: Binding): Expression | undefined {
  const reading = readingBeside(type);
  return reading && coerce(field, reading, binding);
}

export function bindLike(syntax: Kind<'like'>, context: ExpressionContext): Expression {
  const { span, negated } = syntax;
  refuseBareNull('LIKE', [syntax.input, syntax.pattern]);
  const result = like(context.bind(syntax.input), syntax.pattern, span, context);
  return negated ? not(result, span) : result;
}

/** `x LIKE ANY (a, b)` is `x LIKE a OR x LIKE b`, and ALL the same with AND; NOT stands before each LIKE. */
export function bindLikeList(syntax: Kind<'like-list'>, context: ExpressionContext): Expression {
  const { span, negated, patterns } = syntax;
  const input = context.bind(syntax.input);
  const terms = patterns.map((pattern, index) => {
    if (index > 0) context.binding.spendCopy(input, span);
    const term = like(input, pattern, span, context);
    return negated ? not(term, span) : term;
  });
  const name = syntax.all ? 'and' : 'or';
  return { op: 'call', type: BOOL, name, arguments: terms, span };
}

function like(
  input: Expression,
  pattern: Syntax,
  span: Span,
  context: ExpressionContext,
): Expression {
  const bound = [input, context.bind(pattern)];
  const type = bound.some((operand) => operand.type.kind === 'BYTES') ? BYTES : STRING;
  const operands = coerceAll(bound, type, context.binding);
  if (operands === undefined) {
    return refuse(`LIKE takes STRING or BYTES on both sides; got ${typesText(bound)}`, span);
  }
  return { op: 'call', type: BOOL, name: 'like', arguments: operands, span };
}

/** `a IS DISTINCT FROM b`: whether a GROUP BY would put them into two groups. */
export function bindDistinctFrom(
  syntax: Kind<'distinct-from'>,
  context: ExpressionContext,
): Expression {
  const { span, negated } = syntax;
  const bound = [context.bind(syntax.left), context.bind(syntax.right)];
  const type = commonType(bound);
  const operands =
    comparable(bound, context.binding) ??
    (type === undefined || !isGroupable(type)
      ? undefined
      : coerceAll(bound, type, context.binding));
  if (operands === undefined) return refuseComparison('IS DISTINCT FROM', bound, span);
  const result: Expression = {
    op: 'call',
    type: BOOL,
    name: 'is_distinct',
    arguments: operands,
    span,
  };
  return negated ? not(result, span) : result;
}

export function not(input: Expression, span: Span): Expression {
  return { op: 'call', type: BOOL, name: 'not', arguments: [input], span };
}

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

type InQuerySyntax = {
  readonly input: Expression;
  readonly query: Query;
  readonly span: Span;
  /** `left = right`, of records. */
  readonly equal: (left: Expression, right: Expression) => Expression;
};

/** `input IN (SELECT …)`. Both sides are brought to one type, as those of `=` are. */
function bindInQuery(syntax: InQuerySyntax, context: ExpressionContext): Expression {
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

type RecordInArray = Omit<InQuerySyntax, 'query'> & {
  readonly array: Expression;
  readonly element: SqlType;
};

/** `record IN UNNEST(array)`: the array is computed for the row, and each of its elements is a row of the subquery. */
function isRecordInArray({ array, element, ...of }: RecordInArray, binding: Binding): Expression {
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
