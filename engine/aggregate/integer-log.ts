import {
  carvedFloat64,
  carvedInt32,
  carvedUint16,
  carvedUint32,
  FIRST_BYTES,
  grownInt32,
  NO_INT32,
  NO_UINT32,
} from '../column/arrays.ts';
import { IntegerCoding } from '../column/number-vectors.ts';

/** Entries of the first arrays, which are made in little time, and of the next at least. */
const CAPACITY_FIRST = FIRST_BYTES / Uint32Array.BYTES_PER_ELEMENT;
const CAPACITY_MIN = 256;

/** Entries below which a log that is full grows as it is: to put so many in order takes longer than to keep them. */
const UNITED_ENTRIES_MIN = 16_384;

/** Entries of a group that are inserted each among those before: more are sorted. */
const INSERTED_ENTRIES_MAX = 32;

/** An integer below 2^16 and a count below 2^32 are one key, which a double holds exactly. */
const KEY_OF_INTEGER = 2 ** 32;

const NO_UINT16 = new Uint16Array(0);

/**
 * Integers and how often each came, by group: those of group `g` are entries [starts[g], starts[g + 1]). There is room
 * for more behind the last.
 */
type GroupedIntegers = IntegerCounts & { readonly starts: Int32Array };

/** Entries [start, end). */
export type Span = { readonly start: number; readonly end: number };

/**
 * Integers in [0, 65536) of groups with few of them: written one behind the other as they come, which takes
 * a tenth of what looking for each of them does, and put in order once somebody asks. When there is no more
 * room, equal ones of a group become one entry first, so that a large log stays below twice the distinct ones.
 *
 * Entries that come one after the other for one group, their integers ascending, are one *stretch*.
 */
export class IntegerLog {
  #values: Uint16Array<ArrayBuffer> = NO_UINT16;
  #counts: Uint32Array<ArrayBuffer> = NO_UINT32;
  #size = 0;
  /** The group of each stretch, and its first entry. */
  #groups: Int32Array<ArrayBuffer> = NO_INT32;
  #starts: Int32Array<ArrayBuffer> = NO_INT32;
  #stretchCount = 0;
  /** Whether each stretch is of a higher group than the one before, as those of rows in order of time are. */
  #areInOrder = true;
  #groupCount = 0;
  /** All in order, until an entry is added. */
  #grouped: GroupedIntegers | undefined;
  /** Where the entries of each group are, until one is added. */
  #placed: PlacedGroups | undefined;

