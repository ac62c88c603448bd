import { must } from '../../assert.ts';
import { BOOL, INT64, type SqlType, typeName, typesEqual } from '../../column/type.ts';
import { refuse, type Span } from '../../query-error.ts';
import type { QueryBody, SetOperation } from '../../sql/ast.ts';
import { type Column, columnReference, type Expression, isLiteral } from '../expression.ts';
import type { AggregateCall, LogicalPlan } from '../logical-plan.ts';
import type { Binding, Relation } from './binding.ts';
import { checkGroupable, coerce, commonType } from './coercion.ts';

/**
 * UNION, EXCEPT and INTERSECT. All are a Union of the inputs, brought to common types column by
 * column; DISTINCT is a grouping of its rows, and EXCEPT and INTERSECT keep the groups whose rows are
 * of the right inputs. Names are those of the first input.
 */
export function bindSetOperation(
  syntax: SetOperation,
  bindBody: (body: QueryBody) => Relation,
  binding: Binding,
): Relation {
  const { operator, all, span } = syntax;
  const name = `${operator.toUpperCase()} ${all ? 'ALL' : 'DISTINCT'}`;
  const inputs = syntax.inputs.map((body) => ({ relation: bindBody(body), span: body.span }));
  checkWidths(name, inputs);
  const { columns: named, spans, isValue } = must(inputs[0]).relation;
  const columns = named.map((column, index) => ({
    ...column,
    type: commonColumnType(name, inputs, index),
  }));
  if (!all) for (const { type } of columns) checkGroupable(name, type, span);
  const branches = inputs.map(({ relation }) => branchOf(relation, columns, binding));
  if (all) {
    const union = unionOf(branches, columns, span, binding);
    return { plan: union.plan, columns: union.columns, spans, isValue };
  }
  const plan = distinctRows(operator, { branches, columns, span }, binding);
  return { ...plan, spans, isValue };
}

type Input = { readonly relation: Relation; readonly span: Span };

/** A plan, and its columns in the order of the text. */
type Rows = { readonly plan: LogicalPlan; readonly columns: readonly Column[] };

function checkWidths(name: string, inputs: readonly Input[]): void {
  const width = inputs[0]?.relation.columns.length;
  for (const { relation, span } of inputs) {
    if (relation.columns.length === width) continue;
    const wanted = `the inputs of ${name} must have as many columns as the first, ${width}`;
    refuse(`${wanted}; got ${relation.columns.length}`, span);
  }
}

function commonColumnType(name: string, inputs: readonly Input[], index: number): SqlType {
  const values = inputs.map(({ relation }) => inputValue(relation, index));
  const type = commonType(values);
  if (type !== undefined) return type;
  const types = [...new Set(values.map((value) => typeName(value.type)))].join(', ');
  return refuse(
    `column ${index + 1} of ${name} needs values of one type; got ${types}`,
    inputs.at(-1)?.relation.spans[index],
  );
}

/** A column of an input; a constant or list that it selects is one here too, for these coerce further. */
function inputValue({ plan, columns }: Relation, index: number): Expression {
  const column = must(columns[index]);
  const item = plan.op === 'project' ? plan.columns[index] : undefined;
  if (item?.column.id !== column.id) return columnReference(column);
  return isConstant(item.expression) ? item.expression : columnReference(column);
}

function isConstant(expression: Expression): boolean {
  if (expression.op === 'array') {
    return expression.elements.every((element) => isLiteral(element) || isConstant(element));
  }
  if (expression.op === 'struct') return expression.fields.every(isConstant);
  return isLiteral(expression) && expression.type.kind !== 'STRUCT';
}

