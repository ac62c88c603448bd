import type { SqlType } from '../column/type.ts';
import { type Apply, appliesIn, type ColumnId, type Expression, someNode } from './expression.ts';
import { rowExpressionsOf } from './logical-plan.ts';
import type {
  Breaker,
  HashJoin,
  PhysicalPlan,
  PhysicalScan,
  PhysicalWindow,
} from './physical-plan.ts';

/** The plans directly below one, then those of its subqueries. */
function physicalInputsOf(plan: PhysicalPlan): readonly PhysicalPlan[] {
  return [...rowInputsOf(plan), ...appliesOf(plan).map((apply) => apply.plan)];
}

/** The subqueries in the expressions of one operator (not of its inputs). */
export function appliesOf(plan: PhysicalPlan): readonly Apply[] {
  return expressionsOf(plan).flatMap(appliesIn);
}

/** The plans that an operator has its rows from. */
export function rowInputsOf(plan: PhysicalPlan): readonly PhysicalPlan[] {
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

/** Sees every operator of a plan, those below first. */
export function visit(plan: PhysicalPlan, see: (node: PhysicalPlan) => void): void {
  for (const input of physicalInputsOf(plan)) visit(input, see);
  see(plan);
}

/**
 * Every operator of a plan as its text is read: from the top down, the left of a join first. In one list, since lists of
 * lists would be copied once for each level.
 */
export function operatorsOf(plan: PhysicalPlan): readonly PhysicalPlan[] {
  const operators: PhysicalPlan[] = [];
  const pending = [plan];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    operators.push(next);
    pending.push(...physicalInputsOf(next).toReversed());
  }
  return operators;
}

/** The expressions that one operator (not its inputs) evaluates. */
export function expressionsOf(plan: PhysicalPlan): readonly Expression[] {
  switch (plan.op) {
    case 'scan':
    case 'one-row':
    case 'outer':
    case 'rows':
    case 'union':
    case 'limit':
      return [];
    case 'filter':
      return plan.conjuncts;
    case 'project':
      return plan.columns.map((item) => item.expression);
    case 'unnest':
      return plan.on === undefined ? [plan.array] : [plan.array, plan.on];
    case 'join': {
      const keys = plan.equalities.flatMap((pair) => [pair.left, pair.right]);
      return plan.residual === undefined ? keys : [...keys, plan.residual];
    }
    case 'aggregate':
      return [
        ...plan.keys.map((item) => item.expression),
        ...plan.aggregates.flatMap((item) => rowExpressionsOf(item.call)),
      ];
    case 'window':
      return windowExpressions(plan);
    case 'sort':
    case 'top':
      return plan.keys.map((key) => key.expression);
  }
}

/** Whether a part of any expression of a plan, its subqueries among them, is such a one. */
export function someExpression(plan: PhysicalPlan, isSuch: (node: Expression) => boolean): boolean {
  return operatorsOf(plan).some((operator) =>
    expressionsOf(operator).some((expression) => someNode(expression, isSuch)),
  );
}

/** The scan whose rows a plan passes on one by one: changed, dropped or several for one, but not kept. */
export function rowWiseScanOf(plan: PhysicalPlan): PhysicalScan | undefined {
  switch (plan.op) {
    case 'scan':
      return plan;
    case 'filter':
    case 'project':
    case 'unnest':
      return rowWiseScanOf(plan.input);
    default:
      return undefined;
  }
}

/**
 * Whether some expression of a plan makes texts or lists of its rows: those of one chunk live at a time, so of a large one
 * V8 would move all of them about.
 */
export function makesTexts(plan: PhysicalPlan): boolean {
  return someExpression(
    plan,
    ({ op, type }) => (op === 'call' || op === 'cast') && TEXTS.has(type.kind),
  );
}

const TEXTS: ReadonlySet<SqlType['kind']> = new Set(['STRING', 'BYTES', 'JSON', 'ARRAY']);

/** What order the rows of a plan are in where its groupings give theirs in the order of their keys. */
export type RowOrder = {
  readonly groupings: readonly Breaker[];
  /** Of the plan: no two of its rows are equal in all of them. */
  readonly columns: readonly ColumnId[];
};

/** `undefined` where other rows than those of groupings are in a plan, or its columns do not tell their order. */
export function rowOrderOf(plan: PhysicalPlan): RowOrder | undefined {
  switch (plan.op) {
    case 'aggregate':
      return { groupings: [plan], columns: plan.keys.map(({ column }) => column.id) };
    case 'filter':
      return rowOrderOf(plan.input);
    case 'project': {
      const order = rowOrderOf(plan.input);
      const columns = order?.columns.flatMap((id) => passedOn(plan, id));
      const areAllThere = columns?.length === order?.columns.length;
      return order && columns && areAllThere ? { ...order, columns } : undefined;
    }
    case 'join':
      return plan.kind === 'full' ? undefined : joinedOrder(plan);
    default:
      return undefined;
  }
}

/** Under which id a projection passes a column on; empty where it does not. */
function passedOn(
  { columns }: Extract<PhysicalPlan, { op: 'project' }>,
  id: ColumnId,
): readonly ColumnId[] {
  const found = columns.find(
    ({ expression }) => expression.op === 'column' && expression.id === id,
  );
  return found === undefined ? [] : [found.column.id];
}

/** A key of the right side is one value for each row of the left. */
function joinedOrder({ left, right, equalities }: HashJoin): RowOrder | undefined {
  const [first, second] = [rowOrderOf(left), rowOrderOf(right)];
  if (first === undefined || second === undefined) return undefined;
  const known = new Set(equalities.map((pair) => pair.right.op === 'column' && pair.right.id));
  return {
    groupings: [...first.groupings, ...second.groupings],
    columns: [...first.columns, ...second.columns.filter((id) => !known.has(id))],
  };
}

function windowExpressions({ partitionBy, orderBy, ties = [], calls }: PhysicalWindow) {
  return [
    ...partitionBy,
    ...[...orderBy, ...ties].map((key) => key.expression),
    ...calls.flatMap((item) => rowExpressionsOf(item.call.function)),
  ];
}
