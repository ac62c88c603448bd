import { randomInt } from 'node:crypto';
import { lengthened } from './arrays.ts';

/** Room for as many entries before the table first grows. */
const ENTRIES_MIN = 256;

/** Distinct runs of bytes, numbered in order of appearance. */
export class ByteTable {
  count = 0;
  /** Entry `i` is `bytes[offsets[i], offsets[i + 1])`. */
  bytes = new Uint8Array(16 * ENTRIES_MIN);
  offsets = new Uint32Array(ENTRIES_MIN + 1);
  #hashes = new Int32Array(ENTRIES_MIN);
  /** Number of an entry plus one, at its hash or the next free place behind; a power of two long. */
  #places = new Int32Array(2 * ENTRIES_MIN);

  /** The number of the bytes `[start, end)`, or -1. `hash`: what `hashBytes` gives of them. */
  find(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const mask = this.#places.length - 1;
    for (let place = spread(hash) & mask; ; place = (place + 1) & mask) {
      const entry = this.#places[place]! - 1;
      if (entry < 0) return -1;
      if (this.#hashes[entry] === hash && this.holds(entry, bytes, start, end)) return entry;
    }
  }

  /** As `find`; adds what is not there. */
  add(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const known = this.find(bytes, start, end, hash);
    if (known >= 0) return known;
    const entry = this.count++;
    if (entry === this.#hashes.length) this.#grow();
    const offset = this.offsets[entry]!;
    const size = offset + end - start;
    if (size > this.bytes.length) this.bytes = lengthened(this.bytes, size);
    for (let at = start; at < end; at++) this.bytes[offset + at - start] = bytes[at]!;
    this.offsets[entry + 1] = offset + end - start;
    this.#hashes[entry] = hash;
    this.#put(entry);
    return entry;
  }

  /** Whether an entry is the bytes `[start, end)`. */
  holds(entry: number, bytes: Uint8Array, start: number, end: number): boolean {
    const offset = this.offsets[entry]!;
    if (this.offsets[entry + 1]! - offset !== end - start) return false;
    const shift = offset - start;
    for (let at = start; at < end; at++) if (this.bytes[at + shift] !== bytes[at]) return false;
    return true;
  }

  #grow(): void {
    this.#hashes = lengthened(this.#hashes, this.count);
    this.offsets = lengthened(this.offsets, this.#hashes.length + 1);
    this.#places = new Int32Array(2 * this.#places.length);
    for (let entry = 0; entry < this.count - 1; entry++) this.#put(entry);
  }

  #put(entry: number): void {
    const mask = this.#places.length - 1;
    let place = spread(this.#hashes[entry]!) & mask;
    while (this.#places[place] !== 0) place = (place + 1) & mask;
    this.#places[place] = entry + 1;
  }
}

/** FNV-1a (Fowler, Noll, Vo), 32 bits: for short runs. */
export function hashBytes(bytes: Uint8Array, start: number, end: number): number {
  let hash = HASH_START;
  for (let at = start; at < end; at++) hash = hashNext(hash, bytes[at]!);
  return hash;
}

/** Secret, so that nobody can send words that collide. */
export const HASH_START = randomInt(2 ** 32) | 0;

/** The hash with one more byte. */
export function hashNext(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193);
}

/** The upper bits of the hash decide, too. */
function spread(hash: number): number {
  return hash ^ (hash >>> 15);
}
