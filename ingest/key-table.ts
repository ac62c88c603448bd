import { randomInt } from 'node:crypto';
import { assert, stringReference } from '../engine/columns.ts';
import type { BodyText } from './body-text.ts';
import type { Loan } from './memory-pool.ts';

/**
 * The secret seed of this process's hashes. With a known seed, a sender could make all of its keys collide, and
 * look-ups linear in the size of the table. Results do not depend on the seed: keys are numbered in order of
 * appearance.
 */
const HASH_SEED = randomInt(2 ** 32) | 0;
const HASH_MULTIPLIER = (randomInt(2 ** 32) & ~7) | 5;

/** The hash of no bytes. */
export const HASH_START = HASH_SEED;

/** The hash after one more byte; `hash` is the hash before it. */
export function hashStep(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, HASH_MULTIPLIER);
}

/** A power of two, as are all capacities. */
const CAPACITY_MIN = 128;

/** Names that each new table has first, hashed once for all tables. */
export class FirstKeys {
  readonly count: number;
  readonly bytes: Uint8Array;
  /** For each name: its start in `bytes`, its length and its hash. */
  readonly starts: Uint32Array;
  readonly lengths: Uint32Array;
  readonly hashes: Int32Array;
  /** The buckets of a new table that holds these names. */
  readonly buckets = new Int32Array(2 * CAPACITY_MIN);

  /** The names must be distinct, and fewer than CAPACITY_MIN. */
  constructor(names: readonly string[]) {
    assert(names.length < CAPACITY_MIN, 'a new table has room for its first keys');
    const texts = names.map((name) => Buffer.from(name));
    this.count = names.length;
    this.bytes = Buffer.concat(texts);
    this.lengths = Uint32Array.from(texts, (text) => text.length);
    this.hashes = Int32Array.from(texts, (text) => text.reduce(hashStep, HASH_START));
    this.starts = new Uint32Array(names.length);
    let start = 0;
    for (const [key, length] of this.lengths.entries()) {
      this.starts[key] = start;
      start += length;
    }
    for (const [key, hash] of this.hashes.entries()) {
      this.buckets[freeBucket(this.buckets, hash)] = key + 1;
    }
  }
}

/** The distinct field names of one body, numbered from zero in order of appearance. */
export class KeyTable {
  count = 0;
  /** String reference of each key. */
  references: Float64Array;
  readonly #text: BodyText;
  readonly #memory: Loan;
  #offsets: Uint32Array;
  #lengths: Uint32Array;
  #hashes: Int32Array;
  /** Open addressing: 0 is free, else one more than the key's number. At most half full. */
  #buckets: Int32Array;
  /** Number of keys that fit. */
  #capacity = CAPACITY_MIN;

  /** The keys of `first` get the first numbers. */
  constructor(text: BodyText, memory: Loan, first: FirstKeys) {
    this.#text = text;
    this.#memory = memory;
    this.references = memory.numbers(CAPACITY_MIN);
    this.#offsets = memory.offsets(CAPACITY_MIN);
    this.#lengths = memory.offsets(CAPACITY_MIN);
    this.#hashes = memory.integers(CAPACITY_MIN);
    this.#buckets = memory.integers(2 * CAPACITY_MIN);
    this.#begin(first);
  }

  /** Fast path for interning the names one by one, which would be a quarter of decoding a post of one event. */
  #begin({ count, bytes, starts, lengths, hashes, buckets }: FirstKeys): void {
    assert(
      this.#buckets.length === buckets.length,
      'a new table has as many buckets as the first keys',
    );
    const target = this.#text.reserve(bytes.length);
    this.#text.bytes.set(bytes, target);
    this.#lengths.set(lengths);
    this.#hashes.set(hashes);
    this.#buckets.set(buckets);
    for (let key = 0; key < count; key++) {
      const start = target + starts[key]!;
      this.#offsets[key] = start;
      this.references[key] = stringReference(start, lengths[key]!);
    }
    this.count = count;
  }

  /** The number of the key with the bytes `[start, start + length)` and the hash `hash`. */
  intern(start: number, length: number, hash: number): number {
    const mask = this.#buckets.length - 1;
    let bucket = spread(hash) & mask;
    for (;;) {
      const key = this.#buckets[bucket]! - 1;
      if (key < 0) break;
      const isAlike = this.#hashes[key] === hash && this.#lengths[key] === length;
      if (isAlike && this.#hasBytes(key, start, length)) return key;
      bucket = (bucket + 1) & mask;
    }
    return this.#add(start, length, hash, bucket);
  }

  /** Interns a name that weir itself uses. */
  internName(name: string): number {
    const bytes = Buffer.from(name);
    const start = this.#text.reserve(bytes.length);
    this.#text.bytes.set(bytes, start);
    return this.intern(start, bytes.length, this.hash(start, bytes.length));
  }

  getLength(key: number): number {
    return this.#lengths[key]!;
  }

  /** The key as a string reference. */
  getReference(key: number): number {
    return this.references[key]!;
  }

  /** Whether the bytes from `start` on are the key and then `byte`. */
  stands(key: number, start: number, byte: number): boolean {
    const length = this.getLength(key);
    return this.#text.bytes[start + length] === byte && this.#hasBytes(key, start, length);
  }

  /** Whether the bytes from `start` on are the key; `length` is the key's. */
  #hasBytes(key: number, start: number, length: number): boolean {
    const bytes = this.#text.bytes;
    const offset = this.#offsets[key]!;
    let index = 0;
    while (index < length && bytes[offset + index] === bytes[start + index]) index++;
    return index === length;
  }

  hash(start: number, length: number): number {
    const bytes = this.#text.bytes;
    let hash = HASH_START;
    for (let index = start; index < start + length; index++) hash = hashStep(hash, bytes[index]!);
    return hash;
  }

  #add(start: number, length: number, hash: number, bucket: number): number {
    if (this.count === this.#capacity) {
      this.#grow();
      return this.intern(start, length, hash);
    }
    const key = this.count++;
    this.references[key] = stringReference(start, length);
    this.#offsets[key] = start;
    this.#lengths[key] = length;
    this.#hashes[key] = hash;
    this.#buckets[bucket] = key + 1;
    return key;
  }

  #grow(): void {
    const capacity = this.count * 2;
    const references = this.#memory.numbers(capacity);
    const offsets = this.#memory.offsets(capacity);
    const lengths = this.#memory.offsets(capacity);
    const hashes = this.#memory.integers(capacity);
    references.set(this.references);
    offsets.set(this.#offsets);
    lengths.set(this.#lengths);
    hashes.set(this.#hashes);
    this.references = references;
    this.#offsets = offsets;
    this.#lengths = lengths;
    this.#hashes = hashes;
    this.#capacity = capacity;
    this.#buckets = this.#memory.integers(capacity * 2).fill(0);
    for (const [key, hash] of hashes.subarray(0, this.count).entries()) {
      this.#buckets[freeBucket(this.#buckets, hash)] = key + 1;
    }
  }
}

/** The bucket for a new key with this hash. */
function freeBucket(buckets: Int32Array, hash: number): number {
  const mask = buckets.length - 1;
  let bucket = spread(hash) & mask;
  while (buckets[bucket] !== 0) bucket = (bucket + 1) & mask;
  return bucket;
}

/** Multiplication moves bits upwards only, and the low bits choose the bucket. */
function spread(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return mixed ^ (mixed >>> 13);
}
