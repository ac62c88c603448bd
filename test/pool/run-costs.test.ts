import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { type CalledPlan, lateTexts } from '../../engine/plan/late-texts.ts';
import type { PhysicalPlan } from '../../engine/plan/physical-plan.ts';
import { COST_ROWS_MIN, RunCosts } from '../../engine/pool/run-costs.ts';

const PLAN: PhysicalPlan = { op: 'one-row' };
const CALL = { plan: PLAN };

test('of a plan that has not been run nothing is known', () => {
  const costs = new RunCosts();
  equal(costs.rowsWithin(CALL, 1000), 0);
  equal(costs.wholeMs(CALL), undefined);
  costs.note({ plan: { op: 'one-row' } }, { busyMs: 1, rowCount: 10_000 }, true);
  equal(costs.rowsWithin(CALL, 1000), 0, 'another object is another plan');
});

test('a lower cost is believed at once, a higher one little by little', () => {
  const costs = new RunCosts();
  costs.note(CALL, { busyMs: 8, rowCount: 8000 }, true);
  equal(costs.rowsWithin(CALL, 2), 2000);
  costs.note(CALL, { busyMs: 4, rowCount: 8000 }, true);
  equal(costs.rowsWithin(CALL, 2), 4000);
  equal(costs.wholeMs(CALL), 4);
  costs.note(CALL, { busyMs: 4 + 64, rowCount: 8000 }, true);
  equal(costs.wholeMs(CALL), 5);
  for (let run = 0; run < 1000; run++) costs.note(CALL, { busyMs: 80, rowCount: 8000 }, true);
  equal(costs.rowsWithin(CALL, 2), 200);
});

test('few rows tell nothing of one, and a part of a run nothing of the whole', () => {
  const costs = new RunCosts();
  costs.note(CALL, { busyMs: 1, rowCount: COST_ROWS_MIN - 1 }, true);
  equal(costs.rowsWithin(CALL, 1), 0);
  equal(costs.wholeMs(CALL), 1);
  costs.note(CALL, { busyMs: 0.5, rowCount: COST_ROWS_MIN }, false);
  equal(costs.rowsWithin(CALL, 1), 2 * COST_ROWS_MIN);
  equal(costs.wholeMs(CALL), 1);
});

test('what states a plan leaves is known for a while', () => {
  const costs = new RunCosts();
  equal(costs.stateBytesPerRow(CALL), undefined);
  costs.noteStates(CALL, { byteSize: 100, rowCount: 0 });
  equal(costs.stateBytesPerRow(CALL), undefined, 'no rows tell nothing');
  costs.noteStates(CALL, { byteSize: 100, rowCount: 10 });
  let runCount = 0;
  while (costs.stateBytesPerRow(CALL) === 10 && runCount < 1000) {
    costs.note(CALL, { busyMs: 1, rowCount: 10 }, true);
    runCount++;
  }
  equal(runCount, 64);
  equal(costs.stateBytesPerRow(CALL), undefined, 'it may have changed');
});

test('the whole of a run is known for the texts that calls of the same plan put in', () => {
  const costs = new RunCosts();
  const [many, few] = ['many', 'few'].map((project) => {
    const texts = lateTexts(new Map([['project', project]]));
    return { plan: PLAN, template: { texts } };
  }) as [CalledPlan, CalledPlan];
  costs.note(many, { busyMs: 20, rowCount: 200_000 }, true);
  costs.note(few, { busyMs: 0.1, rowCount: 10 }, true);
  equal(costs.wholeMs(many), 20);
  equal(costs.wholeMs(few), 0.1);
  const other = { ...few, template: { texts: lateTexts(new Map([['project', 'other']])) } };
  equal(costs.wholeMs(other), undefined);
  equal(costs.wholeMsOfFew(other), 0.1);
  equal(costs.wholeMsOfFew(many), 20);
  equal(costs.rowsWithin(CALL, 2), 20_000, 'and what a row takes for all of them');
});

test('what a pattern costs that a call puts in says nothing of another in the same plan', () => {
  const costs = new RunCosts();
  const [cheap, dear] = ['^a', 'a+b'].map((text) => {
    const texts = lateTexts(new Map([['project', text]]), new Set(['project']));
    return { plan: PLAN, template: { texts } };
  }) as [CalledPlan, CalledPlan];
  costs.note(cheap, { busyMs: 0.5, rowCount: 65_536, isHere: true }, true);
  costs.noteStates(cheap, { byteSize: 100, rowCount: 10 });
  equal(costs.rowsWithin(cheap, 1), 131_072);
  equal(costs.rowsWithinHere(cheap, 1), 131_072);
  equal(costs.rowsWithin(dear, 1), 0);
  equal(costs.rowsWithinHere(dear, 1), 0);
  equal(costs.wholeMsOfFew(dear), undefined);
  equal(costs.stateBytesPerRow(dear), undefined);
  equal(costs.rowsWithin(CALL, 1), 0, 'nor of the plan with a text');
});

test('a call that came to too many groups is run as a whole for a while, and others of its plan are not', () => {
  const costs = new RunCosts();
  const [many, few] = ['many', 'few'].map((project) => {
    const texts = lateTexts(new Map([['project', project]]));
    return { plan: PLAN, template: { texts } };
  }) as [CalledPlan, CalledPlan];
  costs.noteOversized(many);
  let runCount = 0;
  for (; costs.isOversized(many) && runCount < 1000; runCount++) {
    costs.note(few, { busyMs: 1, rowCount: 10 }, true);
    costs.note(many, { busyMs: 1, rowCount: 10 }, true);
  }
  equal(runCount, 64);
  costs.noteOversized(many);
  equal(costs.isOversized(few), false);
});
