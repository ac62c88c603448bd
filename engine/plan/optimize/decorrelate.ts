import { unreachable } from '../../assert.ts';
import { BOOL, INT64 } from '../../column/type.ts';
import { aggregateStateOf } from '../compiled-calls.ts';
import {
  type Column,
  type ColumnId,
  collectColumns,
  columnReference,
  columnsOf,
  conjunctionOf,
  type Expression,
  type Subquery,
  substitute,
} from '../expression.ts';
import {
  type Aggregate,
  type ColumnIds,
  expressionsOf,
  inputsOf,
  type Join,
  type LogicalPlan,
  mapExpressions,
  type Outer,
  outputOf,
  type Union,
  type Window,
} from '../logical-plan.ts';

/**
 * Makes the plan of a subquery one for many rows outside at once, after Neumann and Kemper,
 * "Unnesting Arbitrary Queries" (BTW 2015). Its captures, which the binder leaves as columns given
 * from nowhere, become columns of `outer` leaves; each of its rows then tells by an ordinal which
 * row outside it is of. What does not depend on a capture stays as it is, to the right of a join.
 *
 * A subquery without captures, and one that has been through, is given back as it is.
 */
export function decorrelated(subquery: Subquery, ids: ColumnIds): Subquery {
  if (subquery.ordinal !== undefined || subquery.captures.length === 0) return subquery;
  const asked = subquery.form === 'in' ? withInputCaptured(subquery, ids) : subquery;
  const { plan, ordinal } = new Decorrelation(asked, ids).plan();
  return { ...asked, plan, ordinal };
}

/** `x IN (SELECT y …)` asks of each row whether `x = y`, where the rows depend on the row outside. */
function withInputCaptured(subquery: Subquery, ids: ColumnIds): Subquery {
  const { input, value, captures, plan, span } = subquery;
  if (input === undefined || value === undefined) return subquery;
  const column: Column = { id: ids.next(), name: 'input', type: input.type };
  const isEqual: Column = { id: ids.next(), name: 'is_equal', type: BOOL };
  const expression: Expression = {
    op: 'call',
    type: BOOL,
    name: '=',
    arguments: [columnReference(column), columnReference(value)],
    span,
  };
  return {
    ...subquery,
    form: 'any',
    input: undefined,
    captures: [...captures, { column, expression: input }],
    plan: { op: 'project', input: plan, columns: [{ column: isEqual, expression }] },
    value: isEqual,
  };
}

/** A plan whose rows are of rows outside. */
type Dependent = {
  readonly plan: LogicalPlan;
  readonly ordinal: Column;
  /** The columns of the plan that hold the captures; absent where an operator let them go. */
  readonly captured?: CapturedColumns;
};

/** The columns that hold the captures, by the ids of these. */
type CapturedColumns = ReadonlyMap<ColumnId, Column>;

type Captured = Dependent & { readonly captured: CapturedColumns };

class Decorrelation {
  readonly #subquery: Subquery;
  readonly #ids: ColumnIds;
  readonly #captures: ReadonlySet<ColumnId>;

  constructor(subquery: Subquery, ids: ColumnIds) {
    this.#subquery = subquery;
    this.#ids = ids;
    this.#captures = new Set(subquery.captures.map(({ column }) => column.id));
  }

  plan(): Dependent {
    return this.#dependentOf(this.#subquery.plan);
  }

