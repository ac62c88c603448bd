import type { SqlType } from '../column/type.ts';
import { type Apply, appliesIn, type Expression, someNode } from './expression.ts';
import { rowExpressionsOf } from './logical-plan.ts';
import type { Breaker, PhysicalPlan, PhysicalScan, PhysicalWindow } from './physical-plan.ts';

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

/** The grouping whose rows a plan passes on as they are. */
export function groupingBelow(plan: PhysicalPlan): Breaker | undefined {
  if (plan.op === 'filter') return groupingBelow(plan.input);
  return plan.op === 'aggregate' ? plan : undefined;
}

function windowExpressions({ partitionBy, orderBy, ties = [], calls }: PhysicalWindow) {
  return [
    ...partitionBy,
    ...[...orderBy, ...ties].map((key) => key.expression),
    ...calls.flatMap((item) => rowExpressionsOf(item.call.function)),
  ];
}
