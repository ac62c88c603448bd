import type { SqlValue } from '../column/value.ts';
import type { Dictionary } from '../column/vector.ts';
import { distinctValue, type PlacedValues } from './distinct-values.ts';

/** The strings among the keys of groups; their codes are the ids of the values. */
export class KeyStrings implements Dictionary {
  readonly isDistinct = true;
  readonly #values: PlacedValues;
  readonly #refs: Int32Array;
  readonly size: number;

  constructor(values: PlacedValues, refs: Int32Array) {
    this.#values = values;
    this.#refs = refs;
    this.size = refs.length;
  }

  value(code: number): SqlValue {
    return distinctValue(this.#values, this.#refs[code]!);
  }
}
