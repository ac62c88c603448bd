import { grownFloat64, grownInt32, NO_FLOAT64, NO_INT32 } from '../column/arrays.ts';
import { whenAsked } from '../column/slice.ts';
import { EXACT_QUANTILE_VALUES_MAX } from '../limits.ts';
import { comesInRuns, type RunTally } from './chunk-runs.ts';
import type { GroupedNumbers } from './exact-sums.ts';
import { Histograms, type HistogramsPartial } from './histograms.ts';
import { HISTOGRAM_VALUES_MAX } from './integer-log.ts';
import { hashDouble, mixBits, orderNumbers } from './number-index.ts';
import { mergedValues, QuantileDigest, type WeightedValues } from './quantile-digest.ts';
import { type SortedCounts, ValueCounts, type ValueCountsPartial } from './quantile-ranks.ts';

/** What `#distinct` says of a group whose further values go to its digest. */
const OVERFULL = EXACT_QUANTILE_VALUES_MAX + 1;

export type NumberCountsPartial = {
  readonly table: GroupedCounts;
  readonly histograms: HistogramsPartial;
  readonly nans: Float64Array;
  readonly wide: ValueCountsPartial<bigint>;
  readonly digests: readonly { readonly group: number; readonly digest: WeightedValues }[];
};

/** Entry `i` is `i`: what a histogram counts. Made when it is first needed. */
const allIntegers = whenAsked(() =>
  Uint16Array.from({ length: HISTOGRAM_VALUES_MAX }, (_, integer) => integer),
);

/** Values in order, and how often each came. */
type Counted = {
  readonly values: ArrayLike<number | bigint> & Iterable<number | bigint>;
  readonly counts: ArrayLike<number> & Iterable<number>;
};

/**
 * How often each number came in each group. A value's count may lie in several places at once; they
 * add up:
 *
 * - small integers: with the histograms;
 * - other doubles: in the table, up to EXACT_QUANTILE_VALUES_MAX distinct ones a group; from the first
 *   further one on all in the group's digest, and in a partial those of the table, too;
 * - NaN and integers beyond 2^53: apart.
 */
export class NumberCounts {
  readonly #histograms = new Histograms();
  readonly #table = new CountTable();
  /** By group: distinct values in the table, or OVERFULL. */
  #distinct: Int32Array<ArrayBuffer> = NO_INT32;
  #nans: Float64Array<ArrayBuffer> = NO_FLOAT64;
  readonly #wide = new ValueCounts<bigint>('integers beyond 2^53');
  readonly #digests = new Map<number, QuantileDigest>();
  /** The table in order, once it is asked for; until it changes. */
  #grouped: GroupedCounts | undefined;

  /** Must be called before values of groups up to `groupCount` are added. `entryCount`: those of a tally that come next. */
  reserve(groupCount: number, entryCount = 0): void {
    this.#histograms.reserve(groupCount, entryCount);
    this.#distinct = grownInt32(this.#distinct, groupCount);
    this.#nans = grownFloat64(this.#nans, groupCount);
    this.#grouped = undefined;
  }

  /** Whether no number of any group is an integer beyond 2^53. */
  get areDoubles(): boolean {
    return this.#wide.isEmpty;
  }

  addAll(numbers: GroupedNumbers): void {
    const { groups, count, values } = numbers;
    const inRuns = comesInRuns(groups, count);
    for (let row = 0; row < count; row++) {
      row = this.#histograms.countUntilMiss(numbers, row, inRuns);
      if (row === count) return;
      const digest = inRuns ? this.#digests.get(groups[row]!) : undefined;
      const end = digest === undefined ? row : digestedEnd(numbers, row);
      if (end > row + 1) {
        digest?.addEach(values.subarray(row, end));
        row = end - 1;
      } else {
        this.#addDouble(groups[row]!, values[row]!, 1);
      }
    }
  }

  add(group: number, value: number | bigint, count: number): void {
    if (typeof value === 'bigint') this.#wide.add(group, value, count);
    else this.#addDouble(group, value, count);
  }

