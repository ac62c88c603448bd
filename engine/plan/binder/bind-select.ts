import { BOOL } from '../../column/type.ts';
import { refuse, type Span } from '../../query-error.ts';
import type { Name, OrderItem, Select, Expression as Syntax } from '../../sql/ast.ts';
import {
  type Column,
  type ColumnId,
  childrenOf,
  columnReference,
  columnsOf,
  type Expression,
  withChildren,
} from '../expression.ts';
import { type LogicalPlan, mapCall, rowExpressionsOf } from '../logical-plan.ts';
import { structOfColumns } from './bind-access.ts';
import { Aggregates } from './bind-aggregate.ts';
import type { TableBinder } from './bind-table.ts';
import { type BoundWindow, Windows } from './bind-window.ts';
import type { Binding, ExpressionContext, Origin, Relation } from './binding.ts';
import { checkGroupable } from './coercion.ts';
import { addReadAlways, Deferral } from './deferral.ts';
import type { FromScope, NameScope, RangeVariable } from './scope.ts';
import {
  type BoundOrder,
  bindOrder,
  bindSelectList,
  columnAtOrdinal,
  findAlias,
  impliedName,
  leavesKeysOut,
  type SelectColumn,
  sorted,
} from './select-list.ts';

/** A SELECT on its way up: a plan, and what its list and order mean over that plan's columns. */
type Stage = {
  readonly plan: LogicalPlan;
  readonly list: readonly SelectColumn[];
  readonly order: readonly BoundOrder[];
  readonly windows: readonly BoundWindow[];
  readonly qualify: BoundQualify | undefined;
};

type StageAbove = Omit<Stage, 'plan'>;

type BoundQualify = { readonly predicate: Expression; readonly span: Span };

/**
 * One SELECT with the ORDER BY behind it: FROM, WHERE, GROUP BY, HAVING, windows, QUALIFY, then
 * either DISTINCT and the order, or the order and the select list. The order lies below the list, so that it may use
 * what the list leaves out, and what only the list needs is computed after a LIMIT.
 */
export function bindSelect(
  select: Select,
  orderBy: readonly OrderItem[],
  tables: TableBinder,
  binding: Binding,
): Relation {
  const nothing = { plan: { op: 'one-row' } as const, variables: [] };
  const from = select.from === undefined ? nothing : tables.bind(select.from);
  const scope = tables.scopeOf(from.variables);
  const aggregates = new Aggregates(binding);
  const windows = new Windows(binding, select.windows ?? []);
  const listPlace = { text: 'the select list', scope, aggregates, windows };
  const list = bindSelectList(select.items, scope, tables.expressionsAt(listPlace));
  const place = {
    scope: new AliasScope(list, scope),
    aggregates,
    // An alias that is itself an aggregate cannot be meant inside another one.
    argumentScope: new AliasScope(
      list.filter(({ expression }) => !isComputedLater(expression, { aggregates, windows })),
      scope,
    ),
  };
  const inOrder = tables.expressionsAt({ ...place, text: 'ORDER BY', windows });
  const inQualify = tables.expressionsAt({ ...place, text: 'QUALIFY', windows });
  const inHaving = tables.expressionsAt({ ...place, text: 'HAVING' });
  const order = bindOrder(orderBy, list, inOrder);
  const qualify = bindQualify(select.qualify, inQualify, windows);
  const stage: Stage = {
    plan: filtered(from.plan, select.where, scope, tables, binding),
    list,
    order,
    windows: windows.list(),
    qualify,
  };
  const having = bindHaving(select.having, inHaving, windows);
  const keys = bindKeys(select.groupBy, { list, scope, aggregates, windows, tables, binding });
  if (select.from === undefined) refuseWithoutFrom(select, orderBy, { aggregates, windows });
  if (select.having !== undefined && keys.length === 0 && aggregates.list().length === 0) {
    refuse('HAVING needs a GROUP BY or an aggregate; write WHERE', select.having.span);
  }
  const isGrouped =
    select.groupBy === 'all' ||
    keys.length > 0 ||
    aggregates.list().length > 0 ||
    having !== undefined;
  const group = { keys, aggregates, windows, having, span: select.span };
  const grouped = isGrouped ? groupStage(stage, group, binding) : stage;
  const windowed = windowStage(grouped, binding);
  const top = select.distinct ? distinctStage(windowed, select.span, binding) : windowed;
  const ordered = { ...top, plan: sorted(top.plan, top.order, binding) };
  if (select.asStruct === true) return projectedStruct(ordered, select.span, binding);
  const relation = projected(ordered, select.span, binding);
  return leavesKeysOut(select.items, scope) ? { ...relation, leavesKeysOut: true } : relation;
}

