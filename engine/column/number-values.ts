import { carvedFloat64, carvedInt32, carvedUint8, carvedUint16 } from './arrays.ts';
import { AscendingNumbers, IntegerCoding, PackedNumbers } from './number-vectors.ts';
import { countOfRanges, partitionPoint, type RowRanges } from './positions.ts';
import {
  type Slice,
  type SliceSink,
  type SliceSource,
  type UnsignedArray,
  unsignedArray,
} from './slice.ts';
import { constantVector, numberVector, type Vector } from './vector.ts';

/**
 * How the numbers of one column are kept. This file alone knows the encodings: how they are chosen, read and cut.
 *
 * - `constant`: all are `base`.
 * - `unsigned`: integers, each `base + step * n` with `n` an unsigned integer of `width` bytes.
 * - `table`: integers of a table of doubles, which ascends; each by its place there, in one byte.
 * - `float32`, `float64`: as they are.
 */
export type NumbersFooter = {
  readonly encoding: 'constant' | 'unsigned' | 'table' | 'float32' | 'float64';
  readonly base: number;
  readonly step: number;
  /** Bytes of a value; 3 only of columns that are `picked`. */
  readonly width: 0 | 1 | 2 | 3 | 4 | 8;
  /** `null`: all values are `base`. */
  readonly slice: Slice | null;
  readonly table?: Slice;
  /** The zone map: least and greatest value; in an extract those of the whole column. */
  readonly min: number;
  readonly max: number;
};

/** All slices of a column. Only these are stored in its file and checked. */
export function slicesOfNumbers({ slice, table }: NumbersFooter): Slice[] {
  return [slice, table].filter((each) => each != null);
}

/** What reads bytes [start, end) of a slice. */
type CutSource = { bytes(slice: Slice, start?: number, end?: number): Uint8Array };

/** The values at some stretches of positions, end to end: as a column of their own in `sink`. */
export function cutNumbers(
  footer: NumbersFooter,
  stretches: readonly { readonly start: number; readonly end: number }[],
  { source, sink }: { readonly source: CutSource; readonly sink: Pick<SliceSink, 'add'> },
): NumbersFooter {
  const { slice, width, table } = footer;
  if (slice === null) return footer;
  const taken = stretches.map(({ start, end }) => source.bytes(slice, start * width, end * width));
  return {
    ...footer,
    slice: sink.add(taken.length === 1 ? taken[0]! : Buffer.concat(taken)),
    ...(table && { table: sink.add(source.bytes(table)) }),
  };
}

/** Whether the numbers can be read one by one where they lie; see `flat-rows.ts`. */
export function haveFlatForm({ encoding, width }: NumbersFooter): boolean {
  if (encoding === 'unsigned') return width !== 3;
  return (
    encoding === 'constant' ||
    encoding === 'table' ||
    encoding === 'float32' ||
    encoding === 'float64'
  );
}

/** Steps worth trying: times of the day are often whole milliseconds or seconds, in microseconds. */
const STEPS = [1_000_000, 1000, 1] as const;

const UNSIGNED_MAX = 2 ** 32 - 1;

/** Integers of a table: one byte tells which. */
const TABLE_MAX = 256;

/** An integer of a table has eight bytes, and a value has a byte less by it; it should be well worth it. */
const VALUES_PER_ENTRY = 32;

/**
 * Puts the numbers `values[0, count)` in the first form of a fixed order that gives each back to the bit. `scanned`: by codes
 * or as doubles where they can be, so that filters and groups need not decode them; `picked`: read by position only.
 * Times, arrivals, skeletons of rows, slot ordinals, leaves and strings of a form are encoded so, and may have any form.
 */
