import type { Expression } from '../expression.ts';
import { columnReference } from '../expression-walk.ts';
import type { LogicalPlan, Project } from '../logical-plan.ts';
import { Substitution } from '../substitution.ts';
import { expressionsOf, mapExpressions, outputOf, rewritePlan, withInputs } from './plan-walk.ts';

/**
 * Lifts projections that merely pick and name above unnests and filters, so that what stands between
 * two of them comes together: a sort below a projection below an unnest can then meet the limit above.
 * Those that compute stay where they are, for there are more rows above an unnest than below it.
 */
export function liftProjections(plan: LogicalPlan): LogicalPlan {
  const substitution = new Substitution();
  return rewritePlan(plan, (node) => lift(node, substitution));
}

function lift(plan: LogicalPlan, substitution: Substitution): LogicalPlan {
  if (plan.op !== 'unnest' && plan.op !== 'filter') return plan;
  const project = plan.input;
  if (project.op !== 'project' || !project.columns.every((item) => isPick(item.expression))) {
    return plan;
  }
  const expressions = new Map(project.columns.map((item) => [item.column.id, item.expression]));
  const { within, beyond } = substitution.within(expressionsOf(plan), expressions, (term) => term);
  if (beyond.length > 0) return plan;
  const below = new Map(within.map(({ term, expression }) => [term, expression]));
  const lifted = mapExpressions(withInputs(plan, [project.input]), (term) => below.get(term)!);
  const input = lift(lifted, substitution);
  if (plan.op === 'filter') return { ...project, input };
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
