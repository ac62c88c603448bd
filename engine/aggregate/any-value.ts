import { detachedValue } from '../column/detached-vector.ts';
import { isInterval, type SqlValue } from '../column/value.ts';
import type { Vector } from '../column/vector.ts';
import { isOfStrings, valueAt } from '../column/vector.ts';
import { compareValues } from '../function/comparison.ts';
import type { AggregateFunction, AggregateState } from './aggregate-function.ts';
import { ExtremeState } from './extreme.ts';
import { fromPortable, type PortableValue, toPortable } from './portable-value.ts';

/**
 * ANY_VALUE(x): GoogleSQL leaves open which; here it is the least in the order of ORDER BY, so that
 * the answer does not depend on how rows are ordered or split. Of a DYNAMIC value a record or a list
 * is taken where a group has nothing else.
 */
export const ANY_VALUE: AggregateFunction = {
  name: 'any_value',
  doc: [
    'A value of the rows: always the least in the order of `ORDER BY`. NULL if all are NULL.',
    'ANY_VALUE(x) FROM UNNEST([3, NULL, 1]) AS x',
    '1',
  ],
  fails: 'never',
  overloads: [
    { parameters: ['any'], result: (types) => types[0]!, create: () => new AnyValueState() },
  ],
};

type AnyValuePartial = {
  readonly scalars: unknown;
  readonly groups: readonly number[];
  readonly composites: readonly PortableValue[];
};

/** The least scalar, and the least of all other values, of each group. */
class AnyValueState implements AggregateState {
  readonly #scalars = new ExtremeState('least');
  readonly #composites = new Map<number, SqlValue>();

  update(groups: Int32Array, count: number, groupCount: number, vectors: readonly Vector[]): void {
    this.#scalars.update(groups, count, groupCount, vectors);
    const vector = vectors[0]!;
    if (vector.kind === 'number' || vector.kind === 'boolean') return;
    if (vector.kind === 'dictionary' && isOfStrings(vector.dictionary)) return;
    for (let row = 0; row < count; row++) this.#add(groups[row]!, valueAt(vector, row));
  }

  combine(partial: unknown, groups: Int32Array, groupCount: number): void {
    const theirs = partial as AnyValuePartial; // By contract, what partial() of this class gave.
    this.#scalars.combine(theirs.scalars, groups, groupCount);
    for (const [index, group] of theirs.groups.entries()) {
      this.#add(groups[group]!, fromPortable(theirs.composites[index]!));
    }
  }

  partial(groupCount: number): AnyValuePartial {
    return {
      scalars: this.#scalars.partial(groupCount),
      groups: [...this.#composites.keys()],
      composites: Array.from(this.#composites.values(), toPortable),
    };
  }

  finalize(group: number): SqlValue {
    return this.#scalars.finalize(group) ?? this.#composites.get(group) ?? null;
  }

  #add(group: number, value: SqlValue): void {
    if (typeof value !== 'object' || value === null || isInterval(value)) return;
    const least = this.#composites.get(group);
    if (least !== undefined && compareValues(value, least) >= 0) return;
    this.#composites.set(group, detachedValue(value));
  }
}
