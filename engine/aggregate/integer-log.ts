import { sortStretches } from './ascending-stretches.ts';
import { FIRST_BYTES, NO_UINT32 } from './growth.ts';
import type { CountedIntegers, IntegerCounts } from './integer-counts.ts';

/** Entries of the first arrays, which are made in little time, and of the next at least. */
const CAPACITY_FIRST = FIRST_BYTES / Uint32Array.BYTES_PER_ELEMENT;
const CAPACITY_MIN = 256;

/** Entries below which a log that is full grows as it is: to put so many in order takes longer than to keep them. */
const UNITED_ENTRIES_MIN = 16_384;

/** Entries of a group that are inserted each among those before: of more the ascending stretches are merged. */
const INSERTED_ENTRIES_MAX = 32;

/** An integer below 2^16 and a count below 2^32 are one key, which a double holds exactly. */
const KEY_OF_INTEGER = 2 ** 32;

const NO_UINT16 = new Uint16Array(0);

/** Integers and how often each came, by group: those of group `g` are entries [starts[g], starts[g + 1]). */
export type GroupedIntegers = IntegerCounts & { readonly starts: Int32Array };

/**
 * Integers in [0, 65536) of groups with few of them: written one behind the other as they come, which takes
 * a tenth of what looking for each of them does, and put in order once somebody asks. When there is no more
 * room, equal ones of a group become one entry first, so that a large log stays below twice the distinct ones.
 */
export class IntegerLog {
  #groups: Uint32Array<ArrayBuffer> = NO_UINT32;
  #values: Uint16Array<ArrayBuffer> = NO_UINT16;
  #counts: Uint32Array<ArrayBuffer> = NO_UINT32;
  #size = 0;
  #groupCount = 0;
  /** Whether entries came as `grouped` gives them: no group after a higher one, its integers ascending. */
  #cameInOrder = true;
  /** All in order, until an entry is added. */
  #grouped: GroupedIntegers | undefined;

