import type { PackedNumbers } from '../column/packed-numbers.ts';
import { grownFloat64, NO_FLOAT64 } from './growth.ts';

/** What the integers of the rows of each group come to, exact, and how many they are. */
export type CodeSums = { readonly sums: Float64Array; readonly counts: Float64Array };

/** One row more, in a number whose lower part is a sum of codes. */
const ROW = 2 ** 32;

/** A place for each group costs as much as some rows: there should be fewer. */
const ROWS_PER_GROUP = 8;

/**
 * Rows and sums of codes by group, in one number for both, so that a row is one addition; all 0 between two
 * calls. Two, taken in turn: to add to what was just written waits for that.
 */
let evens: Float64Array<ArrayBuffer> = NO_FLOAT64;
let odds: Float64Array<ArrayBuffer> = NO_FLOAT64;

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
  evens = grownFloat64(evens, groupCount);
  odds = grownFloat64(odds, groupCount);
  if (codes instanceof Uint8Array) addBytes(codes, start, count, groups);
  else if (codes instanceof Uint16Array) addShorts(codes, start, count, groups);
  else addWords(codes, start, count, groups);
  const sums = new Float64Array(groupCount);
  const counts = new Float64Array(groupCount);
  for (let group = 0; group < groupCount; group++) {
    const both = evens[group]! + odds[group]!;
    evens[group] = 0;
    odds[group] = 0;
    const rowCount = Math.floor(both / ROW);
    counts[group] = rowCount;
    sums[group] = coding.base * rowCount + coding.step * (both - rowCount * ROW);
  }
  return { sums, counts };
}

/** One loop for each width, so that each sees one kind of array. */
function addBytes(codes: Uint8Array, start: number, count: number, groups: Int32Array): void {
  const [even, odd] = [evens, odds];
  let row = 0;
  for (; row + 1 < count; row += 2) {
    even[groups[row]!]! += ROW + codes[start + row]!;
    odd[groups[row + 1]!]! += ROW + codes[start + row + 1]!;
  }
  if (row < count) even[groups[row]!]! += ROW + codes[start + row]!;
}

function addShorts(codes: Uint16Array, start: number, count: number, groups: Int32Array): void {
  const [even, odd] = [evens, odds];
  let row = 0;
  for (; row + 1 < count; row += 2) {
    even[groups[row]!]! += ROW + codes[start + row]!;
    odd[groups[row + 1]!]! += ROW + codes[start + row + 1]!;
  }
  if (row < count) even[groups[row]!]! += ROW + codes[start + row]!;
}

function addWords(codes: Uint32Array, start: number, count: number, groups: Int32Array): void {
  const [even, odd] = [evens, odds];
  let row = 0;
  for (; row + 1 < count; row += 2) {
    even[groups[row]!]! += ROW + codes[start + row]!;
    odd[groups[row + 1]!]! += ROW + codes[start + row + 1]!;
  }
  if (row < count) even[groups[row]!]! += ROW + codes[start + row]!;
}
