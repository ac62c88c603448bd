import { inspect } from 'node:util';
import type { MessagePort } from 'node:worker_threads';
import { Random } from '../../src/demo/traffic/random.ts';
import { liveAndEnd, newTally, newWorld, type Tally } from './store-model.ts';

export type WorldsToLive = {
  /** Of the first world; the next has the next. */
  readonly seed: number;
  /** States of disks to be looked at, in all worlds together. */
  readonly stateCount: number;
  /** Gets the number of states after each world. */
  readonly progress: MessagePort;
};

/** `failure`: of the last world, with its seed. */
export type WorldsLived = { readonly tally: Tally; readonly failure?: string };

/**
 * Lives worlds of a modelled store, one after another. The task of a thread: what the test runner does
 * at each promise of its own thread would take a fifth of the time.
 */
export async function liveWorlds(toLive: WorldsToLive): Promise<WorldsLived> {
  const { seed, stateCount, progress } = toLive;
  const tally = newTally();
  for (let number = seed; tally.states < stateCount; number++) {
    try {
      await liveAndEnd(newWorld(new Random(number), tally));
    } catch (error) {
      return { tally, failure: `WEIR_FUZZ_SEED=${number} begins with it: ${inspect(error)}` };
    }
    progress.postMessage(tally.states);
  }
  return { tally };
}