  #dependent(plan: LogicalPlan): Dependent {
    switch (plan.op) {
      case 'one-row':
        return this.#outer();
      case 'scan':
      case 'rows':
      case 'outer':
        return this.#product(plan);
      case 'filter':
      case 'sort':
      case 'unnest': {
        const input = this.#reading(plan);
        const own = mapExpressions(plan, (each) => reading(each, input.captured));
        return { ...input, plan: { ...own, input: input.plan } as LogicalPlan };
      }
      case 'project': {
        const input = this.#reading(plan);
        const columns = plan.columns.map(({ column, expression }) => ({
          column,
          expression: reading(expression, input.captured),
        }));
        const all = [...columns, ...passedOn(input)];
        return { ...input, plan: { ...plan, input: input.plan, columns: all } };
      }
      case 'limit': {
        const input = this.#dependentOf(plan.input);
        return { ...input, plan: { ...plan, input: input.plan, per: input.ordinal } };
      }
      case 'join':
        return this.#join(plan);
      case 'union':
        return this.#union(plan);
      case 'aggregate':
        return this.#aggregate(plan);
      case 'window': {
        const input = this.#reading(plan);
        const own = mapExpressions(plan, (each) => reading(each, input.captured)) as Window;
        const partitionBy = [columnReference(input.ordinal), ...own.partitionBy];
        return { ...input, plan: { ...own, input: input.plan, partitionBy } };
      }
      default:
        return unreachable(plan);
    }
  }

  /** A leaf of the rows outside, with columns of its own. */
  #outer(): Captured {
    const ordinal: Column = { id: this.#ids.next(), name: 'ordinal', type: INT64 };
    const captures = this.#subquery.captures.map(({ column }) => ({
      column: { ...column, id: this.#ids.next() },
      capture: column.id,
    }));
    const plan: Outer = { op: 'outer', columns: [{ column: ordinal }, ...captures] };
    const captured = captures.map(({ column, capture }) => [capture, column] as const);
    return { plan, ordinal, captured: new Map(captured) };
  }

  /** Each row outside with each row of a plan that does not depend on it. */
  #product(plan: LogicalPlan): Captured {
    const outer = this.#outer();
    return { ...outer, plan: { op: 'join', kind: 'cross', left: outer.plan, right: plan } };
  }

  /** The input of an operator, with captures if the operator reads any. */
  #reading(plan: LogicalPlan): Captured {
    const [input] = inputsOf(plan) as readonly [LogicalPlan];
    const dependent = this.#dependentOf(input);
    return this.#readsCaptures(plan)
      ? this.#withCaptures(dependent)
      : { ...dependent, captured: dependent.captured ?? NO_CAPTURES };
  }

  /** Brings captures that were let go back, by the ordinal. */
  #withCaptures(dependent: Dependent): Captured {
    const { plan, ordinal, captured } = dependent;
    if (captured !== undefined && captured.size > 0) return { ...dependent, captured };
    const outer = this.#outer();
    const on = equal(ordinal, outer.ordinal);
    return {
      plan: { op: 'join', kind: 'inner', left: plan, right: outer.plan, on },
      ordinal,
      captured: outer.captured,
    };
  }

  /** Only a side that depends on captures is made one of the rows outside, if there is any such side. */
  #join(join: Join): Dependent {
    if (join.kind === 'full') return this.#fullJoin(join);
    const isRight = this.#isDependent(join.right);
    const isSwapped = isRight && join.kind !== 'left' && !this.#isDependent(join.left);
    const [first, second] = isSwapped ? [join.right, join.left] : [join.left, join.right];
    const left = this.#readsCaptures(join)
      ? this.#withCaptures(this.#dependentOf(first))
      : this.#dependentOf(first);
    const terms = join.on === undefined ? [] : [reading(join.on, left.captured ?? NO_CAPTURES)];
    if (!isRight || isSwapped) {
      const plan = { ...join, left: left.plan, right: second, on: terms[0] };
      return { ...left, plan };
    }
    const right = this.#dependent(second);
    const on = conjunctionOf([equal(left.ordinal, right.ordinal), ...terms]);
    const kind = join.kind === 'left' ? 'left' : 'inner';
    return { ...left, plan: { op: 'join', kind, left: left.plan, right: right.plan, on } };
  }

  /** Both sides are of the rows outside, since a row of either may have no partner in one of them. */
  #fullJoin(join: Join): Dependent {
    const left = this.#readsCaptures(join)
      ? this.#withCaptures(this.#dependentOf(join.left))
      : this.#dependentOf(join.left);
    const right = this.#dependentOf(join.right);
    const terms = join.on === undefined ? [] : [reading(join.on, left.captured ?? NO_CAPTURES)];
    const on = conjunctionOf([equal(left.ordinal, right.ordinal), ...terms]);
    const ordinal: Column = { id: this.#ids.next(), name: 'ordinal', type: INT64 };
    const either: Expression = {
      op: 'coalesce',
      type: INT64,
      arguments: [columnReference(left.ordinal), columnReference(right.ordinal)],
    };
    const passed = [...outputOf(left.plan), ...outputOf(right.plan)].map((column) => ({
      column,
      expression: columnReference(column),
    }));
    return {
      plan: {
        op: 'project',
        input: { ...join, left: left.plan, right: right.plan, on },
        columns: [{ column: ordinal, expression: either }, ...passed],
      },
      ordinal,
    };
  }

  #union(union: Union): Dependent {
    const inputs = union.inputs.map((input) => this.#dependentOf(input));
    const ordinal: Column = { id: this.#ids.next(), name: 'ordinal', type: INT64 };
    const from = inputs.map((input) => input.ordinal.id);
    const columns = [...union.columns, { column: ordinal, from }];
    return { plan: { ...union, inputs: inputs.map(({ plan }) => plan), columns }, ordinal };
  }

  #dependentOf(plan: LogicalPlan): Dependent {
    const isOwn = plan.op === 'one-row' || this.#isDependent(plan);
    return isOwn ? this.#dependent(plan) : this.#product(plan);
  }

  /** Groups of each row outside apart; without keys, one for each, also where no row is left. */
  #aggregate(plan: Aggregate): Dependent {
    const input = this.#reading(plan);
    const own = mapExpressions(plan, (each) => reading(each, input.captured)) as Aggregate;
    const ordinal: Column = { ...input.ordinal, id: this.#ids.next() };
    const key = { column: ordinal, expression: columnReference(input.ordinal) };
    const grouped: Aggregate = { ...own, input: input.plan, keys: [key, ...own.keys] };
    return plan.keys.length > 0 ? { plan: grouped, ordinal } : this.#withEmpty(grouped, ordinal);
  }

  /** Adds what an aggregate is of no rows, for the rows outside that have no group. */
  #withEmpty(grouped: Aggregate, ordinal: Column): Dependent {
    const outer = this.#outer();
    const aggregates = grouped.aggregates.map((item) => {
      const own: Column = { ...item.column, id: this.#ids.next() };
      return { ...item, column: own, result: item.column };
    });
    const joined: LogicalPlan = {
      op: 'join',
      kind: 'left',
      left: outer.plan,
      right: { ...grouped, aggregates },
      on: equal(outer.ordinal, ordinal),
    };
    const results = aggregates.map(({ column, call, result }) => {
      const ofNoRows = aggregateStateOf(call).finalize(0);
      const empty: Expression = { op: 'literal', type: column.type, value: ofNoRows };
      return { column: result, expression: emptyUnless(ordinal, columnReference(column), empty) };
    });
    const columns = [...results, ...passedOn(outer)];
    return { ...outer, plan: { op: 'project', input: joined, columns } };
  }

  #isDependent(plan: LogicalPlan): boolean {
    return this.#readsCaptures(plan) || inputsOf(plan).some((input) => this.#isDependent(input));
  }

  #readsCaptures(plan: LogicalPlan): boolean {
    return expressionsOf(plan).some((expression) =>
      [...columnsOf(expression)].some((id) => this.#captures.has(id)),
    );
  }
}

