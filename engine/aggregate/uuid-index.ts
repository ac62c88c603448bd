import { UUID_BYTES } from '../column/packed-digits.ts';
import { keyedHash, PROBES_MAX, randomHashKey } from '../column/string-hash.ts';
import { FIRST_BYTES, grownInt32, NO_INT32 } from './growth.ts';
import { mixBits } from './number-index.ts';

const UUID_WORDS = UUID_BYTES / Int32Array.BYTES_PER_ELEMENT;

/** What all indexes begin as; the first entry makes arrays of their own. */
const NO_SLOTS = new Int32Array(1);

const FIRST_SLOT_COUNT = FIRST_BYTES / Int32Array.BYTES_PER_ELEMENT;

/**
 * Numbers distinct packed UUIDs 0, 1, 2 … in the order they are first met: what `ByteIndex` does for runs of
 * any length, without offsets and with words in place of bytes, as each is looked up in memory far away.
 * Open addressing with linear probing, at most half full; a slot is a number plus one, or 0. Once
 * collisions look made on purpose, a keyed hash takes over.
 */
export class UuidIndex {
  #size = 0;
  /** Four little-endian words of each. */
  #words: Int32Array<ArrayBuffer> = NO_INT32;
  #slots = NO_SLOTS;
  #isGuarded = false;

  get size(): number {
    return this.#size;
  }

  /** All of them, where they lie: to be read at once, or copied. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#words.buffer, 0, this.#size * UUID_BYTES);
  }

  /** The number of the UUID at `bytes[start]`: `size`, as it was, when it is new. */
  add(bytes: Uint8Array, start: number): number {
    const first = wordAt(bytes, start);
    const second = wordAt(bytes, start + 4);
    const third = wordAt(bytes, start + 8);
    const fourth = wordAt(bytes, start + 12);
    const words = this.#words;
    const slots = this.#slots;
    const mask = slots.length - 1;
    const hash = this.#isGuarded
      ? guardedHash(bytes, start)
      : quickHash(first, second, third, fourth);
    let slot = hash & mask;
    let probes = 0;
    for (let entry = slots[slot]! - 1; entry >= 0; entry = slots[slot]! - 1) {
      const at = UUID_WORDS * entry;
      const isEqual =
        words[at] === first &&
        words[at + 1] === second &&
        words[at + 2] === third &&
        words[at + 3] === fourth;
      if (isEqual) return entry;
      slot = (slot + 1) & mask;
      probes++;
    }
    if (probes > PROBES_MAX && !this.#isGuarded) {
      this.#isGuarded = true;
      this.#rehash(slots.length);
    }
    return this.#append(bytes, start);
  }

  #append(bytes: Uint8Array, start: number): number {
    const entry = this.#size++;
    const at = UUID_WORDS * entry;
    this.#words = grownInt32(this.#words, at + UUID_WORDS);
    for (let word = 0; word < UUID_WORDS; word++) {
      this.#words[at + word] = wordAt(bytes, start + 4 * word);
    }
    const { length } = this.#slots;
    if (2 * this.#size > length) this.#rehash(Math.max(FIRST_SLOT_COUNT, 2 * length));
    else this.#enter(entry);
    return entry;
  }

  #rehash(slotCount: number): void {
    this.#slots = new Int32Array(slotCount);
    for (let entry = 0; entry < this.#size; entry++) this.#enter(entry);
  }

  /** Puts an entry that is not there into slots that have room. */
  #enter(entry: number): void {
    const at = UUID_WORDS * entry;
    const words = this.#words;
    const hash = this.#isGuarded
      ? guardedHash(this.bytes, UUID_BYTES * entry)
      : quickHash(words[at]!, words[at + 1]!, words[at + 2]!, words[at + 3]!);
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = hash & mask;
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    slots[slot] = entry + 1;
  }
}

/** One for all, that is never told. */
const KEY = randomHashKey();

/** Someone who tries can make it collide. */
function quickHash(first: number, second: number, third: number, fourth: number): number {
  const left = mixBits(first ^ KEY.first) ^ second;
  const right = mixBits(third ^ KEY.second) ^ fourth;
  return mixBits(Math.imul(left, 0x9e3779b1) ^ right);
}

function guardedHash(bytes: Uint8Array, start: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return keyedHash(view, start, start + UUID_BYTES, KEY);
}

function wordAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}
