import type { DefinitionProblem } from './definition/definition-problem.ts';
import type { HealthReason } from './readiness.ts';

/** What an operator should know of a service that runs, in sentences that anyone may read. */
export function findHealthReasons(parts: {
  readonly definitionProblems: readonly DefinitionProblem[];
}): readonly HealthReason[] {
  return definitionReasons(parts.definitionProblems);
}

function definitionReasons(problems: readonly DefinitionProblem[]): readonly HealthReason[] {
  if (problems.length === 0) return [];
  const asBefore = problems.filter(({ isServed }) => isServed).length;
  const message = `${problems.length} definitions are not in force as their files say: of ${asBefore} the last good state is, ${problems.length - asBefore} cannot be called; GET /api/endpoints names them`;
  return [{ code: 'definitions_not_in_force', message }];
}
