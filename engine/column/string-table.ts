import { randomInt } from 'node:crypto';
import { assert, must } from '../assert.ts';
import { OPEN_BYTES_MAX } from '../limits.ts';
import { sharedBytes, sharedOffsets } from './arrays.ts';
import { copyWords } from './wtf8.ts';

const BYTES_MIN = 256 * 1024;
const STRINGS_MIN = 4096;
/** Offsets are 32-bit. */
const BYTES_MAX = 2 ** 32 - 1;

/** Bytes and offsets grow in place up to what an open segment may hold. */
const BYTES_RESERVED = 2 * OPEN_BYTES_MAX;
const STRINGS_RESERVED = OPEN_BYTES_MAX / 8;

/**
 * Places moved to a larger table with each new string: eight times what it takes to be done in time,
 * for until then each new string is looked for in both.
 */
const PLACES_MOVED = 16;

/**
 * Distinct strings end to end in shared memory, each under a code: 0, 1, 2 … in order of first
 * appearance. Written by one thread; no JavaScript string is made.
 *
 * `#slots` is a hash table with open addressing, two entries a place: the hash, and the code plus
 * one (0: empty). Invariant: at most half full. When it would be fuller, a table twice as large takes
 * its place, and gets what the smaller one holds little by little: to move a million strings at once
 * would hold up the thread. Until then a string is in one of the two, or in both.
 */
export class StringTable {
  count = 0;
  readonly #bytes = sharedBytes(BYTES_MIN, BYTES_RESERVED);
  readonly #offsets = sharedOffsets(STRINGS_MIN + 1, STRINGS_RESERVED);
  #view = viewOf(this.#bytes.array);
  #slots = new Int32Array(STRINGS_MIN * 2 * 2);
  /** The smaller table, while it is being moved. */
  #outgrown: Int32Array | undefined;
  /** Entries of it that have been looked at. */
  #movedEnd = 0;
  /** Whether the keyed hash is in use. */
  #isGuarded = false;
  #probesWereTooMany = false;
  readonly #key = randomHashKey();

  get bytes(): Uint8Array {
    return this.#bytes.array;
  }

  /** `count + 1` entries in use. */
  get offsets(): Uint32Array {
    return this.#offsets.array;
  }

  get byteSize(): number {
    return this.offsets[this.count]!;
  }

  /**
   * The code of bytes [start, end) of `view`, a new one if need be. `guess`: a code that may well be
   * it; that is looked at first, as it costs less than finding out.
   */
  intern(view: DataView, start: number, end: number, guess = -1): number {
    if (guess >= 0 && this.has(guess, view, start, end)) return guess;
    return this.#internHashed(view, start, end, this.#hash(view, start, end));
  }

