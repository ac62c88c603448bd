import type { SqlType } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import type { Vector } from '../column/vector.ts';
import { DISTINCT_VALUES_MAX } from '../limits.ts';
import { QueryError } from '../query-error.ts';
import type { AggregateState } from './aggregate-function.ts';
import type { GroupKeys } from './group-table.ts';
import { GroupTable } from './group-table.ts';
import { PairSet } from './pair-set.ts';

/**
 * The DISTINCT form of an aggregate, given its plain one: each group's distinct vectors, of these
 * types, count once. The keys of an order are among the arguments, so they make no more of them.
 */
export function distinctState(plain: AggregateState, types: readonly SqlType[]): AggregateState {
  return new DistinctState(plain, types);
}

const VALUE_LIMIT = {
  max: DISTINCT_VALUES_MAX,
  what: 'distinct values in one aggregate with DISTINCT (DISTINCT_VALUES_MAX)',
};

type DistinctPartial = {
  readonly tuples: GroupKeys;
  readonly groups: Int32Array;
  readonly tupleOfPair: Int32Array;
};

/**
 * Numbers the distinct arguments (one number for all groups) and keeps the distinct pairs of a group
 * and such a number; the plain aggregate sees them once, at the end. A repeated code of a dictionary
 * costs one look-up of its number and one of a bit.
 */
class DistinctState implements AggregateState {
  readonly #plain: AggregateState;
  readonly #tuples: GroupTable;
  readonly #pairs = new PairSet();
  readonly #argumentCount: number;
  /** Groups seen by `update` or `combine`. */
  #groupCount = 0;
  #isFed = false;

  constructor(plain: AggregateState, types: readonly SqlType[]) {
    this.#plain = plain;
    this.#tuples = new GroupTable(types, VALUE_LIMIT);
    this.#argumentCount = types.length;
  }

  update(groups: Int32Array, count: number, groupCount: number, vectors: readonly Vector[]): void {
    this.#add(groups, this.#tuples.assign(vectors, count), count, groupCount);
  }

  combine(partial: unknown, groups: Int32Array, groupCount: number): void {
    const theirs = partial as DistinctPartial; // By contract, what partial() of this class gave.
    const ourTuples = this.#tuples.combine(theirs.tuples);
    const pairGroups = theirs.groups.map((group) => groups[group]!);
    const pairTuples = theirs.tupleOfPair.map((tuple) => ourTuples[tuple]!);
    this.#add(pairGroups, pairTuples, pairGroups.length, groupCount);
  }

  partial(): DistinctPartial {
    return {
      tuples: this.#tuples.keys(),
      groups: this.#pairs.groups(),
      tupleOfPair: this.#pairs.values(),
    };
  }

  finalize(group: number): SqlValue {
    if (!this.#isFed) this.#feed();
    return this.#plain.finalize(group);
  }

  #add(groups: Int32Array, tuples: Int32Array, count: number, groupCount: number): void {
    this.#pairs.add(groups, tuples, count, { groupCount, valueCount: this.#tuples.size });
    this.#groupCount = Math.max(this.#groupCount, groupCount);
    if (this.#pairs.size > VALUE_LIMIT.max) {
      throw new QueryError(
        'query_limit',
        `there may be at most ${VALUE_LIMIT.max} ${VALUE_LIMIT.what}; got ${this.#pairs.size}`,
      );
    }
  }

  #feed(): void {
    const tuples = this.#pairs.values();
    const vectors = Array.from({ length: this.#argumentCount }, (_, column) =>
      this.#tuples.keyVector(tuples, column),
    );
    this.#plain.update(this.#pairs.groups(), tuples.length, this.#groupCount, vectors);
    this.#isFed = true;
  }
}
