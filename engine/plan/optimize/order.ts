import { INT64 } from '../../column/type.ts';
import { type Column, type ColumnId, columnReference, type Expression } from '../expression.ts';
import {
  type ColumnIds,
  columnsInInput,
  inputsOf,
  type Limit,
  type LogicalPlan,
  outputOf,
  type Project,
  type Sort,
  type SortKey,
  type Union,
  withInputs,
} from '../logical-plan.ts';
import { Substitution } from './prune-columns.ts';

/**
 * Settles the order of rows. A sort that nothing keeps is dropped; sorts rise above unnests and filters,
 * so that they meet the limit above; sorts and limits sink below projections, so that only the rows
 * that win are computed; a limit below another takes the smaller count. Then what the text leaves open
 * is decided, so that the same data gives the same answer however it is stored: equal keys go by
 * arrival, in the direction of the first key, and rows with no order at all go by arrival. `isKept`:
 * whether the order of the rows of the whole plan counts.
 */
export function settleOrder(plan: LogicalPlan, ids: ColumnIds, isKept: boolean): LogicalPlan {
  const sunk = sink(dropSorts(plan, isKept ? 'all' : 'nothing'), new Substitution());
  // A limit or an aggregate further down takes its rows in an order, even if these here have none.
  const { plan: stamped, arrivals } = withArrivals(sunk, ids);
  return isKept ? breakTies(stamped, arrivals) : stamped;
}

type Aggregated = Extract<LogicalPlan, { op: 'aggregate' }>['aggregates'][number];

/**
 * What is still seen of an order from above: all of it, what it is among rows that a sort above
 * holds for equal, or nothing.
 */
type Seen = 'all' | 'ties' | 'nothing';

function dropSorts(plan: LogicalPlan, seen: Seen): LogicalPlan {
  const below = (next: Seen) =>
    withInputs(
      plan,
      inputsOf(plan).map((input) => dropSorts(input, next)),
    );
  switch (plan.op) {
    case 'sort':
      return seen === 'nothing' ? dropSorts(plan.input, seen) : below('ties');
    case 'aggregate':
      return below(plan.aggregates.some(takesOrder) ? 'all' : 'nothing');
    case 'join':
      return below('nothing');
    case 'union':
      // Equal rows of several inputs go by arrival.
      return below(seen === 'all' ? 'all' : 'nothing');
    case 'limit':
    case 'window':
      return below('all');
    default:
      return below(seen);
  }
}

/** Whether an aggregate's answer depends on the order of the rows below it. */
function takesOrder({ call }: Aggregated): boolean {
  // Values that are distinct do not arrive: the keys tell all of them apart.
  return call.orderBy !== undefined && !call.distinct;
}

/** Moves sorts and limits to where they meet, bottom up, and joins them. */
function sink(plan: LogicalPlan, substitution: Substitution): LogicalPlan {
  const node = withInputs(
    plan,
    inputsOf(plan).map((input) => sink(input, substitution)),
  );
  if (node.op === 'sort') return sinkSort(node, substitution);
  if (node.op === 'limit') return sinkLimit(node);
  const keepsOrder = node.op === 'unnest' || node.op === 'filter';
  if (!keepsOrder || node.input.op !== 'sort') return node;
  // Rows that an unnest makes of one stay in their order: equal keys do.
  return { ...node.input, input: { ...node, input: node.input.input } };
}

function sinkSort(sort: Sort, substitution: Substitution): LogicalPlan {
  const input = sort.input;
  if (input.op === 'project') {
    const expressions = new Map(input.columns.map((item) => [item.column.id, item.expression]));
    const { within, beyond } = substitution.within(
      sort.keys,
      expressions,
      ({ expression }) => expression,
    );
    if (beyond.length > 0) return sort;
    const keys = within.map(({ term, expression }) => ({ ...term, expression }));
    return { ...input, input: sinkSort({ op: 'sort', input: input.input, keys }, substitution) };
  }
  // A sort keeps the order below it among equal keys.
  if (input.op === 'sort') {
    const keys = [...sort.keys, ...input.keys.filter((key) => !hasKey(sort.keys, key))];
    return sinkSort({ op: 'sort', input: input.input, keys }, substitution);
  }
  return sort;
}

/** Whether rows with equal `keys` have equal values of the key, too; seen of columns only. */
function hasKey(keys: readonly SortKey[], { expression }: SortKey): boolean {
  if (expression.op !== 'column') return false;
  return keys.some((key) => key.expression.op === 'column' && key.expression.id === expression.id);
}

