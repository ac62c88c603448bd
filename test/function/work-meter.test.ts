import { deepEqual, equal, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { pausingEvery, spendSteps, WorkBudget } from '../../engine/function/work-meter.ts';

test('work comes to a checkpoint each time that it has spent so many steps', () => {
  let count = 0;
  const checkpoint = () => {
    count++;
  };
  pausingEvery(10, checkpoint, () => {
    for (let step = 0; step < 33; step++) spendSteps(1);
  });
  equal(count, 3);
  spendSteps(1000);
  equal(count, 3, 'what is done outside is not counted');
});

test('a checkpoint ends work by throwing', () => {
  const checkpoint = () => {
    throw new Error('too late');
  };
  throws(() => pausingEvery(10, checkpoint, () => spendSteps(11)), /too late/);
  spendSteps(1000);
});

test('a budget is shared by all that is run within it, and what it is too small for is not run', () => {
  const budget = new WorkBudget(10);
  const spent = (steps: number) =>
    budget.run(() => {
      spendSteps(steps);
      return steps;
    });
  deepEqual([spent(4), spent(6), spent(1), spent(0)], [4, 6, undefined, undefined]);
});

test('work within other work is not counted for that, which goes on with its own', () => {
  const outer = new WorkBudget(10);
  const result = outer.run(() => {
    spendSteps(5);
    new WorkBudget(100).run(() => spendSteps(50));
    spendSteps(5);
    return 'done';
  });
  equal(result, 'done');
});