export function encodeNumbers(
  sink: SliceSink,
  values: Float64Array,
  count: number,
  use: 'scanned' | 'picked' = 'scanned',
): NumbersFooter {
  let min = count === 0 ? 0 : Number.POSITIVE_INFINITY;
  let max = count === 0 ? 0 : Number.NEGATIVE_INFINITY;
  let areIntegers = true;
  let someAreNegativeZero = false;
  for (let i = 0; i < count; i++) {
    const value = values[i]!;
    if (value < min) min = value;
    if (value > max) max = value;
    if (!Number.isSafeInteger(value)) areIntegers = false;
    if (Object.is(value, -0)) someAreNegativeZero = true;
  }
  const range = { base: min, step: 1, min, max };
  if (min === max && !someAreNegativeZero) {
    return { ...range, encoding: 'constant', width: 0, slice: null };
  }
  if (areIntegers && !someAreNegativeZero) {
    const step = STEPS.find((candidate) => areMultiples(values, count, min, candidate))!;
    const limit = (max - min) / step;
    if (limit <= UNSIGNED_MAX) {
      const steps = unsignedArray(count, limit + 1);
      for (let i = 0; i < count; i++) steps[i] = (values[i]! - min) / step;
      const width = steps.BYTES_PER_ELEMENT as 1 | 2 | 4;
      if (use === 'picked' && width === 4 && limit <= TRIPLE_MAX) {
        const slice = sink.add(Triples.pack(steps));
        return { ...range, encoding: 'unsigned', step, width: 3, slice };
      }
      const table = width > 1 && use === 'scanned' ? tableOf(steps) : undefined;
      if (table !== undefined) {
        const { codes, distinct } = table;
        const integers = Float64Array.from(distinct, (count) => min + step * count);
        const slices = { slice: sink.add(codes), table: sink.add(integers) };
        return { ...range, encoding: 'table', width: 1, ...slices };
      }
      return { ...range, encoding: 'unsigned', step, width, slice: sink.add(steps) };
    }
  }
  if (areExactInSingle(values, count)) {
    const slice = sink.add(Float32Array.from(values.subarray(0, count)));
    return { ...range, encoding: 'float32', width: 4, slice };
  }
  return { ...range, encoding: 'float64', width: 8, slice: sink.add(values.slice(0, count)) };
}

/**
 * Few integers far from each other, such as the status of responses, by their place among all that there are;
 * `undefined` where there are too many of them, or too few values for a table of them.
 */
function tableOf(
  values: UnsignedArray,
): { readonly codes: Uint8Array; readonly distinct: UnsignedArray } | undefined {
  const codeOf = new Map<number, number>();
  for (const value of values) {
    codeOf.set(value, 0);
    if (codeOf.size * VALUES_PER_ENTRY > values.length || codeOf.size > TABLE_MAX) return undefined;
  }
  const distinct = Uint32Array.from(codeOf.keys()).sort();
  for (const [code, value] of distinct.entries()) codeOf.set(value, code);
  return { codes: Uint8Array.from(values, (value) => codeOf.get(value)!), distinct };
}

function areMultiples(values: Float64Array, count: number, base: number, step: number): boolean {
  if (step === 1) return true;
  for (let i = 0; i < count; i++) if ((values[i]! - base) % step !== 0) return false;
  return true;
}

function areExactInSingle(values: Float64Array, count: number): boolean {
  for (let i = 0; i < count; i++) if (Math.fround(values[i]!) !== values[i]) return false;
  return true;
}

/** Some consecutive positions; `isAscending`: whether their values are known to ascend. */
type NumberRange = {
  readonly start: number;
  readonly count: number;
  readonly isAscending: boolean;
};

/** The numbers of one column. Positions are [0, number of values). */
export class NumberValues {
  /** Whether all are equal, and known to be without looking. */
  readonly isConstant: boolean;
  /** Whether all values are 0, and known to be without looking. */
  readonly isZero: boolean;
  readonly #base: number;
  readonly #step: number;
  readonly #table: Float64Array | undefined;
  readonly #bytes: Uint8Array | undefined;
  readonly #shorts: Uint16Array | undefined;
  readonly #triples: Triples | undefined;
  readonly #words: Uint32Array | undefined;
  readonly #singles: Float32Array | undefined;
  readonly #doubles: Float64Array | undefined;
  /** What `codes` mean, where there are any. */
  readonly coding: IntegerCoding;

