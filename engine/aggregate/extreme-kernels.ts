import { comesInRuns, runEnd } from './group-runs.ts';
import type { GroupedNumbers } from './grouped-numbers.ts';

/**
 * Brings `best` of each group down to its least value and sets `bit` in `saw` where there is one. A
 * NaN takes the place of any number and none takes its place: no comparison with it holds.
 */
export function keepLeast(
  best: Float64Array,
  saw: Uint8Array,
  bit: number,
  numbers: GroupedNumbers,
): void {
  const { groups, count, values, nulls } = numbers;
  if (comesInRuns(groups, count)) {
    for (let start = 0, end = 0; start < count; start = end) {
      end = runEnd(groups, start, count);
      const group = groups[start]!;
      if (nulls === undefined || hasValue(nulls, start, end)) saw[group]! |= bit;
      best[group] = leastOf(best[group]!, values, nulls, start, end);
    }
    return;
  }
  for (let row = 0; row < count; row++) {
    if (nulls !== undefined && nulls[row] === 1) continue;
    const group = groups[row]!;
    const value = values[row]!;
    if (value < best[group]! || Number.isNaN(value)) best[group] = value;
    saw[group]! |= bit;
  }
}

/** As `keepLeast`, for the greatest value. */
export function keepGreatest(
  best: Float64Array,
  saw: Uint8Array,
  bit: number,
  numbers: GroupedNumbers,
): void {
  const { groups, count, values, nulls } = numbers;
  if (comesInRuns(groups, count)) {
    for (let start = 0, end = 0; start < count; start = end) {
      end = runEnd(groups, start, count);
      const group = groups[start]!;
      if (nulls === undefined || hasValue(nulls, start, end)) saw[group]! |= bit;
      best[group] = greatestOf(best[group]!, values, nulls, start, end);
    }
    return;
  }
  for (let row = 0; row < count; row++) {
    if (nulls !== undefined && nulls[row] === 1) continue;
    const group = groups[row]!;
    const value = values[row]!;
    if (value > best[group]! || Number.isNaN(value)) best[group] = value;
    saw[group]! |= bit;
  }
}

function hasValue(nulls: Uint8Array, start: number, end: number): boolean {
  for (let row = start; row < end; row++) if (nulls[row] === 0) return true;
  return false;
}

function leastOf(
  initial: number,
  values: Float64Array,
  nulls: Uint8Array | undefined,
  start: number,
  end: number,
): number {
  let best = initial;
  for (let row = start; row < end; row++) {
    const value = values[row]!;
    // Most values are no better, so the second test is rarely reached.
    if (value >= best || (nulls !== undefined && nulls[row] === 1)) continue;
    if (value < best || Number.isNaN(value)) best = value;
  }
  return best;
}

function greatestOf(
  initial: number,
  values: Float64Array,
  nulls: Uint8Array | undefined,
  start: number,
  end: number,
): number {
  let best = initial;
  for (let row = start; row < end; row++) {
    const value = values[row]!;
    if (value <= best || (nulls !== undefined && nulls[row] === 1)) continue;
    if (value > best || Number.isNaN(value)) best = value;
  }
  return best;
}
