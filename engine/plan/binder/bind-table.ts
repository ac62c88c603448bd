import { arrayOf, BOOL, elementTypeOf, INT64, typeName } from '../../column/type.ts';
import { FROM_ITEMS_MAX } from '../../limits.ts';
import { hint } from '../../nearest-name.ts';
import { QueryError, refuse, type Span } from '../../query-error.ts';
import {
  type CommonTable,
  type Name,
  placedAt,
  type Query,
  type Expression as Syntax,
  type TableExpression,
} from '../../sql/ast.ts';
import { parseQuery } from '../../sql/query-parser.ts';
import { columnReference, conjunctionOf, type Expression } from '../expression.ts';
import { ALL_TIME, type LogicalPlan, type View } from '../logical-plan.ts';
import { comparison } from './bind-comparison.ts';
import { ExpressionBinder } from './bind-expression.ts';
import type { Binding, Place, Relation } from './binding.ts';
import { coerceAll, commonType, isScalar } from './coercion.ts';
import {
  checkDistinctNames,
  elementVariable,
  FromScope,
  itemsNamed,
  mergedVariable,
  type OuterScope,
  type RangeVariable,
  relationVariable,
  type ScopeColumn,
  sameName,
  sourceVariable,
  withoutColumns,
} from './scope.ts';

/** What FROM gives: rows, and the names for their columns. */
type BoundFrom = {
  readonly plan: LogicalPlan;
  readonly variables: readonly RangeVariable[];
};

/** Binds what stands in FROM. */
export class TableBinder {
  readonly #binding: Binding;
  readonly #tables: CommonTables;
  readonly #outer: OuterScope | undefined;

  constructor(binding: Binding, tables: CommonTables, outer: OuterScope | undefined) {
    this.#binding = binding;
    this.#tables = tables;
    this.#outer = outer;
  }

  /** The names of a FROM clause, and those outside. */
  scopeOf(variables: readonly RangeVariable[]): FromScope {
    return new FromScope(variables, this.#outer);
  }

  /** A query among the same tables, that sees the same names outside. */
  query(query: Query): Relation {
    return this.#tables.bind(query, this.#binding, this.#outer);
  }

  expressionsAt(place: Place): ExpressionBinder {
    return new ExpressionBinder(this.#binding, place, this.#tables);
  }

  /** Chains of joins lean to the left: they are walked in a loop, so only parentheses recurse. */
  bind(syntax: TableExpression): BoundFrom {
    const joins: JoinSyntax[] = [];
    let first = syntax;
    for (; first.kind === 'join'; first = first.left) joins.push(first);
    if (joins.length >= FROM_ITEMS_MAX) {
      throw new QueryError(
        'query_limit',
        `FROM names more than ${FROM_ITEMS_MAX} tables`,
        syntax.span,
      );
    }
    let bound = this.#bindFirst(first);
    for (const join of joins.reverse()) {
      // The rows of an array that are kept without a partner belong to no row on the left.
      const isApart = join.join === 'right' || join.join === 'full';
      const array = isApart ? undefined : this.#arrayOnRight(join.right, bound);
      bound = array === undefined ? this.#join(join, bound) : this.#unnest(array, bound, join);
    }
    return bound;
  }

  #bindFirst(syntax: Exclude<TableExpression, JoinSyntax>): BoundFrom {
    const nothing: BoundFrom = { plan: { op: 'one-row' }, variables: [] };
    switch (syntax.kind) {
      case 'table': {
        const array = this.#arrayOnRight(syntax, nothing);
        if (array !== undefined) return this.#unnest(array, nothing, undefined);
        return this.#bindPath(syntax, nothing);
      }
      case 'subquery': {
        const relation = this.#binding.nested(syntax.span, () => this.query(syntax.query));
        return { plan: relation.plan, variables: [variableOf(syntax.alias?.text, relation)] };
      }
      case 'unnest':
        return this.#unnest(syntax, nothing, undefined);
    }
  }

  /** UNNEST, or a path through what stands to its left, as in `FROM t, t.metadata`. */
  #arrayOnRight(right: TableExpression, left: BoundFrom): ArraySyntax | undefined {
    if (right.kind === 'unnest') return right;
    if (right.kind !== 'table' || right.path.length < 2) return undefined;
    const [head, ...fields] = right.path as readonly [Name, ...Name[]];
    if (this.scopeOf(left.variables).findVariable(head.text) === undefined) return undefined;
    let array: Syntax = { kind: 'name', span: head.span, name: head };
    for (const field of fields) array = { kind: 'field', span: right.span, input: array, field };
    const { span, withOffset } = right;
    return { span, array, alias: right.alias ?? fields.at(-1), withOffset };
  }

