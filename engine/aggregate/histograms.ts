import { carvedInt32, carvedUint32, grownInt32, NO_INT32, NO_UINT32 } from '../column/arrays.ts';
import type { GroupedNumbers } from './exact-sums.ts';
import {
  type CountedIntegers,
  countedIntegers,
  type IntegerCounts,
  IntegerLog,
  mergedCounts,
  type Span,
} from './integer-log.ts';

/** Counters in the histograms of one APPROX_QUANTILES: 64 MB. Beyond, counts are kept by hashing. */
const HISTOGRAM_COUNTERS_MAX = 16_777_216;

const CAPACITY_MIN = 64;

/**
 * A group earns a histogram of this many counters with each value that misses the one it has. So
 * counters never take more than 4 × 16 bytes a row, and a group of few rows has none.
 */
const COUNTERS_PER_MISS = 16;

/** Entries of a list in order count as a miss for so many: the log takes them in, and sorts them, at little cost. */
const LISTED_PER_MISS = 2;

/**
 * Where a partial has fewer values than one in so many counters that they would need, it is kept as the list
 * it is: to take in and to read a histogram of mostly zeros costs more than to merge lists.
 */
const COUNTERS_PER_LISTED_VALUE = 4;

/** Lists of a group, at most: to merge many costs more than to count. */
const LISTS_MAX = 32;

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

/** Entries [start, end) of lists. */
type IntegerSpan = IntegerCounts & Span;

/**
 * How often each small integer came, by group: what its histogram, its lists and the log say adds up; the log
 * has what a group's histogram does not hold. Invariant: group `g` counts the integers
 * [0, capacities[g]) at `counters[starts[g] + integer]`; capacities are 0 or powers of two. When one
 * grows, its counters move to the end and the old ones lie idle: less than the new ones together.
 */
export class Histograms {
  #counters: Uint32Array<ArrayBuffer> = NO_UINT32;
  #used = 0;
  #starts: Int32Array<ArrayBuffer> = NO_INT32;
  #capacities: Int32Array<ArrayBuffer> = NO_INT32;
  #misses: Int32Array<ArrayBuffer> = NO_INT32;
  /** Parts of partials, as these have them: nobody changes them. */
  readonly #lists = new Map<number, IntegerCounts[]>();
  readonly #log = new IntegerLog();
  /** Whether no group with a histogram has integers in the log that this one holds. */
  #isSettled = true;

  /** `listedCount`: values of the lists that come next, of which most are the first of their groups. */
  reserve(groupCount: number, listedCount = 0): void {
    this.#log.reserve(listedCount);
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

  /** Adds to a value's count. */
  add(group: number, value: number, count: number): void {
    if (value < this.#capacities[group]! || this.#earn(group, value, 1)) {
      this.#counters[this.#starts[group]! + value]! += count;
    } else {
      this.#log.add(group, value, count);
      this.#isSettled = false;
    }
  }

  /** Moves what a group had in the log before it earned its histogram there: to be called before groups are read. */
  #settle(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    if (this.#used === 0) return;
    const { starts, values, counts } = this.#log.grouped();
    const moved = carvedInt32(starts.length - 1);
    let movedCount = 0;
    for (let group = 0; group + 1 < starts.length; group++) {
      const capacity = this.#capacities[group]!;
      if (capacity === 0) continue;
      const base = this.#starts[group]!;
      const end = starts[group + 1]!;
      let entry = starts[group]!;
      for (; entry < end && values[entry]! < capacity; entry++) {
        this.#counters[base + values[entry]!]! += counts[entry]!;
      }
      moved[group] = entry - starts[group]!;
      movedCount += moved[group]!;
    }
    if (movedCount > 0) this.#log.dropFirst(moved);
  }