function sinkLimit(limit: Limit): LogicalPlan {
  const input = limit.input;
  if (input.op === 'project') {
    const per = limit.per && columnBelow(input, limit.per);
    // Rows counted by what the projection computes are counted above it.
    if (limit.per !== undefined && per === undefined) return limit;
    return { ...input, input: sinkLimit({ ...limit, per, input: input.input }) };
  }
  if (input.op === 'union' && limit.per === undefined) return limitInputs(limit, input);
  if (input.op === 'limit' && limit.offset === undefined && limit.per?.id === input.per?.id) {
    const counts = [limit.count, input.count].filter((count) => count !== undefined);
    const values = counts.map((count) => (count.op === 'literal' ? count.value : null));
    if (values.every((value) => typeof value === 'number')) {
      const count = counts[values.indexOf(Math.min(...values))];
      return { ...input, count };
    }
  }
  return limit;
}

/** The column below a projection that it passes on as this one. */
function columnBelow({ columns }: Project, column: Column): Column | undefined {
  const passed = columns.find((item) => item.column.id === column.id)?.expression;
  return passed?.op === 'column' ? { ...column, id: passed.id } : undefined;
}

/** Of each input of a union no more rows are wanted than of all together. */
function limitInputs(limit: Limit, union: Union): LogicalPlan {
  const bounds = [limit.count, limit.offset].flatMap((bound) => bound ?? []);
  const values = bounds.map((bound) => (bound.op === 'literal' ? bound.value : undefined));
  if (limit.count === undefined || !values.every((value) => typeof value === 'number'))
    return limit;
  const value = values.reduce((sum, each) => sum + each, 0);
  const count: Expression = { op: 'literal', type: INT64, value };
  const inputs = union.inputs.map((input) => sinkLimit({ op: 'limit', input, count }));
  return { ...limit, input: { ...union, inputs } };
}

/** Reads the arrival of each scan whose rows reach the plan's output one to one or multiplied. */
function withArrivals(
  plan: LogicalPlan,
  ids: ColumnIds,
): { plan: LogicalPlan; arrivals: readonly Column[] } {
  switch (plan.op) {
    case 'scan': {
      const existing = plan.columns.find((item) => item.field === 'arrival');
      if (existing !== undefined) return { plan, arrivals: [existing.column] };
      const column: Column = { id: ids.next(), name: 'arrival', type: INT64 };
      const columns = [...plan.columns, { column, field: 'arrival' as const }];
      return { plan: { ...plan, columns }, arrivals: [column] };
    }
    case 'filter':
    case 'unnest':
    case 'sort': {
      const below = withArrivals(plan.input, ids);
      return { plan: { ...plan, input: below.plan }, arrivals: below.arrivals };
    }
    case 'limit': {
      const below = withArrivals(plan.input, ids);
      const input =
        below.arrivals.length === 0 ? below.plan : breakTies(below.plan, below.arrivals);
      return { plan: { ...plan, input }, arrivals: below.arrivals };
    }
    case 'project': {
      const below = withArrivals(plan.input, ids);
      const carried = below.arrivals.map((column) => ({
        column,
        expression: columnReference(column),
      }));
      const columns = [...plan.columns, ...carried];
      return { plan: { ...plan, input: below.plan, columns }, arrivals: below.arrivals };
    }
    case 'join': {
      const left = withArrivals(plan.left, ids);
      const right = withArrivals(plan.right, ids);
      const arrivals = [...left.arrivals, ...right.arrivals];
      return { plan: { ...plan, left: left.plan, right: right.plan }, arrivals };
    }
    case 'union':
      return withUnionArrivals(plan, ids);
    case 'window': {
      const below = withArrivals(plan.input, ids);
      if (isOrdered(below.plan)) {
        const input = breakTies(below.plan, below.arrivals);
        return { plan: { ...plan, input }, arrivals: below.arrivals };
      }
      const ties = tieKeys(plan.orderBy[0], below.arrivals);
      return { plan: { ...plan, input: below.plan, ties }, arrivals: below.arrivals };
    }
    case 'aggregate':
      return { plan: withTakingOrder(plan, withArrivals(plan.input, ids)), arrivals: [] };
    default:
      return { plan, arrivals: [] };
  }
}

/**
 * Aggregates whose answer depends on the order of rows take them in the order that a subquery below
 * gives them, if it gives one; else by their own keys, then by arrival.
 */
function withTakingOrder(
  plan: Extract<LogicalPlan, { op: 'aggregate' }>,
  below: { readonly plan: LogicalPlan; readonly arrivals: readonly Column[] },
): LogicalPlan {
  const { plan: input, arrivals } = below;
  if (arrivals.length === 0 || !plan.aggregates.some(takesOrder)) return { ...plan, input };
  if (isOrdered(input)) return { ...plan, input: breakTies(input, arrivals) };
  const aggregates = plan.aggregates.map((item) => {
    if (!takesOrder(item)) return item;
    const { orderBy = [] } = item.call;
    const keys = [...orderBy, ...tieKeys(orderBy[0], arrivals)];
    return { ...item, call: { ...item.call, orderBy: keys } };
  });
  return { ...plan, input, aggregates };
}

