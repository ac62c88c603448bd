import type { UnsignedArray } from './slice.ts';
import { type NumberVector, numberVector } from './vector.ts';

/**
 * What all integers of one column have in common: the integer of code `c` is `base + step * c`, exactly,
 * and no code is above `codeMax`.
 */
export class IntegerCoding {
  readonly base: number;
  readonly step: number;
  readonly codeMax: number;
  #decoded: NumberVector | undefined;

  constructor(base: number, step: number, codeMax: number) {
    this.base = base;
    this.step = step;
    this.codeMax = codeMax;
  }

  value(code: number): number {
    return this.base + this.step * code;
  }

  /** The integer of each code: for small codings only. */
  decoded(): NumberVector {
    if (this.#decoded === undefined) {
      const values = new Float64Array(this.codeMax + 1);
      for (let code = 0; code < values.length; code++) values[code] = this.value(code);
      this.#decoded = numberVector(values, values.length);
    }
    return this.#decoded;
  }

  /** The coding of the same codes for integers larger by `integer`; `undefined`: not all would be safe. */
  shifted(integer: number): IntegerCoding | undefined {
    if (!Number.isSafeInteger(integer)) return undefined;
    const base = this.base + integer;
    const last = base + this.step * this.codeMax;
    if (!Number.isSafeInteger(base) || !Number.isSafeInteger(last)) return undefined;
    return integer === 0 ? this : new IntegerCoding(base, this.step, this.codeMax);
  }
}

/**
 * Integers where they lie in a segment: entry `i` is that of code `codes[start + i]`. None is NULL or -0.
 * `values`, the plain form, is made when somebody reads it.
 */
export class PackedNumbers {
  readonly kind = 'number';
  readonly nulls = undefined;
  readonly count: number;
  readonly codes: UnsignedArray;
  readonly start: number;
  readonly coding: IntegerCoding;
  /** Whether the entries are known to ascend, equal ones beside each other. */
  readonly isAscending: boolean;
  #values: Float64Array | undefined;

  constructor(
    codes: UnsignedArray,
    range: { readonly start: number; readonly count: number; readonly isAscending: boolean },
    coding: IntegerCoding,
  ) {
    this.codes = codes;
    this.start = range.start;
    this.count = range.count;
    this.isAscending = range.isAscending;
    this.coding = coding;
  }

  get values(): Float64Array {
    this.#values ??= decode(this.codes, this.start, this.count, this.coding);
    return this.#values;
  }

  /** Entry `index`. */
  at(index: number): number {
    return this.coding.value(this.codes[this.start + index]!);
  }

  /** Integers larger by `integer`, where all of them are safe. */
  shifted(integer: number): PackedNumbers | undefined {
    const coding = this.coding.shifted(integer);
    if (coding === undefined || coding === this.coding) return coding && this;
    return new PackedNumbers(this.codes, this, coding);
  }
}

/** One loop per width, so that each sees one kind of array. */
function decode(
  codes: UnsignedArray,
  start: number,
  count: number,
  { base, step }: IntegerCoding,
): Float64Array {
  const values = new Float64Array(count);
  if (codes instanceof Uint8Array) {
    for (let i = 0; i < count; i++) values[i] = base + step * codes[start + i]!;
  } else if (codes instanceof Uint16Array) {
    for (let i = 0; i < count; i++) values[i] = base + step * codes[start + i]!;
  } else {
    for (let i = 0; i < count; i++) values[i] = base + step * codes[start + i]!;
  }
  return values;
}