/** Whether an expression reads what is computed of groups or of other rows. */
function isComputedLater(expression: Expression, { aggregates, windows }: Collected): boolean {
  return aggregates.areIn(expression) || windows.areIn(expression);
}

type Collected = { readonly aggregates: Aggregates; readonly windows: Windows };

function bindHaving(
  syntax: Syntax | undefined,
  context: ExpressionContext,
  windows: Windows,
): Expression | undefined {
  if (syntax === undefined) return undefined;
  const having = context.bindAs(syntax, BOOL, 'HAVING');
  // By an alias of the select list.
  if (windows.areIn(having)) refuse('a window function cannot stand in HAVING', syntax.span);
  return having;
}

function bindQualify(
  syntax: Syntax | undefined,
  context: ExpressionContext,
  windows: Windows,
): BoundQualify | undefined {
  if (syntax === undefined) return undefined;
  const predicate = context.bindAs(syntax, BOOL, 'QUALIFY');
  if (windows.list().length > 0) return { predicate, span: syntax.span };
  return refuse('QUALIFY needs a window function (OVER); write WHERE or HAVING', syntax.span);
}

/** One row of constants has nothing to count, to compare or to order. */
function refuseWithoutFrom(
  select: Select,
  orderBy: readonly OrderItem[],
  { aggregates, windows }: Collected,
): void {
  const order = orderBy[0];
  if (order !== undefined) refuse('a SELECT without FROM cannot have ORDER BY', order.span);
  if (select.distinct) refuse('a SELECT without FROM cannot be DISTINCT', select.span);
  if (aggregates.list().length > 0) {
    refuse('a SELECT without FROM cannot have an aggregate', select.span);
  }
  if (windows.list().length > 0) {
    refuse('a SELECT without FROM cannot have a window function', select.span);
  }
}

function filtered(
  plan: LogicalPlan,
  where: Syntax | undefined,
  scope: FromScope,
  tables: TableBinder,
  binding: Binding,
): LogicalPlan {
  if (where === undefined) return plan;
  const binder = tables.expressionsAt({ text: 'WHERE', scope });
  const predicate = binder.bindAs(where, BOOL, 'WHERE');
  return binding.plan({ op: 'filter', input: plan, predicate }, where.span);
}

type KeyContext = {
  readonly list: readonly SelectColumn[];
  readonly scope: FromScope;
  readonly aggregates: Aggregates;
  readonly windows: Windows;
  readonly tables: TableBinder;
  readonly binding: Binding;
};

/** The keys of GROUP BY: positions and names of the select list first, then expressions over FROM. */
function bindKeys(groupBy: readonly Syntax[] | 'all', context: KeyContext): readonly GroupKey[] {
  const { binding } = context;
  const keys = new Map<number, GroupKey>();
  const written =
    groupBy === 'all' ? impliedKeys(context) : groupBy.map((syntax) => bindKey(syntax, context));
  for (const { name, expression } of written) {
    const identity = binding.identities.of(expression);
    if (keys.has(identity)) continue;
    keys.set(identity, { column: binding.newColumn(name, expression.type), expression });
  }
  return [...keys.values()];
}

/** GROUP BY ALL: what the list has that is read from the rows and not computed of groups. */
function impliedKeys(context: KeyContext): readonly SelectColumn[] {
  const { list, binding } = context;
  return list.filter(({ expression, span }) => {
    if (isComputedLater(expression, context) || columnsOf(expression).size === 0) return false;
    checkGroupable('GROUP BY ALL', expression.type, span);
    binding.spendCopy(expression, span);
    return true;
  });
}

function bindKey(
  syntax: Syntax,
  { list, scope, aggregates, windows, tables, binding }: KeyContext,
): { readonly name: string; readonly expression: Expression } {
  const column =
    syntax.kind === 'integer'
      ? columnAtOrdinal(list, syntax, 'GROUP BY')
      : syntax.kind === 'name'
        ? findAlias(list, syntax.name, (each) => binding.identities.of(each))
        : undefined;
  if (column === undefined) {
    const binder = tables.expressionsAt({ text: 'GROUP BY', scope });
    const expression = binder.bind(syntax);
    checkGroupable('GROUP BY', expression.type, syntax.span);
    return { name: impliedName(syntax) ?? '', expression };
  }
  if (aggregates.areIn(column.expression)) {
    refuse(
      `GROUP BY cannot use ${column.name}, because it is computed by an aggregate`,
      syntax.span,
    );
  }
  if (windows.areIn(column.expression)) {
    refuse(`GROUP BY cannot use ${column.name}, because it is computed over a window`, syntax.span);
  }
  checkGroupable('GROUP BY', column.expression.type, syntax.span);
  binding.spendCopy(column.expression, syntax.span);
  return column;
}

