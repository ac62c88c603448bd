import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { COST_ROWS_MIN } from '../../engine/limits.ts';
import type { PhysicalPlan } from '../../engine/plan/physical-plan.ts';
import { RunCosts } from '../../engine/pool/run-costs.ts';

const PLAN: PhysicalPlan = { op: 'one-row' };

test('of a plan that has not been run nothing is known', () => {
  const costs = new RunCosts();
  equal(costs.rowsWithin(PLAN, 1000), 0);
  equal(costs.wholeMs(PLAN), undefined);
  costs.note({ op: 'one-row' }, { busyMs: 1, rowCount: 10_000 }, true);
  equal(costs.rowsWithin(PLAN, 1000), 0, 'another object is another plan');
});

test('a lower cost is believed at once, a higher one little by little', () => {
  const costs = new RunCosts();
  costs.note(PLAN, { busyMs: 8, rowCount: 8000 }, true);
  equal(costs.rowsWithin(PLAN, 2), 2000);
  costs.note(PLAN, { busyMs: 4, rowCount: 8000 }, true);
  equal(costs.rowsWithin(PLAN, 2), 4000);
  equal(costs.wholeMs(PLAN), 4);
  costs.note(PLAN, { busyMs: 4 + 64, rowCount: 8000 }, true);
  equal(costs.wholeMs(PLAN), 5);
  for (let run = 0; run < 1000; run++) costs.note(PLAN, { busyMs: 80, rowCount: 8000 }, true);
  equal(costs.rowsWithin(PLAN, 2), 200);
});

test('few rows tell nothing of one, and a part of a run nothing of the whole', () => {
  const costs = new RunCosts();
  costs.note(PLAN, { busyMs: 1, rowCount: COST_ROWS_MIN - 1 }, true);
  equal(costs.rowsWithin(PLAN, 1), 0);
  equal(costs.wholeMs(PLAN), 1);
  costs.note(PLAN, { busyMs: 0.5, rowCount: COST_ROWS_MIN }, false);
  equal(costs.rowsWithin(PLAN, 1), 2 * COST_ROWS_MIN);
  equal(costs.wholeMs(PLAN), 1);
});

test('what states a plan leaves is known for a while', () => {
  const costs = new RunCosts();
  equal(costs.stateBytesPerRow(PLAN), undefined);
  costs.noteStates(PLAN, { byteSize: 100, rowCount: 0 });
  equal(costs.stateBytesPerRow(PLAN), undefined, 'no rows tell nothing');
  costs.noteStates(PLAN, { byteSize: 100, rowCount: 10 });
  let runCount = 0;
  while (costs.stateBytesPerRow(PLAN) === 10 && runCount < 1000) {
    costs.note(PLAN, { busyMs: 1, rowCount: 10 }, true);
    runCount++;
  }
  equal(runCount, 64);
  equal(costs.stateBytesPerRow(PLAN), undefined, 'it may have changed');
});
