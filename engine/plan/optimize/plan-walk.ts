import { unreachable } from '../../assert.ts';
import { mapCall } from '../aggregate-call.ts';
import type { Column, ColumnId, Expression, Subquery } from '../expression.ts';
import { columnReference, rewrite, subqueriesIn, substitute } from '../expression-walk.ts';
import type { FrameBound, LogicalPlan, SortKey, Union, Window } from '../logical-plan.ts';

/** The plans directly below one. */
export function inputsOf(plan: LogicalPlan): readonly LogicalPlan[] {
  switch (plan.op) {
    case 'scan':
    case 'one-row':
    case 'outer':
    case 'rows':
      return [];
    case 'join':
      return [plan.left, plan.right];
    case 'union':
      return plan.inputs;
    default:
      return [plan.input];
  }
}

/** The same operator over other inputs; as many as `inputsOf` gave. */
export function withInputs(plan: LogicalPlan, inputs: readonly LogicalPlan[]): LogicalPlan {
  switch (plan.op) {
    case 'scan':
    case 'one-row':
    case 'outer':
    case 'rows':
      return plan;
    case 'join':
      return { ...plan, left: inputs[0]!, right: inputs[1]! };
    case 'union':
      return { ...plan, inputs };
    default:
      return { ...plan, input: inputs[0]! };
  }
}

/** Rebuilds a plan from its leaves up. */
export function rewritePlan(
  plan: LogicalPlan,
  change: (plan: LogicalPlan) => LogicalPlan,
): LogicalPlan {
  const inputs = inputsOf(plan);
  if (inputs.length === 0) return change(plan);
  const rewritten = inputs.map((input) => rewritePlan(input, change));
  const isChanged = rewritten.some((input, index) => input !== inputs[index]);
  return change(isChanged ? withInputs(plan, rewritten) : plan);
}

/** Changes every expression of one operator (not of its inputs). */
export function mapExpressions(
  plan: LogicalPlan,
  change: (expression: Expression) => Expression,
): LogicalPlan {
  switch (plan.op) {
    case 'scan':
    case 'one-row':
    case 'outer':
    case 'rows':
    case 'union':
      return plan;
    case 'filter':
      return { ...plan, predicate: change(plan.predicate) };
    case 'project':
      return {
        ...plan,
        columns: plan.columns.map((item) => ({ ...item, expression: change(item.expression) })),
      };
    case 'unnest':
      return {
        ...plan,
        array: change(plan.array),
        on: plan.on === undefined ? undefined : change(plan.on),
      };
    case 'join':
      return { ...plan, on: plan.on === undefined ? undefined : change(plan.on) };
    case 'aggregate':
      return {
        ...plan,
        keys: plan.keys.map((item) => ({ ...item, expression: change(item.expression) })),
        aggregates: plan.aggregates.map((item) => ({
          ...item,
          call: mapCall(item.call, change),
        })),
      };
    case 'window':
      return mapWindow(plan, change);
    case 'sort':
      return { ...plan, keys: mapKeys(plan.keys, change) };
    case 'limit':
      return {
        ...plan,
        count: plan.count === undefined ? undefined : change(plan.count),
        offset: plan.offset === undefined ? undefined : change(plan.offset),
      };
    default:
      return unreachable(plan);
  }
}

type Change = (expression: Expression) => Expression;

function mapKeys(keys: readonly SortKey[], change: Change): readonly SortKey[] {
  return keys.map((key) => ({ ...key, expression: change(key.expression) }));
}

function mapWindow(plan: Window, change: Change): Window {
  const mapBound = (bound: FrameBound): FrameBound =>
    'amount' in bound ? { ...bound, amount: change(bound.amount) } : bound;
  return {
    ...plan,
    partitionBy: plan.partitionBy.map(change),
    orderBy: mapKeys(plan.orderBy, change),
    ties: plan.ties === undefined ? undefined : mapKeys(plan.ties, change),
    calls: plan.calls.map(({ column, call }) => ({
      column,
      call: {
        ...call,
        function: mapCall(call.function, change),
        frame: call.frame && {
          ...call.frame,
          start: mapBound(call.frame.start),
          end: mapBound(call.frame.end),
        },
      },
    })),
  };
}

/** Every expression of one operator (not of its inputs). */
export function expressionsOf(plan: LogicalPlan): readonly Expression[] {
  const expressions: Expression[] = [];
  mapExpressions(plan, (expression) => {
    expressions.push(expression);
    return expression;
  });
  return expressions;
}