  /** Adds what a tally has of a run to a group. */
  addTallied(group: number, tally: RunTally, run: number): void {
    const { ends, codes, counts, coding } = tally;
    const start = run === 0 ? 0 : ends[run - 1]!;
    const end = ends[run]!;
    const [least, greatest] = [coding.value(codes[start]!), coding.value(codes[end - 1]!)];
    const isSmall = least >= 0 && greatest < HISTOGRAM_VALUES_MAX;
    if (isSmall) {
      this.#histograms.combine(group, tally, { start, end });
      return;
    }
    for (let entry = start; entry < end; entry++) {
      this.#addDouble(group, coding.value(codes[entry]!), counts[entry]!);
    }
  }

  combine(theirs: NumberCountsPartial, groups: Int32Array): void {
    const { table, histograms } = theirs;
    for (let index = 0; index + 1 < table.starts.length; index++) {
      for (let entry = table.starts[index]!; entry < table.starts[index + 1]!; entry++) {
        this.#addDouble(groups[index]!, table.values[entry]!, table.counts[entry]!);
      }
    }
    for (let index = 0; index < histograms.groups.length; index++) {
      const start = index === 0 ? 0 : histograms.ends[index - 1]!;
      const group = groups[histograms.groups[index]!]!;
      this.#histograms.take(group, histograms, start, histograms.ends[index]!);
    }
    for (let index = 0; index < theirs.nans.length; index++) {
      this.#nans[groups[index]!]! += theirs.nans[index]!;
    }
    this.#wide.combine(theirs.wide, groups);
    for (const { group, digest } of theirs.digests) this.#digest(groups[group]!).combine(digest);
  }

  partial(groupCount: number): NumberCountsPartial {
    const table = this.#table.grouped(groupCount);
    return {
      table: this.#digests.size === 0 ? table : without(table, this.#digests),
      histograms: this.#histograms.partial(),
      nans: this.#nans.slice(0, groupCount),
      wide: this.#wide.partial(),
      digests: Array.from(this.#digests, ([group, digest]) => ({
        group,
        digest: digest.partial(weightedOf(table, group)),
      })),
    };
  }

  #areSmallIntegers(group: number): boolean {
    if ((this.#nans[group] ?? 0) > 0 || this.#wide.has(group) || this.#digests.has(group)) {
      return false;
    }
    if (this.#table.isEmpty) return true;
    this.#grouped ??= this.#table.grouped(this.#distinct.length);
    const { starts } = this.#grouped;
    return starts[group] === starts[group + 1];
  }

  /** As `sorted`, where they lie, without making lists of them; `undefined` where they lie apart. */
  sortedInPlace(group: number): SortedCounts<number> | undefined {
    if (!this.#areSmallIntegers(group)) return undefined;
    const span = this.#histograms.logged(group);
    if (span === undefined) return this.#countedInPlace(group);
    const { values, counts, start, end } = span;
    return { values, counts, start, end, total: totalOf(counts, start, end) };
  }

  #countedInPlace(group: number): SortedCounts<number> | undefined {
    const counts = this.#histograms.counted(group);
    if (counts === undefined) return undefined;
    const total = totalOf(counts, 0, counts.length);
    return { values: allIntegers(), counts, total };
  }

  /** All numbers of a group in order. */
  sorted(group: number): SortedCounts<number | bigint> {
    const values: (number | bigint)[] = [];
    const counts: number[] = [];
    let total = 0;
    const nans = this.#nans[group] ?? 0;
    if (nans > 0) {
      values.push(Number.NaN);
      counts.push(nans);
      total = nans;
    }
    const integers = this.#histograms.counts(group);
    const rest = this.#unhistogrammed(group);
    if (nans === 0 && rest.values.length === 0) return withTotal(integers);
    if (nans === 0 && integers.values.length === 0) return withTotal(rest);
    let next = 0;
    for (let entry = 0; entry < integers.values.length; entry++) {
      const integer = integers.values[entry]!;
      for (; next < rest.values.length && rest.values[next]! < integer; next++) {
        values.push(rest.values[next]!);
        counts.push(rest.counts[next]!);
        total += rest.counts[next]!;
      }
      values.push(integer);
      counts.push(integers.counts[entry]!);
      total += integers.counts[entry]!;
    }
    for (; next < rest.values.length; next++) {
      values.push(rest.values[next]!);
      counts.push(rest.counts[next]!);
      total += rest.counts[next]!;
    }
    return { values, counts, total };
  }

  /** The group's numbers that are neither small integers nor NaN, in order. */
  #unhistogrammed(group: number): Counted {
    this.#grouped ??= this.#table.grouped(this.#distinct.length);
    const counted = weightedOf(this.#grouped, group);
    const digest = this.#digests.get(group)?.values();
    const { values, weights } = digest === undefined ? counted : mergedValues([counted, digest]);
    if (!this.#wide.has(group)) return { values, counts: weights };
    const wide = this.#wide.sorted(group);
    const entries: { value: number | bigint; count: number }[] = [];
    values.forEach((value, index) => {
      entries.push({ value, count: weights[index]! });
    });
    [...wide.values].forEach((value, index) => {
      entries.push({ value, count: wide.counts[index]! });
    });
    entries.sort((left, right) => orderNumbers(left.value, right.value));
    return {
      values: entries.map(({ value }) => value),
      counts: entries.map(({ count }) => count),
    };
  }

  #addDouble(group: number, value: number, count: number): void {
    if (value >= 0 && value < HISTOGRAM_VALUES_MAX && Number.isInteger(value)) {
      this.#histograms.add(group, value + 0, count);
    } else if (Number.isNaN(value)) {
      this.#nans[group]! += count;
    } else if (this.#distinct[group] === OVERFULL) {
      this.#digest(group).add(value, count);
    } else {
      const isNewAllowed = this.#distinct[group]! < EXACT_QUANTILE_VALUES_MAX;
      const answer = this.#table.add(group, value, count, isNewAllowed);
      if (answer === 'added') this.#distinct[group]!++;
      else if (answer === 'refused') this.#digest(group).add(value, count);
    }
  }

  #digest(group: number): QuantileDigest {
    let digest = this.#digests.get(group);
    if (digest === undefined) {
      digest = new QuantileDigest();
      this.#digests.set(group, digest);
      this.#distinct[group] = OVERFULL;
    }
    return digest;
  }
}

