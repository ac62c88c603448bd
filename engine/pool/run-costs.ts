import { COST_ROWS_MIN } from '../limits.ts';
import type { PhysicalPlan } from '../plan/physical-plan.ts';

/** A run that has ended: milliseconds of all threads together, and the rows they looked at. */
export type EndedRun = { readonly busyMs: number; readonly rowCount: number };

type Cost = { msPerRow: number | undefined; wholeMs: number | undefined };

/** How far a cost follows one that is higher. */
const RISE = 1 / 64;

/**
 * What runs of a plan have taken lately, so that it is known where the next is best run. A matter of speed only.
 * Plans that calls share are the same object each time; others are met once and nothing is known of them.
 */
export class RunCosts {
  readonly #costs = new WeakMap<PhysicalPlan, Cost>();

  /** `isWhole`: nothing of it was remembered from other runs. */
  note(plan: PhysicalPlan, { busyMs, rowCount }: EndedRun, isWhole: boolean): void {
    const cost = this.#costs.get(plan) ?? { msPerRow: undefined, wholeMs: undefined };
    if (rowCount >= COST_ROWS_MIN) cost.msPerRow = followed(cost.msPerRow, busyMs / rowCount);
    if (isWhole) cost.wholeMs = followed(cost.wholeMs, busyMs);
    this.#costs.set(plan, cost);
  }

  /** How many rows take so long; 0 where it is not known. */
  rowsWithin(plan: PhysicalPlan, ms: number): number {
    const msPerRow = this.#costs.get(plan)?.msPerRow;
    return msPerRow === undefined ? 0 : Math.floor(ms / msPerRow);
  }

  /** How long a run takes of which nothing is remembered; `undefined` where it is not known. */
  wholeMs(plan: PhysicalPlan): number | undefined {
    return this.#costs.get(plan)?.wholeMs;
  }
}

/** A lower cost is believed at once: a higher one may be that of waiting for a processor. */
function followed(known: number | undefined, measured: number): number {
  if (known === undefined || measured < known) return measured;
  return known + RISE * (measured - known);
}