  #join(join: JoinSyntax, left: BoundFrom): BoundFrom {
    // Of what is too much the error names the table that was one too many.
    const { span } = join.right;
    const right = this.#binding.nested(join.right.span, () => this.#bindRight(join.right, left));
    checkDistinctNames(left.variables, right.variables, join.right.span);
    const variables = [...left.variables, ...right.variables];
    if (join.join === 'comma' || join.join === 'cross') {
      if (join.on !== undefined) refuse('CROSS JOIN takes no ON; write INNER JOIN', join.on.span);
      return { plan: this.#crossJoin(left.plan, right.plan, span), variables };
    }
    if (join.using !== undefined) {
      const merged = bindUsing(join.using, { left, right, kind: join.join }, this.#binding);
      return {
        plan: this.#conditionalJoin(join.join, { left, right, on: merged.on }, span),
        variables: merged.variables,
      };
    }
    if (join.on === undefined) {
      refuse('this JOIN needs a condition: JOIN … ON …, or JOIN … USING (…)', join.span);
    }
    const on = this.#condition(join.on, variables);
    return { plan: this.#conditionalJoin(join.join, { left, right, on }, span), variables };
  }

  /** A RIGHT JOIN keeps what a LEFT JOIN from the other side keeps. */
  #conditionalJoin(
    kind: 'inner' | 'left' | 'right' | 'full',
    { left, right, on }: { left: BoundFrom; right: BoundFrom; on: Expression },
    span: Span,
  ): LogicalPlan {
    const [first, second] = kind === 'right' ? [right.plan, left.plan] : [left.plan, right.plan];
    const plan = { op: 'join', left: first, right: second, on } as const;
    return this.#binding.plan({ ...plan, kind: kind === 'right' ? 'left' : kind }, span);
  }

  #bindRight(right: TableExpression, left: BoundFrom): BoundFrom {
    return right.kind === 'table' ? this.#bindPath(right, left) : this.bind(right);
  }

