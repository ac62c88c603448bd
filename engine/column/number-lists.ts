import { carvedFloat64 } from './carved-arrays.ts';
import { type NumberVector, numberVector } from './vector.ts';

/**
 * Lists of numbers, all of one length: that of entry `i` is `elements[i * length, (i + 1) * length)`, where it is
 * not NULL. `values`, the plain form, is made when somebody reads it.
 */
export class NumberLists {
  readonly kind = 'value';
  readonly form = 'number lists';
  readonly count: number;
  readonly length: number;
  readonly elements: Float64Array;
  /** 1 where there is no list; `undefined`: there is one in each entry. */
  readonly nulls: Uint8Array | undefined;
  #values: (readonly number[] | null)[] | undefined;

  constructor(
    elements: Float64Array,
    size: { readonly count: number; readonly length: number },
    nulls?: Uint8Array,
  ) {
    this.elements = elements;
    this.count = size.count;
    this.length = size.length;
    this.nulls = nulls;
  }

  get values(): readonly (readonly number[] | null)[] {
    this.#values ??= Array.from({ length: this.count }, (_, entry) => this.#list(entry));
    return this.#values;
  }

  /** Element `index`, below `length`, of each list. */
  element(index: number): NumberVector {
    const values = carvedFloat64(this.count);
    for (let entry = 0, at = index; entry < this.count; entry++, at += this.length) {
      values[entry] = this.elements[at]!;
    }
    return numberVector(values, this.count, this.nulls);
  }

  #list(entry: number): readonly number[] | null {
    if (this.nulls !== undefined && this.nulls[entry] === 1) return null;
    return Array.from(this.elements.subarray(entry * this.length, (entry + 1) * this.length));
  }
}
