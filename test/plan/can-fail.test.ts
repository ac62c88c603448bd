import { test } from 'node:test';
import { typeName } from '../../engine/column/type.ts';
import { expressionsOf, type LogicalPlan, plansWithin } from '../../engine/plan/logical-plan.ts';
import { canFail } from '../../engine/plan/optimize/can-fail.ts';
import { foldPlan } from '../../engine/plan/optimize/fold.ts';
import { prepareQuery } from '../../engine/plan/prepared-query.ts';
import { QueryError } from '../../engine/query-error.ts';
import { checkCases } from '../random-sql/check-cases.ts';
import { engineAnswer, segmentsOfEvents } from '../random-sql/engine-answer.ts';
import type { Query } from '../random-sql/query.ts';
import { render } from '../random-sql/render.ts';
import { budgetOf } from '../support/budget.ts';

const QUERY_COUNT = budgetOf('WEIR_SURE_QUERIES', { fast: 25, all: 250 });

const SOURCES = [{ name: 'logs', projectPath: ['project'] }];
const CALL = { parameters: new Map(), nowUs: Date.parse('2026-01-15T12:00:00Z') * 1000 };

/** A query all of whose expressions are known not to fail; its aggregates have no sums, which may. */
function isSure(query: Query): boolean {
  try {
    const { bound } = prepareQuery(render(query), { sources: SOURCES, parameters: [] });
    // A list with a NULL is refused as an answer.
    if (bound.output.some(({ type }) => typeName(type).includes('ARRAY'))) return false;
    return [...plansWithin(foldPlan(bound.plan, CALL))].every(isSurePlan);
  } catch (error) {
    if (error instanceof QueryError) return false;
    throw error;
  }
}

const SURE_AGGREGATES: ReadonlySet<string> = new Set(['count', 'countif', 'min', 'max']);

function isSurePlan(plan: LogicalPlan): boolean {
  if (plan.op === 'window') return false;
  if (plan.op === 'aggregate') {
    if (!plan.aggregates.every(({ call }) => SURE_AGGREGATES.has(call.name))) return false;
  }
  return !expressionsOf(plan).some(canFail);
}

test('what is known not to fail fails for no row', async (context) => {
  const options = { count: QUERY_COUNT, isMixed: true, filter: isSure };
  await checkCases(context, options, ({ query, events }) => {
    // A query made smaller may have come to be another.
    if (!isSure(query)) return { rowCount: 0 };
    const answer = engineAnswer(render(query), segmentsOfEvents(events, 1), 'plain');
    return answer === 'error' ? { wrong: 'fails' } : { rowCount: answer.length };
  });
});