  #crossJoin(left: LogicalPlan, right: LogicalPlan, span: Span): LogicalPlan {
    return this.#binding.plan({ op: 'join', kind: 'cross', left, right }, span);
  }

  /** A CTE; else a view or a source, of which only one may have the name. */
  #bindPath(syntax: TableSyntax, left: BoundFrom): BoundFrom {
    const { path, alias, span, withOffset } = syntax;
    if (withOffset !== undefined)
      refuse('WITH OFFSET must follow an array, not a table', withOffset.span);
    const name = path.map((word) => word.text).join('.');
    this.#binding.spend(NODES_PER_TABLE, span);
    const common = path.length === 1 ? this.#tables.find(name, span, this.#binding) : undefined;
    if (common !== undefined) {
      return { plan: common.plan, variables: [variableOf(alias?.text ?? name, common)] };
    }
    const source = this.#findSource(name);
    const view = this.#tables.seesSources ? this.#binding.findView(name) : undefined;
    if (view !== undefined) {
      if (source !== undefined) refuse(`${name} is both a source and a saved query`, span);
      const relation = this.#bindView(view, span);
      return { plan: relation.plan, variables: [variableOf(alias?.text ?? name, relation)] };
    }
    if (source === undefined) return this.#refuseTable(name, span, left);
    const { variable, scanColumns } = sourceVariable(alias?.text ?? source, this.#binding);
    const plan = this.#binding.plan(
      { op: 'scan', source, columns: scanColumns, window: ALL_TIME },
      span,
    );
    return { plan, variables: [variable] };
  }

  /** The rows of another text, as if it stood here as a subquery that sees nothing around it. */
  #bindView(view: View, span: Span): Relation {
    return this.#binding.withinView(view, span, () => {
      const query = placedAt(parseView(view, span), span, view.name);
      return this.#tables.bindApart(query, this.#binding);
    });
  }

  #findSource(name: string): string | undefined {
    if (!this.#tables.seesSources) return undefined;
    const names = this.#binding.sourceNames();
    if (names.includes(name)) return name;
    const similar = names.filter((each) => each.toLowerCase() === name.toLowerCase());
    return similar.length === 1 ? similar[0] : undefined;
  }

  #refuseTable(name: string, span: Span, left: BoundFrom): never {
    const isColumn = left.variables.some(
      (variable) => itemsNamed(variable.columns, name).length > 0,
    );
    if (isColumn) {
      refuse(`there is no table ${name}; for the elements of a column write UNNEST(${name})`, span);
    }
    const common = this.#tables.names();
    if (!this.#tables.seesSources) {
      const known = [...new Set(common)].reverse().slice(0, TABLES_LISTED_MAX);
      const list = known.length === 0 ? 'there is none' : `there are ${known.join(', ')}`;
      refuse(`there is no table ${name} here: ${list}${hint(name, common)}`, span);
    }
    const names = [...common, ...this.#binding.sourceNames(), ...this.#binding.viewsKnown()];
    const near = hint(name, names);
    const unknownTable = near === '' ? name : undefined;
    throw new QueryError('invalid_sql', `there is no table ${name}${near}`, span, { unknownTable });
  }

  #unnest(syntax: ArraySyntax, left: BoundFrom, join: JoinSyntax | undefined): BoundFrom {
    const { span } = syntax;
    const array = this.#array(syntax, left);
    const type = elementTypeOf(array.type);
    const element = this.#binding.newColumn(syntax.alias?.text ?? '', type);
    const offset =
      syntax.withOffset === undefined
        ? undefined
        : this.#binding.newColumn(syntax.withOffset.text, INT64);
    const added: RangeVariable[] = [elementVariable(syntax.alias?.text, element)];
    if (offset !== undefined) {
      const column = { name: offset.name, expression: columnReference(offset) };
      added.push({
        name: undefined,
        columns: [column],
        star: [column],
        value: columnReference(offset),
      });
    }
    checkDistinctNames(left.variables, added, span);
    const outer = join?.join === 'left';
    const { variables, condition } = this.#unnestCondition(join, left, added);
    const on = outer ? condition : undefined;
    const plan = this.#binding.plan(
      { op: 'unnest', input: left.plan, array, element, offset, outer, on },
      span,
    );
    if (outer || condition === undefined) return { plan, variables };
    const filter = this.#binding.plan({ op: 'filter', input: plan, predicate: condition }, span);
    return { plan: filter, variables };
  }

  #unnestCondition(
    join: JoinSyntax | undefined,
    left: BoundFrom,
    added: readonly RangeVariable[],
  ): { readonly variables: readonly RangeVariable[]; readonly condition?: Expression | undefined } {
    const variables = [...left.variables, ...added];
    if (join?.using !== undefined) {
      const kind = join.join === 'left' ? 'left' : 'inner';
      const sides = { left, right: { variables: added }, kind } as const;
      const merged = bindUsing(join.using, sides, this.#binding);
      return { variables: merged.variables, condition: merged.on };
    }
    if (join?.on === undefined) return { variables };
    return { variables, condition: withoutTrue(this.#condition(join.on, variables)) };
  }

  #array(syntax: ArraySyntax, left: BoundFrom): Expression {
    const scope = this.scopeOf(left.variables);
    const binder = this.expressionsAt({ text: 'UNNEST', scope });
    const array = binder.bind(syntax.array);
    if (array.type.kind === 'ARRAY' || array.type.kind === 'DYNAMIC') return array;
    if (array.type.kind === 'NULL') {
      return { op: 'literal', type: arrayOf({ kind: 'NULL' }), value: null };
    }
    const help = array.type.kind === 'JSON' ? '; of JSON make one with JSON_QUERY_ARRAY' : '';
    return refuse(`UNNEST takes an ARRAY; got ${typeName(array.type)}${help}`, syntax.array.span);
  }

  #condition(syntax: Syntax, variables: readonly RangeVariable[]): Expression {
    const place = { text: 'ON', scope: this.scopeOf(variables) };
    return this.expressionsAt(place).bindAs(syntax, BOOL, 'ON');
  }
}

/** What does not parse is told with its place in the view, at the place where that is named. */
function parseView({ name, text }: View, span: Span): Query {
  try {
    return parseQuery(text);
  } catch (error) {
    if (!(error instanceof QueryError) || error.span === undefined) throw error;
    const { line, column } = error.span;
    throw new QueryError(error.code, error.message, { ...span, view: { name, line, column } });
  }
}

/** Tables that a refusal lists: as many as a reader looks through. */
const TABLES_LISTED_MAX = 40;

/** A relation of values is named as the elements of a list are. */
function variableOf(name: string | undefined, relation: Relation): RangeVariable {
  if (relation.isValue === true) return elementVariable(name, relation.columns[0]!);
  const { leavesKeysOut } = relation;
  return { ...relationVariable(name, relation.columns), leavesKeysOut };
}

/** What a use of a table counts for, beside the columns of its operators: it is looked up, and is an operator. */
const NODES_PER_TABLE = 10;

type JoinSyntax = TableExpression & { readonly kind: 'join' };
type TableSyntax = TableExpression & { readonly kind: 'table' };
type ArraySyntax = {
  readonly span: Span;
  readonly array: Syntax;
  readonly alias?: Name | undefined;
  readonly withOffset?: Name | undefined;
};

/** `ON TRUE` is no condition. */
function withoutTrue(condition: Expression): Expression | undefined {
  return condition.op === 'literal' && condition.value === true ? undefined : condition;
}

