import {
  carvedFloat64,
  carvedUint8,
  grownFloat64,
  grownUint8,
  NO_FLOAT64,
  NO_UINT8,
  threadArrays,
} from '../column/arrays.ts';
import type { PackedNumbers } from '../column/number-vectors.ts';
import type { UnsignedArray } from '../column/slice.ts';
import { FLOAT64, INT64, NUMBER, type SqlType } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import { numberVector, type Vector, valueAt } from '../column/vector.ts';
import { checkedInt64 } from '../function/number/int64.ts';
import { QueryError } from '../query-error.ts';
import type { AggregateFunction, AggregateState } from './aggregate-function.ts';
import { type ChunkRuns, comesInRuns } from './chunk-runs.ts';
import { countPresent, countRunRows } from './count.ts';
import {
  ExactSums,
  type ExactSumsPartial,
  exactInteger,
  exactSum,
  type GroupedNumbers,
  wholeOf,
} from './exact-sums.ts';
import { NumberReader } from './number-reader.ts';

/**
 * SUM of INT64 is INT64 and fails beyond 64 bits; SUM of FLOAT64 is the exact sum rounded once and
 * fails beyond a double. SUM of numbers of events is the first where all are whole, else the second.
 * Only the whole sum counts: what passes a bound on the way is no error. NULLs are left out; the sum of
 * nothing is NULL.
 */
export const SUM: AggregateFunction = {
  name: 'sum',
  doc: [
    'The sum of the numbers; an error on overflow. NULLs are ignored; NULL without other values.',
    'SUM(x) FROM UNNEST([1, NULL, 3]) AS x',
    '4',
  ],
  fails: 'by value',
  overloads: [
    {
      parameters: ['number'],
      result: sumType,
      create: (types) => new SumState('sum', sumType(types).kind !== 'FLOAT64'),
    },
  ],
};

/** AVG: the exact sum rounded to a double, divided by the number of values. */
export const AVG: AggregateFunction = {
  name: 'avg',
  doc: [
    'The mean of the numbers, as a FLOAT64. NULLs are ignored; NULL without other values.',
    'AVG(x) FROM UNNEST([1, NULL, 4]) AS x',
    '2.5',
  ],
  overloads: [
    {
      parameters: ['number'],
      result: FLOAT64,
      create: () => new SumState('avg', false),
    },
  ],
};

/** A bare NULL counts as INT64. */
function sumType(types: readonly SqlType[]): SqlType {
  const kind = types[0]?.kind;
  if (kind === 'NUMBER') return NUMBER;
  return kind === 'INT64' || kind === 'NULL' ? INT64 : FLOAT64;
}

/** Bits of `#specials`: what a group has seen beside finite values. */
const SAW_NAN = 1;
const SAW_INFINITY = 2;
const SAW_MINUS_INFINITY = 4;

/** AVG divides in a range this many powers of two lower when the sum itself is beyond a double. */
const AVG_SCALE = 64;

/** So many bits of a larger integer are added at a time. */
const PART_BITS = 48;

type SumPartial = {
  readonly integers: Float64Array;
  readonly counts: Float64Array;
  readonly specials: Uint8Array;
  readonly fractions: Uint8Array;
  readonly exact: ExactSumsPartial | undefined;
};

/**
 * Sum per group, exact and rounded once at the end. So it is the same to the bit however rows
 * are ordered, split and combined. A group's sum is `#integers[group]`, an integer below 2^53 in
 * magnitude that takes all integers while it can, plus its sum in `#exact`.
 */
class SumState implements AggregateState {
  readonly isCertain: boolean;
  readonly #finish: 'sum' | 'avg';
  readonly #reader = new NumberReader();
  #integers: Float64Array<ArrayBuffer> = NO_FLOAT64;
  /** Values that were not NULL. */
  #counts: Float64Array<ArrayBuffer> = NO_FLOAT64;
  /** Bits of each group, as far as one had some. */
  #specials: Uint8Array<ArrayBuffer> = NO_UINT8;
  readonly #exact = new ExactSums();
  /** 1 for each group with a number that is not whole, as far as one had such, if the others stay INT64. */
  #fractions: Uint8Array<ArrayBuffer> = NO_UINT8;
  readonly #keepsInteger: boolean;

  /** `keepsInteger`: whether a sum of whole numbers is an INT64. */
  constructor(finish: 'sum' | 'avg', keepsInteger: boolean) {
    this.isCertain = finish === 'avg';
    this.#finish = finish;
    this.#keepsInteger = keepsInteger;
  }

