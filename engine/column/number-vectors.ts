import { carvedFloat64, carvedUint8 } from './carved-arrays.ts';
import type { PackedNumbers } from './packed-numbers.ts';
import { FALSE, type NumberVector, numberVector, TRUE } from './vector.ts';

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

const NO_ROWS = new Int32Array(0);

/** What a test says of integers where they lie, by their codes. `values` is made when somebody reads it. */
export class CodedTruths {
  readonly kind = 'boolean';
  readonly form = 'coded truths';
  readonly count: number;
  readonly numbers: PackedNumbers;
  /** FALSE, TRUE or UNKNOWN for each code. */
  readonly truthOfCode: Uint8Array;
  /** Rows, ascending, that are TRUE though their code is FALSE, or FALSE though it is TRUE. */
  readonly exceptions: Int32Array;
  #values: Uint8Array | undefined;

  constructor(numbers: PackedNumbers, truthOfCode: Uint8Array, exceptions: Int32Array = NO_ROWS) {
    this.count = numbers.count;
    this.numbers = numbers;
    this.truthOfCode = truthOfCode;
    this.exceptions = exceptions;
  }

  get values(): Uint8Array {
    this.#values ??= this.#spread();
    return this.#values;
  }

  #spread(): Uint8Array {
    const { codes, start, count } = this.numbers;
    const truthOfCode = this.truthOfCode;
    const values = carvedUint8(count);
    if (codes instanceof Uint8Array) {
      for (let i = 0; i < count; i++) values[i] = truthOfCode[codes[start + i]!]!;
    } else {
      for (let i = 0; i < count; i++) values[i] = truthOfCode[codes[start + i]!]!;
    }
    for (const row of this.exceptions) values[row] = values[row] === TRUE ? FALSE : TRUE;
    return values;
  }
}

/**
 * Numbers that come in runs: entries `[runEnds[r - 1], runEnds[r])`, from 0 for the first, are
 * `runValues[r]`. None is NULL. `values`, the plain form, is made when somebody reads it.
 */
export class RunNumbers {
  readonly kind = 'number';
  readonly form = 'run numbers';
  readonly nulls = undefined;
  readonly count: number;
  readonly runValues: Float64Array;
  readonly runEnds: Int32Array;
  #values: Float64Array | undefined;

  /** As many values as ends, the last of which is `count`. */
  constructor(runValues: Float64Array, runEnds: Int32Array, count: number) {
    this.runValues = runValues;
    this.runEnds = runEnds;
    this.count = count;
  }

  get values(): Float64Array {
    this.#values ??= this.#spread();
    return this.#values;
  }

  #spread(): Float64Array {
    const values = carvedFloat64(this.count);
    let start = 0;
    for (let run = 0; run < this.runEnds.length; run++) {
      values.fill(this.runValues[run]!, start, this.runEnds[run]!);
      start = this.runEnds[run]!;
    }
    return values;
  }
}

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

/** Doubles that are known to ascend, equal ones beside each other. None is NULL. */
export class AscendingNumbers {
  readonly kind = 'number';
  readonly form = 'ascending numbers';
  readonly nulls = undefined;
  readonly count: number;
  readonly values: Float64Array;

  constructor(values: Float64Array) {
    this.values = values;
    this.count = values.length;
  }
}