type Sides = {
  readonly left: { readonly variables: readonly RangeVariable[] };
  readonly right: { readonly variables: readonly RangeVariable[] };
  readonly kind: 'inner' | 'left' | 'right' | 'full';
};

/**
 * `JOIN … USING (a, b)`: the columns of both sides are equal by pairs, and each pair is one column
 * for whoever names it without a table, the first ones of `*`.
 */
function bindUsing(
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

/**
 * Binds a whole query where the given CTEs are in scope; `outer`: what a subquery sees of the query
 * around it.
 */
type BindQuery = (
  query: Query,
  tables: CommonTables,
  binding: Binding,
  outer?: OuterScope,
) => Relation;

type Entry = {
  readonly outer: CommonTables;
  readonly table: CommonTable;
  /** Bound once for its errors; the first use takes it, later ones bind their own. */
  unused: Relation | undefined;
  /** Of another text than the one that is bound: its places mean nothing there. */
  readonly isForeign: boolean;
};

/** The CTEs in scope at one place, the nearest first; an inner name hides the same outer one. */
export class CommonTables {
  readonly #bindQuery: BindQuery;
  /** The nearest; absent: there is none, or none but those of `#outer`. */
  readonly #entry: Entry | undefined;
  readonly #outer: CommonTables | undefined;
  /** Whether a source may be named here, too. */
  readonly seesSources: boolean;

  private constructor(
    bindQuery: BindQuery,
    scope: {
      readonly outer?: CommonTables | undefined;
      readonly entry?: Entry;
      readonly seesSources: boolean;
    },
  ) {
    this.#bindQuery = bindQuery;
    this.#outer = scope.outer;
    this.#entry = scope.entry;
    this.seesSources = scope.seesSources;
  }

  static none(bindQuery: BindQuery): CommonTables {
    return new CommonTables(bindQuery, { seesSources: true });
  }

  /**
   * The tables of some texts that were bound before, and no source: whoever stands here sees what they
   * select, and nothing of what they select it from. Each sees those before it in its own text, and is bound when it is
   * used; what is wrong with it then stands where it is used.
   */
  static only(texts: readonly (readonly CommonTable[])[], bindQuery: BindQuery): CommonTables {
    let visible: CommonTables | undefined;
    for (const tables of texts) {
      let outer = CommonTables.none(bindQuery);
      for (const table of tables) {
        const entry: Entry = { outer, table, unused: undefined, isForeign: true };
        outer = new CommonTables(bindQuery, { outer, entry, seesSources: true });
        visible = new CommonTables(bindQuery, { outer: visible, entry, seesSources: false });
      }
    }
    return visible ?? new CommonTables(bindQuery, { seesSources: false });
  }

  /** With the tables of one WITH, each of which sees those before it. */
  with(tables: readonly CommonTable[], binding: Binding): CommonTables {
    let scope: CommonTables = this;
    const names = new Set<string>();
    for (const table of tables) {
      const name = table.name.text.toLowerCase();
      if (names.has(name)) refuse(`WITH names ${table.name.text} twice`, table.name.span);
      names.add(name);
      const unused = this.#bindQuery(table.query, scope, binding);
      const entry: Entry = { outer: scope, table, unused, isForeign: false };
      const { seesSources } = scope;
      scope = new CommonTables(this.#bindQuery, { outer: scope, entry, seesSources });
    }
    return scope;
  }

  /** A copy of the table with columns of its own, for a use at `span`; `undefined` if there is none of that name. */
  find(name: string, span: Span, binding: Binding): Relation | undefined {
    const entry = this.#entries().find(({ table }) => sameName(table.name.text, name));
    if (entry === undefined) return undefined;
    const { outer, unused, isForeign } = entry;
    entry.unused = undefined;
    if (unused !== undefined) return unused;
    const query = isForeign ? placedAt(entry.table.query, span) : entry.table.query;
    return binding.nested(query.span, () => this.#bindQuery(query, outer, binding));
  }

  /** Binds a subquery that sees these tables. */
  bind(query: Query, binding: Binding, outer: OuterScope | undefined): Relation {
    return this.#bindQuery(query, this, binding, outer);
  }

  /** Binds a query of a text of its own, placed where it is used: it sees sources and views alone. */
  bindApart(query: Query, binding: Binding): Relation {
    const tables = CommonTables.none(this.#bindQuery);
    return binding.nested(query.span, () => this.#bindQuery(query, tables, binding));
  }

  names(): readonly string[] {
    return this.#entries().map(({ table }) => table.name.text);
  }

  #entries(): readonly Entry[] {
    const entries: Entry[] = [];
    for (let at: CommonTables | undefined = this; at !== undefined; at = at.#outer) {
      if (at.#entry !== undefined) entries.push(at.#entry);
    }
    return entries;
  }
}
