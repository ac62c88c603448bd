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

type Item<Value> = {
  readonly value: Value;
  readonly size: number;
  /** Whether it was asked for since it last had its turn to leave. */
  isWanted: boolean;
};

/**
 * Values by key, bounded by what they are said to weigh together. They leave in the order they came, but who was
 * asked for meanwhile goes to the end of the line instead (the "clock" of Corbató, 1968): to keep a line in the
 * order they were asked for would take longer than to find one.
 *
 * Invariant: `#size` is the sum over the items, and at most `#sizeMax`.
 */
export class SizedMemory<Key, Value> {
  readonly #sizeMax: number;
  /** A Map lists its keys in the order they were set: the line. */
  readonly #items = new Map<Key, Item<Value>>();
  #size = 0;

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  find(key: Key): Value | undefined {
    const item = this.#items.get(key);
    if (item === undefined) return undefined;
    item.isWanted = true;
    return item.value;
  }

  /** In the place of what the key had. A value that weighs more than all may is not kept. */
  set(key: Key, value: Value, size: number): void {
    this.#remove(key);
    if (size > this.#sizeMax) return;
    this.#items.set(key, { value, size, isWanted: false });
    this.#size += size;
    this.#makeRoom(key);
  }

  clear(): void {
    this.#items.clear();
    this.#size = 0;
  }

  /** Has others than `kept` leave until there is room for all. */
  #makeRoom(kept: Key): void {
    for (const [next, item] of this.#items) {
      if (this.#size <= this.#sizeMax) return;
      this.#items.delete(next);
      if (item.isWanted || next === kept) {
        item.isWanted = false;
        this.#items.set(next, item);
      } else {
        this.#size -= item.size;
      }
    }
  }

  #remove(key: Key): void {
    this.#size -= this.#items.get(key)?.size ?? 0;
    this.#items.delete(key);
  }
}
