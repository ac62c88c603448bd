import { BOOL, typeName } from '../../column/type.ts';
import type { Span } from '../../query-error.ts';
import type { OrderItem, Select, Expression as Syntax } from '../../sql/ast.ts';
import type { Expression } from '../expression.ts';
import { columnReference } from '../expression-walk.ts';
import type { LogicalPlan } from '../logical-plan.ts';
import { Aggregates } from './aggregates.ts';
import { AliasScope } from './alias-scope.ts';
import { ExpressionBinder } from './bind-expression.ts';
import { type BoundOrder, bindOrder, sorted } from './bind-order.ts';
import type { TableBinder } from './bind-table.ts';
import type { Binding } from './binding.ts';
import { isScalar } from './coercion.ts';
import { type GroupKey, KeptValues } from './grouping.ts';
import { refuse } from './refusal.ts';
import type { Relation } from './relation.ts';
import { FromScope } from './scope.ts';
import {
  bindSelectList,
  columnAtOrdinal,
  findAlias,
  impliedName,
  type SelectColumn,
} from './select-list.ts';

/** A SELECT on its way up: a plan, and what its list and order mean over that plan's columns. */
type Stage = {
  readonly plan: LogicalPlan;
  readonly list: readonly SelectColumn[];
  readonly order: readonly BoundOrder[];
};

/**
 * One SELECT with the ORDER BY behind it: FROM, WHERE, GROUP BY, HAVING, then either DISTINCT and
 * the order, or the order and the select list. The order lies below the list, so that it may use
 * what the list leaves out, and what only the list needs is computed after a LIMIT.
 */
export function bindSelect(
  select: Select,
  orderBy: readonly OrderItem[],
  tables: TableBinder,
  binding: Binding,
): Relation {
  refuseUnsupported(select);
  const nothing = { plan: { op: 'one-row' } as const, variables: [] };
  const from = select.from === undefined ? nothing : tables.bind(select.from);
  const scope = new FromScope(from.variables);
  const aggregates = new Aggregates(binding);
  const listPlace = { text: 'the select list', scope, aggregates };
  const list = bindSelectList(select.items, scope, new ExpressionBinder(binding, listPlace));
  const after = new ExpressionBinder(binding, {
    text: 'ORDER BY',
    scope: new AliasScope(list, scope),
    aggregates,
    // An alias that is itself an aggregate cannot be meant inside another one.
    argumentScope: new AliasScope(
      list.filter((column) => !aggregates.areIn(column.expression)),
      scope,
    ),
  });
  const stage: Stage = {
    plan: filtered(from.plan, select.where, scope, binding),
    list,
    order: bindOrder(orderBy, list, after),
  };
  const having =
    select.having === undefined ? undefined : after.bindAs(select.having, BOOL, 'HAVING');
  if (select.groupBy === 'all') refuse('GROUP BY ALL is not supported', select.span);
  const keys = bindKeys(select.groupBy, { list, scope, aggregates, binding });
  if (select.from === undefined) refuseWithoutFrom(select, orderBy, aggregates);
  if (select.having !== undefined && keys.length === 0 && aggregates.list().length === 0) {
    refuse('HAVING needs a GROUP BY or an aggregate; write WHERE', select.having.span);
  }
  const isGrouped = keys.length > 0 || aggregates.list().length > 0 || having !== undefined;
  const group = { keys, aggregates, having, span: select.span };
  const grouped = isGrouped ? groupStage(stage, group, binding) : stage;
  const top = select.distinct ? distinctStage(grouped, select.span, binding) : grouped;
  return projected({ ...top, plan: sorted(top.plan, top.order, binding) }, select.span, binding);
}

/** Clauses that have no meaning here yet. */
function refuseUnsupported(select: Select): void {
  if (select.asStruct === true) refuse('SELECT AS STRUCT is not supported', select.span);
  if (select.qualify !== undefined) refuse('QUALIFY is not supported', select.qualify.span);
  const window = select.windows?.[0];
  if (window !== undefined) refuse('WINDOW is not supported', window.name.span);
}

/** One row of constants has nothing to count, to compare or to order. */
function refuseWithoutFrom(
  select: Select,
  orderBy: readonly OrderItem[],
  aggregates: Aggregates,
): void {
  const order = orderBy[0];
  if (order !== undefined) refuse('a SELECT without FROM cannot have ORDER BY', order.span);
  if (select.distinct) refuse('a SELECT without FROM cannot be DISTINCT', select.span);
  if (aggregates.list().length === 0) return;
  refuse('a SELECT without FROM cannot have an aggregate', select.span);
}

function filtered(
  plan: LogicalPlan,
  where: Syntax | undefined,
  scope: FromScope,
  binding: Binding,
): LogicalPlan {
  if (where === undefined) return plan;
  const binder = new ExpressionBinder(binding, { text: 'WHERE', scope });
  const predicate = binder.bindAs(where, BOOL, 'WHERE');
  return binding.plan({ op: 'filter', input: plan, predicate }, where.span);
}

