import type { IntegerCoding, PackedNumbers } from '../column/packed-numbers.ts';
import type { UnsignedArray } from '../column/slice.ts';
import { grownFloat64, NO_FLOAT64 } from './growth.ts';

/** What the integers of the rows of each group come to, exact, and how many they are. */
export type CodeSums = { readonly sums: Float64Array; readonly counts: Float64Array };

/** A place for each group costs as much as some rows: there should be fewer. */
const ROWS_PER_GROUP = 8;

/**
 * Rows and sums of codes, in one number for both, so that a row is one addition; all 0 between two calls. Four of them
 * for each group, one behind the other, taken in turn: to add to what was just written waits for that.
 */
let turns: Float64Array<ArrayBuffer> = NO_FLOAT64;

/** `undefined` where there are many groups, sums may not be exact, or codes are not steps. */
export function sumCodes(
  numbers: PackedNumbers,
  groups: Int32Array,
  count: number,
  groupCount: number,
): CodeSums | undefined {
  const { start, coding } = numbers;
  if (coding.table !== undefined) return undefined;
  const codeBits = Math.ceil(Math.log2(coding.codeMax + 1));
  // So many rows at a time: their codes add up to less than `row`, and all that is added to 2^52 at most.
  const rowsMax = 2 ** Math.floor((52 - codeBits) / 2);
  const row = 2 ** codeBits * rowsMax;
  if (groupCount * ROWS_PER_GROUP > Math.min(count, rowsMax)) return undefined;
  const greatest = Math.max(Math.abs(coding.value(0)), Math.abs(coding.value(coding.codeMax)));
  if (greatest * count > Number.MAX_SAFE_INTEGER) return undefined;
  turns = grownFloat64(turns, 4 * groupCount);
  const sums = new Float64Array(groupCount);
  const counts = new Float64Array(groupCount);
  for (let from = 0; from < count; from += rowsMax) {
    const some = groups.subarray(from, Math.min(count, from + rowsMax));
    addRows(numbers.codes, { start: start + from, groups: some, groupCount, row });
    takeTurns({ sums, counts }, row, coding);
  }
  return { sums, counts };
}

/** Adds to sums and counts of all groups what `turns` has of them. */
function takeTurns({ sums, counts }: CodeSums, row: number, { base, step }: IntegerCoding): void {
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

function addRows(codes: UnsignedArray, rows: Rows): void {
  if (codes instanceof Uint8Array) addBytes(codes, rows, turns);
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
