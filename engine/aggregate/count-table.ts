import { NO_FLOAT64 } from './growth.ts';
import { hashDouble, mixBits } from './number-index.ts';

const ABSENT = -1;
const SLOTS_MIN = 64;

/** Values per group, ascending: those of group `g` are entries [starts[g], starts[g + 1]). */
export type GroupedCounts = {
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
export class CountTable {
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

export type CountTableAnswer = 'there' | 'added' | 'refused';

function emptySlots(count: number): Float64Array {
  return new Float64Array(count * SLOT_WIDTH).fill(ABSENT);
}

/** What all tables begin as; the first value makes one of its own. */
const NO_SLOTS = emptySlots(SLOTS_MIN);
