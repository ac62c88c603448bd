import type { VectorFunction } from '../column/chunk.ts';
import type { Expression } from './expression.ts';
import type { LateTexts } from './late-texts.ts';
import type { PhysicalPlan } from './physical-plan.ts';
import { SizedMemory } from './sized-memory.ts';

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
  readonly #ofTexts = new SizedMemory<string, PreparedTexts>(PREPARED_TEXTS_MAX);

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
