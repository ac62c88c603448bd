import { factsOf } from '../plan/call-facts.ts';
import { knownTest } from '../plan/evaluator/text-test.ts';
import type { Expression } from '../plan/expression.ts';
import type { PhysicalPlan } from '../plan/physical-plan.ts';
import { someExpression } from '../plan/physical-walk.ts';
import type { PlannedCall } from './run-costs.ts';

/**
 * Whether a run tests regular expressions with operators, its plan's or one that the call puts in. For each segment
 * that takes time apart from that of the rows, as an automaton is tried on what strings are made of; more where the code
 * for it is not compiled yet.
 */
export function triesExpression({ plan, template }: PlannedCall): boolean {
  return (template?.texts.patterns.size ?? 0) > 0 || hasExpression(plan);
}

/** Of the plans that are run again and again. */
const known = new WeakMap<PhysicalPlan, boolean>();

function hasExpression(plan: PhysicalPlan): boolean {
  let has = known.get(plan);
  if (has === undefined) {
    has = someExpression(plan, isExpressionTest);
    known.set(plan, has);
  }
  return has;
}

function isExpressionTest(node: Expression): boolean {
  if (node.op !== 'call' || node.arguments[1]?.op !== 'literal') return false;
  return factsOf(node).regex === 'tested' && knownTest(node)?.test.kind !== 'contains';
}
