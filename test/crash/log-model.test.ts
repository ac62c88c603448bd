import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Random } from '../../src/demo/traffic/random.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { budgetOf } from '../support/budget.ts';
import { liveAndCrash } from './log-model.ts';
import { progressOf } from './progress.ts';

/** `WEIR_CRASH_STATES=100000` is the long form. */
const STATES = budgetOf('WEIR_CRASH_STATES', { fast: 100, all: 1_000 });
/** States that one life with its crashes gives, at the least. */
const STATES_PER_RUN = 3;

test('whatever a crash leaves of unsynced writes, acknowledged posts exist once and voided ones never', async (context) => {
  const seed = fuzzSeed();
  let states = 0;
  const progress = progressOf('log model, states of a disk', STATES);
  const property = fc.asyncProperty(fc.integer({ min: 0 }), async (lives) => {
    if (states < STATES) states += await liveAndCrash(new Random(lives));
    progress(states);
  });
  // Shrinking a seed makes nothing smaller: the first that fails is the one to look at.
  await fc.assert(property, {
    seed,
    numRuns: Math.ceil(STATES / STATES_PER_RUN),
    endOnFailure: true,
  });
  context.diagnostic(`seed ${seed}: ${states} states`);
  assert(states >= STATES, `${states} states were looked at`);
});
