import { HISTOGRAM_COUNTERS_MAX } from '../limits.ts';
import type { GroupedNumbers } from './grouped-numbers.ts';
import { grownInt32 } from './growth.ts';

/** Integers in [0, HISTOGRAM_VALUES_MAX) may be counted by a histogram. */
export const HISTOGRAM_VALUES_MAX = 65_536;

const CAPACITY_MIN = 64;

/**
 * A group earns a histogram of this many counters with each value that misses the one it has. So
 * counters never take more than 4 × 16 bytes a row, and a group of few rows has none.
 */
const COUNTERS_PER_MISS = 16;

/**
 * Of each group that has one: the counts of its values, ascending, without zeros. Those of
 * `groups[i]` are entries [ends[i − 1], ends[i]).
 */
export type HistogramsPartial = {
  readonly groups: Int32Array;
  readonly ends: Int32Array;
  readonly values: Uint16Array;
  readonly counts: Uint32Array;
};

/**
 * How often each small integer came, by group. Invariant: group `g` counts the integers
 * [0, capacities[g]) at `counters[starts[g] + integer]`; capacities are 0 or powers of two. When one
 * grows, its counters move to the end and the old ones lie idle: less than the new ones together.
 */
export class Histograms {
  #counters = new Uint32Array(0);
  #used = 0;
  #starts = new Int32Array(0);
  #capacities = new Int32Array(0);
  #misses = new Int32Array(0);

  reserve(groupCount: number): void {
    this.#starts = grownInt32(this.#starts, groupCount);
    this.#capacities = grownInt32(this.#capacities, groupCount);
    this.#misses = grownInt32(this.#misses, groupCount);
  }

  /**
   * Counts rows from `start` on, but for NULLs, until one has a value that its group's histogram
   * does not hold; gives that row, or the count of rows. `inRuns` is a matter of speed.
   */
  countUntilMiss(numbers: GroupedNumbers, start: number, inRuns: boolean): number {
    const kernel = inRuns ? countRunsUntilMiss : countUntilMiss;
    return kernel(this.#counters, this.#starts, this.#capacities, numbers, start);
  }

  /** Adds to a value's count; false when the group's histogram does not (yet) hold it. */
  add(group: number, value: number, count: number): boolean {
    if (value >= this.#capacities[group]! && !this.#earn(group, value, 1)) return false;
    this.#counters[this.#starts[group]! + value]! += count;
    return true;
  }

  /** The counts of the group's integers [0, length), for reading. */
  counters(group: number): Uint32Array {
    const start = this.#starts[group] ?? 0;
    return this.#counters.subarray(start, start + (this.#capacities[group] ?? 0));
  }

  partial(): HistogramsPartial {
    const groups: number[] = [];
    const ends: number[] = [];
    let size = 0;
    for (let group = 0; group < this.#capacities.length; group++) {
      if (this.#capacities[group] === 0) continue;
      for (const count of this.counters(group)) if (count > 0) size++;
      groups.push(group);
      ends.push(size);
    }
    const values = new Uint16Array(size);
    const counts = new Uint32Array(size);
    let entry = 0;
    for (const group of groups) {
      const counters = this.counters(group);
      for (let value = 0; value < counters.length; value++) {
        if (counters[value] === 0) continue;
        values[entry] = value;
        counts[entry++] = counters[value]!;
      }
    }
    return { groups: Int32Array.from(groups), ends: Int32Array.from(ends), values, counts };
  }

  /** Adds entries [start, end) of a partial to a group; false when its histogram cannot hold them. */
  combine(group: number, partial: HistogramsPartial, start: number, end: number): boolean {
    if (start === end) return true;
    const greatest = partial.values[end - 1]!;
    const fits = greatest < this.#capacities[group]!;
    if (!fits && !this.#earn(group, greatest, end - start)) return false;
    const counters = this.#counters;
    const base = this.#starts[group]!;
    for (let entry = start; entry < end; entry++) {
      counters[base + partial.values[entry]!]! += partial.counts[entry]!;
    }
    return true;
  }

  /** Grows the group's histogram to hold `value`, when enough values have missed it. */
  #earn(group: number, value: number, misses: number): boolean {
    this.#misses[group]! += misses;
    const capacity = Math.max(CAPACITY_MIN, 2 ** Math.ceil(Math.log2(value + 1)));
    if (capacity > COUNTERS_PER_MISS * this.#misses[group]!) return false;
    if (this.#used + capacity > HISTOGRAM_COUNTERS_MAX) return false;
    if (this.#used + capacity > this.#counters.length) {
      const grown = new Uint32Array(Math.max(this.#used + capacity, 2 * this.#counters.length));
      grown.set(this.#counters.subarray(0, this.#used));
      this.#counters = grown;
    }
    const old = this.counters(group);
    this.#counters.set(old, this.#used);
    this.#starts[group] = this.#used;
    this.#capacities[group] = capacity;
    this.#used += capacity;
    return true;
  }
}

function countUntilMiss(
  counters: Uint32Array,
  starts: Int32Array,
  capacities: Int32Array,
  numbers: GroupedNumbers,
  start: number,
): number {
  const { groups, count, values, nulls } = numbers;
  for (let row = start; row < count; row++) {
    if (nulls !== undefined && nulls[row] === 1) continue;
    const group = groups[row]!;
    const value = values[row]!;
    const integer = value | 0;
    // As unsigned, a negative integer is beyond any capacity.
    if (integer !== value || integer >>> 0 >= capacities[group]!) return row;
    counters[starts[group]! + integer]!++;
  }
  return count;
}

/** As `countUntilMiss`, with the histogram looked up once a run. */
function countRunsUntilMiss(
  counters: Uint32Array,
  starts: Int32Array,
  capacities: Int32Array,
  numbers: GroupedNumbers,
  start: number,
): number {
  const { groups, count, values, nulls } = numbers;
  let group = -1;
  let base = 0;
  let capacity = 0;
  for (let row = start; row < count; row++) {
    if (groups[row] !== group) {
      group = groups[row]!;
      base = starts[group]!;
      capacity = capacities[group]!;
    }
    if (nulls !== undefined && nulls[row] === 1) continue;
    const value = values[row]!;
    const integer = value | 0;
    if (integer !== value || integer >>> 0 >= capacity) return row;
    counters[base + integer]!++;
  }
  return count;
}
