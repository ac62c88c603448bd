import { carvedFloat64, grownFloat64, NO_FLOAT64 } from '../column/arrays.ts';
import type { PackedNumbers } from '../column/number-vectors.ts';
import type { UnsignedArray } from '../column/slice.ts';
import type { Vector } from '../column/vector.ts';

/** What the integers of the rows of each group come to, exact, and how many they are. */
export type CodeSums = { readonly sums: Float64Array; readonly counts: Float64Array };

/** A place for each group costs as much as some rows: there should be fewer. */
const ROWS_PER_GROUP = 8;

/**
 * Rows and sums of codes, in one number for both, so that a row is one addition; all 0 between two calls. Four of them
 * for each group, one behind the other, taken in turn: to add to what was just written waits for that.
 */
let turns: Float64Array<ArrayBuffer> = NO_FLOAT64;

/** `undefined` where a vector has no codes, there are many groups, or sums may not be exact. */
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
  turns = grownFloat64(turns, 4 * groupCount);
  const sums = carvedFloat64(groupCount);
  const counts = carvedFloat64(groupCount);
  for (let from = 0; from < count; from += rowsMax) {
    const some = groups.subarray(from, Math.min(count, from + rowsMax));
    addRows(summands, { start: summands.start + from, groups: some, groupCount, row });
    takeTurns({ sums, counts }, row, summands);
  }
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

/** Adds to sums and counts of all groups what `turns` has of them. */
function takeTurns({ sums, counts }: CodeSums, row: number, { base, step }: Summands): void {
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

function addRows({ codes, offsetOfCode }: Summands, rows: Rows): void {
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
