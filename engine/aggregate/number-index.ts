import { assert } from '../assert.ts';

const ABSENT = -1;
const SLOTS_MIN = 64;

const DOUBLE = new Float64Array(1);
const WORDS = new Uint32Array(DOUBLE.buffer);

/** What all indexes begin as; the first key makes arrays of their own. */
const NO_KEYS = new Float64Array(SLOTS_MIN);
const NO_IDS = new Int32Array(SLOTS_MIN).fill(ABSENT);

/**
 * Finds the id of a double: open addressing with linear probing over typed arrays, at most half
 * full. Ids are the caller's. Equal is `===`: 0 and -0 are one key, NaN is none.
 */
export class NumberIndex {
  #keys = NO_KEYS;
  #ids = NO_IDS;
  #count = 0;

  /** The id of `key`, or -1. */
  find(key: number): number {
    return this.#ids[this.#slot(key)]!;
  }

  /** `key` must be absent and not NaN; `id` at least 0. */
  insert(key: number, id: number): void {
    if (2 * (this.#count + 1) > this.#ids.length) this.#grow();
    if (this.#ids === NO_IDS) {
      this.#keys = new Float64Array(SLOTS_MIN);
      this.#ids = new Int32Array(SLOTS_MIN).fill(ABSENT);
    }
    const slot = this.#slot(key);
    assert(this.#ids[slot] === ABSENT, 'a key is inserted once');
    this.#keys[slot] = key;
    this.#ids[slot] = id;
    this.#count++;
  }

  /** Where `key` is, or the empty slot where it would go. */
  #slot(key: number): number {
    const ids = this.#ids;
    const keys = this.#keys;
    const mask = ids.length - 1;
    let slot = hashDouble(key) & mask;
    while (ids[slot] !== ABSENT && keys[slot] !== key) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const keys = this.#keys;
    const ids = this.#ids;
    this.#keys = new Float64Array(keys.length * 2);
    this.#ids = new Int32Array(ids.length * 2).fill(ABSENT);
    for (let from = 0; from < ids.length; from++) {
      if (ids[from] === ABSENT) continue;
      const slot = this.#slot(keys[from]!);
      this.#keys[slot] = keys[from]!;
      this.#ids[slot] = ids[from]!;
    }
  }
}

/** 32 well mixed bits of a double; the same for 0 and -0. */
export function hashDouble(value: number): number {
  DOUBLE[0] = value + 0; // -0 + 0 is 0.
  return mixBits(Math.imul(WORDS[1]!, 0x85ebca6b) ^ WORDS[0]!);
}

/** Spreads every bit of a 32-bit word over all bits: the finalizer of MurmurHash3. */
export function mixBits(word: number): number {
  let mixed = word;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
