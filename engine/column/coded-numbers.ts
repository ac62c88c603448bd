import { carvedFloat64 } from './carved-arrays.ts';
import type { PackedNumbers } from './packed-numbers.ts';

/**
 * What a function makes of integers where they lie, by their codes: no entry is NULL. `values`, the plain
 * form, is made when somebody reads it.
 */
export class CodedNumbers {
  readonly kind = 'number';
  readonly form = 'coded numbers';
  readonly nulls = undefined;
  readonly count: number;
  readonly numbers: PackedNumbers;
  /** The number for each code, those that no entry has among them. */
  readonly numberOfCode: Float64Array;
  #values: Float64Array | undefined;

  constructor(numbers: PackedNumbers, numberOfCode: Float64Array) {
    this.count = numbers.count;
    this.numbers = numbers;
    this.numberOfCode = numberOfCode;
  }

  get values(): Float64Array {
    this.#values ??= this.#spread();
    return this.#values;
  }

  /** One loop per width, so that each sees one kind of array. */
  #spread(): Float64Array {
    const { codes, start, count } = this.numbers;
    const numberOfCode = this.numberOfCode;
    const values = carvedFloat64(count);
    if (codes instanceof Uint8Array) {
      for (let i = 0; i < count; i++) values[i] = numberOfCode[codes[start + i]!]!;
    } else if (codes instanceof Uint16Array) {
      for (let i = 0; i < count; i++) values[i] = numberOfCode[codes[start + i]!]!;
    } else {
      for (let i = 0; i < count; i++) values[i] = numberOfCode[codes[start + i]!]!;
    }
    return values;
  }
}
