import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fuzzSeed } from '../fuzz/seed.ts';
import { budgetOf } from '../support/budget.ts';
import { StepCounter, totalOf } from './step-counter.ts';
import { planText } from './text-work.ts';
import { HOSTILE_TEXTS } from './texts.ts';

/** A text twice as long may take little more than twice as many steps. */
const RATIO_MAX = 2.2;

/** Large enough that what grows by the square of it would be seen. */
const COUNT = 60;

/** One text in so many is tried; of the next commit others. */
const TEXT_STEP = budgetOf('WEIR_STEPS_TEXT_STEP', { fast: 3, all: 1 });
const SEED = fuzzSeed();

const counter = new StepCounter('/engine/');
after(() => counter.close());

for (const [index, { name, withCount, isProduct = false }] of HOSTILE_TEXTS.entries()) {
  if (isProduct || (index + SEED) % TEXT_STEP !== 0) continue;
  test(`the steps of planning are proportional to the text: ${name}`, () => {
    // What is remembered of the first text of a process is not counted.
    planText(withCount(1));
    const once = totalOf(counter.count(() => void planText(withCount(COUNT))));
    const twice = counter.count(() => void planText(withCount(2 * COUNT)));
    const ratio = totalOf(twice) / once;
    assert.ok(ratio <= RATIO_MAX, `${ratio.toFixed(2)} times as many steps`);
  });
}

test('there are at least sixty texts with unique names', (context) => {
  context.diagnostic(`seed ${SEED}: WEIR_FUZZ_SEED=${SEED} repeats the choice of texts`);
  assert.ok(new Set(HOSTILE_TEXTS.map(({ name }) => name)).size === HOSTILE_TEXTS.length);
  assert.ok(HOSTILE_TEXTS.length >= 60);
});
