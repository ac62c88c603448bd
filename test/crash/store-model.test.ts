import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '../../src/traffic/random.ts';
import { fuzzSeed, numberFrom } from '../fuzz/seed.ts';
import { liveAndEnd, newTally, newWorld } from './store-model.ts';

/** `WEIR_CRASH_STATES=100000` is the long form. */
const STATES = numberFrom('WEIR_CRASH_STATES', 1_000);
const WORLDS = 4;

test('whatever a crash or a kill leaves of log and segment files, acknowledged posts are there once, as a whole', async (context) => {
  const seed = fuzzSeed();
  const tally = newTally();
  let lives = 0;
  const liveOn = async (): Promise<void> => {
    while (tally.states < STATES) {
      const number = seed + lives++;
      try {
        await liveAndEnd(newWorld(new Random(number), tally));
      } catch (error) {
        throw new Error(`WEIR_FUZZ_SEED=${number} begins with it`, { cause: error });
      }
    }
  };
  // Packing waits for other threads: meanwhile another world goes on.
  await Promise.all(Array.from({ length: WORLDS }, liveOn));
  context.diagnostic(`seed ${seed}: ${JSON.stringify(tally)}`);
  for (const [what, count] of Object.entries(tally)) {
    assert(count >= STATES / 100, `${what} is lived through: ${count} times`);
  }
});