/** An input whose columns have the types of the union's. */
function branchOf(relation: Relation, columns: readonly Column[], binding: Binding): Rows {
  if (columns.every(({ type }, index) => typesEqual(must(relation.columns[index]).type, type))) {
    return relation;
  }
  const items = columns.map(({ type }, index) => {
    const own = must(relation.columns[index]);
    const expression =
      coerce(inputValue(relation, index), type, binding) ??
      refuse(`${typeName(own.type)} cannot become ${typeName(type)}`, relation.spans[index]);
    return { column: binding.newColumn(own.name, type), expression };
  });
  const project = { op: 'project', input: relation.plan, columns: items } as const;
  return {
    plan: binding.plan(project, must(relation.spans[0])),
    columns: items.map(({ column }) => column),
  };
}

function unionOf(
  branches: readonly Rows[],
  columns: readonly Column[],
  span: Span,
  binding: Binding,
): Rows {
  const own = columns.map(({ name, type }, index) => ({
    column: binding.newColumn(name, type),
    from: branches.map((branch) => must(branch.columns[index]).id),
  }));
  const inputs = branches.map(({ plan }) => plan);
  return {
    plan: binding.plan({ op: 'union', inputs, columns: own }, span),
    columns: own.map(({ column }) => column),
  };
}

type Distinct = {
  readonly branches: readonly Rows[];
  readonly columns: readonly Column[];
  readonly span: Span;
};

/** The rows of the union, each once; of EXCEPT and INTERSECT those that are in the right branches. */
function distinctRows(
  operator: 'union' | 'except' | 'intersect',
  { branches, columns, span }: Distinct,
  binding: Binding,
): Rows {
  const isTagged = operator !== 'union';
  const tag: Column = { id: 0, name: 'input', type: INT64 };
  const tagged = isTagged
    ? branches.map((branch, position) => withTag(branch, position, span, binding))
    : branches;
  const union = unionOf(tagged, isTagged ? [...columns, tag] : columns, span, binding);
  const keys = columns.map(({ name, type }, index) => ({
    column: binding.newColumn(name, type),
    expression: columnReference(must(union.columns[index])),
  }));
  const output = keys.map(({ column }) => column);
  if (!isTagged) {
    const aggregate = { op: 'aggregate', input: union.plan, keys, aggregates: [] } as const;
    return { plan: binding.plan(aggregate, span), columns: output };
  }
  const { call, equals } = membership(operator, union.columns.at(-1)!, branches.length);
  const found = binding.newColumn('inputs', INT64);
  const aggregates = [{ column: found, call }];
  const groups = binding.plan({ op: 'aggregate', input: union.plan, keys, aggregates }, span);
  const predicate: Expression = {
    op: 'call',
    type: BOOL,
    name: '=',
    arguments: [columnReference(found), { op: 'literal', type: INT64, value: equals }],
  };
  const kept = binding.plan({ op: 'filter', input: groups, predicate }, span);
  const items = output.map((column) => ({ column, expression: columnReference(column) }));
  return {
    plan: binding.plan({ op: 'project', input: kept, columns: items }, span),
    columns: output,
  };
}

/** A branch whose rows tell its position. */
function withTag(branch: Rows, position: number, span: Span, binding: Binding): Rows {
  const tag = binding.newColumn('input', INT64);
  const passed = branch.columns.map((column) => ({
    column: binding.newColumn(column.name, column.type),
    expression: columnReference(column),
  }));
  const value: Expression = { op: 'literal', type: INT64, value: position };
  const columns = [...passed, { column: tag, expression: value }];
  return {
    plan: binding.plan({ op: 'project', input: branch.plan, columns }, span),
    columns: columns.map(({ column }) => column),
  };
}

/** EXCEPT: no row of a group comes from beyond the first branch. INTERSECT: some come from each. */
function membership(
  operator: 'except' | 'intersect',
  tag: Column,
  branchCount: number,
): { readonly call: AggregateCall; readonly equals: number } {
  const call = { arguments: [columnReference(tag)], constants: [] };
  return operator === 'except'
    ? { call: { ...call, name: 'max', distinct: false }, equals: 0 }
    : { call: { ...call, name: 'count', distinct: true }, equals: branchCount };
}
