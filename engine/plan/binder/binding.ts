import { assert, must, unreachable } from '../../assert.ts';
import type { SourceSchema } from '../../column/segment.ts';
import { type SqlType, typeName, typesEqual } from '../../column/type.ts';
import { isInterval, type SqlValue } from '../../column/value.ts';
import { formatInterval } from '../../function/time/interval.ts';
import { BOUND_NODES_MAX, BOUND_NODES_WITHIN_MAX } from '../../limits.ts';
import { hint } from '../../nearest-name.ts';
import { QueryError, refuse, type Span } from '../../query-error.ts';
import type { CommonTable, Expression as Syntax } from '../../sql/ast.ts';
import { type Column, type ColumnId, childrenOf, type Expression } from '../expression.ts';
import {
  type AggregateCall,
  columnsMadeBy,
  inputsOf,
  type LogicalPlan,
  type ParameterDeclaration,
  passesOn,
  type SortKey,
  type View,
  type Views,
} from '../logical-plan.ts';
import type { Aggregates } from './bind-aggregate.ts';
import type { CommonTables } from './bind-table.ts';
import type { Windows } from './bind-window.ts';
import type { NameScope } from './scope.ts';

/**
 * Syntax nodes within one another that the binder follows, uses of CTEs included. It recurses with
 * up to eight frames to a node; the parser's own limit on nesting is hit before in most texts.
 */
const BIND_DEPTH_MAX = 400;

/**
 * Views within one another: a chain longer than this is hard to follow for whoever reads it. How much all
 * their uses come to is bounded by `BOUND_NODES_MAX`.
 */
export const VIEW_DEPTH_MAX = 8;

/** Operators above one another in a bound plan: all that walks a plan recurses. */
const PLAN_DEPTH_MAX = 500;

/** Sources and views that a text may name. The texts of its views may name all others, too. */
type NamedTables = {
  readonly sources: 'all' | readonly string[];
  readonly hasView: (name: string) => boolean;
};

/**
 * The tables that a text may name: those of other texts' WITH, which were bound against the same sources and parameters;
 * or some sources and views.
 */
export type Within = readonly (readonly CommonTable[])[] | NamedTables;

/** What a query is bound against. */
export type BindEnvironment = {
  readonly sources: readonly SourceSchema[];
  readonly parameters: readonly ParameterDeclaration[];
  /** What the text itself may name in FROM, where that is not every source and view. Such a text is sent, not saved. */
  readonly within?: Within | undefined;
  /**
   * Whether sources have a column `_arrival`, reached by its bare name alone: rows of one source count up by it
   * as they were published. For texts of the service alone, so that no word of callers is taken away.
   */
  readonly hasArrivals?: boolean;
  /** Queries that may be named in FROM wherever a source may; none when left out. */
  readonly views?: Views | undefined;
};

type PlanSize = { readonly depth: number; readonly columnCount: number };

/** Where in the text an expression stands, and how it reads there. */
export type Origin = { readonly span: Span; readonly text: string };

/**
 * What binding one query shares from end to end: fresh column ids, the parameters met, and the
 * budget. No two columns it hands out have one id.
 */
export class Binding {
  readonly hasArrivals: boolean;
  readonly identities = new ExpressionIdentities();
  /** By name in lower case: of the text, and further ones inside of a view. */
  #declarations: ReadonlyMap<string, ParameterDeclaration>;
  readonly #views: Views | undefined;
  readonly #sources: readonly string[];
  /** What the text itself may name; `undefined`: everything, or the tables of another text. */
  readonly #named: NamedTables | undefined;
  /** Names of the views that are being bound, each used by the one before. */
  readonly #viewsAround: string[] = [];
  readonly #viewsUsed = new Set<string>();
  readonly #parameters = new Map<string, Expression & { readonly op: 'parameter' }>();
  readonly #origins = new WeakMap<Expression, Origin>();
  readonly #planSizes = new WeakMap<LogicalPlan, PlanSize>();
  readonly #outerIds = new Set<ColumnId>();
  readonly #nodesMax: number;
  #columnCount = 0;
  #nodeCount = 0;
  #depth = 0;

  constructor(environment: BindEnvironment) {
    this.#sources = environment.sources.map(({ name }) => name);
    this.#named = isNamedTables(environment.within) ? environment.within : undefined;
    this.hasArrivals = environment.hasArrivals ?? false;
    this.#nodesMax = environment.within === undefined ? BOUND_NODES_MAX : BOUND_NODES_WITHIN_MAX;
    this.#views = environment.views;
    this.#declarations = byName(environment.parameters);
  }