const NO_CAPTURES: CapturedColumns = new Map();

/** An expression that reads captures as columns of its input. */
function reading(expression: Expression, captured: CapturedColumns): Expression {
  const references = Array.from(captured, ([id, column]) => [id, columnReference(column)] as const);
  return substitute(expression, new Map(references));
}

/** Ordinal and captures, as a projection passes them on. */
function passedOn({ ordinal, captured }: Captured) {
  const columns = [ordinal, ...captured.values()];
  return columns.map((column) => ({ column, expression: columnReference(column) }));
}

function equal(left: Column, right: Column): Expression {
  const operands = [columnReference(left), columnReference(right)];
  return { op: 'call', type: BOOL, name: '=', arguments: operands };
}

/** The value where there is a group, else what stands in for it. */
function emptyUnless(ordinal: Column, value: Expression, empty: Expression): Expression {
  if (empty.op === 'literal' && empty.value === null) return value;
  const isMissing: Expression = {
    op: 'call',
    type: BOOL,
    name: 'is_null',
    arguments: [columnReference(ordinal)],
  };
  const branches = [{ when: isMissing, then: empty }];
  return { op: 'case', type: value.type, branches, otherwise: value };
}

/**
 * A plan that gives each row at least once where it is given more often. Where a row outside only asks
 * whether it has a partner, that has a partner's values once in its table: a key that a million events
 * share is one row then, and not a million for each row outside. `required`: the columns that are read.
 */
export function onceEach(plan: LogicalPlan, required: ReadonlySet<ColumnId>): LogicalPlan {
  switch (plan.op) {
    case 'project': {
      const read = plan.columns.filter(({ column }) => required.has(column.id));
      const below = withColumnsOf(
        new Set(),
        read.map(({ expression }) => expression),
      );
      return { ...plan, input: onceEach(plan.input, below) };
    }
    case 'filter':
    case 'unnest': {
      const below = withColumnsOf(required, expressionsOf(plan));
      return { ...plan, input: onceEach(plan.input, below) };
    }
    case 'join':
      return plan.kind === 'inner' || plan.kind === 'cross' ? onceEachJoin(plan, required) : plan;
    default:
      return plan;
  }
}

function onceEachJoin(join: Join, required: ReadonlySet<ColumnId>): LogicalPlan {
  const read = withColumnsOf(required, expressionsOf(join));
  const left = onceEach(join.left, read);
  const columns = outputOf(join.right);
  const isAsked = !columns.some(({ id }) => required.has(id)) && !readsOuter(join.right);
  const keys = columns.filter(({ id }) => read.has(id));
  const isGroupable = keys.every(({ type }) => type.kind !== 'ARRAY' && type.kind !== 'STRUCT');
  if (!isAsked || !isGroupable) return { ...join, left };
  if (keys.length === 0) {
    const count: Expression = { op: 'literal', type: INT64, value: 1 };
    return { ...join, left, right: { op: 'limit', input: join.right, count } };
  }
  const grouped = keys.map((column) => ({ column, expression: columnReference(column) }));
  const right = { op: 'aggregate' as const, input: join.right, keys: grouped, aggregates: [] };
  return { ...join, left, right };
}

function readsOuter(plan: LogicalPlan): boolean {
  return plan.op === 'outer' || inputsOf(plan).some(readsOuter);
}

function withColumnsOf(
  required: ReadonlySet<ColumnId>,
  expressions: readonly Expression[],
): ReadonlySet<ColumnId> {
  const all = new Set(required);
  for (const expression of expressions) collectColumns(expression, all);
  return all;
}