  /** The integers of a group where they lie, where all of them are in the log. */
  logged(group: number): IntegerSpan | undefined {
    if ((this.#capacities[group] ?? 0) > 0 || this.#lists.has(group)) return undefined;
    this.#settle();
    return this.#log.of(group);
  }

  /** How often each integer from 0 on came in a group, where they lie, where all of them are counted. */
  counted(group: number): Uint32Array | undefined {
    this.#settle();
    const { start, end } = this.#log.of(group);
    return start < end || this.#lists.has(group) ? undefined : this.#countersOf(group);
  }

  /** All integers of a group, ascending, each once. */
  counts(group: number): IntegerCounts {
    this.#settle();
    const { values, counts, start, end } = this.#log.of(group);
    const parts: IntegerCounts[] = [...(this.#lists.get(group) ?? [])];
    if (start < end) {
      parts.push({ values: values.subarray(start, end), counts: counts.subarray(start, end) });
    }
    const counters = this.#countersOf(group);
    if (counters.length > 0) parts.push(presentOf(counters));
    return mergedCounts(parts);
  }

  #countersOf(group: number): Uint32Array {
    const start = this.#starts[group] ?? 0;
    return this.#counters.subarray(start, start + (this.#capacities[group] ?? 0));
  }

  partial(): HistogramsPartial {
    const groups: number[] = [];
    const ends: number[] = [];
    const parts: IntegerSpan[] = [];
    let size = 0;
    for (let group = 0; group < this.#capacities.length; group++) {
      const part = this.logged(group) ?? spanOf(this.counts(group));
      if (part.start === part.end) continue;
      size += part.end - part.start;
      groups.push(group);
      ends.push(size);
      parts.push(part);
    }
    const values = new Uint16Array(size);
    const counts = new Uint32Array(size);
    let entry = 0;
    for (const part of parts) {
      for (let from = part.start; from < part.end; from++) {
        values[entry] = part.values[from]!;
        counts[entry++] = part.counts[from]!;
      }
    }
    return { groups: Int32Array.from(groups), ends: Int32Array.from(ends), values, counts };
  }

  /** Adds entries of small integers to a group. */
  combine(group: number, integers: CountedIntegers, { start, end }: Span): void {
    if (start === end) return;
    const { codes, counts, coding } = integers;
    const greatest = coding.value(codes[end - 1]!);
    if (greatest >= this.#capacities[group]! && !this.#earnByList(group, greatest, end - start)) {
      this.#log.addAll(group, integers, { start, end });
      this.#isSettled = false;
      return;
    }
    const counters = this.#counters;
    const base = this.#starts[group]!;
    for (let entry = start; entry < end; entry++) {
      counters[base + coding.value(codes[entry]!)]! += counts[entry]!;
    }
  }

  /** As `combine`, which counts nothing where the entries may be kept as they are until the end. */
  take(group: number, partial: HistogramsPartial, start: number, end: number): void {
    if (start === end) return;
    const countersNeeded = partial.values[end - 1]! + 1;
    const isSparse = COUNTERS_PER_LISTED_VALUE * (end - start) < countersNeeded;
    const lists = this.#lists.get(group) ?? [];
    if (!isSparse || countersNeeded <= this.#capacities[group]! || lists.length >= LISTS_MAX) {
      this.combine(group, countedIntegers(partial), { start, end });
      return;
    }
    lists.push({
      values: partial.values.subarray(start, end),
      counts: partial.counts.subarray(start, end),
    });
    this.#lists.set(group, lists);
  }

  /**
   * As `#earn`, for a list of so many values. The first of a group earns nothing: if none follows, as in a bucket
   * of time whose events are in one segment, it is in order, and shorter than a histogram.
   */
  #earnByList(group: number, greatest: number, length: number): boolean {
    const misses = Math.ceil(length / LISTED_PER_MISS);
    if (this.#misses[group] !== 0) return this.#earn(group, greatest, misses);
    this.#misses[group] = misses;
    return false;
  }

  /** Grows the group's histogram to hold `value`, when enough values have missed it. */
  #earn(group: number, value: number, misses: number): boolean {
    this.#misses[group]! += misses;
    const capacity = Math.max(CAPACITY_MIN, 1 << (32 - Math.clz32(value)));
    if (capacity > COUNTERS_PER_MISS * this.#misses[group]!) return false;
    if (this.#used + capacity > HISTOGRAM_COUNTERS_MAX) return false;
    if (this.#used + capacity > this.#counters.length) {
      const grown = carvedUint32(Math.max(this.#used + capacity, 2 * this.#counters.length));
      grown.set(this.#counters.subarray(0, this.#used));
      this.#counters = grown;
    }
    const old = this.#countersOf(group);
    this.#counters.set(old, this.#used);
    this.#starts[group] = this.#used;
    this.#capacities[group] = capacity;
    this.#used += capacity;
    this.#isSettled = false;
    return true;
  }
}

function spanOf({ values, counts }: IntegerCounts): IntegerSpan {
  return { values, counts, start: 0, end: values.length };
}

/** The counters that are not 0. */
function presentOf(counters: Uint32Array): IntegerCounts {
  let size = 0;
  for (let value = 0; value < counters.length; value++) if (counters[value]! > 0) size++;
  const values = new Uint16Array(size);
  const counts = new Uint32Array(size);
  for (let value = 0, entry = 0; entry < size; value++) {
    if (counters[value] === 0) continue;
    values[entry] = value;
    counts[entry++] = counters[value]!;
  }
  return { values, counts };
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