/** Puts the Aggregate, and the HAVING above it, between FROM and the list. */
function groupStage(
  stage: Stage,
  group: {
    readonly keys: readonly GroupKey[];
    readonly aggregates: Aggregates;
    readonly windows: Windows;
    readonly having: Expression | undefined;
    readonly span: Span;
  },
  binding: Binding,
): Stage {
  const { keys, aggregates, windows, having, span } = group;
  const kept = new KeptValues({
    binding,
    keys,
    aggregates,
    windows,
    refusal: (path) => `${path} is neither in GROUP BY nor inside an aggregate`,
  });
  const above = mapStage(stage, (each) => kept.above(each));
  const predicate = having && kept.above(having);
  const always = readAlways(above, predicate);
  const deferral = new Deferral(aggregates.list(), { input: stage.plan, always, binding });
  const computed = aggregates.list().map((each) => deferral.computed(each));
  const aggregate = binding.plan(
    { op: 'aggregate', input: stage.plan, keys, aggregates: computed },
    span,
  );
  const plan: LogicalPlan =
    predicate === undefined
      ? aggregate
      : binding.plan(
          { op: 'filter', input: aggregate, predicate: deferral.reading(predicate) },
          span,
        );
  return { plan, ...mapStage(above, (each) => deferral.reading(each)) };
}

/** The columns that a stage, and the HAVING below it, read whatever the values are. */
function readAlways(
  { list, order, windows, qualify }: StageAbove,
  having?: Expression,
): ReadonlySet<ColumnId> {
  const always = new Set<ColumnId>();
  for (const { expression } of list) addReadAlways(expression, always);
  for (const { key } of order) addReadAlways(key.expression, always);
  for (const predicate of [qualify?.predicate, having]) {
    if (predicate !== undefined) addReadAlways(predicate, always);
  }
  for (const { partitionBy, orderBy, calls } of windows) {
    const called = calls.filter(({ column }) => always.has(column.id));
    if (called.length === 0) continue;
    const read = [
      ...partitionBy,
      ...orderBy.map((key) => key.expression),
      ...called.flatMap(({ call }) => rowExpressionsOf(call.function)),
    ];
    for (const each of read) addReadAlways(each, always);
  }
  return always;
}