  /** Makes room for so many entries at once where there are none yet, so that the first are not copied as more come. */
  reserve(count: number): void {
    if (this.#size === 0 && count > this.#values.length) this.#growTo(count);
  }

  add(group: number, value: number, count: number): void {
    if (this.#size === this.#values.length) this.#makeRoom(1);
    if (!this.#goesOn(group, value)) this.#beginStretch(group);
    this.#values[this.#size] = value;
    this.#counts[this.#size++] = count;
    this.#changed();
  }

  /** Adds entries to a group. */
  addAll(group: number, integers: CountedIntegers, { start, end }: Span): void {
    if (start === end) return;
    const { codes, coding } = integers;
    if (this.#size + end - start > this.#values.length) this.#makeRoom(end - start);
    if (!this.#goesOn(group, coding.value(codes[start]!))) this.#beginStretch(group);
    const all = { values: this.#values, counts: this.#counts, size: this.#size };
    copyIntegers(integers, { start, end }, all);
    this.#size += end - start;
    this.#changed();
  }

  #changed(): void {
    this.#grouped = undefined;
    this.#placed = undefined;
  }

  /** The entries of a group in order, each integer once, where they lie if that can be. Good until the next is added. */
  of(group: number): IntegerCounts & Span {
    const [values, counts] = [this.#values, this.#counts];
    if (this.#grouped === undefined && this.#placedGroups().severalCount <= UNITED_ALONE_MAX) {
      const stretch = this.#stretchOf(group);
      if (stretch === NONE) return { values, counts, start: 0, end: 0 };
      if (stretch === SEVERAL) return this.#unitedOf(group);
      const start = this.#starts[stretch]!;
      return { values, counts, start, end: this.#endOf(stretch) };
    }
    return entriesOf(this.grouped(), group);
  }

  /** The stretch of a group, NONE or SEVERAL. */
  #stretchOf(group: number): number {
    return this.#placedGroups().stretches[group] ?? NONE;
  }

  #placedGroups(): PlacedGroups {
    if (this.#placed !== undefined) return this.#placed;
    const stretches = carvedInt32(this.#groupCount).fill(NONE);
    let severalCount = 0;
    for (let stretch = 0; stretch < this.#stretchCount; stretch++) {
      const group = this.#groups[stretch]!;
      if (stretches[group]! >= 0) severalCount += 1;
      stretches[group] = stretches[group] === NONE ? stretch : SEVERAL;
    }
    this.#placed = { stretches, severalCount };
    return this.#placed;
  }

  /** All entries of a group that has several stretches. */
  #unitedOf(group: number): IntegerCounts & Span {
    const stretches = carvedInt32(this.#stretchCount);
    let [ofGroup, count] = [0, 0];
    for (let stretch = 0; stretch < this.#stretchCount; stretch++) {
      if (this.#groups[stretch] !== group) continue;
      stretches[ofGroup++] = stretch;
      count += this.#lengthOf(stretch);
    }
    const to = { values: carvedUint16(count), counts: carvedUint32(count), size: 0 };
    this.#unite(stretches.subarray(0, ofGroup), to);
    return { values: to.values, counts: to.counts, start: 0, end: to.size };
  }

  /** Takes the first `counts[g]` of each group `g` away, of what `grouped` gives. */
  dropFirst(dropped: Int32Array): void {
    const { starts, values, counts } = this.grouped();
    const left = dropped.reduce((sum, count) => sum - count, starts.at(-1)!);
    const kept = {
      starts: carvedInt32(starts.length),
      values: carvedUint16(left),
      counts: carvedUint32(left),
    };
    let size = 0;
    for (let group = 0; group + 1 < starts.length; ) {
      // As many groups as lie together, up to the next of which some are dropped.
      const start = starts[group]! + dropped[group]!;
      const shift = size - start;
      kept.starts[group++] = size;
      for (; group + 1 < starts.length && dropped[group] === 0; group++) {
        kept.starts[group] = starts[group]! + shift;
      }
      const end = starts[group]!;
      kept.values.set(values.subarray(start, end), size);
      kept.counts.set(counts.subarray(start, end), size);
      size += end - start;
    }
    kept.starts[starts.length - 1] = size;
    this.#values = kept.values;
    this.#counts = kept.counts;
    this.#beginAnew(kept.starts);
    this.#grouped = kept;
  }

  /** All entries by group and integer, each integer of a group once. Good until the next is added. */
  grouped(): GroupedIntegers {
    this.#grouped ??= this.#areInOrder ? this.#asTheyCame() : this.#inOrder();
    return this.#grouped;
  }

  /** Whether an entry belongs to the last stretch. */
  #goesOn(group: number, value: number): boolean {
    const last = this.#stretchCount - 1;
    if (last < 0 || this.#groups[last] !== group) return false;
    return this.#values[this.#size - 1]! < value;
  }

  #beginStretch(group: number): void {
    const stretch = this.#stretchCount++;
    this.#groups = grownInt32(this.#groups, stretch + 1);
    this.#starts = grownInt32(this.#starts, stretch + 1);
    this.#groups[stretch] = group;
    this.#starts[stretch] = this.#size;
    if (stretch > 0 && group <= this.#groups[stretch - 1]!) this.#areInOrder = false;
    if (group >= this.#groupCount) this.#groupCount = group + 1;
  }

  #endOf(stretch: number): number {
    return stretch + 1 < this.#stretchCount ? this.#starts[stretch + 1]! : this.#size;
  }

  #asTheyCame(): GroupedIntegers {
    const starts = carvedInt32(this.#groupCount + 1);
    for (let stretch = 0, group = 0; stretch < this.#stretchCount; stretch++) {
      // Groups before it that have no entries begin where it does.
      for (; group <= this.#groups[stretch]!; group++) starts[group] = this.#starts[stretch]!;
    }
    starts[this.#groupCount] = this.#size;
    return { starts, values: this.#values, counts: this.#counts };
  }

  #inOrder(): GroupedIntegers {
    const { ends, ordered } = this.#stretchesByGroup();
    const starts = carvedInt32(this.#groupCount + 1);
    const united = {
      values: carvedUint16(this.#size),
      counts: carvedUint32(this.#size),
      size: 0,
    };
    for (let group = 0, first = 0; group < this.#groupCount; group++) {
      starts[group] = united.size;
      const end = ends[group]!;
      if (end - first === 1) this.#copy(ordered[first]!, united);
      else if (end > first) this.#unite(ordered.subarray(first, end), united);
      first = end;
    }
    starts[this.#groupCount] = united.size;
    return { starts, values: united.values, counts: united.counts };
  }

  /** The stretches of each group, in the order they came: those of group `g` end at `ends[g]`. */
  #stretchesByGroup(): { readonly ends: Int32Array; readonly ordered: Int32Array } {
    const groups = this.#groups;
    // Where each group's stretches begin while they are dealt out, then where they end.
    const ends = carvedInt32(this.#groupCount + 1);
    for (let stretch = 0; stretch < this.#stretchCount; stretch++) ends[groups[stretch]! + 1]!++;
    for (let group = 0; group < this.#groupCount; group++) ends[group + 1]! += ends[group]!;
    const ordered = carvedInt32(this.#stretchCount);
    for (let stretch = 0; stretch < this.#stretchCount; stretch++) {
      ordered[ends[groups[stretch]!]!++] = stretch;
    }
    return { ends, ordered };
  }

  /** Writes the entries of a stretch that is in order. */
  #copy(stretch: number, to: UnitedEntries): void {
    const span = this.#spanOf(stretch);
    copyEntries({ values: this.#values, counts: this.#counts }, span, to);
    to.size += span.end - span.start;
  }

  /** Writes the entries of several stretches of one group, in order, equal integers as one. */
  #unite(stretches: Int32Array, to: UnitedEntries): void {
    if (stretches.length === 2) {
      const both = [this.#spanOf(stretches[0]!), this.#spanOf(stretches[1]!)] as const;
      mergeSpans(this.#values, this.#counts, both, to);
      return;
    }
    const keys = carvedFloat64(stretches.reduce((sum, each) => sum + this.#lengthOf(each), 0));
    let at = 0;
    for (const stretch of stretches) {
      const { start, end } = this.#spanOf(stretch);
      for (let entry = start; entry < end; entry++) {
        keys[at++] = this.#values[entry]! * KEY_OF_INTEGER + this.#counts[entry]!;
      }
    }
    sortKeys(keys);
    uniteKeys(keys, to);
  }

  /** The entries of a stretch. */
  #spanOf(stretch: number): Span {
    return { start: this.#starts[stretch]!, end: this.#endOf(stretch) };
  }

  #lengthOf(stretch: number): number {
    return this.#endOf(stretch) - this.#starts[stretch]!;
  }

  /** For `count` entries more. */
  #makeRoom(count: number): void {
    if (this.#values.length === 0 && count <= CAPACITY_FIRST) {
      this.#growTo(CAPACITY_FIRST);
      return;
    }
    if (this.#values.length < UNITED_ENTRIES_MIN) {
      this.#growTo(Math.max(CAPACITY_MIN, this.#size + count, 2 * this.#values.length));
      return;
    }
    const { starts, values, counts } = this.grouped();
    const capacity = this.#values.length;
    const size = starts.at(-1)!;
    const isDense = 2 * size >= capacity;
    const roomMin = Math.max(CAPACITY_MIN, size + count);
    const room = Math.max(roomMin, isDense ? 2 * capacity : capacity);
    this.#replace(room, values.subarray(0, size), counts.subarray(0, size));
    this.#beginAnew(starts);
  }

  /** With one stretch for each group that has entries, which are all in order. */
  #beginAnew(starts: Int32Array): void {
    this.#placed = undefined;
    this.#stretchCount = 0;
    this.#areInOrder = true;
    this.#groupCount = 0;
    for (let group = 0; group + 1 < starts.length; group++) {
      this.#size = starts[group]!;
      if (starts[group + 1]! > this.#size) this.#beginStretch(group);
    }
    this.#size = starts.at(-1)!;
  }

  /** With all entries as they are. */
  #growTo(room: number): void {
    this.#replace(room, this.#values, this.#counts);
  }

  /** Has arrays for so many entries, the first of which are these. */
  #replace(room: number, values: Uint16Array, counts: Uint32Array): void {
    this.#values = carvedUint16(room);
    this.#counts = carvedUint32(room);
    this.#values.set(values);
    this.#counts.set(counts);
  }
}

function entriesOf(
  { starts, values, counts }: GroupedIntegers,
  group: number,
): IntegerCounts & Span {
  // There may be none of groups so high.
  const size = starts.at(-1)!;
  return { values, counts, start: starts[group] ?? size, end: starts[group + 1] ?? size };
}

/** By group the stretch that it has, NONE or SEVERAL; how many have several. */
type PlacedGroups = { readonly stretches: Int32Array; readonly severalCount: number };

const NONE = -1;
const SEVERAL = -2;

/**
 * Groups with several stretches up to which each is put in order by itself, for which all stretches are looked through: where
 * rows come in order of time, they are those of whose rows some are in another chunk.
 */
const UNITED_ALONE_MAX = 2;

/** Entries in order; the next is written at `size`. */
type UnitedEntries = {
  readonly values: Uint16Array;
  readonly counts: Uint32Array;
  size: number;
};

/** Entries from which it takes less time to have the engine copy them than to do so one by one. */
const COPIED_AT_ONCE_MIN = 64;

/** Copies entries behind the last of others, which have room for them. */
function copyEntries(
  { values, counts }: IntegerCounts,
  span: Span,
  to: Readonly<UnitedEntries>,
): void {
  copyCounts(counts, span, to);
  const { start, end } = span;
  const { values: toValues, size } = to;
  if (end - start >= COPIED_AT_ONCE_MIN) toValues.set(values.subarray(start, end), size);
  else for (let at = start; at < end; at++) toValues[at + size - start] = values[at]!;
}

function copyCounts(
  counts: Uint32Array,
  { start, end }: Span,
  { counts: toCounts, size }: Readonly<UnitedEntries>,
): void {
  if (end - start >= COPIED_AT_ONCE_MIN) toCounts.set(counts.subarray(start, end), size);
  else for (let at = start; at < end; at++) toCounts[at + size - start] = counts[at]!;
}

/** As `copyEntries`, of small integers by their codes. */
function copyIntegers(
  { codes, counts, coding: { base, step, table } }: CountedIntegers,
  span: Span,
  to: Readonly<UnitedEntries>,
): void {
  copyCounts(counts, span, to);
  const { start, end } = span;
  const { values, size } = to;
  const shift = size - start;
  if (table !== undefined) {
    for (let at = start; at < end; at++) values[at + shift] = table[codes[at]!]!;
    return;
  }
  // What the integers are modulo 2^32 is all that there is of small ones, however far away the base is.
  const [low, lowStep] = [base | 0, step | 0];
  for (let at = start; at < end; at++) {
    values[at + shift] = low + Math.imul(lowStep, codes[at]!);
  }
}

/** Writes two stretches as one, the counts of equal integers added up. */
function mergeSpans(
  values: Uint16Array,
  counts: Uint32Array,
  [one, other]: readonly [Span, Span],
  to: UnitedEntries,
): void {
  const { values: toValues, counts: toCounts } = to;
  let { size } = to;
  let left = one.start;
  let right = other.start;
  while (left < one.end && right < other.end) {
    const leftValue = values[left]!;
    const rightValue = values[right]!;
    const isLeft = leftValue <= rightValue;
    const isRight = rightValue <= leftValue;
    toValues[size] = isLeft ? leftValue : rightValue;
    toCounts[size++] = (isLeft ? counts[left]! : 0) + (isRight ? counts[right]! : 0);
    if (isLeft) left++;
    if (isRight) right++;
  }
  for (; left < one.end; left++) {
    toValues[size] = values[left]!;
    toCounts[size++] = counts[left]!;
  }
  for (; right < other.end; right++) {
    toValues[size] = values[right]!;
    toCounts[size++] = counts[right]!;
  }
  to.size = size;
}

function sortKeys(keys: Float64Array): void {
  if (keys.length > INSERTED_ENTRIES_MAX) {
    keys.sort();
    return;
  }
  for (let next = 1; next < keys.length; next++) {
    const key = keys[next]!;
    let at = next;
    for (; at > 0 && keys[at - 1]! > key; at--) keys[at] = keys[at - 1]!;
    keys[at] = key;
  }
}

/** Writes what sorted keys stand for, the counts of equal integers added up. */
function uniteKeys(keys: Float64Array, to: UnitedEntries): void {
  const { values, counts } = to;
  const first = to.size;
  let { size } = to;
  for (let at = 0; at < keys.length; at++) {
    const value = Math.floor(keys[at]! / KEY_OF_INTEGER);
    const count = keys[at]! - value * KEY_OF_INTEGER;
    if (size > first && values[size - 1] === value) {
      counts[size - 1]! += count;
    } else {
      values[size] = value;
      counts[size++] = count;
    }
  }
  to.size = size;
}

/** Integers in [0, 65536), ascending, and how often each came. */
export type IntegerCounts = { readonly values: Uint16Array; readonly counts: Uint32Array };

/** Integers by their codes and how often each came: those of one group ascend. */
export type CountedIntegers = {
  readonly codes: Uint16Array | Uint32Array;
  readonly counts: Uint32Array;
  readonly coding: IntegerCoding;
};

/** Integers in [0, HISTOGRAM_VALUES_MAX) may be counted by a histogram. */
export const HISTOGRAM_VALUES_MAX = 65_536;

/** Of such integers that are their own codes. */
const AS_THEY_ARE = IntegerCoding.inSteps(0, 1, HISTOGRAM_VALUES_MAX - 1);

export function countedIntegers({ values, counts }: IntegerCounts): CountedIntegers {
  return { codes: values, counts, coding: AS_THEY_ARE };
}

const NO_COUNTS: IntegerCounts = { values: new Uint16Array(0), counts: new Uint32Array(0) };

/** The integers of some lists in one, each once. Lists of about one length are merged with each other. */
export function mergedCounts(lists: readonly IntegerCounts[]): IntegerCounts {
  if (lists.length === 0) return NO_COUNTS;
  if (lists.length === 1) return lists[0]!;
  const middle = lists.length >> 1;
  return merged(mergedCounts(lists.slice(0, middle)), mergedCounts(lists.slice(middle)));
}

function merged(left: IntegerCounts, right: IntegerCounts): IntegerCounts {
  const leftSize = left.values.length;
  const rightSize = right.values.length;
  const values = new Uint16Array(leftSize + rightSize);
  const counts = new Uint32Array(leftSize + rightSize);
  let size = 0;
  let leftEntry = 0;
  let rightEntry = 0;
  while (leftEntry < leftSize && rightEntry < rightSize) {
    const leftValue = left.values[leftEntry]!;
    const rightValue = right.values[rightEntry]!;
    let count = 0;
    if (leftValue <= rightValue) count += left.counts[leftEntry++]!;
    if (rightValue <= leftValue) count += right.counts[rightEntry++]!;
    values[size] = Math.min(leftValue, rightValue);
    counts[size++] = count;
  }
  for (; leftEntry < leftSize; leftEntry++) {
    values[size] = left.values[leftEntry]!;
    counts[size++] = left.counts[leftEntry]!;
  }
  for (; rightEntry < rightSize; rightEntry++) {
    values[size] = right.values[rightEntry]!;
    counts[size++] = right.counts[rightEntry]!;
  }
  return { values: values.subarray(0, size), counts: counts.subarray(0, size) };
}