/** Changes every expression node of a whole plan, leaves first. */
export function rewriteExpressions(
  plan: LogicalPlan,
  change: (expression: Expression) => Expression,
): LogicalPlan {
  return rewritePlan(plan, (node) => mapExpressions(node, (root) => rewrite(root, change)));
}

/** The columns a plan gives. */
export function outputOf(plan: LogicalPlan): readonly Column[] {
  switch (plan.op) {
    case 'scan':
    case 'outer':
      return plan.columns.map((item) => item.column);
    case 'one-row':
      return [];
    case 'rows':
      return plan.columns;
    case 'project':
    case 'union':
      return plan.columns.map((item) => item.column);
    case 'aggregate':
      return [...plan.keys, ...plan.aggregates].map((item) => item.column);
    case 'unnest': {
      const own = plan.offset === undefined ? [plan.element] : [plan.element, plan.offset];
      return [...outputOf(plan.input), ...own];
    }
    case 'join':
      return [...outputOf(plan.left), ...outputOf(plan.right)];
    case 'window':
      return [...outputOf(plan.input), ...plan.calls.map((item) => item.column)];
    default:
      return outputOf(plan.input);
  }
}

/** The columns that an operator makes, and does not pass on from its inputs. */
export function columnsMadeBy(plan: LogicalPlan): readonly Column[] {
  switch (plan.op) {
    case 'unnest':
      return plan.offset === undefined ? [plan.element] : [plan.element, plan.offset];
    case 'window':
      return plan.calls.map((item) => item.column);
    case 'filter':
    case 'join':
    case 'sort':
    case 'limit':
      return [];
    default:
      return outputOf(plan);
  }
}

/** Whether an operator passes on the columns of its inputs. */
export function passesOn({ op }: LogicalPlan): boolean {
  return ['unnest', 'window', 'filter', 'join', 'sort', 'limit'].includes(op);
}

/** What the columns of a union are in one of its inputs. */
export function columnsInInput(plan: Union, input: number): ReadonlyMap<ColumnId, Expression> {
  return new Map(
    plan.columns.map(({ column, from }) => [
      column.id,
      columnReference({ ...column, id: from[input]! }),
    ]),
  );
}

/** The same union over some of its inputs, given by their positions, and perhaps changed. */
export function withUnionInputs(
  plan: Union,
  kept: readonly { readonly position: number; readonly input: LogicalPlan }[],
): Union {
  return {
    op: 'union',
    inputs: kept.map(({ input }) => input),
    columns: plan.columns.map(({ column, from }) => ({
      column,
      from: kept.map(({ position }) => from[position]!),
    })),
  };
}

export function outputIds(plan: LogicalPlan): Set<ColumnId> {
  return new Set(outputOf(plan).map((column) => column.id));
}

/** A plan and all plans below it, those of the subqueries in its expressions among them. */
export function* plansWithin(plan: LogicalPlan): Generator<LogicalPlan> {
  const pending = [plan];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    yield next;
    pending.push(...inputsOf(next), ...subqueriesOf(next).map((subquery) => subquery.plan));
  }
}

/** Names of the sources that a plan reads. */
export function sourcesOf(plan: LogicalPlan): ReadonlySet<string> {
  const scans = Array.from(plansWithin(plan)).filter((node) => node.op === 'scan');
  return new Set(scans.map(({ source }) => source));
}

/** The subqueries in the expressions of one operator (not of its inputs). */
export function subqueriesOf(plan: LogicalPlan): readonly Subquery[] {
  return expressionsOf(plan).flatMap(subqueriesIn);
}

/** Puts expressions in place of columns throughout a plan that does not give these columns itself. */
export function substituteInPlan(
  plan: LogicalPlan,
  replacements: ReadonlyMap<ColumnId, Expression>,
): LogicalPlan {
  if (replacements.size === 0) return plan;
  return rewritePlan(plan, (node) =>
    mapExpressions(node, (expression) => substitute(expression, replacements)),
  );
}

/** Hands out column ids above every one a plan uses. */
export class ColumnIds {
  #next: ColumnId;

  constructor(plan: LogicalPlan) {
    let highest = -1;
    for (const node of plansWithin(plan)) {
      const captured = subqueriesOf(node).flatMap(({ captures }) => captures);
      const columns = [...columnsMadeBy(node), ...captured.map(({ column }) => column)];
      for (const column of columns) highest = Math.max(highest, column.id);
    }
    this.#next = highest + 1;
  }

  next(): ColumnId {
    const id = this.#next;
    this.#next += 1;
    return id;
  }
}