function weightedOf({ starts, values, counts }: GroupedCounts, group: number): WeightedValues {
  // The table may know of no group so high.
  const start = starts[group] ?? values.length;
  const end = starts[group + 1] ?? values.length;
  return { values: values.subarray(start, end), weights: counts.subarray(start, end) };
}

/** The table without what is of these groups. */
function without(table: GroupedCounts, groups: ReadonlyMap<number, unknown>): GroupedCounts {
  const starts = new Int32Array(table.starts.length);
  const values = new Float64Array(table.values.length);
  const counts = new Float64Array(table.values.length);
  let size = 0;
  for (let group = 0; group + 1 < starts.length; group++) {
    starts[group] = size;
    if (groups.has(group)) continue;
    const kept = weightedOf(table, group);
    values.set(kept.values, size);
    counts.set(kept.weights, size);
    size += kept.values.length;
  }
  starts[starts.length - 1] = size;
  return { starts, values: values.slice(0, size), counts: counts.slice(0, size) };
}

/** The sum of `counts[start, end)`, four at once: each addition of doubles waits for the one before. */
function totalOf(counts: Uint32Array, start: number, end: number): number {
  let [one, two, three, four] = [0, 0, 0, 0];
  let at = start;
  for (const last = end - 4; at <= last; at += 4) {
    one += counts[at]!;
    two += counts[at + 1]!;
    three += counts[at + 2]!;
    four += counts[at + 3]!;
  }
  for (; at < end; at++) one += counts[at]!;
  return one + two + three + four;
}

function withTotal({ values, counts }: Counted): SortedCounts<number | bigint> {
  let total = 0;
  for (let entry = 0; entry < counts.length; entry++) total += counts[entry]!;
  return { values, counts, total };
}

/**
 * The end of the rows from `start` on that are of one group and fit for its digest: `start` where
 * it is none itself. What the group's table has of them already adds up with what the digest gets.
 */
function digestedEnd({ groups, count, values, nulls }: GroupedNumbers, start: number): number {
  const group = groups[start];
  let row = start;
  for (; row < count && groups[row] === group; row++) {
    const value = values[row]!;
    if (nulls !== undefined && nulls[row] === 1) break;
    if (Number.isNaN(value)) break;
    if ((value & (HISTOGRAM_VALUES_MAX - 1)) === value) break;
  }
  return row;
}