  constructor(source: SliceSource, footer: NumbersFooter) {
    const { encoding, width, slice } = footer;
    this.#table = footer.table && source.floats64(footer.table);
    this.coding =
      this.#table === undefined
        ? IntegerCoding.inSteps(footer.base, footer.step, (footer.max - footer.base) / footer.step)
        : IntegerCoding.byTable(this.#table);
    this.#base = footer.base;
    this.#step = footer.step;
    this.isConstant = slice === null;
    this.isZero = slice === null && footer.base === 0;
    if (slice === null) return;
    if (encoding === 'float32') this.#singles = source.floats32(slice);
    else if (encoding === 'float64') this.#doubles = source.floats64(slice);
    else if (width === 1) this.#bytes = source.bytes(slice);
    else if (width === 2) this.#shorts = source.unsigned16(slice);
    else if (width === 3) this.#triples = new Triples(source.bytes(slice));
    else this.#words = source.unsigned32(slice);
  }

  value(position: number): number {
    if (this.#doubles !== undefined) return this.#doubles[position]!;
    if (this.#singles !== undefined) return this.#singles[position]!;
    if (this.#table !== undefined) return this.#table[this.#bytes![position]!]!;
    if (this.#bytes !== undefined) return this.#base + this.#step * this.#bytes[position]!;
    if (this.#shorts !== undefined) return this.#base + this.#step * this.#shorts[position]!;
    if (this.#words !== undefined) return this.#base + this.#step * this.#words[position]!;
    if (this.#triples !== undefined) return this.#base + this.#step * this.#triples.at(position);
    return this.#base;
  }

  /** The first of the positions [start, end), whose values ascend, that has `least` or more; `end`: none. */
  firstFrom(start: number, end: number, least: number): number {
    return partitionPoint(start, end, (position) => this.value(position) < least);
  }

  /**
   * Values of consecutive positions as they lie; `undefined` where they have to be converted: then whoever asked gathers them,
   * and does not know that they ascend.
   */
  range({ start, count, isAscending }: NumberRange): Vector | undefined {
    if (this.isConstant) return constantVector(this.#base, count);
    const codes = this.codes;
    if (codes !== undefined) {
      return new PackedNumbers(codes, { start, count, isAscending }, this.coding);
    }
    const doubles = this.#doubles?.subarray(start, start + count);
    if (doubles === undefined) return undefined;
    return isAscending ? new AscendingNumbers(doubles) : numberVector(doubles, count);
  }

  /** The integers of the column by their codes; `undefined` where it has another form, or `isConstant`. */
  get codes(): UnsignedArray | undefined {
    return this.#bytes ?? this.#shorts ?? this.#words;
  }

  /**
   * The values at `positions[0, count)`; arbitrary where a position is negative. One loop per width,
   * so that each sees one kind of array: the slow form is `value` for each.
   */
  gather(positions: Int32Array, count: number): Float64Array {
    return this.#gatherInto(carvedFloat64(count), positions, count);
  }

  /** As `gather`, by their codes where these are short. */
  take(positions: Int32Array, count: number): Vector {
    if (this.isConstant) return constantVector(this.#base, count);
    const codes = this.#bytes ?? this.#shorts;
    if (codes === undefined) return numberVector(this.gather(positions, count), count);
    const taken =
      codes instanceof Uint8Array
        ? takeBytes(codes, positions, count)
        : takeShorts(codes, positions, count);
    return new PackedNumbers(taken, { start: 0, count, isAscending: false }, this.coding);
  }

  /** Adds to `counts[v]` at how many positions value `v` is: of a column of integers from 0 up, all of which it has. */
  countEach(ranges: RowRanges, counts: Uint32Array): void {
    if (this.isConstant) {
      counts[this.#base]! += countOfRanges(ranges);
      return;
    }
    const { codes, coding } = this;
    if (codes === undefined) {
      forEachRow(ranges, (row) => counts[this.value(row)]!++);
      return;
    }
    const byCode = new Uint32Array(coding.codeMax + 1);
    // One loop per width, so that each sees one kind of array.
    if (codes instanceof Uint8Array) countBytes(codes, ranges, byCode);
    else if (codes instanceof Uint16Array) countShorts(codes, ranges, byCode);
    else countWords(codes, ranges, byCode);
    for (let code = 0; code < byCode.length; code++) counts[coding.value(code)]! += byCode[code]!;
  }

  /** As `gather`, of a column whose values are all integers of 32 bits. */
  gatherIntegers(positions: Int32Array, count: number): Int32Array {
    return this.#gatherInto(carvedInt32(count), positions, count);
  }

  #gatherInto<T extends Float64Array | Int32Array>(
    values: T,
    positions: Int32Array,
    count: number,
  ): T {
    const base = this.#base;
    const step = this.#step;
    if (this.#table !== undefined) {
      const table = this.#table;
      const bytes = this.#bytes!;
      for (let i = 0; i < count; i++) values[i] = table[bytes[positions[i]!]!]!;
    } else if (this.#bytes !== undefined) {
      const bytes = this.#bytes;
      for (let i = 0; i < count; i++) values[i] = base + step * bytes[positions[i]!]!;
    } else if (this.#shorts !== undefined) {
      const shorts = this.#shorts;
      for (let i = 0; i < count; i++) values[i] = base + step * shorts[positions[i]!]!;
    } else if (this.#words !== undefined) {
      const words = this.#words;
      for (let i = 0; i < count; i++) values[i] = base + step * words[positions[i]!]!;
    } else if (this.#triples !== undefined) {
      const triples = this.#triples;
      for (let i = 0; i < count; i++) values[i] = base + step * triples.at(positions[i]!);
    } else if (this.#singles !== undefined) {
      const singles = this.#singles;
      for (let i = 0; i < count; i++) values[i] = singles[positions[i]!]!;
    } else if (this.#doubles !== undefined) {
      const doubles = this.#doubles;
      for (let i = 0; i < count; i++) values[i] = doubles[positions[i]!]!;
    } else {
      values.fill(base);
    }
    return values;
  }
}

function takeBytes(codes: Uint8Array, positions: Int32Array, count: number): Uint8Array {
  const taken = carvedUint8(count);
  for (let i = 0; i < count; i++) taken[i] = codes[positions[i]!]!;
  return taken;
}

function takeShorts(codes: Uint16Array, positions: Int32Array, count: number): Uint16Array {
  const taken = carvedUint16(count);
  for (let i = 0; i < count; i++) taken[i] = codes[positions[i]!]!;
  return taken;
}

function forEachRow(ranges: RowRanges, visit: (row: number) => void): void {
  for (let at = 0; at < ranges.length; at += 2) {
    for (let row = ranges[at]!; row < ranges[at + 1]!; row++) visit(row);
  }
}

function countBytes(codes: Uint8Array, ranges: RowRanges, counts: Uint32Array): void {
  for (let at = 0; at < ranges.length; at += 2) {
    for (let row = ranges[at]!; row < ranges[at + 1]!; row++) counts[codes[row]!]!++;
  }
}

function countShorts(codes: Uint16Array, ranges: RowRanges, counts: Uint32Array): void {
  for (let at = 0; at < ranges.length; at += 2) {
    for (let row = ranges[at]!; row < ranges[at + 1]!; row++) counts[codes[row]!]!++;
  }
}

function countWords(codes: Uint32Array, ranges: RowRanges, counts: Uint32Array): void {
  for (let at = 0; at < ranges.length; at += 2) {
    for (let row = ranges[at]!; row < ranges[at + 1]!; row++) counts[codes[row]!]!++;
  }
}

/** What fits three bytes. */
export const TRIPLE_MAX = 2 ** 24 - 1;

/**
 * Unsigned integers of three bytes each, the lowest first, for columns that are read here and there and never
 * scanned: those of more than 65,536 values would else have a byte more in every row.
 */
export class Triples {
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  static pack(values: UnsignedArray): Uint8Array {
    const bytes = new Uint8Array(3 * values.length);
    for (let index = 0; index < values.length; index++) {
      const value = values[index]!;
      bytes[3 * index] = value;
      bytes[3 * index + 1] = value >>> 8;
      bytes[3 * index + 2] = value >>> 16;
    }
    return bytes;
  }

  at(index: number): number {
    const bytes = this.#bytes;
    const start = 3 * index;
    return bytes[start]! | (bytes[start + 1]! << 8) | (bytes[start + 2]! << 16);
  }
}
