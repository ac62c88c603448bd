import { assert, must } from '../assert.ts';
import { OPEN_BYTES_MAX } from '../limits.ts';
import { sharedBytes, sharedOffsets } from './shared-array.ts';
import { keyedHash, PROBES_MAX, quickHash, randomHashKey } from './string-hash.ts';
import type { StringList } from './string-list.ts';

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

/**
 * Stands in for `set` of a subarray, which copies byte by byte into shared memory unless both sides
 * are aligned.
 */
function copyWords(
  source: DataView,
  start: number,
  end: number,
  target: DataView,
  offset: number,
): void {
  let at = start;
  let to = offset;
  for (; at + 4 <= end; at += 4, to += 4) target.setInt32(to, source.getInt32(at, true), true);
  for (; at < end; at++, to++) target.setUint8(to, source.getUint8(at));
}

/** With its length: see `newSegmentBuffer`. */
function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
