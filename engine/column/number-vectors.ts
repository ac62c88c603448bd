import { carvedFloat64, carvedUint8 } from './arrays.ts';
import type { UnsignedArray } from './slice.ts';
import { FALSE, type NumberVector, numberVector, TRUE } from './vector.ts';

/**
 * What all integers of one column have in common: the integer of code `c` is `base + step * c`, exactly, or,
 * where there is a table, `table[c]`. A greater code is a greater integer, and no code is above `codeMax`.
 */
export class IntegerCoding {
  readonly base: number;
  readonly step: number;
  readonly codeMax: number;
  /** Ascending, none twice; of `base` and `step` nothing is read where it is. */
  readonly table: Float64Array | undefined;
  #decoded: NumberVector | undefined;

  private constructor(base: number, step: number, codeMax: number, table?: Float64Array) {
    this.base = base;
    this.step = step;
    this.codeMax = codeMax;
    this.table = table;
  }

  static inSteps(base: number, step: number, codeMax: number): IntegerCoding {
    return new IntegerCoding(base, step, codeMax);
  }

  static byTable(table: Float64Array): IntegerCoding {
    return new IntegerCoding(table[0]!, 1, table.length - 1, table);
  }

  value(code: number): number {
    return this.table === undefined ? this.base + this.step * code : this.table[code]!;
  }

  /** The code of an integer that has one. */
  codeOf(integer: number): number {
    if (this.table === undefined) return (integer - this.base) / this.step;
    return this.table.indexOf(integer);
  }

  /** The integer of each code: for small codings only. */
  decoded(): NumberVector {
    if (this.#decoded === undefined) {
      const values = this.table ?? new Float64Array(this.codeMax + 1);
      if (this.table === undefined) {
        for (let code = 0; code < values.length; code++) values[code] = this.value(code);
      }
      this.#decoded = numberVector(values, values.length);
    }
    return this.#decoded;
  }

  /** The coding of the same codes for integers larger by `integer`; `undefined`: not all would be safe. */
  shifted(integer: number): IntegerCoding | undefined {
    if (!Number.isSafeInteger(integer)) return undefined;
    const isSafe = [0, this.codeMax].every((code) =>
      Number.isSafeInteger(this.value(code) + integer),
    );
    if (!isSafe) return undefined;
    if (integer === 0) return this;
    if (this.table !== undefined) {
      return IntegerCoding.byTable(this.table.map((value) => value + integer));
    }
    return IntegerCoding.inSteps(this.base + integer, this.step, this.codeMax);
  }
}

/**
 * Integers where they lie in a segment: entry `i` is that of code `codes[start + i]`. None is NULL or -0.
 * `values`, the plain form, is made when somebody reads it.
 */
export class PackedNumbers {
  readonly kind = 'number';
  readonly form = 'packed numbers';
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
  { base, step, table }: IntegerCoding,
): Float64Array {
  const values = carvedFloat64(count);
  if (table !== undefined) {
    for (let i = 0; i < count; i++) values[i] = table[codes[start + i]!]!;
  } else if (codes instanceof Uint8Array) {
    for (let i = 0; i < count; i++) values[i] = base + step * codes[start + i]!;
  } else if (codes instanceof Uint16Array) {
    for (let i = 0; i < count; i++) values[i] = base + step * codes[start + i]!;
  } else {
    for (let i = 0; i < count; i++) values[i] = base + step * codes[start + i]!;
  }
  return values;
}

const HEX_DIGITS = Uint8Array.from(Buffer.from('0123456789abcdef', 'latin1'));
/** Hex digits of each byte of a UUID begin here in its canonical form. */
const UUID_PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34] as const;
const DASH_PLACES = [8, 13, 18, 23] as const;
const DASH = 0x2d;

/** The value of a lower-case hexadecimal digit, or -1; indexed by byte. */
export const DIGIT_VALUES = new Int8Array(256).fill(-1);
for (let digit = 0; digit < 16; digit++) DIGIT_VALUES[HEX_DIGITS[digit]!] = digit;

export const UUID_BYTES = 16;
export const UUID_LENGTH = 36;

/** Writes the digits packed at `bytes[start]` to `text[at]`; gives where they end. */
export function unpackHex(
  bytes: Uint8Array,
  start: number,
  digitCount: number,
  text: Uint8Array,
  at: number,
): number {
  let to = at;
  for (let index = start; index < start + (digitCount >> 1); index++) {
    const byte = bytes[index]!;
    text[to++] = HEX_DIGITS[byte >> 4]!;
    text[to++] = HEX_DIGITS[byte & 15]!;
  }
  if ((digitCount & 1) === 1) text[to] = HEX_DIGITS[bytes[start + (digitCount >> 1)]! >> 4]!;
  return at + digitCount;
}

/** Writes the UUID packed at `bytes[start]` to `text[at]`; gives where it ends. */
export function unpackUuid(bytes: Uint8Array, start: number, text: Uint8Array, at: number): number {
  for (let index = 0; index < UUID_BYTES; index++) {
    const byte = bytes[start + index]!;
    const to = at + UUID_PLACES[index]!;
    text[to] = HEX_DIGITS[byte >> 4]!;
    text[to + 1] = HEX_DIGITS[byte & 15]!;
  }
  for (const place of DASH_PLACES) text[at + place] = DASH;
  return at + UUID_LENGTH;
}

/**
 * Packs the text `bytes[start, end)` to the first bytes of `packed`, if it is a UUID in its canonical form;
 * gives whether.
 */
export function packUuid(
  bytes: Uint8Array,
  start: number,
  end: number,
  packed: Uint8Array,
): boolean {
  if (end - start !== UUID_LENGTH) return false;
  for (const place of DASH_PLACES) if (bytes[start + place] !== DASH) return false;
  for (let index = 0; index < UUID_BYTES; index++) {
    const at = start + UUID_PLACES[index]!;
    const high = DIGIT_VALUES[bytes[at]!]!;
    const low = DIGIT_VALUES[bytes[at + 1]!]!;
    if ((high | low) < 0) return false;
    packed[index] = (high << 4) | low;
  }
  return true;
}

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