const ABSENT = -1;
const SLOTS_MIN = 64;

/** Values per group, ascending: those of group `g` are entries [starts[g], starts[g + 1]). */
type GroupedCounts = {
  readonly starts: Int32Array;
  readonly values: Float64Array;
  readonly counts: Float64Array;
};

/** A slot is three doubles side by side, mostly in one cache line: group, value, count. */
const SLOT_WIDTH = 3;

/**
 * How often each double (never NaN) came in each group: one hash table for all groups, open
 * addressing with linear probing over one typed array, at most half full. 0 and -0 are one value.
 */
class CountTable {
  #slots = NO_SLOTS;
  #slotCount = SLOTS_MIN;
  #size = 0;

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** Adds to a value's count. A value that is not there yet is added only if `isNewAllowed`. */
  add(group: number, value: number, count: number, isNewAllowed: boolean): CountTableAnswer {
    const at = this.#find(group, value);
    let slots = this.#slots;
    if (slots[at] !== ABSENT) {
      slots[at + 2]! += count;
      return 'there';
    }
    if (!isNewAllowed) return 'refused';
    if (slots === NO_SLOTS) slots = this.#slots = emptySlots(SLOTS_MIN);
    slots[at] = group;
    slots[at + 1] = value + 0; // 0 for -0.
    slots[at + 2] = count;
    if (2 * ++this.#size >= this.#slotCount) this.#grow();
    return 'added';
  }

  /** All counts, by group and value, for groups [0, groupCount). */
  grouped(groupCount: number): GroupedCounts {
    const slots = this.#slots;
    const starts = new Int32Array(groupCount + 1);
    if (slots === NO_SLOTS) return { starts, values: NO_FLOAT64, counts: NO_FLOAT64 };
    for (let at = 0; at < slots.length; at += SLOT_WIDTH) {
      if (slots[at] !== ABSENT) starts[slots[at]! + 1]!++;
    }
    for (let group = 0; group < groupCount; group++) starts[group + 1]! += starts[group]!;
    const values = new Float64Array(this.#size);
    const counts = new Float64Array(this.#size);
    const ends = starts.slice(0, groupCount);
    for (let at = 0; at < slots.length; at += SLOT_WIDTH) {
      if (slots[at] !== ABSENT) values[ends[slots[at]!]!++] = slots[at + 1]!;
    }
    for (let group = 0; group < groupCount; group++) {
      const start = starts[group]!;
      const end = starts[group + 1]!;
      if (end - start > 1) values.subarray(start, end).sort();
      // Sorting numbers alone and finding their counts again beats sorting pairs.
      for (let entry = start; entry < end; entry++) {
        counts[entry] = slots[this.#find(group, values[entry]!) + 2]!;
      }
    }
    return { starts, values, counts };
  }

  /** Where the value's slot begins, or that of the empty slot where it would go. */
  #find(group: number, value: number): number {
    const slots = this.#slots;
    const mask = this.#slotCount - 1;
    let slot = mixBits(hashDouble(value) ^ Math.imul(group, 0x9e3779b1)) & mask;
    for (;;) {
      const at = slot * SLOT_WIDTH;
      if (slots[at] === ABSENT || (slots[at + 1] === value && slots[at] === group)) return at;
      slot = (slot + 1) & mask;
    }
  }

  #grow(): void {
    const old = this.#slots;
    this.#slotCount *= 2;
    this.#slots = emptySlots(this.#slotCount);
    for (let from = 0; from < old.length; from += SLOT_WIDTH) {
      if (old[from] === ABSENT) continue;
      const at = this.#find(old[from]!, old[from + 1]!);
      this.#slots[at] = old[from]!;
      this.#slots[at + 1] = old[from + 1]!;
      this.#slots[at + 2] = old[from + 2]!;
    }
  }
}

type CountTableAnswer = 'there' | 'added' | 'refused';

function emptySlots(count: number): Float64Array {
  return new Float64Array(count * SLOT_WIDTH).fill(ABSENT);
}

/** What all tables begin as; the first value makes one of its own. */
const NO_SLOTS = emptySlots(SLOTS_MIN);
