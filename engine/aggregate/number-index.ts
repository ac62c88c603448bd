import { assert } from '../assert.ts';
import { carvedFloat64, carvedInt32, FIRST_BYTES, runFloat64, runInt32 } from '../column/arrays.ts';
import type { SqlType } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import { compareNumbers } from '../function/comparison.ts';

const ABSENT = -1;
const SLOTS_MIN = 64;

/** One double, and its words: the lower one first. */
export const DOUBLE = new Float64Array(1);
export const WORDS = new Uint32Array(DOUBLE.buffer);

DOUBLE[0] = 1;
assert(WORDS[1] === 0x3ff00000, 'the machine is little-endian');

const NO_KEYS = new Float64Array(0);
const NO_IDS = new Int32Array(0);

/** Keys up to which each is looked at: they lie in the first array, which is made in little time. */
const FEW_KEYS = FIRST_BYTES / Float64Array.BYTES_PER_ELEMENT;

/** Ascending keys up to which they are kept so: to halve that many a dozen times takes as long as a hash. */
const ASCENDING_KEYS_MAX = 4096;

/**
 * Finds the id of a double: few keys one by one, keys that came ascending by halves, more by open addressing with
 * linear probing over typed arrays, at most half full. Starts of times are mostly met ascending, and then a new one
 * is known to be new by the last. Ids are the caller's. Equal is `===`: 0 and -0 are one key, NaN is none.
 */
export class NumberIndex {
  /** In the order they came while they are few or ascending, else by slot. */
  #keys = NO_KEYS;
  #ids = NO_IDS;
  #count = 0;
  #areAscending = true;
  /** Whether keys lie by slot. */
  #isHashed = false;

  /** The id of `key`, or -1. */
  find(key: number): number {
    if (this.#isHashed) return this.#ids[this.#slot(key)]!;
    const keys = this.#keys;
    if (this.#areAscending) {
      const at = this.#firstFrom(key);
      return at < this.#count && keys[at] === key ? this.#ids[at]! : ABSENT;
    }
    for (let at = 0; at < this.#count; at++) if (keys[at] === key) return this.#ids[at]!;
    return ABSENT;
  }

  /** `key` must be absent and not NaN; `id` at least 0. */
  insert(key: number, id: number): void {
    assert(this.find(key) === ABSENT, 'a key is inserted once');
    if (!this.#isHashed) this.#makeRoom(key);
    if (this.#isHashed) this.#putHashed(this.#slot(key), key, id);
    else this.#put(this.#count++, key, id);
  }

  /** The id of `key`, which is `id` from now on where it had none. It must not be NaN. */
  add(key: number, id: number): number {
    if (!this.#isHashed) {
      const known = this.find(key);
      if (known === ABSENT) this.insert(key, id);
      return known === ABSENT ? id : known;
    }
    const slot = this.#slot(key);
    const known = this.#ids[slot]!;
    if (known !== ABSENT) return known;
    this.#putHashed(slot, key, id);
    return id;
  }

  #putHashed(slot: number, key: number, id: number): void {
    this.#put(slot, key, id);
    this.#count++;
    if (2 * (this.#count + 1) > this.#ids.length) this.#rehash(2 * this.#ids.length);
  }

  /** For one key more, behind the others or, where these are to lie by slot from now on, there. */
  #makeRoom(key: number): void {
    const count = this.#count;
    if (count > 0 && key < this.#keys[count - 1]!) this.#areAscending = false;
    const keptMax = this.#areAscending ? ASCENDING_KEYS_MAX : FEW_KEYS;
    if (count >= keptMax) this.#hash();
    else if (count === this.#ids.length) this.#growTo(Math.max(FEW_KEYS, 2 * count));
  }

  /** Where the first of ascending keys that is `key` or more is; their count where none is. */
  #firstFrom(key: number): number {
    const keys = this.#keys;
    let low = 0;
    let high = this.#count;
    if (high > 0 && keys[high - 1]! < key) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (keys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #growTo(length: number): void {
    const [keys, ids] = [this.#keys, this.#ids];
    this.#keys = carvedFloat64(length);
    this.#ids = carvedInt32(length);
    this.#keys.set(keys);
    this.#ids.set(ids);
  }

  /** Brings all keys, which lie as they came, to their slots. */
  #hash(): void {
    this.#isHashed = true;
    this.#ids.fill(ABSENT, this.#count);
    let slotCount = SLOTS_MIN;
    while (slotCount < 2 * (this.#count + 2)) slotCount *= 2;
    this.#rehash(slotCount);
  }

  #put(at: number, key: number, id: number): void {
    this.#keys[at] = key;
    this.#ids[at] = id;
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

  #rehash(slotCount: number): void {
    const keys = this.#keys;
    const ids = this.#ids;
    this.#keys = runFloat64(slotCount);
    this.#ids = runInt32(slotCount).fill(ABSENT);
    for (let from = 0; from < ids.length; from++) {
      if (ids[from] === ABSENT) continue;
      this.#put(this.#slot(keys[from]!), keys[from]!, ids[from]!);
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

/** Doubles from here on may equal a bigint; those below never do (`SqlValue`). */
export const WIDE_NUMBER_MIN = 2 ** 53;

const WIDE_NUMBER_MAX = 2 ** 64;

/**
 * One form for all numbers of one value: an integer from 2^53 to 2^64 in magnitude is a bigint (its
 * digits are shown in full), any other number is a double where a double holds it.
 */
export function canonicalNumber(value: number | bigint): number | bigint {
  if (typeof value === 'number') {
    const magnitude = Math.abs(value);
    const isWide = magnitude >= WIDE_NUMBER_MIN && magnitude < WIDE_NUMBER_MAX;
    return isWide ? BigInt(value) : value;
  }
  const double = Number(value);
  if (Math.abs(double) < WIDE_NUMBER_MAX || !Number.isFinite(double)) return value;
  return BigInt(double) === value ? double : value;
}

/** One form for all values of a type that are equal as keys: 0 for -0, `canonicalNumber` of DYNAMIC and NUMBER. */
export function canonicalValue(value: SqlValue, type: SqlType): SqlValue {
  if (typeof value === 'number') {
    return mayBeWide(type) ? canonicalNumber(value + 0) : value + 0;
  }
  if (typeof value === 'bigint') return canonicalNumber(value);
  if (!Array.isArray(value)) return value;
  if (type.kind === 'ARRAY') return value.map((each) => canonicalValue(each, type.element));
  if (type.kind !== 'STRUCT') return value;
  return value.map((each, index) => canonicalValue(each, type.fields[index]!.type));
}

/** Whether a double and an INT64 of one value may stand beside each other. */
function mayBeWide({ kind }: SqlType): boolean {
  return kind === 'DYNAMIC' || kind === 'NUMBER';
}

/**
 * `compareNumbers`, and of two equal numbers of different forms the bigint goes first, so that
 * sorting them gives one result.
 */
export function orderNumbers(left: number | bigint, right: number | bigint): number {
  const order = compareNumbers(left, right);
  if (order !== 0 || typeof left === typeof right) return order;
  return typeof left === 'bigint' ? -1 : 1;
}