  #internHashed(view: DataView, start: number, end: number, hash: number): number {
    const place = this.#place(this.#slots, view, start, end, hash);
    if (place >= 0) return this.#slots[place + 1]! - 1;
    const outgrown = this.#findOutgrown(view, start, end, hash);
    if (outgrown >= 0) return outgrown;
    if (this.#probesWereTooMany) {
      this.#guard();
      return this.intern(view, start, end);
    }
    const free = ~place;
    this.#slots[free] = hash;
    this.#slots[free + 1] = this.count + 1;
    return this.#append(view, start, end);
  }

  /**
   * The codes of strings of `view`, as `intern` gives them one after the other. Places of the table are
   * far from each other in memory: all are looked at before the first string is searched for, so that
   * they are fetched side by side.
   */
  internAll(view: DataView, strings: StringList): void {
    const { count, starts, ends, hashes, codes } = strings;
    const slots = this.#slots;
    const mask = slots.length - 1;
    const isGuarded = this.#isGuarded;
    let fetched = 0;
    for (let index = 0; index < count; index++) {
      const hash = this.#hash(view, starts[index]!, ends[index]!);
      hashes[index] = hash;
      fetched |= slots[(hash << 1) & mask]!;
    }
    strings.fetched = fetched;
    for (let index = 0; index < count; index++) {
      const start = starts[index]!;
      const end = ends[index]!;
      codes[index] =
        this.#isGuarded === isGuarded
          ? this.#internHashed(view, start, end, hashes[index]!)
          : this.intern(view, start, end);
    }
  }

  /** The code of bytes [start, end) of `view`, or -1. */
  find(view: DataView, start: number, end: number): number {
    const hash = this.#hash(view, start, end);
    const place = this.#place(this.#slots, view, start, end, hash);
    return place < 0 ? this.#findOutgrown(view, start, end, hash) : this.#slots[place + 1]! - 1;
  }

  #findOutgrown(view: DataView, start: number, end: number, hash: number): number {
    if (this.#outgrown === undefined) return -1;
    const place = this.#place(this.#outgrown, view, start, end, hash);
    return place < 0 ? -1 : this.#outgrown[place + 1]! - 1;
  }

  #hash(view: DataView, start: number, end: number): number {
    return this.#isGuarded
      ? keyedHash(view, start, end, this.#key)
      : quickHash(view, start, end, this.#key);
  }

  /** Where the string is in a table; or where it would go, as the bitwise complement. */
  #place(slots: Int32Array, view: DataView, start: number, end: number, hash: number): number {
    const mask = slots.length - 1;
    let probes = 0;
    let place = (hash << 1) & mask;
    for (;;) {
      const code = slots[place + 1]! - 1;
      if (code < 0) {
        if (probes > PROBES_MAX && !this.#isGuarded) this.#probesWereTooMany = true;
        return ~place;
      }
      if (slots[place] === hash && this.has(code, view, start, end)) return place;
      place = (place + 2) & mask;
      probes++;
    }
  }

  /** Whether string `code` is bytes [start, end) of `view`. */
  has(code: number, view: DataView, start: number, end: number): boolean {
    const offsets = this.#offsets.array;
    let own = offsets[code]!;
    if (offsets[code + 1]! - own !== end - start) return false;
    const ownView = this.#view;
    let at = start;
    for (; at + 4 <= end; at += 4, own += 4) {
      if (view.getInt32(at, true) !== ownView.getInt32(own, true)) return false;
    }
    for (; at < end; at++, own++) {
      if (view.getUint8(at) !== ownView.getUint8(own)) return false;
    }
    return true;
  }

  #append(view: DataView, start: number, end: number): number {
    const code = this.count;
    const size = this.#offsets.array[code]!;
    const sizeNew = size + (end - start);
    assert(sizeNew <= BYTES_MAX, 'strings of one segment fit 32-bit offsets');
    if (this.#bytes.reserve(sizeNew)) this.#view = viewOf(this.#bytes.array);
    copyWords(view, start, end, this.#view, size);
    this.#offsets.reserve(code + 2);
    this.#offsets.array[code + 1] = sizeNew;
    this.count = code + 1;
    if (this.#outgrown !== undefined) this.#move(PLACES_MOVED);
    if (this.count * 4 > this.#slots.length) this.#outgrow();
    return code;
  }

  #outgrow(): void {
    assert(this.#outgrown === undefined, 'what was outgrown before has been moved');
    this.#outgrown = this.#slots;
    this.#movedEnd = 0;
    this.#slots = new Int32Array(this.#slots.length * 2);
  }

  /** Moves what is in the next places of the smaller table, which keeps it as it is. */
  #move(placeCount: number): void {
    const outgrown = must(this.#outgrown);
    const end = Math.min(this.#movedEnd + 2 * placeCount, outgrown.length);
    for (let place = this.#movedEnd; place < end; place += 2) {
      if (outgrown[place + 1] !== 0) enter(this.#slots, outgrown[place]!, outgrown[place + 1]!);
    }
    this.#movedEnd = end;
    if (end === outgrown.length) this.#outgrown = undefined;
  }

  /** From now on strings are placed by the keyed hash, which nobody outside can steer. */
  #guard(): void {
    this.#isGuarded = true;
    this.#probesWereTooMany = false;
    this.#outgrown = undefined;
    this.#slots = new Int32Array(this.#slots.length);
    const offsets = this.#offsets.array;
    for (let code = 0; code < this.count; code++) {
      const hash = keyedHash(this.#view, offsets[code]!, offsets[code + 1]!, this.#key);
      enter(this.#slots, hash, code + 1);
    }
  }
}

/** Puts an entry that is not there yet into a table that has room. */
function enter(slots: Int32Array, hash: number, codePlusOne: number): void {
  const mask = slots.length - 1;
  let place = (hash << 1) & mask;
  while (slots[place + 1] !== 0) place = (place + 2) & mask;
  slots[place] = hash;
  slots[place + 1] = codePlusOne;
}

/** With its length: see `newSegmentBuffer`. */
function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/**
 * Strings that are interned together, as bytes [start, end) of one view, in memory that is used again
 * for the next ones.
 */
export class StringList {
  count = 0;
  starts = new Uint32Array(0);
  ends = new Uint32Array(0);
  /** What whoever added a string knows it by. */
  places = new Int32Array(0);
  /** Written by the table. */
  hashes = new Int32Array(0);
  codes = new Int32Array(0);
  /** Of no use but that what the table reads for it is not optimised away. */
  fetched = 0;

  /** Begins anew, with room for `sizeMax` strings. */
  begin(sizeMax: number): void {
    this.count = 0;
    if (this.starts.length >= sizeMax) return;
    const size = 2 * sizeMax;
    this.starts = new Uint32Array(size);
    this.ends = new Uint32Array(size);
    this.places = new Int32Array(size);
    this.hashes = new Int32Array(size);
    this.codes = new Int32Array(size);
  }

  add(start: number, end: number, place: number): void {
    const index = this.count++;
    this.starts[index] = start;
    this.ends[index] = end;
    this.places[index] = place;
  }
}

/**
 * Two hashes of bytes, 32 bits each. The quick one is used until its collisions look made on
 * purpose; the keyed one is for then. Neither is ever stored beyond the process.
 */

/** Two secret words of 32 bits. */
export type HashKey = { readonly first: number; readonly second: number };

/** Another each time, so that nobody can send what collides. */
export function randomHashKey(): HashKey {
  return { first: randomInt(2 ** 32) | 0, second: randomInt(2 ** 32) | 0 };
}

/** A chain of probes this long does not come about by chance in a table at most half full. */
export const PROBES_MAX = 256;

const MULTIPLIER = 0x9e3779b1;

/** Four bytes a step: a multiplication and a fold. Someone who tries can make it collide. */
export function quickHash(view: DataView, start: number, end: number, key: HashKey): number {
  let hash = key.first ^ (end - start);
  let at = start;
  for (; at + 4 <= end; at += 4) {
    hash = Math.imul(hash ^ view.getInt32(at, true), MULTIPLIER);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash ^ tailWord(view, at, end), MULTIPLIER);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, MULTIPLIER);
  return hash ^ (hash >>> 16);
}

/** As `quickHash`, of bytes that many a reader brings from where they lie: a view of each would cost more. */
export function quickHashOfBytes(
  bytes: Uint8Array,
  start: number,
  end: number,
  key: HashKey,
): number {
  let hash = key.first ^ (end - start);
  let at = start;
  for (; at + 4 <= end; at += 4) {
    const word =
      bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    hash = Math.imul(hash ^ word, MULTIPLIER);
    hash ^= hash >>> 15;
  }
  let tail = 0;
  for (; at < end; at++) tail = (tail << 8) | bytes[at]!;
  hash = Math.imul(hash ^ tail, MULTIPLIER);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, MULTIPLIER);
  return hash ^ (hash >>> 16);
}

/** HalfSipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF"; 32-bit words). */
export function keyedHash(view: DataView, start: number, end: number, key: HashKey): number {
  let v0 = key.first;
  let v1 = key.second;
  let v2 = 0x6c796765 ^ key.first;
  let v3 = 0x74656462 ^ key.second;
  const wordsEnd = start + ((end - start) & ~3);
  // The words, then the tail with the length, then three rounds to finish.
  for (let at = start; at <= wordsEnd + 12; at += 4) {
    let word = 0;
    if (at < wordsEnd) word = view.getInt32(at, true);
    else if (at === wordsEnd) word = tailWord(view, at, end) | ((end - start) << 24);
    else if (at === wordsEnd + 4) v2 ^= 0xff;
    v3 ^= word;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= word;
  }
  return v1 ^ v3;
}

/** The last zero to three bytes as one word. */
function tailWord(view: DataView, start: number, end: number): number {
  let word = 0;
  for (let at = start; at < end; at++) word = (word << 8) | view.getUint8(at);
  return word;
}
