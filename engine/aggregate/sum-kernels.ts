import type { GroupedNumbers } from './grouped-numbers.ts';

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
export function addIntegersUntilMiss(
  sums: Float64Array,
  numbers: GroupedNumbers,
  start: number,
): number {
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
export function addIntegerRunsUntilMiss(
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
