import type { SqlValue } from '../../column/value.ts';
import { spendSteps } from '../../function/work-meter.ts';
import { QueryError } from '../../query-error.ts';
import { evaluateRelation } from '../execute.ts';
import type { Expression } from '../expression.ts';
import {
  childrenOf,
  columnReference,
  columnsOf,
  isUnsettled,
  substitute,
} from '../expression-walk.ts';
import type { Join, LogicalPlan, Rows } from '../logical-plan.ts';
import { physicalPlanOf } from '../physical-plan.ts';
import { NOTHING } from '../reach.ts';
import { type CallValues, generatesArrays } from './fold.ts';
import { expressionsOf, inputsOf, outputOf, rewritePlan, subqueriesOf } from './plan-walk.ts';

/** Rows of a constant relation computed while planning; longer ones are left to a worker. */
const FOLDED_ROWS_MAX = 10_000;

/** Steps (`work-meter.ts`) that a relation takes beside its values, and each of its columns: it is planned and run as a query is. */
export const CONSTANT_RELATION_STEPS = 500;

/**
 * Computes every relation that reads no source, now that the parameters are known: a generated list
 * of buckets becomes its rows, a one-row relation of settings becomes literals.
 */
export function computeConstantRelations(plan: LogicalPlan, values: CallValues): LogicalPlan {
  return rewritePlan(plan, (node) => inlineOneRow(unnestAsJoin(computeRelation(node, values))));
}

/** Bottom-up, so a relation over constants only has `rows` or `one-row` below it. */
function computeRelation(plan: LogicalPlan, { budget }: CallValues): LogicalPlan {
  const inputs = inputsOf(plan);
  if (inputs.length === 0 || !inputs.every(isConstant)) return plan;
  // What a subquery comes to is for a worker to find out, unless it has become a constant.
  if (subqueriesOf(plan).length > 0) return plan;
  if (expressionsOf(plan).some(isUnsettled) || isLong(plan)) return plan;
  const columns = outputOf(plan);
  try {
    const compute = () => {
      spendSteps(CONSTANT_RELATION_STEPS * (1 + columns.length));
      return evaluateRelation(physicalPlanOf(plan, NOTHING), columns);
    };
    const rows = budget === undefined ? compute() : budget.run(compute);
    return rows === undefined ? plan : { op: 'rows', columns, rows };
  } catch (error) {
    // It may never be needed; if it is, it fails where it runs.
    if (error instanceof QueryError) return plan;
    throw error;
  }
}

/**
 * Whether computing the relation would hold the main thread or fill its memory: a long product, a large
 * array, or a call whose values may each be much longer than what they are made of.
 */
function isLong(plan: LogicalPlan): boolean {
  if (plan.op === 'unnest' && plan.array.op !== 'literal') {
    return columnsOf(plan.array).size === 0;
  }
  if (expressionsOf(plan).some((each) => generatesArrays(each) || makesLongValues(each)))
    return true;
  const rowCounts = inputsOf(plan).map((input) => (input.op === 'rows' ? input.rows.length : 1));
  if (plan.op === 'union')
    return rowCounts.reduce((sum, count) => sum + count, 0) > FOLDED_ROWS_MAX;
  const elementCount = plan.op === 'unnest' ? elementCountOf(plan.array) : 1;
  return rowCounts.reduce((product, count) => product * count, elementCount) > FOLDED_ROWS_MAX;
}

/** Elements of a constant array. */
function elementCountOf(array: Expression): number {
  return array.op === 'literal' && Array.isArray(array.value) ? array.value.length : 1;
}

function makesLongValues(expression: Expression): boolean {
  const isLongCall = expression.op === 'call' && TYPES_LONG.has(expression.type.kind);
  return isLongCall || childrenOf(expression).some(makesLongValues);
}

/** Types whose values may be of any length. */
const TYPES_LONG: ReadonlySet<string> = new Set(['STRING', 'BYTES', 'ARRAY', 'DYNAMIC', 'JSON']);

function isConstant(plan: LogicalPlan): boolean {
  return plan.op === 'rows' || plan.op === 'one-row';
}

/** `FROM t, UNNEST([1, 2])`: an array that does not depend on the row is a relation of its own. */
function unnestAsJoin(plan: LogicalPlan): LogicalPlan {
  if (plan.op !== 'unnest' || plan.outer || plan.array.op !== 'literal') return plan;
  const elements = plan.array.value;
  if (elements !== null && !Array.isArray(elements)) return plan;
  const right: Rows = {
    op: 'rows',
    columns: plan.offset === undefined ? [plan.element] : [plan.element, plan.offset],
    rows: ((elements ?? []) as readonly SqlValue[]).map((value, index) =>
      plan.offset === undefined ? [value] : [value, index],
    ),
  };
  return { op: 'join', kind: 'cross', left: plan.input, right };
}

/** A join with exactly one constant row is a projection that adds its values. */
function inlineOneRow(plan: LogicalPlan): LogicalPlan {
  if (plan.op !== 'join' || plan.kind === 'left' || plan.kind === 'full') return plan;
  const side = oneRowSide(plan);
  if (side === undefined) return plan;
  const literals = new Map(
    side.rows.columns.map((column, index) => [
      column.id,
      { op: 'literal', type: column.type, value: side.rows.rows[0]![index]! } as Expression,
    ]),
  );
  const input: LogicalPlan =
    plan.on === undefined
      ? side.other
      : { op: 'filter', input: side.other, predicate: substitute(plan.on, literals) };
  return {
    op: 'project',
    input,
    columns: outputOf(plan).map((column) => ({
      column,
      expression: literals.get(column.id) ?? columnReference(column),
    })),
  };
}

function oneRowSide(plan: Join): { rows: Rows; other: LogicalPlan } | undefined {
  const left = asOneRow(plan.left);
  if (left !== undefined) return { rows: left, other: plan.right };
  const right = asOneRow(plan.right);
  return right === undefined ? undefined : { rows: right, other: plan.left };
}

function asOneRow(plan: LogicalPlan): Rows | undefined {
  if (plan.op === 'one-row') return { op: 'rows', columns: [], rows: [[]] };
  return plan.op === 'rows' && plan.rows.length === 1 ? plan : undefined;
}
