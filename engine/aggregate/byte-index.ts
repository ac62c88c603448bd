import { keyedHash, PROBES_MAX, quickHashOfBytes, randomHashKey } from '../column/string-table.ts';
import type { StringBlock } from '../column/vector.ts';
import { INLINE_PARTIALS_BYTES_MAX } from '../limits.ts';
import { QueryError } from '../query-error.ts';
import { FIRST_BYTES, grownUint8, grownUint32, NO_UINT8 } from './growth.ts';

/** Bytes of the distinct texts of one column, less than 4 GiB: offsets of 32 bits say where each begins and ends. */
const INDEXED_BYTES_MAX = 2 ** 32 - 1;

/** Bytes from which entries are not copied: a state with as many goes to another thread as it is. */
const COPIED_BYTES_MAX = INLINE_PARTIALS_BYTES_MAX;

/** What all indexes begin as; the first entry makes arrays of their own. */
const NO_SLOTS = new Int32Array(2);
const NO_OFFSETS = new Uint32Array(1);

const FIRST_SLOTS_LENGTH = FIRST_BYTES / Int32Array.BYTES_PER_ELEMENT;

/**
 * Numbers distinct runs of bytes 0, 1, 2 … in the order they are first met, and keeps them end to end.
 * Open addressing with linear probing, two entries a slot: the hash, and the number plus one (0: empty); at
 * most half full. Once collisions look made on purpose, a keyed hash takes over.
 */
export class ByteIndex {
  #size = 0;
  #bytes: Uint8Array<ArrayBuffer> = NO_UINT8;
  /** Entry `i` is `#bytes[#offsets[i], #offsets[i + 1])`. */
  #offsets: Uint32Array<ArrayBuffer> = NO_OFFSETS;
  #slots = NO_SLOTS;
  #isGuarded = false;
  readonly #bytesMax: number;

  constructor(bytesMax = INDEXED_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  get size(): number {
    return this.#size;
  }

  /** All entries, where they lie: to be read at once, or copied. */
  get block(): StringBlock {
    return { bytes: this.#bytes, offsets: this.#offsets };
  }

  /** All entries: few as a copy, many where they lie, for they do not change and those to come are behind them. */
  entries(): StringBlock {
    const offsets = this.#offsets.slice(0, this.#size + 1);
    const byteSize = offsets[this.#size]!;
    const isCopied = byteSize < COPIED_BYTES_MAX;
    const bytes = isCopied ? this.#bytes.slice(0, byteSize) : this.#bytes.subarray(0, byteSize);
    return { bytes, offsets };
  }

  /** Makes room for so many more bytes at once: to grow by and by touches several times the memory. */
  reserve(byteSize: number): void {
    const wanted = this.#offsets[this.#size]! + byteSize;
    if (byteSize > 0 && wanted <= this.#bytesMax) this.#bytes = grownUint8(this.#bytes, wanted);
  }

  /** The number of `bytes[start, end)`, or -1. */
  find(bytes: Uint8Array, start: number, end: number): number {
    return Math.max(-1, this.#probe(bytes, { start, end, hash: this.#hash(bytes, start, end) }));
  }

  /**
   * The number of `bytes[start, end)`: `size`, as it was, when they are new. Throws `query_limit` when all entries would
   * have too many bytes.
   */
  add(bytes: Uint8Array, start: number, end: number): number {
    const sought = { start, end, hash: this.#hash(bytes, start, end) };
    const entry = this.#probe(bytes, sought);
    if (entry >= 0) return entry;
    const probes = -1 - entry;
    if (probes > PROBES_MAX && !this.#isGuarded) {
      this.#guard();
      return this.add(bytes, start, end);
    }
    return this.#append(bytes, sought);
  }

  /** The number of `bytes[start, end)`, or, where they are new, -1 less the number of others that were in the way. */
  #probe(
    bytes: Uint8Array,
    { start, end, hash }: { readonly start: number; readonly end: number; readonly hash: number },
  ): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = (hash << 1) & mask;
    let probes = 0;
    for (let entry = slots[slot + 1]! - 1; entry >= 0; entry = slots[slot + 1]! - 1) {
      if (slots[slot] === hash && this.#holds(entry, bytes, start, end)) return entry;
      slot = (slot + 2) & mask;
      probes++;
    }
    return -1 - probes;
  }

  #hash(bytes: Uint8Array, start: number, end: number): number {
    if (!this.#isGuarded) return quickHashOfBytes(bytes, start, end, KEY);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return keyedHash(view, start, end, KEY);
  }

  #holds(entry: number, bytes: Uint8Array, start: number, end: number): boolean {
    const own = this.#bytes;
    const ownStart = this.#offsets[entry]!;
    if (this.#offsets[entry + 1]! - ownStart !== end - start) return false;
    const shift = ownStart - start;
    for (let at = start; at < end; at++) if (own[at + shift] !== bytes[at]) return false;
    return true;
  }

  #append(
    bytes: Uint8Array,
    { start, end, hash }: { readonly start: number; readonly end: number; readonly hash: number },
  ): number {
    const offset = this.#offsets[this.#size]!;
    const ownEnd = offset + end - start;
    if (ownEnd > this.#bytesMax) throw tooManyBytes(this.#bytesMax, ownEnd);
    const entry = this.#size++;
    this.#bytes = grownUint8(this.#bytes, ownEnd);
    this.#offsets = grownUint32(this.#offsets, entry + 2);
    const own = this.#bytes;
    for (let at = start, to = offset; at < end; at++, to++) own[to] = bytes[at]!;
    this.#offsets[entry + 1] = ownEnd;
    if (4 * this.#size > this.#slots.length) this.#grow();
    enter(this.#slots, hash, entry);
    return entry;
  }

  /** Doubles the slots; the entry that makes it needed is not among them yet. */
  #grow(): void {
    const slots = this.#slots;
    this.#slots = new Int32Array(Math.max(FIRST_SLOTS_LENGTH, 2 * slots.length));
    for (let slot = 0; slot < slots.length; slot += 2) {
      if (slots[slot + 1] !== 0) enter(this.#slots, slots[slot]!, slots[slot + 1]! - 1);
    }
  }

  #guard(): void {
    this.#isGuarded = true;
    this.#slots = new Int32Array(this.#slots.length);
    for (let entry = 0; entry < this.#size; entry++) {
      const hash = this.#hash(this.#bytes, this.#offsets[entry]!, this.#offsets[entry + 1]!);
      enter(this.#slots, hash, entry);
    }
  }
}

function tooManyBytes(bytesMax: number, byteSize: number): QueryError {
  return new QueryError(
    'query_limit',
    `the distinct texts of one column may have at most ${bytesMax} bytes (INDEXED_BYTES_MAX); got ${byteSize}`,
  );
}

/** One for all, that is never told. */
const KEY = randomHashKey();

/** Puts an entry that is not there into slots that have room. */
function enter(slots: Int32Array, hash: number, entry: number): void {
  const mask = slots.length - 1;
  let slot = (hash << 1) & mask;
  while (slots[slot + 1] !== 0) slot = (slot + 2) & mask;
  slots[slot] = hash;
  slots[slot + 1] = entry + 1;
}
