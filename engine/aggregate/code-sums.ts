import type { PackedNumbers } from '../column/packed-numbers.ts';
import { grownFloat64, NO_FLOAT64 } from './growth.ts';

/** What the integers of the rows of each group come to, exact, and how many they are. */
export type CodeSums = { readonly sums: Float64Array; readonly counts: Float64Array };

/** One row more, in a number whose lower part is a sum of codes. */
const ROW = 2 ** 32;

/** A place for each group costs as much as some rows: there should be fewer. */
const ROWS_PER_GROUP = 8;

/**
 * Rows and sums of codes, in one number for both, so that a row is one addition; all 0 between two calls. Four of them
 * for each group, one behind the other, taken in turn: to add to what was just written waits for that.
 */
let turns: Float64Array<ArrayBuffer> = NO_FLOAT64;

/** `undefined` where there are many groups, or sums may not be exact. */
export function sumCodes(
  numbers: PackedNumbers,
  groups: Int32Array,
  count: number,
  groupCount: number,
): CodeSums | undefined {
  const { codes, start, coding } = numbers;
  if (groupCount * ROWS_PER_GROUP > count) return undefined;
  // Below 2^20 rows, each of which adds to the upper part, the whole is below 2^52.
  if (count >= 2 ** 20 || coding.codeMax * count >= ROW) return undefined;
  const greatest = Math.max(Math.abs(coding.value(0)), Math.abs(coding.value(coding.codeMax)));
  if (greatest * count > Number.MAX_SAFE_INTEGER) return undefined;
  turns = grownFloat64(turns, 4 * groupCount);
  const rows = { start, count, groups, groupCount };
  if (codes instanceof Uint8Array) addBytes(codes, rows, turns);
  else if (codes instanceof Uint16Array) addShorts(codes, rows, turns);
  else addWords(codes, rows, turns);
  const sums = new Float64Array(groupCount);
  const counts = new Float64Array(groupCount);
  for (let group = 0; group < groupCount; group++) {
    let both = 0;
    for (let at = group; at < 4 * groupCount; at += groupCount) {
      both += turns[at]!;
      turns[at] = 0;
    }
    const rowCount = Math.floor(both / ROW);
    counts[group] = rowCount;
    sums[group] = coding.base * rowCount + coding.step * (both - rowCount * ROW);
  }
  return { sums, counts };
}

/** Rows whose codes begin at `start`. */
type Rows = {
  readonly start: number;
  readonly count: number;
  readonly groups: Int32Array;
  readonly groupCount: number;
};

/** One loop for each width, so that each sees one kind of array. */
function addBytes(
  codes: Uint8Array,
  { start, count, groups, groupCount }: Rows,
  sums: Float64Array,
): void {
  let row = 0;
  for (; row + 3 < count; row += 4) {
    sums[groups[row]!]! += ROW + codes[start + row]!;
    sums[groupCount + groups[row + 1]!]! += ROW + codes[start + row + 1]!;
    sums[2 * groupCount + groups[row + 2]!]! += ROW + codes[start + row + 2]!;
    sums[3 * groupCount + groups[row + 3]!]! += ROW + codes[start + row + 3]!;
  }
  for (; row < count; row++) sums[groups[row]!]! += ROW + codes[start + row]!;
}

function addShorts(
  codes: Uint16Array,
  { start, count, groups, groupCount }: Rows,
  sums: Float64Array,
): void {
  let row = 0;
  for (; row + 3 < count; row += 4) {
    sums[groups[row]!]! += ROW + codes[start + row]!;
    sums[groupCount + groups[row + 1]!]! += ROW + codes[start + row + 1]!;
    sums[2 * groupCount + groups[row + 2]!]! += ROW + codes[start + row + 2]!;
    sums[3 * groupCount + groups[row + 3]!]! += ROW + codes[start + row + 3]!;
  }
  for (; row < count; row++) sums[groups[row]!]! += ROW + codes[start + row]!;
}

function addWords(
  codes: Uint32Array,
  { start, count, groups, groupCount }: Rows,
  sums: Float64Array,
): void {
  let row = 0;
  for (; row + 3 < count; row += 4) {
    sums[groups[row]!]! += ROW + codes[start + row]!;
    sums[groupCount + groups[row + 1]!]! += ROW + codes[start + row + 1]!;
    sums[2 * groupCount + groups[row + 2]!]! += ROW + codes[start + row + 2]!;
    sums[3 * groupCount + groups[row + 3]!]! += ROW + codes[start + row + 3]!;
  }
  for (; row < count; row++) sums[groups[row]!]! += ROW + codes[start + row]!;
}
