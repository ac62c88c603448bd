import { grownInt32, NO_INT32 } from '../column/arrays.ts';
import { isInterval, isNested, type SqlValue } from '../column/value.ts';
import { takeVector, type Vector, valueAt } from '../column/vector.ts';
import { compareValues } from '../function/comparison.ts';
import { type Kind, kindOf, ORDERED_KINDS } from '../function/dynamic.ts';
import type { AggregateState, Extreme } from './aggregate-function.ts';

/**
 * An aggregate with HAVING MAX or HAVING MIN: of each group only the rows where the last vector is at
 * its greatest (least) value are given to the plain aggregate, without that vector. NULLs are never
 * that value; a NaN is above and below all numbers and equals nothing, so a group with one has no
 * rows left, and neither has one of NULLs alone. Of a DYNAMIC value numbers count if a group has any, else
 * strings, else booleans.
 */
export function havingState(create: () => AggregateState, extreme: Extreme): AggregateState {
  return new HavingState(create, extreme);
}

type HavingPartial = {
  readonly best: readonly SqlValue[];
  readonly inner: Int32Array;
  readonly innerCount: number;
  readonly plain: unknown;
};

/** The group of the plain aggregate that has no rows. */
const EMPTY = 0;
/** The group of the plain aggregate that takes in what counts no more. */
const REFUSE = 1;
const INNER_MIN = 2;

/** Groups of the plain aggregate, beyond two for each of ours, before those are dropped that count no more. */
const INNER_SPARE = 4096;

/**
 * A group's rows are group `#inner[group]` of the plain aggregate. A better value begins another one
 * there, and the old one is dropped in time.
 */
class HavingState implements AggregateState {
  readonly #create: () => AggregateState;
  /** The order of better values is `#sign` times that of values. */
  readonly #sign: 1 | -1;
  #plain: AggregateState;
  /** The best value of each group; NULL where there is none. */
  readonly #best: SqlValue[] = [];
  #inner: Int32Array<ArrayBuffer> = NO_INT32;
  #innerCount = INNER_MIN;

  constructor(create: () => AggregateState, extreme: Extreme) {
    this.#create = create;
    this.#sign = extreme === 'max' ? 1 : -1;
    this.#plain = create();
  }

  update(groups: Int32Array, count: number, groupCount: number, vectors: readonly Vector[]): void {
    this.#reserve(groupCount);
    const keys = vectors.at(-1)!;
    this.#findBest(groups, count, keys);
    const positions = new Int32Array(count);
    const inner = new Int32Array(count);
    let kept = 0;
    for (let row = 0; row < count; row++) {
      const group = groups[row]!;
      const key = valueAt(keys, row);
      if (key === null || this.#compare(key, this.#best[group]!) !== 0 || isNaNumber(key)) continue;
      positions[kept] = row;
      inner[kept++] = this.#inner[group]!;
    }
    const rows = vectors.slice(0, -1).map((vector) => takeVector(vector, positions, kept));
    this.#plain.update(inner, kept, this.#innerCount, rows);
    if (this.#innerCount > 2 * groupCount + INNER_SPARE) this.#dropOld();
  }

  combine(partial: unknown, groups: Int32Array, groupCount: number): void {
    const theirs = partial as HavingPartial; // By contract, what partial() of this class gave.
    this.#reserve(groupCount);
    const innerOfTheirs = new Int32Array(theirs.innerCount).fill(REFUSE);
    for (const [index, value] of theirs.best.entries()) {
      const group = groups[index]!;
      const order = this.#compare(value, this.#best[group]!);
      if (order > 0) this.#begin(group, value);
      if (order >= 0 && theirs.inner[index] !== EMPTY) {
        if (this.#inner[group] === EMPTY) this.#inner[group] = this.#innerCount++;
        innerOfTheirs[theirs.inner[index]!] = this.#inner[group]!;
      }
    }
    this.#plain.combine(theirs.plain, innerOfTheirs, this.#innerCount);
  }

  partial(groupCount: number): HavingPartial {
    this.#reserve(groupCount);
    return {
      best: this.#best.slice(0, groupCount),
      inner: this.#inner.slice(0, groupCount),
      innerCount: this.#innerCount,
      plain: this.#plain.partial(this.#innerCount),
    };
  }

  finalize(group: number): SqlValue {
    return this.#plain.finalize(this.#inner[group] ?? EMPTY);
  }

  #reserve(groupCount: number): void {
    this.#inner = grownInt32(this.#inner, groupCount, EMPTY);
    while (this.#best.length < groupCount) this.#best.push(null);
  }

  /** Takes in the best of these rows for each group, which begins anew where it is better. */
  #findBest(groups: Int32Array, count: number, keys: Vector): void {
    const better = new Map<number, SqlValue>();
    for (let row = 0; row < count; row++) {
      const key = valueAt(keys, row);
      if (key === null || isNested(key)) continue;
      const group = groups[row]!;
      const best = better.get(group) ?? this.#best[group]!;
      if (this.#compare(key, best) > 0) better.set(group, key);
    }
    for (const [group, key] of better) this.#begin(group, key);
  }

  #begin(group: number, key: SqlValue): void {
    this.#best[group] = key;
    if (this.#inner[group] !== EMPTY) this.#plain.clear?.(this.#inner[group]!);
    this.#inner[group] = isNaNumber(key) ? EMPTY : this.#innerCount++;
  }

  /** Positive when `left` is better than `right`. */
  #compare(left: SqlValue, right: SqlValue): number {
    const ranks = rankOf(left) - rankOf(right);
    if (ranks !== 0) return ranks;
    if (isNaNumber(left) || isNaNumber(right)) {
      return Number(isNaNumber(left)) - Number(isNaNumber(right));
    }
    return compareValues(left, right) * this.#sign;
  }

  /** Moves the groups that count to a fresh plain aggregate. */
  #dropOld(): void {
    const moved = new Int32Array(this.#innerCount).fill(REFUSE);
    moved[EMPTY] = EMPTY;
    let count = INNER_MIN;
    for (let group = 0; group < this.#inner.length; group++) {
      const inner = this.#inner[group]!;
      if (inner === EMPTY) continue;
      moved[inner] = count;
      this.#inner[group] = count++;
    }
    const fresh = this.#create();
    fresh.combine(this.#plain.partial(this.#innerCount), moved, count);
    this.#plain = fresh;
    this.#innerCount = count;
  }
}

function isNaNumber(value: SqlValue): boolean {
  return typeof value === 'number' && Number.isNaN(value);
}

/** Which values count before which: those of the first of `ORDERED_KINDS`, the others never. */
function rankOf(value: SqlValue): number {
  return isInterval(value) ? RANKS.size + 1 : (RANKS.get(kindOf(value)) ?? 0);
}

const RANKS: ReadonlyMap<Kind, number> = new Map(
  ORDERED_KINDS.map((kind, index) => [kind, ORDERED_KINDS.length - index]),
);
