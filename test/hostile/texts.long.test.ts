import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { CALLER_SQL_LENGTH_MAX } from '../../src/limits.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { budgetOf } from '../support/budget.ts';
import { StepCounter, totalOf } from './step-counter.ts';
import { largestAllowed, planText } from './text-work.ts';
import { HOSTILE_TEXTS, largestText } from './texts.ts';

/** For a text that is bound once and planned twice, the second time to be remembered; some 10 ns each. */
const STEPS_MAX = 4_000_000;

/** One kind in so many is tried, which ones depends on the seed; `npm run test:texts` tries all. */
const KIND_STEP = budgetOf('WEIR_HOSTILE_TEXT_STEP', { fast: 20, all: 20 });

/** Looked for before work is counted, which takes as long again. */
const LARGEST = HOSTILE_TEXTS.filter(
  (_, index) => index % KIND_STEP === fuzzSeed() % KIND_STEP,
).map((text) => ({
  name: text.name,
  texts: [largestAllowed(text, CALLER_SQL_LENGTH_MAX), largestText(text, CALLER_SQL_LENGTH_MAX)],
}));

const counter = new StepCounter('/engine/');
after(() => counter.close());

for (const { name, texts } of LARGEST) {
  test(`the largest of its kind stays within the limit of steps: ${name}`, (context) => {
    for (const sql of new Set(texts)) {
      const steps = totalOf(counter.count(() => void planText(sql)));
      context.diagnostic(`${steps} steps, ${sql.length} characters`);
      assert.ok(steps <= STEPS_MAX, `${steps} steps for ${sql.length} characters`);
    }
  });
}