  add(group: number, value: number, count: number): void {
    if (this.#size === this.#groups.length) this.#makeRoom(1);
    this.#cameInOrder &&= this.#isNext(group, value);
    const entry = this.#size++;
    this.#groups[entry] = group;
    this.#values[entry] = value;
    this.#counts[entry] = count;
    if (group >= this.#groupCount) this.#groupCount = group + 1;
    this.#grouped = undefined;
  }

  /** Adds entries [start, end) of lists to a group. */
  addAll(group: number, { values, counts }: CountedIntegers, start: number, end: number): void {
    if (this.#size + end - start > this.#groups.length) this.#makeRoom(end - start);
    const ourGroups = this.#groups;
    const ourValues = this.#values;
    const ourCounts = this.#counts;
    let inOrder = this.#cameInOrder && start < end && this.#isNext(group, values[start]!);
    let to = this.#size;
    for (let entry = start, last = -1; entry < end; entry++) {
      const value = values[entry]!;
      if (value <= last) inOrder = false;
      last = value;
      ourGroups[to] = group;
      ourValues[to] = value;
      ourCounts[to++] = counts[entry]!;
    }
    if (start < end) this.#cameInOrder = inOrder;
    this.#size = to;
    if (group >= this.#groupCount) this.#groupCount = group + 1;
    this.#grouped = undefined;
  }

  /** All entries by group and integer, each integer of a group once. Good until the next is added. */
  grouped(): GroupedIntegers {
    this.#grouped ??= this.#cameInOrder ? this.#asTheyCame() : this.#inOrder();
    return this.#grouped;
  }

  /** Whether an entry stands behind the last one in the order of `grouped`, and is not to be added to it. */
  #isNext(group: number, value: number): boolean {
    if (this.#size === 0) return true;
    const lastGroup = this.#groups[this.#size - 1]!;
    return group > lastGroup || (group === lastGroup && value > this.#values[this.#size - 1]!);
  }

  /** Groups that come one after the other, as those of rows in order of time do, need no sorting. */
  #asTheyCame(): GroupedIntegers {
    const size = this.#size;
    const values = this.#values.subarray(0, size);
    return { starts: this.#starts(), values, counts: this.#counts.subarray(0, size) };
  }

  /** Where each group's entries begin once they stand in order, and the end of all. */
  #starts(): Int32Array {
    const groups = this.#groups;
    const starts = new Int32Array(this.#groupCount + 1);
    for (let entry = 0; entry < this.#size; entry++) starts[groups[entry]! + 1]!++;
    for (let group = 0; group < this.#groupCount; group++) starts[group + 1]! += starts[group]!;
    return starts;
  }

  #inOrder(): GroupedIntegers {
    const size = this.#size;
    const groups = this.#groups;
    const starts = this.#starts();
    const places = starts.slice(0, this.#groupCount);
    const keys = new Float64Array(size);
    for (let entry = 0; entry < size; entry++) {
      const place = places[groups[entry]!]!++;
      keys[place] = this.#values[entry]! * KEY_OF_INTEGER + this.#counts[entry]!;
    }
    for (let group = 0; group < this.#groupCount; group++) {
      sortKeys(keys, starts[group]!, starts[group + 1]!);
    }
    return uniteKeys(keys, starts);
  }

  /** For `count` entries more. */
  #makeRoom(count: number): void {
    if (this.#groups.length === 0 && count <= CAPACITY_FIRST) {
      this.#groups = new Uint32Array(CAPACITY_FIRST);
      this.#values = new Uint16Array(CAPACITY_FIRST);
      this.#counts = new Uint32Array(CAPACITY_FIRST);
      return;
    }
    if (this.#groups.length < UNITED_ENTRIES_MIN) {
      this.#growTo(Math.max(CAPACITY_MIN, this.#size + count, 2 * this.#groups.length));
      return;
    }
    const { starts, values, counts } = this.grouped();
    const capacity = this.#groups.length;
    const isDense = 2 * values.length >= capacity;
    const roomMin = Math.max(CAPACITY_MIN, values.length + count);
    const room = Math.max(roomMin, isDense ? 2 * capacity : capacity);
    const groups = new Uint32Array(room);
    for (let group = 0; group < this.#groupCount; group++) {
      groups.fill(group, starts[group], starts[group + 1]);
    }
    this.#groups = groups;
    this.#values = new Uint16Array(room);
    this.#values.set(values);
    this.#counts = new Uint32Array(room);
    this.#counts.set(counts);
    this.#size = values.length;
    this.#cameInOrder = true;
  }

  /** With all entries as they are. */
  #growTo(room: number): void {
    const groups = new Uint32Array(room);
    const values = new Uint16Array(room);
    const counts = new Uint32Array(room);
    groups.set(this.#groups);
    values.set(this.#values);
    counts.set(this.#counts);
    this.#groups = groups;
    this.#values = values;
    this.#counts = counts;
  }
}

function sortKeys(keys: Float64Array, start: number, end: number): void {
  if (end - start > INSERTED_ENTRIES_MAX) {
    sortStretches(keys, start, end);
    return;
  }
  for (let next = start + 1; next < end; next++) {
    const key = keys[next]!;
    let at = next;
    for (; at > start && keys[at - 1]! > key; at--) keys[at] = keys[at - 1]!;
    keys[at] = key;
  }
}

/** Adds up what is of one integer and one group. `starts` become those of what is left. */
function uniteKeys(keys: Float64Array, starts: Int32Array): GroupedIntegers {
  const values = new Uint16Array(keys.length);
  const counts = new Uint32Array(keys.length);
  let size = 0;
  for (let group = 0; group + 1 < starts.length; group++) {
    const first = size;
    const end = starts[group + 1]!;
    for (let at = starts[group]!; at < end; at++) {
      const value = Math.floor(keys[at]! / KEY_OF_INTEGER);
      const count = keys[at]! - value * KEY_OF_INTEGER;
      if (size > first && values[size - 1] === value) {
        counts[size - 1]! += count;
      } else {
        values[size] = value;
        counts[size++] = count;
      }
    }
    starts[group] = first;
  }
  starts[starts.length - 1] = size;
  return { starts, values: values.subarray(0, size), counts: counts.subarray(0, size) };
}
