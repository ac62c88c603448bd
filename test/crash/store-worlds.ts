import { inspect } from 'node:util';
import type { MessagePort } from 'node:worker_threads';
import { Random } from '../../src/demo/traffic/random.ts';
import { liveAndEnd, newTally, newWorld, type Tally } from './store-model.ts';

export type WorldsToLive = {
  /** Of the first world; the next has the next. */
  readonly seed: number;
  /** States of disks to be looked at, in all worlds together. */
  readonly stateCount: number;
  /** Everything that can happen is to happen more often: where chance has left it out, some worlds more are lived. */
  readonly oftenerThan: number;
  /** Gets the number of states after each world. */
  readonly progress: MessagePort;
};

/** `failure`: of the last world, with its seed. */
export type WorldsLived = { readonly tally: Tally; readonly failure?: string };

/** So many times the states are looked at before chance is no excuse. */
const WORLDS_MORE = 10;

/**
 * Lives worlds of a modelled store, one after another. The task of a thread: what the test runner does
 * at each promise of its own thread would take a fifth of the time.
 */
export async function liveWorlds(toLive: WorldsToLive): Promise<WorldsLived> {
  const { seed, stateCount, oftenerThan, progress } = toLive;
  const tally = newTally();
  const isCovered = (): boolean => Object.values(tally).every((count) => count > oftenerThan);
  const isDone = (): boolean =>
    tally.states >= stateCount && (isCovered() || tally.states >= WORLDS_MORE * stateCount);
  for (let number = seed; !isDone(); number++) {
    try {
      await liveAndEnd(newWorld(new Random(number), tally));
    } catch (error) {
      return { tally, failure: `WEIR_FUZZ_SEED=${number} begins with it: ${inspect(error)}` };
    }
    progress.postMessage(tally.states);
  }
  return { tally };
}
