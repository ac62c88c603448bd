import type { DroppedSegments } from '../column/snapshot.ts';
import type { PhysicalPlan } from '../plan/physical-plan.ts';
import { appliesOf, operatorsOf } from '../plan/physical-walk.ts';
import { PreparedPlan } from '../plan/prepared-plan.ts';
import { SizedMemory } from '../plan/sized-memory.ts';

/**
 * Plans whose expressions a worker keeps compiled: each some tens of KB, and the last dictionaries that its
 * functions were asked about.
 */
export const PREPARED_PLANS_MAX = 64;

/**
 * What runs of the plans that a thread ran lately have in common, so that a plan that comes again is not compiled
 * again. It keeps some of what it read alive: it is to be forgotten when segments were dropped, and after a run
 * that read into memory of its own.
 */
export class PreparedPlans {
  #prepared = new SizedMemory<PhysicalPlan, PreparedPlan>(PREPARED_PLANS_MAX);
  /** How many segments had gone when the first of them was made. */
  #droppedCount = 0;

  /** For a run of a plan that is the same object each time; `undefined` where its functions are of one run. */
  of(plan: PhysicalPlan, dropped: DroppedSegments): PreparedPlan | undefined {
    this.forgetDropped(dropped);
    const known = this.#prepared.find(plan);
    if (known !== undefined) return known;
    if (operatorsOf(plan).some((operator) => appliesOf(operator).length > 0)) return undefined;
    const prepared = new PreparedPlan();
    this.#prepared.set(plan, prepared, 1);
    return prepared;
  }

  /** To be told, at the latest when nothing may run for long, of the segments that have gone. */
  forgetDropped({ count }: DroppedSegments): void {
    if (count === this.#droppedCount) return;
    this.forget();
    this.#droppedCount = count;
  }

  forget(): void {
    this.#prepared = new SizedMemory(PREPARED_PLANS_MAX);
  }
}