/** DISTINCT is a grouping by the whole list; above it only the list's values are left. */
function distinctStage(stage: Stage, span: Span, binding: Binding): Stage {
  const keys = stage.list.map((column) => {
    checkGroupable('SELECT DISTINCT', column.expression.type, column.span);
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
  const { order } = mapStage({ ...stage, list: [] }, (each) => kept.above(each));
  const list = stage.list.map((column, index) => ({
    ...column,
    expression: columnReference(keys[index]!.column),
  }));
  return { plan, list, order, windows: [], qualify: undefined };
}

/** What is computed over windows, and the QUALIFY above it. */
function windowStage(stage: Stage, binding: Binding): Stage {
  if (stage.windows.length === 0) return stage;
  const always = readAlways(stage);
  const called = stage.windows.flatMap(({ partitionBy, orderBy, calls }) => {
    const isOpen = calls.every(({ column }) => !always.has(column.id));
    const keys = isOpen ? [...partitionBy, ...orderBy.map((key) => key.expression)] : [];
    return calls.map(({ column, call, span }) => ({ column, call: call.function, span, keys }));
  });
  const deferral = new Deferral(called, { input: stage.plan, always, binding });
  let { plan } = stage;
  for (const { span, partitionBy, orderBy, calls } of stage.windows) {
    const computed = calls.map(({ column, call }) => {
      const own = deferral.computed({ column, call: call.function });
      return { column: own.column, call: { ...call, function: own.call } };
    });
    plan = binding.plan({ op: 'window', input: plan, partitionBy, orderBy, calls: computed }, span);
  }
  const above = mapStage({ ...stage, windows: [] }, (each) => deferral.reading(each));
  if (above.qualify !== undefined) {
    const { predicate, span } = above.qualify;
    plan = binding.plan({ op: 'filter', input: plan, predicate }, span);
  }
  return { ...above, plan, qualify: undefined };
}

function mapStage(
  { list, order, windows, qualify }: StageAbove,
  change: (expression: Expression) => Expression,
): StageAbove {
  return {
    list: list.map((column) => ({ ...column, expression: change(column.expression) })),
    order: order.map((each) => ({
      ...each,
      key: { ...each.key, expression: change(each.key.expression) },
    })),
    windows: windows.map((window) => mapWindow(window, change)),
    qualify: qualify && { ...qualify, predicate: change(qualify.predicate) },
  };
}

function mapWindow(
  window: BoundWindow,
  change: (expression: Expression) => Expression,
): BoundWindow {
  return {
    ...window,
    partitionBy: window.partitionBy.map(change),
    orderBy: window.orderBy.map((key) => ({ ...key, expression: change(key.expression) })),
    calls: window.calls.map((each) => ({
      ...each,
      call: { ...each.call, function: mapCall(each.call.function, change) },
    })),
  };
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

/** SELECT AS STRUCT: one column, whose values are the rows. */
function projectedStruct(stage: Stage, span: Span, binding: Binding): Relation {
  const expression = structOfColumns(
    stage.list.map(({ name, isAnonymous, expression: value }) => ({
      name: isAnonymous ? undefined : name,
      expression: value,
    })),
  );
  const column = binding.newColumn('', expression.type);
  const columns = [{ column, expression }];
  const plan = binding.plan({ op: 'project', input: stage.plan, columns }, span);
  return { plan, columns: [column], spans: [span], isValue: true };
}

/** Names in HAVING and ORDER BY: those of the select list win over those of FROM. */
class AliasScope implements NameScope {
  readonly #columns: readonly SelectColumn[];
  readonly #from: FromScope;

  constructor(columns: readonly SelectColumn[], from: FromScope) {
    this.#columns = columns;
    this.#from = from;
  }

  value(name: Name, binding: Binding): Expression {
    return this.find(name, binding) ?? this.#from.value(name, binding);
  }

  find(name: Name, binding: Binding): Expression | undefined {
    const identityOf = (expression: Expression) => binding.identities.of(expression);
    const alias = findAlias(this.#columns, name, identityOf);
    if (alias === undefined) return this.#from.find(name, binding);
    binding.spendCopy(alias.expression, name.span);
    return alias.expression;
  }

  findVariable(name: string): RangeVariable | undefined {
    return this.#from.findVariable(name);
  }

  names(): readonly string[] {
    const named = this.#columns.filter((column) => !column.isAnonymous);
    return [...named.map((column) => column.name), ...this.#from.names()];
  }
}

type GroupKey = { readonly column: Column; readonly expression: Expression };

/**
 * What an expression bound over FROM means above the operator that keeps only some values: the keys
 * and aggregates of a GROUP BY, or the values of a SELECT DISTINCT.
 */
class KeptValues {
  readonly #binding: Binding;
  readonly #keys: ReadonlyMap<number, Column>;
  readonly #aggregates: Aggregates | undefined;
  readonly #windows: Windows | undefined;
  readonly #refusal: (path: string) => string;

  constructor(options: {
    readonly binding: Binding;
    readonly keys: readonly GroupKey[];
    readonly aggregates?: Aggregates;
    /** Computed above the operator, so that what they give needs no keeping. */
    readonly windows?: Windows;
    /** The sentence for a column that is not kept. */
    readonly refusal: (path: string) => string;
  }) {
    const { identities } = options.binding;
    this.#binding = options.binding;
    this.#keys = new Map(options.keys.map((key) => [identities.of(key.expression), key.column]));
    this.#aggregates = options.aggregates;
    this.#windows = options.windows;
    this.#refusal = options.refusal;
  }

  /** The same value, read from the kept columns; refuses a column that is not among them. */
  above(expression: Expression): Expression {
    return this.#above(expression, undefined);
  }

  /** `path` is where the path stands that the expression is the inner part of, if it is one. */
  #above(expression: Expression, path: Origin | undefined): Expression {
    if (isGiven(expression) || this.#isOuter(expression)) return expression;
    const origin = path ?? this.#binding.originOf(expression);
    const key = this.#keys.get(this.#binding.identities.of(expression));
    if (key !== undefined) return this.#at(columnReference(key), origin);
    if (expression.op === 'column') {
      if (this.#aggregates?.has(expression.id) === true) return expression;
      if (this.#windows?.has(expression.id) === true) return expression;
      refuse(this.#refusal(origin?.text ?? 'a column'), origin?.span);
    }
    const children = childrenOf(expression);
    if (children.length === 0) return expression;
    const kept = children.map((child) => {
      const isWritten = this.#binding.originOf(child) !== undefined;
      return this.#above(child, isPath(expression) || !isWritten ? origin : undefined);
    });
    return this.#at(withChildren(expression, kept), origin);
  }

  /** The row outside of a subquery is one and the same for all its groups. */
  #isOuter(expression: Expression): boolean {
    return expression.op === 'column' && this.#binding.isOuter(expression.id);
  }

  #at(expression: Expression, origin: Origin | undefined): Expression {
    if (origin === undefined) return expression;
    return this.#binding.at(expression, origin.span, origin.text);
  }
}

/** Needs no group to have a value. */
function isGiven(expression: Expression): boolean {
  return expression.op === 'literal' || expression.op === 'parameter' || expression.op === 'now';
}

function isPath(expression: Expression): boolean {
  return expression.op === 'dynamic-field' || expression.op === 'struct-field';
}
