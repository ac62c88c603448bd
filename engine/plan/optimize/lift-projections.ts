import type { Expression } from '../expression.ts';
import { columnReference, substitute } from '../expression-walk.ts';
import type { LogicalPlan, Project } from '../logical-plan.ts';
import { outputOf, rewritePlan } from './plan-walk.ts';

/**
 * Lifts projections that merely pick and name above unnests and filters, so that what stands between
 * two of them comes together: a sort below a projection below an unnest can then meet the limit above.
 * Those that compute stay where they are, for there are more rows above an unnest than below it.
 */
export function liftProjections(plan: LogicalPlan): LogicalPlan {
  return rewritePlan(plan, lift);
}

function lift(plan: LogicalPlan): LogicalPlan {
  if (plan.op !== 'unnest' && plan.op !== 'filter') return plan;
  const project = plan.input;
  if (project.op !== 'project' || !project.columns.every((item) => isPick(item.expression))) {
    return plan;
  }
  const expressions = new Map(project.columns.map((item) => [item.column.id, item.expression]));
  const below = (expression: Expression) => substitute(expression, expressions);
  if (plan.op === 'filter') {
    const input = lift({ ...plan, input: project.input, predicate: below(plan.predicate) });
    return { ...project, input };
  }
  const on = plan.on === undefined ? undefined : below(plan.on);
  const input = lift({ ...plan, input: project.input, array: below(plan.array), on });
  return { ...project, columns: [...project.columns, ...added(plan)], input };
}

/** The columns that an unnest has and its input has not, passed on. */
function added(unnest: Extract<LogicalPlan, { op: 'unnest' }>): Project['columns'] {
  const known = new Set(outputOf(unnest.input).map((column) => column.id));
  return outputOf(unnest)
    .filter((column) => !known.has(column.id))
    .map((column) => ({ column, expression: columnReference(column) }));
}

/** A column, a constant, or a field of one: nothing that costs more where it is done for more rows. */
function isPick(expression: Expression): boolean {
  switch (expression.op) {
    case 'column':
    case 'literal':
      return true;
    case 'dynamic-field':
      return isPick(expression.input);
    default:
      return false;
  }
}
