import { INT64 } from '../../column/type.ts';
import type { Column, Expression } from '../expression.ts';
import { columnReference, substitute } from '../expression-walk.ts';
import type { LogicalPlan, Sort, SortKey } from '../logical-plan.ts';
import { type ColumnIds, inputsOf, outputOf, withInputs } from './plan-walk.ts';

/**
 * Settles the order of rows. A sort that nothing keeps is dropped; sorts and limits sink below
 * projections, so that only the rows that win are computed; a limit below another takes the smaller
 * count. Then what the text leaves open is decided, so that the same data gives the same answer
 * however it is stored: equal keys go by arrival, in the direction of the first key, and rows with no order at all go by arrival.
 */
export function settleOrder(plan: LogicalPlan, ids: ColumnIds): LogicalPlan {
  const sunk = sink(dropSorts(plan, true));
  const { plan: stamped, arrivals } = withArrivals(sunk, ids);
  return arrivals.length === 0 ? sunk : breakTies(stamped, arrivals);
}

/** `isKept`: whether anything above still shows the order. */
function dropSorts(plan: LogicalPlan, isKept: boolean): LogicalPlan {
  switch (plan.op) {
    case 'sort': {
      const input = dropSorts(plan.input, isKept);
      return isKept ? { ...plan, input } : input;
    }
    case 'aggregate':
      return { ...plan, input: dropSorts(plan.input, false) };
    case 'join':
      return {
        ...plan,
        left: dropSorts(plan.left, false),
        right: dropSorts(plan.right, false),
      };
    case 'limit':
      return { ...plan, input: dropSorts(plan.input, true) };
    default:
      return withInputs(
        plan,
        inputsOf(plan).map((input) => dropSorts(input, isKept)),
      );
  }
}

/** Moves sorts and limits below projections, bottom up, and joins those that meet. */
function sink(plan: LogicalPlan): LogicalPlan {
  const node = withInputs(plan, inputsOf(plan).map(sink));
  if (node.op === 'sort') return sinkSort(node);
  if (node.op === 'limit') return sinkLimit(node);
  return node;
}

function sinkSort(sort: Sort): LogicalPlan {
  const input = sort.input;
  if (input.op === 'project') {
    const expressions = new Map(input.columns.map((item) => [item.column.id, item.expression]));
    const keys = sort.keys.map((key) => ({
      ...key,
      expression: substitute(key.expression, expressions),
    }));
    return { ...input, input: sinkSort({ op: 'sort', input: input.input, keys }) };
  }
  // A sort keeps the order below it among equal keys.
  if (input.op === 'sort') {
    return sinkSort({ op: 'sort', input: input.input, keys: [...sort.keys, ...input.keys] });
  }
  return sort;
}

function sinkLimit(limit: Extract<LogicalPlan, { op: 'limit' }>): LogicalPlan {
  const input = limit.input;
  if (input.op === 'project') {
    return { ...input, input: sinkLimit({ ...limit, input: input.input }) };
  }
  if (input.op === 'limit' && limit.offset === undefined) {
    const counts = [limit.count, input.count].filter((count) => count !== undefined);
    const values = counts.map((count) => (count.op === 'literal' ? count.value : null));
    if (values.every((value) => typeof value === 'number')) {
      const count = counts[values.indexOf(Math.min(...values))];
      return { ...input, count };
    }
  }
  return limit;
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
    case 'aggregate': {
      const below = withArrivals(plan.input, ids);
      return { plan: { ...plan, input: below.plan }, arrivals: [] };
    }
    default:
      return { plan, arrivals: [] };
  }
}

/** Sorts by arrival behind the keys there are; through projections, into the sort below them. */
function breakTies(plan: LogicalPlan, arrivals: readonly Column[]): LogicalPlan {
  switch (plan.op) {
    case 'project':
      return { ...plan, input: breakTies(plan.input, arrivals) };
    case 'sort':
      return { ...plan, keys: [...plan.keys, ...tieKeys(plan.keys[0], arrivals)] };
    case 'limit':
      return plan;
    default:
      return { op: 'sort', input: plan, keys: tieKeys(undefined, arrivals) };
  }
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
