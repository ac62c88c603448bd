import { FIRST_BYTES, grownInt32, NO_INT32, threadArrays } from '../column/arrays.ts';
import { UUID_BYTES } from '../column/number-vectors.ts';
import { keyedHash, PROBES_MAX, randomHashKey } from '../column/string-table.ts';
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
    const { buffer, byteOffset } = this.#words;
    return new Uint8Array(buffer, byteOffset, this.#size * UUID_BYTES);
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

  /**
   * Writes to `entries` what `add` gives for the UUIDs at `places[0, count)` of a block, one after the other.
   * What they need of memory is far away, and is fetched for several at a time.
   */
  addAll(bytes: Uint8Array, places: Int32Array, count: number, entries: Int32Array): void {
    let at = 0;
    if (!this.#isGuarded && bytes.byteOffset % Int32Array.BYTES_PER_ELEMENT === 0) {
      const wordCount = UUID_WORDS * Math.floor(bytes.length / UUID_BYTES);
      const words = new Int32Array(bytes.buffer, bytes.byteOffset, wordCount);
      at = this.#addWords(words, places, count, entries);
    }
    for (; at < count; at++) entries[at] = this.add(bytes, UUID_BYTES * places[at]!);
  }

  /** The same; gives how many were added before a chain of probes was too long. */
  #addWords(block: Int32Array, places: Int32Array, count: number, entries: Int32Array): number {
    const hashes = threadArrays.borrow(Int32Array, count);
    hashAll(block, places, count, hashes);
    this.#words = grownInt32(this.#words, UUID_WORDS * (this.#size + count));
    const words = this.#words;
    let slots = this.#slots;
    for (let i = 0; i < count; i++) {
      if (2 * (this.#size + 1) > slots.length) {
        this.#rehash(Math.max(FIRST_SLOT_COUNT, 2 * slots.length));
        slots = this.#slots;
      }
      const from = UUID_WORDS * places[i]!;
      const mask = slots.length - 1;
      let slot = hashes[i]! & mask;
      let entry = slots[slot]! - 1;
      for (
        let probes = 0;
        entry >= 0 && !isSame(words, UUID_WORDS * entry, block, from);
        probes++
      ) {
        if (probes > PROBES_MAX) return i;
        slot = (slot + 1) & mask;
        entry = slots[slot]! - 1;
      }
      if (entry < 0) {
        entry = this.#size++;
        for (let word = 0; word < UUID_WORDS; word++) {
          words[UUID_WORDS * entry + word] = block[from + word]!;
        }
        slots[slot] = entry + 1;
      }
      entries[i] = entry;
    }
    threadArrays.giveBack(hashes);
    return count;
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

function hashAll(block: Int32Array, places: Int32Array, count: number, to: Int32Array): void {
  for (let i = 0; i < count; i++) {
    const at = UUID_WORDS * places[i]!;
    to[i] = quickHash(block[at]!, block[at + 1]!, block[at + 2]!, block[at + 3]!);
  }
}

function isSame(words: Int32Array, at: number, block: Int32Array, from: number): boolean {
  return (
    words[at] === block[from] &&
    words[at + 1] === block[from + 1] &&
    words[at + 2] === block[from + 2] &&
    words[at + 3] === block[from + 3]
  );
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

/** The UUIDs at `codes` of packed ones. */
export type UuidSet = {
  readonly uuids: Uint8Array;
  readonly codes: Int32Array;
  /** Whether none of them comes twice. */
  readonly isDistinct: boolean;
};

/** Slots for each UUID of the table: most of those that are not in it are known by a slot that is empty. */
const SLOTS_PER_UUID = 3;

/**
 * How many UUIDs are in one of the sets or more. All but those of the largest distinct set are put into a table, in
 * which these are looked for: they are not kept. `undefined` where collisions look made on purpose, or words are not where words
 * can be read.
 */
export function countUuidUnion(sets: readonly UuidSet[]): number | undefined {
  const blocks: WordSet[] = [];
  for (const { uuids, codes } of sets) {
    if (uuids.byteOffset % Int32Array.BYTES_PER_ELEMENT !== 0) return undefined;
    const length = UUID_WORDS * Math.floor(uuids.length / UUID_BYTES);
    blocks.push({ words: new Int32Array(uuids.buffer, uuids.byteOffset, length), codes });
  }
  const lookedFor = largestDistinct(sets);
  const kept = blocks.filter((_, index) => index !== lookedFor);
  const table = newTable(kept.reduce((sum, { codes }) => sum + codes.length, 0));
  let size = 0;
  for (const block of kept) {
    const newCount = countNew(table, block, size);
    if (newCount < 0) return undefined;
    size += newCount;
  }
  const others = blocks[lookedFor];
  const newCount = others === undefined ? 0 : countNew(table, others, NOT_KEPT);
  return newCount < 0 ? undefined : size + newCount;
}

/** Which of the sets; -1 where none is known to be distinct. */
function largestDistinct(sets: readonly UuidSet[]): number {
  let largest = -1;
  for (const [index, { codes, isDistinct }] of sets.entries()) {
    if (isDistinct && codes.length > (sets[largest]?.codes.length ?? 0)) largest = index;
  }
  return largest;
}

/** Four little-endian words of each. */
type WordSet = { readonly words: Int32Array; readonly codes: Int32Array };

/** Open addressing with linear probing; a slot is the number of a UUID plus one, or 0. */
type Table = { readonly slots: Int32Array; readonly words: Int32Array };

function newTable(sizeMax: number): Table {
  let slotCount = 16;
  while (slotCount < SLOTS_PER_UUID * sizeMax) slotCount *= 2;
  return { slots: new Int32Array(slotCount), words: new Int32Array(UUID_WORDS * sizeMax) };
}

/** Marks a table as complete: no UUID may be added. It takes the place of the number of UUIDs. */
const NOT_KEPT = -1;

/**
 * How many UUIDs are not in the table, to whose `size` they are added; -1 after a long chain. Those that are not to be
 * kept must be distinct.
 */
function countNew({ slots, words }: Table, { words: block, codes }: WordSet, size: number): number {
  const mask = slots.length - 1;
  let newCount = 0;
  for (let index = 0; index < codes.length; index++) {
    const from = UUID_WORDS * codes[index]!;
    const first = block[from]!;
    const second = block[from + 1]!;
    const third = block[from + 2]!;
    const fourth = block[from + 3]!;
    let slot = quickHash(first, second, third, fourth) & mask;
    let at = UUID_WORDS * (slots[slot]! - 1);
    for (let probes = 0; at >= 0; probes++) {
      const isSame =
        words[at] === first &&
        words[at + 1] === second &&
        words[at + 2] === third &&
        words[at + 3] === fourth;
      if (isSame) break;
      if (probes > PROBES_MAX) return -1;
      slot = (slot + 1) & mask;
      at = UUID_WORDS * (slots[slot]! - 1);
    }
    if (at >= 0) continue;
    newCount++;
    if (size === NOT_KEPT) continue;
    at = UUID_WORDS * (size + newCount - 1);
    words[at] = first;
    words[at + 1] = second;
    words[at + 2] = third;
    words[at + 3] = fourth;
    slots[slot] = size + newCount;
  }
  return newCount;
}