/** Rows of a union go by the position of their input, then by what arrivals that has. */
function withUnionArrivals(
  union: Union,
  ids: ColumnIds,
): { plan: LogicalPlan; arrivals: readonly Column[] } {
  const below = union.inputs.map((input) => withArrivals(input, ids));
  const inputs = below.map(({ plan }) => plan);
  const width = Math.max(...below.map(({ arrivals }) => arrivals.length));
  if (width === 0) return { plan: { ...union, inputs }, arrivals: [] };
  const columnOf = (name: string): Column => ({ id: ids.next(), name, type: INT64 });
  const arrivals = [columnOf('input'), ...Array.from({ length: width }, () => columnOf('arrival'))];
  const stamps = below.map((input, position) => {
    const values = [
      position,
      ...input.arrivals,
      ...Array(width - input.arrivals.length).fill(null),
    ];
    return values.map((value: Column | number | null) => ({
      column: columnOf('stamp'),
      expression:
        value === null || typeof value === 'number'
          ? ({ op: 'literal', type: INT64, value } as const)
          : columnReference(value),
    }));
  });
  const stamped = arrivals.map((column, index) => ({
    column,
    from: stamps.map((each) => each[index]!.column.id),
  }));
  const plan: Union = {
    op: 'union',
    inputs: inputs.map((input, index) => withColumns(input, stamps[index]!)),
    columns: [...union.columns, ...stamped],
  };
  return { plan, arrivals };
}

/** A plan that computes some columns more. */
function withColumns(plan: LogicalPlan, added: Project['columns']): LogicalPlan {
  const passed = outputOf(plan).map((column) => ({ column, expression: columnReference(column) }));
  return { op: 'project', input: plan, columns: [...passed, ...added] };
}

/** Sorts by arrival behind the keys there are; into the sort that the rows have their order from. */
function breakTies(plan: LogicalPlan, arrivals: readonly Column[]): LogicalPlan {
  if (arrivals.length === 0) return plan;
  switch (plan.op) {
    case 'project': {
      const expressions = new Map(plan.columns.map((item) => [item.column.id, item.expression]));
      return { ...plan, input: breakTies(plan.input, arrivalsIn(expressions, arrivals)) };
    }
    case 'union': {
      const inputs = plan.inputs.map((input, index) =>
        breakTies(input, arrivalsIn(columnsInInput(plan, index), arrivals)),
      );
      return { ...plan, inputs };
    }
    case 'sort':
      return { ...plan, keys: [...plan.keys, ...tieKeys(plan.keys[0], arrivals)] };
    case 'limit':
      return plan;
    case 'filter':
    case 'unnest':
      if (isOrdered(plan.input)) return { ...plan, input: breakTies(plan.input, arrivals) };
      return sortedByArrival(plan, arrivals);
    case 'window':
      // Its input has been told apart already where it has an order.
      return isOrdered(plan.input) ? plan : sortedByArrival(plan, arrivals);
    default:
      return sortedByArrival(plan, arrivals);
  }
}

function sortedByArrival(plan: LogicalPlan, arrivals: readonly Column[]): LogicalPlan {
  return { op: 'sort', input: plan, keys: tieKeys(undefined, arrivals) };
}

/** Whether the rows have an order that the text asked for. */
function isOrdered(plan: LogicalPlan): boolean {
  switch (plan.op) {
    case 'sort':
    case 'limit':
      return true;
    case 'filter':
    case 'unnest':
    case 'project':
    case 'window':
      return isOrdered(plan.input);
    case 'union':
      return plan.inputs.some(isOrdered);
    default:
      return false;
  }
}

/** The arrivals as the plan below has them; a constant there orders nothing. */
function arrivalsIn(
  expressions: ReadonlyMap<ColumnId, Expression>,
  arrivals: readonly Column[],
): readonly Column[] {
  return arrivals.flatMap((column) => {
    const expression = expressions.get(column.id);
    return expression?.op === 'column' ? [{ ...column, id: expression.id }] : [];
  });
}

function tieKeys(first: SortKey | undefined, arrivals: readonly Column[]): readonly SortKey[] {
  const descending = first?.descending ?? false;
  return arrivals.map((column) => ({
    expression: columnReference(column) as Expression,
    descending,
    nullsFirst: !descending,
  }));
}

/** The columns of a plan's output that belong to the query, and not to its order. */
export function withoutArrivals(plan: LogicalPlan, output: readonly Column[]): LogicalPlan {
  const wanted = new Set(output.map((column) => column.id));
  if (outputOf(plan).every((column) => wanted.has(column.id))) return plan;
  if (plan.op === 'project') {
    return { ...plan, columns: plan.columns.filter((item) => wanted.has(item.column.id)) };
  }
  return {
    op: 'project',
    input: plan,
    columns: output.map((column) => ({ column, expression: columnReference(column) })),
  };
}