  update(groups: Int32Array, count: number, groupCount: number, vectors: readonly Vector[]): void {
    this.#reserve(groupCount);
    const vector = vectors[0]!;
    if (!comesInRuns(groups, count)) {
      const coded = sumCodes(vector, groups, count, groupCount);
      if (coded !== undefined) {
        this.#addSums(coded);
        return;
      }
    }
    const numbers = this.#reader.read(vector, count);
    if (numbers === undefined) {
      this.#addValues(groups, count, vector);
      return;
    }
    const { values, nulls } = numbers;
    countPresent(this.#counts, groups, count, numbers);
    this.#addNumbers({ groups, count, values, nulls });
  }

  updateRuns(runs: ChunkRuns, groupCount: number, vectors: readonly Vector[]): boolean {
    const sums = runs.tally(vectors[0]!)?.sums;
    if (sums === undefined) return false;
    this.#reserve(groupCount);
    for (let run = 0; run < sums.length; run++) this.#addNumber(runs.groups[run]!, sums[run]!);
    return countRunRows(this.#counts, runs);
  }

  combine(partial: unknown, groups: Int32Array, groupCount: number): void {
    const theirs = partial as SumPartial; // By contract, what partial() of this class gave.
    this.#reserve(groupCount);
    for (let index = 0; index < theirs.integers.length; index++) {
      const group = groups[index]!;
      this.#addNumber(group, theirs.integers[index]!);
      this.#counts[group]! += theirs.counts[index]!;
    }
    for (let index = 0; index < theirs.specials.length; index++) {
      if (theirs.specials[index] !== 0) this.#noteSpecial(groups[index]!, theirs.specials[index]!);
    }
    for (let index = 0; index < theirs.fractions.length; index++) {
      if (theirs.fractions[index] === 1) this.#noteFraction(groups[index]!);
    }
    if (theirs.exact !== undefined) {
      this.#exact.combine(theirs.exact, groups, this.#integers.length);
    }
  }

  partial(groupCount: number): SumPartial {
    return {
      integers: this.#integers.slice(0, groupCount),
      counts: this.#counts.slice(0, groupCount),
      specials: this.#specials.slice(0, groupCount),
      fractions: this.#fractions.slice(0, groupCount),
      exact: this.#exact.partial(groupCount),
    };
  }

  finalize(group: number): SqlValue {
    const count = this.#counts[group] ?? 0;
    if (count === 0) return null;
    const special = specialSum(this.#specials[group] ?? 0);
    if (special !== undefined) return special;
    if (this.#keepsInteger && this.#fractions[group] !== 1) return this.#integerSum(group);
    // `+ 0` makes 0 of the -0 that cancelling may leave.
    const sum = this.#sum(group, 0) + 0;
    if (this.#finish === 'avg') {
      if (Number.isFinite(sum)) return sum / count;
      return (this.#sum(group, -AVG_SCALE) / count) * 2 ** AVG_SCALE;
    }
    if (Number.isFinite(sum)) return sum;
    throw new QueryError(
      'query_failed',
      `SUM of FLOAT64 must lie within ±${Number.MAX_VALUE}; the sum of ${count} values is beyond`,
    );
  }

  /** Where all values were integers, whose sums are exact as they are. */
  finalizeAll(groups: Int32Array): Vector | undefined {
    if (!this.#exact.isEmpty) return undefined;
    const answers = carvedFloat64(groups.length);
    const isAverage = this.#finish === 'avg';
    let nulls: Uint8Array | undefined;
    for (let index = 0; index < groups.length; index++) {
      const group = groups[index]!;
      const count = this.#counts[group] ?? 0;
      if (count === 0) {
        nulls ??= carvedUint8(groups.length);
        nulls[index] = 1;
      } else {
        if ((this.#specials[group] ?? 0) !== 0) return undefined;
        const sum = this.#integers[group]! + 0;
        answers[index] = isAverage ? sum / count : sum;
      }
    }
    return numberVector(answers, groups.length, nulls);
  }

  #integerSum(group: number): SqlValue {
    const sum = exactSum(exactInteger(this.#integers[group]!), this.#exact.exact(group));
    const total = wholeOf(sum);
    return checkedInt64(total, () => `the sum ${total}`);
  }

  /** The sum of all finite values times 2^`scale`, rounded once. */
  #sum(group: number, scale: number): number {
    if (this.#exact.isEmpty) return this.#integers[group]! * 2 ** scale;
    this.#exact.add(group, this.#integers[group]!, this.#integers.length);
    this.#integers[group] = 0;
    return this.#exact.rounded(group, scale);
  }

  #reserve(groupCount: number): void {
    this.#integers = grownFloat64(this.#integers, groupCount);
    this.#counts = grownFloat64(this.#counts, groupCount);
  }

  #addSums({ sums, counts }: CodeSums): void {
    for (let group = 0; group < sums.length; group++) {
      if (counts[group] === 0) continue;
      this.#addNumber(group, sums[group]!);
      this.#counts[group]! += counts[group]!;
    }
  }

  /** Adds plain sums of integers up to the first other value, and exact sums from there on. */
  #addNumbers(numbers: GroupedNumbers): void {
    const { groups, count, values } = numbers;
    const kernel = comesInRuns(groups, count) ? addIntegerRunsUntilMiss : addIntegersUntilMiss;
    let row = kernel(this.#integers, numbers, 0);
    if (this.#keepsInteger) this.#noteFractions(numbers, row);
    while (row < count) {
      this.#addInexact(groups[row]!, values[row]!);
      row = this.#exact.addUntilMiss(numbers, row + 1, this.#integers.length);
    }
  }

  /** Numbers before `start` were whole. */
  #noteFractions({ groups, count, values, nulls }: GroupedNumbers, start: number): void {
    for (let row = start; row < count; row++) {
      if (nulls?.[row] !== 1 && !Number.isSafeInteger(values[row]!)) {
        this.#noteFraction(groups[row]!);
      }
    }
  }

  /** A bigint is an INT64 beyond 2^53. */
  #addValues(groups: Int32Array, count: number, vector: Vector): void {
    for (let row = 0; row < count; row++) {
      const value = valueAt(vector, row);
      if (typeof value === 'bigint') this.#addInteger(groups[row]!, value);
      else if (typeof value === 'number') this.#addNumber(groups[row]!, value);
      else continue;
      this.#counts[groups[row]!]!++;
    }
  }

  /** In parts that doubles hold. */
  #addInteger(group: number, value: bigint): void {
    let rest = value;
    for (let unit = 1; rest !== 0n; unit *= 2 ** PART_BITS) {
      const part = BigInt.asIntN(PART_BITS, rest);
      this.#exact.add(group, Number(part) * unit, this.#integers.length);
      rest = (rest - part) >> BigInt(PART_BITS);
    }
  }

  #addNumber(group: number, value: number): void {
    const sum = this.#integers[group]! + value;
    // Rounding is monotone, so a rounded sum of integers below 2^53 was below it, and exact.
    if (Number.isSafeInteger(value) && sum < INTEGER_MAX && sum > -INTEGER_MAX) {
      this.#integers[group] = sum;
    } else {
      this.#addInexact(group, value);
    }
  }

  #addInexact(group: number, value: number): void {
    if (this.#keepsInteger && !Number.isSafeInteger(value)) this.#noteFraction(group);
    if (Number.isFinite(value)) this.#exact.add(group, value, this.#integers.length);
    else this.#noteSpecial(group, specialBit(value));
  }

  #noteSpecial(group: number, bits: number): void {
    this.#specials = grownUint8(this.#specials, this.#integers.length);
    this.#specials[group]! |= bits;
  }

  #noteFraction(group: number): void {
    this.#fractions = grownUint8(this.#fractions, this.#integers.length);
    this.#fractions[group] = 1;
  }
}

function specialBit(value: number): number {
  if (value === Number.POSITIVE_INFINITY) return SAW_INFINITY;
  return value === Number.NEGATIVE_INFINITY ? SAW_MINUS_INFINITY : SAW_NAN;
}

/** The sum as IEEE 754 has it when there was a NaN or an infinity; `undefined` when there was none. */
function specialSum(bits: number): number | undefined {
  if (bits === 0) return undefined;
  if (bits === SAW_INFINITY) return Number.POSITIVE_INFINITY;
  return bits === SAW_MINUS_INFINITY ? Number.NEGATIVE_INFINITY : Number.NaN;
}

/** 2^53: doubles below it in magnitude hold every integer. */
export const INTEGER_MAX = 2 ** 53;

/**
 * Adds integers to the sums of their groups, from row `start` on, as long as sums stay below 2^53
 * in magnitude and are therefore exact. Gives the first row that was not added because its sum would
 * not or because its value is no integer below 2^53 in magnitude, or `count`. NULLs are skipped.
 *
 * Rounding is monotone: a rounded sum of integers that is below 2^53 was so before rounding, and
 * was not rounded.
 */
function addIntegersUntilMiss(sums: Float64Array, numbers: GroupedNumbers, start: number): number {
  const { groups, count, values, nulls } = numbers;
  for (let row = start; row < count; row++) {
    if (nulls !== undefined && nulls[row] === 1) continue;
    const value = values[row]!;
    const sum = sums[groups[row]!]! + value;
    if (!(sum < INTEGER_MAX && sum > -INTEGER_MAX && Number.isSafeInteger(value))) return row;
    sums[groups[row]!] = sum;
  }
  return count;
}

/** The same for rows in runs of one group: the sum stays in a register. */
function addIntegerRunsUntilMiss(
  sums: Float64Array,
  numbers: GroupedNumbers,
  start: number,
): number {
  const { groups, count, values, nulls } = numbers;
  if (start >= count) return count;
  let group = groups[start]!;
  let sum = sums[group]!;
  let row = start;
  for (; row < count; row++) {
    if (groups[row] !== group) {
      sums[group] = sum;
      group = groups[row]!;
      sum = sums[group]!;
    }
    if (nulls !== undefined && nulls[row] === 1) continue;
    const value = values[row]!;
    const next = sum + value;
    if (!(next < INTEGER_MAX && next > -INTEGER_MAX && Number.isSafeInteger(value))) break;
    sum = next;
  }
  sums[group] = sum;
  return row;
}

/** What the integers of the rows of each group come to, exact, and how many they are. */
export type CodeSums = { readonly sums: Float64Array; readonly counts: Float64Array };

/** A place for each group costs as much as some rows: there should be fewer. */
const ROWS_PER_GROUP = 8;

/**
 * Rows and sums of codes are in one number, so that a row is one addition. There are four of them for each group, one behind
 * the other, taken in turn: to add to what was just written waits for that. `undefined` where a vector has no codes,
 * there are many groups, or sums may not be exact.
 */
export function sumCodes(
  vector: Vector,
  groups: Int32Array,
  count: number,
  groupCount: number,
): CodeSums | undefined {
  const summands = summandsOf(vector);
  if (summands === undefined || !areExact(summands, count)) return undefined;
  const bits = Math.ceil(Math.log2(summands.offsetMax + 1));
  // So many rows at a time: their offsets add up to less than `row`, and all that is added to 2^52 at most.
  const rowsMax = 2 ** Math.floor((52 - bits) / 2);
  const row = 2 ** bits * rowsMax;
  if (groupCount * ROWS_PER_GROUP > Math.min(count, rowsMax)) return undefined;
  const turns = threadArrays.borrowZeros(Float64Array, 4 * groupCount);
  const sums = carvedFloat64(groupCount);
  const counts = carvedFloat64(groupCount);
  for (let from = 0; from < count; from += rowsMax) {
    const some = groups.subarray(from, Math.min(count, from + rowsMax));
    addRows(summands, { start: summands.start + from, groups: some, groupCount, row }, turns);
    takeTurns(turns, { sums, counts }, row, summands);
  }
  threadArrays.giveBackZeros(turns);
  return { sums, counts };
}

/**
 * Integers by codes: row `i` is `base + step * offset`, where the offset, from 0 to `offsetMax`, is `codes[start + i]`,
 * or what `offsetOfCode` says of that; in this case codes have 16 bits at most.
 */
type Summands = {
  readonly codes: UnsignedArray;
  readonly start: number;
  readonly base: number;
  readonly step: number;
  readonly offsetMax: number;
  readonly offsetOfCode: Float64Array | undefined;
};

/** Beyond it codes may not be the offsets of others: most integers that are chosen among are small. */
const OFFSET_MAX = 2 ** 31;

function summandsOf(vector: Vector): Summands | undefined {
  if (vector.form === 'coded numbers') return chosenSummands(vector.numbers, vector.numberOfCode);
  if (vector.form !== 'packed numbers') return undefined;
  const { codes, start, coding } = vector;
  const { base, step, codeMax, table } = coding;
  if (table !== undefined) return chosenSummands(vector, table);
  return { codes, start, base, step, offsetMax: codeMax, offsetOfCode: undefined };
}

function chosenSummands(
  { codes, start }: PackedNumbers,
  numberOfCode: Float64Array,
): Summands | undefined {
  if (codes instanceof Uint32Array) return undefined;
  let least = Number.POSITIVE_INFINITY;
  let greatest = Number.NEGATIVE_INFINITY;
  for (let code = 0; code < numberOfCode.length; code++) {
    const number = numberOfCode[code]!;
    if (!Number.isSafeInteger(number)) return undefined;
    least = Math.min(least, number);
    greatest = Math.max(greatest, number);
  }
  if (greatest - least > OFFSET_MAX) return undefined;
  const offsetOfCode = carvedFloat64(numberOfCode.length);
  for (let code = 0; code < numberOfCode.length; code++) {
    offsetOfCode[code] = numberOfCode[code]! - least;
  }
  return { codes, start, base: least, step: 1, offsetMax: greatest - least, offsetOfCode };
}

/** Whether so many of them have a sum that a double holds. */
function areExact({ base, step, offsetMax }: Summands, count: number): boolean {
  const greatest = Math.max(Math.abs(base), Math.abs(base + step * offsetMax));
  return greatest * count <= Number.MAX_SAFE_INTEGER;
}

/** Adds to sums and counts of all groups what `turns` has of them, which is zeros again. */
function takeTurns(
  turns: Float64Array,
  { sums, counts }: CodeSums,
  row: number,
  { base, step }: Summands,
): void {
  const groupCount = sums.length;
  for (let group = 0; group < groupCount; group++) {
    let both = 0;
    for (let at = group; at < 4 * groupCount; at += groupCount) {
      both += turns[at]!;
      turns[at] = 0;
    }
    const rowCount = Math.floor(both / row);
    counts[group]! += rowCount;
    sums[group]! += base * rowCount + step * (both - rowCount * row);
  }
}

/** The groups of some rows, whose codes begin at `start`; `row` is what one row more adds to its group's number. */
type Rows = {
  readonly start: number;
  readonly groups: Int32Array;
  readonly groupCount: number;
  readonly row: number;
};

function addRows({ codes, offsetOfCode }: Summands, rows: Rows, turns: Float64Array): void {
  if (offsetOfCode !== undefined) {
    if (codes instanceof Uint8Array) addChosenBytes(codes, offsetOfCode, rows, turns);
    else addChosenShorts(codes as Uint16Array, offsetOfCode, rows, turns);
  } else if (codes instanceof Uint8Array) addBytes(codes, rows, turns);
  else if (codes instanceof Uint16Array) addShorts(codes, rows, turns);
  else addWords(codes, rows, turns);
}

/** One loop for each width, so that each sees one kind of array. */
function addBytes(
  codes: Uint8Array,
  { start, groups, groupCount, row }: Rows,
  sums: Float64Array,
): void {
  const { length } = groups;
  let at = 0;
  for (; at + 3 < length; at += 4) {
    sums[groups[at]!]! += row + codes[start + at]!;
    sums[groupCount + groups[at + 1]!]! += row + codes[start + at + 1]!;
    sums[2 * groupCount + groups[at + 2]!]! += row + codes[start + at + 2]!;
    sums[3 * groupCount + groups[at + 3]!]! += row + codes[start + at + 3]!;
  }
  for (; at < length; at++) sums[groups[at]!]! += row + codes[start + at]!;
}

/** Row by row: here it makes no difference to take several numbers of a group in turn. */
function addChosenBytes(
  codes: Uint8Array,
  offsets: Float64Array,
  { start, groups, row }: Rows,
  sums: Float64Array,
): void {
  for (let at = 0; at < groups.length; at++) {
    sums[groups[at]!]! += row + offsets[codes[start + at]!]!;
  }
}

function addChosenShorts(
  codes: Uint16Array,
  offsets: Float64Array,
  { start, groups, row }: Rows,
  sums: Float64Array,
): void {
  for (let at = 0; at < groups.length; at++) {
    sums[groups[at]!]! += row + offsets[codes[start + at]!]!;
  }
}

function addShorts(
  codes: Uint16Array,
  { start, groups, groupCount, row }: Rows,
  sums: Float64Array,
): void {
  const { length } = groups;
  let at = 0;
  for (; at + 3 < length; at += 4) {
    sums[groups[at]!]! += row + codes[start + at]!;
    sums[groupCount + groups[at + 1]!]! += row + codes[start + at + 1]!;
    sums[2 * groupCount + groups[at + 2]!]! += row + codes[start + at + 2]!;
    sums[3 * groupCount + groups[at + 3]!]! += row + codes[start + at + 3]!;
  }
  for (; at < length; at++) sums[groups[at]!]! += row + codes[start + at]!;
}

function addWords(
  codes: Uint32Array,
  { start, groups, groupCount, row }: Rows,
  sums: Float64Array,
): void {
  const { length } = groups;
  let at = 0;
  for (; at + 3 < length; at += 4) {
    sums[groups[at]!]! += row + codes[start + at]!;
    sums[groupCount + groups[at + 1]!]! += row + codes[start + at + 1]!;
    sums[2 * groupCount + groups[at + 2]!]! += row + codes[start + at + 2]!;
    sums[3 * groupCount + groups[at + 3]!]! += row + codes[start + at + 3]!;
  }
  for (; at < length; at++) sums[groups[at]!]! += row + codes[start + at]!;
}