  newColumn(name: string, type: SqlType): Column {
    this.#columnCount += 1;
    return { id: this.#columnCount, name, type };
  }

  /** A column that stands for a value of the row that a subquery is computed for. */
  newOuterColumn(name: string, type: SqlType): Column {
    const column = this.newColumn(name, type);
    this.#outerIds.add(column.id);
    return column;
  }

  isOuter(id: ColumnId): boolean {
    return this.#outerIds.has(id);
  }

  /** The parameter, in the spelling of its first use; refuses one that is not declared. */
  parameter(name: string, span: Span): Expression {
    const key = name.toLowerCase();
    const declaration = this.#declarations.get(key);
    if (declaration === undefined) {
      const names = [...this.#declarations.values()].map((each) => each.name);
      const nearest = hint(name, names).replace('did you mean ', 'did you mean @');
      refuse(`there is no parameter @${name}${nearest}`, span);
    }
    const used = this.#parameters.get(key) ?? { op: 'parameter', type: declaration.type, name };
    checkOneType(name, [declaration.type, used.type], span);
    this.#parameters.set(key, used);
    return { ...used };
  }

  parameterNames(): readonly string[] {
    return [...this.#parameters.values()].map((parameter) => parameter.name);
  }

  /** Sources that the text at this place may name. */
  sourceNames(): readonly string[] {
    const named = this.#namedHere()?.sources ?? 'all';
    return named === 'all' ? this.#sources : this.#sources.filter((name) => named.includes(name));
  }

  findView(name: string): View | undefined {
    return this.#namedHere()?.hasView(name) === false ? undefined : this.#views?.find(name);
  }

  /** Names that texts here may have meant. */
  viewsKnown(): readonly string[] {
    const names = this.#views?.names() ?? [];
    const named = this.#namedHere();
    return named === undefined ? names : names.filter((name) => named.hasView(name));
  }

  /** Inside of a view everything may be named. */
  #namedHere(): NamedTables | undefined {
    return this.#viewsAround.length === 0 ? this.#named : undefined;
  }

  /** Views that the text itself selects from. */
  viewNames(): readonly string[] {
    return [...this.#viewsUsed];
  }

  /**
   * Runs `step`, which binds the text of a view for a use at `span`: there the parameters of the view are
   * declared, too. One that is declared around it must have the same type.
   */
  withinView<T>(view: View, span: Span, step: () => T): T {
    const chain = [...(this.#views === undefined ? [] : [this.#views.name]), ...this.#viewsAround];
    if (chain.includes(view.name)) {
      const round = [...chain.slice(chain.indexOf(view.name)), view.name].join(' → ');
      refuse(`${view.name} selects from itself: ${round}`, span);
    }
    if (this.#viewsAround.length >= VIEW_DEPTH_MAX) {
      const path = [...chain, view.name].join(' → ');
      const message = `views may be nested ${VIEW_DEPTH_MAX} deep; got ${path}`;
      throw new QueryError('query_limit', message, span);
    }
    if (this.#viewsAround.length === 0) this.#viewsUsed.add(view.name);
    const around = this.#declarations;
    for (const declaration of view.parameters) {
      const known = around.get(declaration.name.toLowerCase());
      if (known !== undefined) checkOneType(known.name, [known.type, declaration.type], span);
    }
    this.#declarations = new Map([...byName(view.parameters), ...around]);
    this.#viewsAround.push(view.name);
    try {
      return step();
    } finally {
      this.#viewsAround.pop();
      this.#declarations = around;
    }
  }

  /** Remembers where an expression stands, for errors found only later; returns the expression. */
  at(expression: Expression, span: Span, text: string): Expression {
    this.#origins.set(expression, { span, text });
    return expression;
  }

  originOf(expression: Expression): Origin | undefined {
    return this.#origins.get(expression);
  }

  /** Counts expression nodes made, copies of inlined ones included. */
  spend(nodes: number, span: Span): void {
    this.#nodeCount += nodes;
    if (this.#nodeCount > this.#nodesMax) {
      throw new QueryError(
        'query_limit',
        `the query is too large once its tables and aliases are written out: more than ${this.#nodesMax} expressions`,
        span,
      );
    }
  }

  /** Spends for a second use of an expression already bound. */
  spendCopy(expression: Expression, span: Span): void {
    this.spend(nodeCount(expression, this.#nodesMax), span);
  }

  /** Runs `step` one level deeper; refuses a text nested too deeply before the stack would. */
  nested<T>(span: Span, step: () => T): T {
    if (this.#depth >= BIND_DEPTH_MAX) {
      throw new QueryError('query_limit', `nested deeper than ${BIND_DEPTH_MAX} levels`, span);
    }
    this.#depth += 1;
    try {
      return step();
    } finally {
      this.#depth -= 1;
    }
  }

  /**
   * Puts an operator on top of its inputs, within the depth a plan may have. Spends for the columns that it passes on:
   * passes of the optimiser look at each of them at each operator, and each join has those of all before it.
   */
  plan<P extends LogicalPlan>(node: P, span: Span): P {
    let [depth, passedCount] = [1, 0];
    for (const input of inputsOf(node)) {
      const below = this.#planSizes.get(input);
      depth = Math.max(depth, 1 + (below?.depth ?? 0));
      passedCount += below?.columnCount ?? 0;
    }
    const columnCount = columnsMadeBy(node).length + (passesOn(node) ? passedCount : 0);
    this.spend(columnCount, span);
    if (depth > PLAN_DEPTH_MAX) {
      throw new QueryError(
        'query_limit',
        `the plan is deeper than ${PLAN_DEPTH_MAX} operators: too many tables or subqueries`,
        span,
      );
    }
    this.#planSizes.set(node, { depth, columnCount });
    return node;
  }
}

export function isNamedTables(within: Within | undefined): within is NamedTables {
  return within !== undefined && 'sources' in within;
}

/** Nodes of the tree under an expression, counted no further than `max`. */
function nodeCount(expression: Expression, max: number): number {
  let count = 0;
  const pending = [expression];
  for (let next = pending.pop(); next !== undefined && count < max; next = pending.pop()) {
    count += 1;
    pending.push(...childrenOf(next));
  }
  return count;
}

function byName(
  declarations: readonly ParameterDeclaration[],
): ReadonlyMap<string, ParameterDeclaration> {
  return new Map(declarations.map((each) => [each.name.toLowerCase(), each]));
}

/** A call gives a parameter one value, whoever of the texts names it. */
function checkOneType(name: string, [here, there]: readonly [SqlType, SqlType], span: Span): void {
  if (typesEqual(here, there)) return;
  const types = `${typeName(here)} here and ${typeName(there)} in another text that is part of the query`;
  refuse(`parameter @${name} must have one type; it is ${types}`, span);
}

/**
 * Numbers that are equal exactly when two bound expressions compute the same: how GROUP BY knows
 * its keys again in the select list. Spans do not count, and letter case of field names neither.
 * Each node is looked at once, so the whole costs linear time.
 */
class ExpressionIdentities {
  readonly #byNode = new WeakMap<Expression, number>();
  readonly #byShape = new Map<string, number>();
  readonly #types = new WeakMap<SqlType, number>();
  readonly #typesByName = new Map<string, number>();
  readonly #plans = new WeakMap<LogicalPlan, number>();
  readonly #plansByShape = new Map<string, number>();
  #planCount = 0;

  of(expression: Expression): number {
    const known = this.#byNode.get(expression);
    if (known !== undefined) return known;
    const shape = this.#shape(expression);
    if (!this.#byShape.has(shape)) this.#byShape.set(shape, this.#byShape.size);
    const identity = must(this.#byShape.get(shape));
    this.#byNode.set(expression, identity);
    return identity;
  }

  /** Equal exactly when two lists compute the same, one by one. */
  ofAll(expressions: readonly Expression[]): string {
    return expressions.map((expression) => this.of(expression)).join(' ');
  }

  /** Equal exactly when two orders are the same. */
  ofOrder(keys: readonly SortKey[]): string {
    return keys
      .map((key) => `${this.of(key.expression)} ${key.descending} ${key.nullsFirst}`)
      .join(' ');
  }

  /** Equal exactly when two calls of aggregates compute the same of the same rows. */
  ofCall(call: AggregateCall): string {
    const { name, distinct, nulls = '', orderBy = [], having, limit } = call;
    return [
      `${name} ${distinct} ${nulls}`,
      this.ofAll(call.arguments),
      this.ofAll(call.constants),
      this.ofOrder(orderBy),
      having === undefined ? '' : `${having.extreme} ${this.of(having.expression)}`,
      limit === undefined ? '' : this.of(limit),
    ].join(' / ');
  }

  /** Makes a plan the same as all others of this shape: of equal captures they compute the same. */
  shareShape(plan: LogicalPlan, shape: string): void {
    const number = this.#plansByShape.get(shape) ?? this.#plan(plan);
    this.#plansByShape.set(shape, number);
    this.#plans.set(plan, number);
  }

  /** One node, its inputs given by their identities. */
  #shape(node: Expression): string {
    const all = (inputs: readonly Expression[]) => this.ofAll(inputs);
    const type = this.#type(node.type);
    switch (node.op) {
      case 'literal':
        return `literal ${type} ${literalText(node.value)}`;
      case 'parameter':
        return `parameter ${node.name}`;
      case 'now':
        return 'now';
      case 'column':
        return `column ${node.id}`;
      case 'call':
        return `call ${node.name} ${type} ${all(node.arguments)}`;
      case 'dynamic-field':
        return `field ${this.of(node.input)} ${node.name.toLowerCase()}`;
      case 'struct-field':
        return `position ${this.of(node.input)} ${node.index}`;
      case 'struct':
        return `struct ${type} ${all(node.fields)}`;
      case 'array':
        return `array ${type} ${all(node.elements)}`;
      case 'read-as':
        return `read ${type} ${this.of(node.input)}`;
      case 'cast':
        return `${node.safe ? 'safe ' : ''}cast ${type} ${this.of(node.input)}`;
      case 'case': {
        const branches = node.branches.flatMap((branch) => [branch.when, branch.then]);
        return `case ${type} ${all([...branches, node.otherwise])}`;
      }
      case 'coalesce':
        return `coalesce ${type} ${all(node.arguments)}`;
      case 'deferred-value':
        return `deferred ${this.of(node.input)}`;
      case 'subquery':
        return `subquery ${node.form} ${this.#plan(node.plan)} ${all(childrenOf(node))}`;
      case 'apply':
        return assert(false, 'a bound query is logical') as never;
      default:
        return unreachable(node);
    }
  }

  /** A plan is the same as itself only, and as those that share a shape with it. */
  #plan(plan: LogicalPlan): number {
    const known = this.#plans.get(plan) ?? this.#planCount++;
    this.#plans.set(plan, known);
    return known;
  }

  /** Rows have types of many fields, so each is written out only once. */
  #type(type: SqlType): number {
    const known = this.#types.get(type);
    if (known !== undefined) return known;
    const name = typeName(type);
    const number = this.#typesByName.get(name) ?? this.#typesByName.size;
    this.#typesByName.set(name, number);
    this.#types.set(type, number);
    return number;
  }
}

function literalText(value: SqlValue): string {
  if (isInterval(value)) return `interval ${formatInterval(value)}`;
  if (Object.is(value, -0)) return 'number -0';
  return `${typeof value} ${String(value)}`;
}

/** A bound query: its plan, and the columns of its output in order; names may repeat. */
export type Relation = {
  readonly plan: LogicalPlan;
  readonly columns: readonly Column[];
  /** Where the text selects each of the columns. */
  readonly spans: readonly Span[];
  /** Whether each row is the value of its only column, as after SELECT AS STRUCT. */
  readonly isValue?: boolean | undefined;
  /** Whether a star in its select list left out top-level keys of events, which only the data knows. */
  readonly leavesKeysOut?: boolean | undefined;
};

/** Where an expression stands: what its names mean and whether aggregates may appear. */
export type Place = {
  /** For messages: `WHERE`, `the select list`. */
  readonly text: string;
  readonly scope: NameScope;
  /** Collects the aggregates of the SELECT; absent where none may stand. */
  readonly aggregates?: Aggregates | undefined;
  /** What names mean inside an aggregate's arguments, if not what they mean outside. */
  readonly argumentScope?: NameScope | undefined;
  /** Collects the calls over windows of the SELECT; absent where none may stand. */
  readonly windows?: Windows;
};

/** Binds the expressions of one place. The parts of the binder see one another through it. */
export interface ExpressionContext {
  readonly binding: Binding;
  readonly place: Place;
  /** The CTEs that a subquery here may name. */
  readonly tables: CommonTables;
  bind(syntax: Syntax): Expression;
  /** Binds and brings to the type; refuses with `what` as the subject: `WHERE takes a BOOL`. */
  bindAs(syntax: Syntax, type: SqlType, what: string): Expression;
  /** The same binder for another place. */
  in(place: Place): ExpressionContext;
}
