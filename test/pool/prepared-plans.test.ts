import { equal, notEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { must } from '../../engine/assert.ts';
import { collectGarbage } from '../../engine/column/garbage.ts';
import { optimize } from '../../engine/plan/optimize/optimize.ts';
import { type PhysicalPlan, physicalPlanOf } from '../../engine/plan/physical-plan.ts';
import { PREPARED_PLANS_MAX, PreparedPlans } from '../../engine/plan/prepared-plan.ts';
import { prepareQuery } from '../../engine/plan/prepared-query.ts';
import { EVERYTHING } from '../../engine/plan/reach.ts';

const SOURCES = [{ name: 'logs', projectPath: ['project'] }];
const NONE_DROPPED = { count: 0, ids: [] };
const COUNT = 'SELECT COUNT(*) AS n FROM logs';

function planOf(sql: string): PhysicalPlan {
  const { bound } = prepareQuery(sql, { sources: SOURCES, parameters: [] });
  const context = { parameters: new Map(), nowUs: 0, rowsMax: 10, sources: SOURCES };
  return physicalPlanOf(optimize(bound, context), EVERYTHING);
}

test('a plan that comes again is found, until segments have gone or all is forgotten', () => {
  const plans = new PreparedPlans();
  const plan = planOf(COUNT);
  const first = must(plans.of(plan, NONE_DROPPED));
  equal(plans.of(plan, NONE_DROPPED), first);
  notEqual(plans.of(planOf(COUNT), NONE_DROPPED), first, 'another object is another plan');
  const second = plans.of(plan, { count: 1, ids: [7] });
  notEqual(second, first);
  equal(plans.of(plan, { count: 1, ids: [7] }), second);
  plans.forget();
  notEqual(plans.of(plan, { count: 1, ids: [7] }), second);
});

test('so many plans are kept, the last ones', () => {
  const plans = new PreparedPlans();
  const plan = planOf(COUNT);
  const first = plans.of(plan, NONE_DROPPED);
  for (let other = 1; other < PREPARED_PLANS_MAX; other++) plans.of({ ...plan }, NONE_DROPPED);
  equal(plans.of(plan, NONE_DROPPED), first);
  // It was asked for, so it goes to the end of the line once.
  for (let other = 0; other < 2 * PREPARED_PLANS_MAX; other++) {
    plans.of({ ...plan }, NONE_DROPPED);
  }
  notEqual(plans.of(plan, NONE_DROPPED), first);
});

test('a plan with subqueries for rows outside is not, for its functions are of one run', () => {
  const plan = planOf(
    'SELECT (SELECT MAX(b.id) FROM logs AS b WHERE b.id < a.id LIMIT 1) AS x, a.id FROM logs AS a',
  );
  ok(JSON.stringify(plan).includes('"op":"apply"'));
  equal(new PreparedPlans().of(plan, NONE_DROPPED), undefined);
});

test('what was kept of segments that have gone is garbage before a plan comes again', async () => {
  const plans = new PreparedPlans();
  const plan = planOf(COUNT);
  const kept = new WeakRef(must(plans.of(plan, NONE_DROPPED)));
  await setImmediate();
  plans.forgetDropped({ count: 1, ids: [7] });
  collectGarbage();
  equal(kept.deref(), undefined);
  ok(plans.of(plan, { count: 1, ids: [7] }));
});
