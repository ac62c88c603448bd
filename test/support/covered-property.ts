import { ok } from 'node:assert/strict';
import fc from 'fast-check';
import { runsOf } from './budget.ts';

/** At most so many times the runs that usually suffice. */
const PATIENCE = 5;

export type Coverage = {
  /** Runs that usually meet enough; in `npm test` a part of them is tried first. */
  readonly numRuns: number;
  readonly seed?: number;
  /** Whether what the property is about was met often enough. */
  readonly isEnough: () => boolean;
  /** What was met, for the message of a failure. */
  readonly met: () => string;
};

/** Checks a property until enough of what it is about was met, and fails when that does not happen. */
export async function assertCovered<T>(
  property: fc.IRawProperty<T>,
  coverage: Coverage,
): Promise<void> {
  const { numRuns, isEnough, met } = coverage;
  const blockRuns = runsOf(numRuns);
  const runsMax = PATIENCE * numRuns;
  const firstSeed = coverage.seed ?? fc.readConfigureGlobal().seed;
  let runs = 0;
  do {
    const seed = firstSeed === undefined ? {} : { seed: firstSeed + runs };
    await fc.assert(property, { ...seed, numRuns: blockRuns });
    runs += blockRuns;
  } while (runs < runsMax && !isEnough());
  ok(isEnough(), `after ${runs} runs: ${met()}`);
}
