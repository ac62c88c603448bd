import { SizedCache } from '../column/caches.ts';
import type { VectorFunction } from '../column/chunk.ts';
import type { DroppedSegments } from '../column/segment.ts';
import type { Expression } from './expression.ts';
import type { LateTexts } from './late-texts.ts';
import type { PhysicalPlan } from './physical-plan.ts';
import { appliesOf, operatorsOf } from './physical-walk.ts';

/** Texts for which it keeps those expressions of a plan compiled that read them: of projects called in turns. */
const PREPARED_TEXTS_MAX = 16;

/**
 * What runs of one plan on one thread have in common: its expressions, compiled. For plans without
 * subqueries, whose functions are of one run. They remember what they computed of the entries of dictionaries
 * and read of a chunk, and keep the last of these alive; so it should not outlive the segments of its runs for long.
 */
export class PreparedPlan {
  /** Of those expressions that read no late texts. */
  readonly functions: Functions = new Map();
  readonly #ofTexts = new SizedCache<string, PreparedTexts>(PREPARED_TEXTS_MAX);

  ofTexts({ key }: LateTexts): PreparedTexts {
    const known = this.#ofTexts.find(key);
    if (known !== undefined) return known;
    const prepared: PreparedTexts = { functions: new Map(), parts: new Map() };
    this.#ofTexts.set(key, prepared, 1);
    return prepared;
  }
}

/** What runs with the same late texts have in common. */
export type PreparedTexts = {
  /** Of those expressions that read them. */
  readonly functions: Functions;
  /** What each operator is made of that is the same in all of them: its functions, and what follows from its plan. */
  readonly parts: Map<PhysicalPlan, unknown>;
};

/** By the operator that an expression stands above. */
export type Functions = Map<PhysicalPlan, Map<Expression, VectorFunction>>;

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
  #prepared = new SizedCache<PhysicalPlan, PreparedPlan>(PREPARED_PLANS_MAX);
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
    this.#prepared = new SizedCache(PREPARED_PLANS_MAX);
  }
}
