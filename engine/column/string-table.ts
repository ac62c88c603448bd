import { randomInt } from 'node:crypto';
import { assert } from '../assert.ts';
import { sharedBytes, sharedOffsets } from './shared-array.ts';
import { type HashKey, keyedHash, quickHash } from './string-hash.ts';

const BYTES_MIN = 256 * 1024;
const STRINGS_MIN = 4096;
/** Offsets are 32-bit. */
const BYTES_MAX = 2 ** 32 - 1;

/** A chain of probes this long does not come about by chance in a table at most half full. */
const PROBES_MAX = 256;

/**
 * Distinct strings end to end in shared memory, each under a code: 0, 1, 2 … in order of first
 * appearance. Written by one thread; no JavaScript string is made.
 *
 * `#slots` is a hash table with open addressing, two entries a place: the hash, and the code plus
 * one (0: empty). Invariant: at most half full.
 */
export class StringTable {
  count = 0;
  readonly #bytes = sharedBytes(BYTES_MIN);
  readonly #offsets = sharedOffsets(STRINGS_MIN + 1);
  #view = new DataView(this.#bytes.array.buffer);
  #slots = new Int32Array(STRINGS_MIN * 2 * 2);
  /** Whether the keyed hash is in use. */
  #isGuarded = false;
  #probesWereTooMany = false;
  readonly #key: HashKey = { first: randomInt(2 ** 32) | 0, second: randomInt(2 ** 32) | 0 };

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

  /** The code of bytes [start, end) of `view`, a new one if need be. */
  intern(view: DataView, start: number, end: number): number {
    const hash = this.#hash(view, start, end);
    const place = this.#place(view, start, end, hash);
    if (place >= 0) return this.#slots[place + 1]! - 1;
    if (this.#probesWereTooMany) {
      this.#guard();
      return this.intern(view, start, end);
    }
    const free = ~place;
    this.#slots[free] = hash;
    this.#slots[free + 1] = this.count + 1;
    return this.#append(view, start, end);
  }

  /** The code of bytes [start, end) of `view`, or -1. */
  find(view: DataView, start: number, end: number): number {
    const place = this.#place(view, start, end, this.#hash(view, start, end));
    return place < 0 ? -1 : this.#slots[place + 1]! - 1;
  }

  #hash(view: DataView, start: number, end: number): number {
    return this.#isGuarded
      ? keyedHash(view, start, end, this.#key)
      : quickHash(view, start, end, this.#key);
  }

  /** Where the string is in `#slots`; or where it would go, as the bitwise complement. */
  #place(view: DataView, start: number, end: number, hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let probes = 0;
    let place = (hash << 1) & mask;
    for (;;) {
      const code = slots[place + 1]! - 1;
      if (code < 0) {
        this.#probesWereTooMany = probes > PROBES_MAX && !this.#isGuarded;
        return ~place;
      }
      if (slots[place] === hash && this.#equals(code, view, start, end)) return place;
      place = (place + 2) & mask;
      probes++;
    }
  }

  #equals(code: number, view: DataView, start: number, end: number): boolean {
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
    if (this.#bytes.reserve(sizeNew)) this.#view = new DataView(this.#bytes.array.buffer);
    copyWords(view, start, end, this.#view, size);
    this.#offsets.reserve(code + 2);
    this.#offsets.array[code + 1] = sizeNew;
    this.count = code + 1;
    if (this.count * 4 > this.#slots.length) this.#rebuild(this.#slots.length * 4);
    return code;
  }

  /** From now on strings are placed by the keyed hash, which nobody outside can steer. */
  #guard(): void {
    this.#isGuarded = true;
    const slots = this.#slots;
    const offsets = this.#offsets.array;
    for (let place = 0; place < slots.length; place += 2) {
      const code = slots[place + 1]! - 1;
      if (code < 0) continue;
      slots[place] = keyedHash(this.#view, offsets[code]!, offsets[code + 1]!, this.#key);
    }
    this.#rebuild(slots.length);
  }

  #rebuild(length: number): void {
    const old = this.#slots;
    const slots = new Int32Array(length);
    const mask = length - 1;
    for (let place = 0; place < old.length; place += 2) {
      if (old[place + 1] === 0) continue;
      let target = (old[place]! << 1) & mask;
      while (slots[target + 1] !== 0) target = (target + 2) & mask;
      slots[target] = old[place]!;
      slots[target + 1] = old[place + 1]!;
    }
    this.#slots = slots;
  }
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