type KeyContext = {
  readonly list: readonly SelectColumn[];
  readonly scope: FromScope;
  readonly aggregates: Aggregates;
  readonly binding: Binding;
};

/** The keys of GROUP BY: positions and names of the select list first, then expressions over FROM. */
function bindKeys(groupBy: readonly Syntax[], context: KeyContext): readonly GroupKey[] {
  const { binding } = context;
  const keys = new Map<number, GroupKey>();
  for (const syntax of groupBy) {
    const { name, expression } = bindKey(syntax, context);
    checkScalar('GROUP BY', expression, syntax.span);
    const identity = binding.identities.of(expression);
    if (keys.has(identity)) continue;
    keys.set(identity, { column: binding.newColumn(name, expression.type), expression });
  }
  return [...keys.values()];
}

function bindKey(
  syntax: Syntax,
  { list, scope, aggregates, binding }: KeyContext,
): { readonly name: string; readonly expression: Expression } {
  const column =
    syntax.kind === 'integer'
      ? columnAtOrdinal(list, syntax, 'GROUP BY')
      : syntax.kind === 'name'
        ? findAlias(list, syntax.name, (each) => binding.identities.of(each))
        : undefined;
  if (column === undefined) {
    const binder = new ExpressionBinder(binding, { text: 'GROUP BY', scope });
    return { name: impliedName(syntax) ?? '', expression: binder.bind(syntax) };
  }
  if (aggregates.areIn(column.expression)) {
    refuse(`GROUP BY cannot use ${column.name}, for it is computed by an aggregate`, syntax.span);
  }
  binding.spendCopy(column.expression, syntax.span);
  return column;
}

/** Puts the Aggregate, and the HAVING above it, between FROM and the list. */
function groupStage(
  stage: Stage,
  group: {
    readonly keys: readonly GroupKey[];
    readonly aggregates: Aggregates;
    readonly having: Expression | undefined;
    readonly span: Span;
  },
  binding: Binding,
): Stage {
  const { keys, aggregates, having, span } = group;
  const kept = new KeptValues({
    binding,
    keys,
    aggregates,
    refusal: (path) => `${path} is neither in GROUP BY nor inside an aggregate`,
  });
  const aggregate = binding.plan(
    { op: 'aggregate', input: stage.plan, keys, aggregates: aggregates.list() },
    span,
  );
  const plan: LogicalPlan =
    having === undefined
      ? aggregate
      : binding.plan({ op: 'filter', input: aggregate, predicate: kept.above(having) }, span);
  return { plan, ...keptAbove(kept, stage) };
}

/** DISTINCT is a grouping by the whole list; above it only the list's values are left. */
function distinctStage(stage: Stage, span: Span, binding: Binding): Stage {
  const keys = stage.list.map((column) => {
    checkScalar('SELECT DISTINCT', column.expression, column.span);
    return {
      column: binding.newColumn(column.name, column.expression.type),
      expression: column.expression,
    };
  });
  const kept = new KeptValues({
    binding,
    keys,
    refusal: (path) => `ORDER BY can use only what SELECT DISTINCT selects; ${path} is not`,
  });
  const plan = binding.plan({ op: 'aggregate', input: stage.plan, keys, aggregates: [] }, span);
  const { order } = keptAbove(kept, { list: [], order: stage.order });
  const list = stage.list.map((column, index) => ({
    ...column,
    expression: columnReference(keys[index]!.column),
  }));
  return { plan, list, order };
}

function keptAbove(kept: KeptValues, stage: Omit<Stage, 'plan'>): Omit<Stage, 'plan'> {
  const list = stage.list.map((column) => ({
    ...column,
    expression: kept.above(column.expression),
  }));
  const order = stage.order.map((each) => ({
    ...each,
    key: { ...each.key, expression: kept.above(each.key.expression) },
  }));
  return { list, order };
}

/** The select list; a column that is merely passed on keeps its id. */
function projected(stage: Stage, span: Span, binding: Binding): Relation {
  const passed = new Set<number>();
  const columns = stage.list.map(({ name, expression }) => {
    const { type } = expression;
    if (expression.op !== 'column' || passed.has(expression.id)) {
      return { column: binding.newColumn(name, type), expression };
    }
    passed.add(expression.id);
    return { column: { id: expression.id, name, type }, expression };
  });
  const plan = binding.plan({ op: 'project', input: stage.plan, columns }, span);
  return {
    plan,
    columns: columns.map(({ column }) => column),
    spans: stage.list.map((column) => column.span),
  };
}

function checkScalar(clause: string, expression: Expression, span: Span): void {
  if (isScalar(expression.type)) return;
  refuse(`${clause} takes no lists or records; got ${typeName(expression.type)}`, span);
}
