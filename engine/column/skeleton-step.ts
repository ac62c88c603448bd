import { carvedInt32, threadArrays } from './arrays.ts';
import {
  FIELD_IN_TEXT,
  type Found,
  firstPlaceOf,
  KeyPattern,
  NOTHING,
  type Skeletons,
} from './skeleton.ts';
import { HUGE_NUMBER, KIND_MASK, NULL_KIND } from './token.ts';

/** A bit among the kinds beyond all of theirs: the field must be looked for in a text. */
const IN_TEXT = 1 << 30;

const ABSENT = -1;
const STEPS_MAX = 64;

/** Integers of one entry: kind bit, node, place, and one to fill sixteen bytes. */
const ENTRY_SIZE = 4;

/**
 * Where one step of a path leads, for each skeleton of a segment: a table filled in when a skeleton
 * is first met. Steps hang together as a tree: the roots, their fields, the elements of those …
 *
 * ```
 *  entry of skeleton s, at 4 s
 * ┌───────────────┬──────┬───────┬────────┐
 * │ 1 << kind     │ node │ place │ unused │   0 0 0: not looked at yet; node and place -1 for NULL
 * └───────────────┴──────┴───────┴────────┘
 * ```
 *
 * Memory that was never written costs nothing, so many skeletons of one project are no burden to
 * another.
 */
export abstract class SkeletonStep {
  readonly #entries: Int32Array;
  readonly #fields = new Map<string, SkeletonStep>();
  #onlyElement: SkeletonStep | undefined;
  protected readonly skeletons: Skeletons;
  /** For how many skeletons there is room. */
  readonly capacity: number;

  constructor(skeletons: Skeletons, capacity: number) {
    this.skeletons = skeletons;
    this.capacity = capacity;
    this.#entries = new Int32Array(ENTRY_SIZE * capacity);
  }

  /** The step to a field of the records that this one leads to; undefined when there are too many. */
  field(name: string): SkeletonStep | undefined {
    let step = this.#fields.get(name);
    if (step === undefined && this.#fields.size < STEPS_MAX) {
      step = new FieldStep(this.skeletons, this, name);
      this.#fields.set(name, step);
    }
    return step;
  }

  /** The step to the element of lists of one; a longer list leads to NULL here. */
  onlyElement(): SkeletonStep {
    this.#onlyElement ??= new ElementStep(this.skeletons, this);
    return this.#onlyElement;
  }

  /** Which kinds the step leads to from some skeletons, a bit `1 << kind` each, or IN_TEXT. */
  kinds(skeletons: Int32Array): number {
    const entries = this.#entries;
    let kinds = 0;
    for (let i = 0; i < skeletons.length; i++) {
      const entry = ENTRY_SIZE * skeletons[i]!;
      if (entries[entry] === 0) this.#resolve(skeletons[i]!);
      kinds |= entries[entry]!;
    }
    return kinds;
  }

  /** The node of each row, given its skeleton, all of which `kinds` has seen; -1 for NULL. */
  nodes(codes: Int32Array, count: number): Int32Array {
    const entries = this.#entries;
    const nodes = carvedInt32(count);
    for (let i = 0; i < count; i++) nodes[i] = entries[ENTRY_SIZE * codes[i]! + 1]!;
    return nodes;
  }

  /** The place of each row's slot, as `nodes`, in an array that is borrowed of `threadArrays`. */
  places(codes: Int32Array, count: number): Int32Array {
    const entries = this.#entries;
    const places = threadArrays.borrow(Int32Array, count);
    for (let i = 0; i < count; i++) places[i] = entries[ENTRY_SIZE * codes[i]! + 2]!;
    return places;
  }

  /** What the step leads to from one skeleton. */
  protected abstract find(skeleton: number): Found;

  /** What a step leads to from one skeleton; a node below 0 for NULL. */
  protected static foundBy(step: SkeletonStep, skeleton: number): Found {
    const entry = ENTRY_SIZE * skeleton;
    if (step.#entries[entry] === 0) step.#resolve(skeleton);
    return { node: step.#entries[entry + 1]!, place: step.#entries[entry + 2]! };
  }

  #resolve(skeleton: number): void {
    const { node, place } = this.find(skeleton);
    const entries = this.#entries;
    const entry = ENTRY_SIZE * skeleton;
    const kind = node < 0 ? NULL_KIND : this.skeletons.arrays.tokens[node]! & KIND_MASK;
    const isNull = kind === NULL_KIND || kind === HUGE_NUMBER;
    entries[entry] = node === FIELD_IN_TEXT ? IN_TEXT : 1 << (isNull ? NULL_KIND : kind);
    entries[entry + 1] = isNull ? ABSENT : node;
    entries[entry + 2] = isNull ? ABSENT : place;
  }
}

/** The root records themselves. */
export class RootStep extends SkeletonStep {
  constructor(skeletons: Skeletons, capacity: number = skeletons.arrays.count) {
    super(skeletons, capacity);
  }

  protected override find(skeleton: number): Found {
    const { arrays } = this.skeletons;
    return { node: arrays.starts[skeleton]!, place: firstPlaceOf(arrays, skeleton) };
  }
}

/**
 * The root step of a segment that gets more skeletons: with room for as many again, so that what was found out
 * for one run is there for the next.
 */
export class GrowingRoot {
  #step: RootStep | undefined;

  /** `skeletons`: always the same, which may be more by now. */
  stepOf(skeletons: Skeletons): RootStep {
    const { count } = skeletons.arrays;
    if (this.#step === undefined || this.#step.capacity < count) {
      this.#step = new RootStep(skeletons, 2 * count);
    }
    return this.#step;
  }
}

class FieldStep extends SkeletonStep {
  readonly #before: SkeletonStep;
  readonly #pattern: KeyPattern;

  constructor(skeletons: Skeletons, before: SkeletonStep, name: string) {
    super(skeletons, before.capacity);
    this.#before = before;
    this.#pattern = new KeyPattern(name);
  }

  protected override find(skeleton: number): Found {
    const before = SkeletonStep.foundBy(this.#before, skeleton);
    return before.node < 0 ? NOTHING : this.skeletons.findField(before, this.#pattern);
  }
}

class ElementStep extends SkeletonStep {
  readonly #before: SkeletonStep;

  constructor(skeletons: Skeletons, before: SkeletonStep) {
    super(skeletons, before.capacity);
    this.#before = before;
  }

  protected override find(skeleton: number): Found {
    const { node, place } = SkeletonStep.foundBy(this.#before, skeleton);
    const element = node < 0 ? ABSENT : this.skeletons.onlyElement(node);
    return element < 0 ? NOTHING : { node: element, place };
  }
}
