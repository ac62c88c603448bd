import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { fuzzSeed } from '../fuzz/seed.ts';
import { budgetOf } from '../support/budget.ts';
import { moduleUrl } from '../support/program-words.ts';
import { progressOf } from './progress.ts';
import type { Tally } from './store-model.ts';
import type { WorldsLived, WorldsToLive } from './store-worlds.ts';

/** `WEIR_CRASH_STATES=100000` is the long form. */
const STATES = budgetOf('WEIR_CRASH_STATES', { fast: 30, all: 1_000 });

/** In so many states, or some more, everything that can happen does. */
const COVERING_STATES = 1_000;

/** Fewer states do not meet everything that can happen. */
const OFTENER_THAN = STATES < COVERING_STATES ? -1 : STATES / 1_000;

/** What happened in as many worlds as that many states take. Rejects when one of them was wrong. */
async function lived(seed: number, stateCount: number): Promise<Tally> {
  const filename = moduleUrl('./store-worlds.ts', import.meta.url).href;
  const threads = new Piscina({ filename, name: 'liveWorlds', minThreads: 1, maxThreads: 1 });
  const { port1: told, port2: progress } = new MessageChannel();
  told.on('message', progressOf('store model, states of a disk', stateCount));
  try {
    const toLive: WorldsToLive = { seed, stateCount, oftenerThan: OFTENER_THAN, progress };
    const { tally, failure }: WorldsLived = await threads.run(toLive, { transferList: [progress] });
    if (failure !== undefined) throw new Error(failure);
    return tally;
  } finally {
    told.close();
    await threads.destroy();
  }
}

test('whatever a crash or a kill leaves of the files, acknowledged posts exist once and whole, even those evicted from memory', async (context) => {
  const seed = fuzzSeed();
  const tally = await lived(seed, STATES);
  context.diagnostic(`seed ${seed}: ${JSON.stringify(tally)}`);
  assert(tally.states >= STATES, `${tally.states} states were looked at`);
  for (const [what, count] of Object.entries(tally)) {
    assert(count > OFTENER_THAN, `${what} is lived through: ${count} times`);
  }
});
