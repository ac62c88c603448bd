import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import { FIRST_BYTES, grownUint8, grownUint32, NO_UINT8, runInt32 } from '../column/arrays.ts';
import type { ByteRange } from '../column/skeleton.ts';
import {
  type HashKey,
  keyedHash,
  PROBES_MAX,
  quickHashOfBytes,
  randomHashKey,
} from '../column/string-table.ts';
import { INLINE_PARTIALS_BYTES_MAX } from '../limits.ts';
import { QueryError } from '../query-error.ts';

/** Bytes of the distinct texts of one column, less than 4 GiB: offsets of 32 bits say where each begins and ends. */
const INDEXED_BYTES_MAX = 2 ** 32 - 1;

/** Bytes from which entries are not copied: a state with as many goes to another thread as it is. */
const COPIED_BYTES_MAX = INLINE_PARTIALS_BYTES_MAX;

/** Bytes of a page that is copied to a longer one as it grows: to do so is little, and so is what is left of it. */
const GROWN_BYTES_MAX = 65_536;

/** Bytes of a page that entries of usual size fill: what is left of the last one is little beside the others. */
const PAGE_BYTES_MAX = 1_048_576;

/** Bytes from which a view of them is made and copied: fewer are sooner copied one by one. */
const SET_BYTES_MIN = 64;

/** What all indexes begin as; the first entry makes arrays of their own. */
const NO_SLOTS = new Int32Array(2);
const NO_OFFSETS = new Uint32Array(1);

const FIRST_SLOTS_LENGTH = FIRST_BYTES / Int32Array.BYTES_PER_ELEMENT;

const KEY_NAME = 'hash key of texts';

/** The hash of each text by one key: known by its first word to other threads, which may have another key. */
type Hashes = { readonly ofEntries: Int32Array; readonly key: number };

/** Texts, the one with the number `first` being the first, end to end from the start of `bytes`. */
type TextPage = { readonly bytes: Uint8Array; readonly first: number };

/**
 * Distinct texts by their numbers: text `i` is `offsets[i + 1] - offsets[i]` bytes of one page, behind those of the texts
 * before it that are in this page.
 */
export type PagedTexts = {
  /** Ascending. */
  readonly pages: readonly TextPage[];
  readonly offsets: Uint32Array;
  /** Of many texts. */
  readonly hashes?: Hashes | undefined;
};

/** The bytes of a text. */
export function rangeOfText({ pages, offsets }: PagedTexts, text: number): ByteRange {
  const { bytes, first } = pages[pageOf(pages, text)]!;
  const start = offsets[first]!;
  return { bytes, start: offsets[text]! - start, end: offsets[text + 1]! - start };
}

function pageOf(pages: readonly TextPage[], text: number): number {
  let low = 0;
  let high = pages.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (pages[middle]!.first > text) high = middle - 1;
    else low = middle;
  }
  return low;
}

/**
 * Numbers distinct runs of bytes 0, 1, 2 … in the order they are first met, and keeps them end to end.
 * Open addressing with linear probing, two entries a slot: the hash, and the number plus one (0: empty); at
 * most half full. Once collisions look made on purpose, a keyed hash takes over.
 *
 * Bytes of many entries are never copied as more come: where a page is full, another follows.
 */
export class ByteIndex {
  #size = 0;
  /** The last page, where new entries go. */
  #bytes: Uint8Array<ArrayBuffer> = NO_UINT8;
  #pages: TextPage[] = [{ bytes: NO_UINT8, first: 0 }];
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
  get texts(): PagedTexts {
    return { pages: this.#pages, offsets: this.#offsets };
  }

  /** All entries: few as a copy, many where they lie, for they do not change and those to come are behind them. */
  entries(): PagedTexts {
    const offsets = this.#offsets.slice(0, this.#size + 1);
    const areFew = offsets[this.#size]! < COPIED_BYTES_MAX;
    const pages = this.#pages.map(({ bytes, first }, page) => {
      const end = offsets[this.#pages[page + 1]?.first ?? this.#size]! - offsets[first]!;
      return { bytes: areFew ? bytes.slice(0, end) : bytes.subarray(0, end), first };
    });
    return { pages, offsets, hashes: areFew || this.#isGuarded ? undefined : this.#hashes() };
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

  /**
   * The numbers of some entries of another index, by their numbers there: none comes twice. Of many the bytes stay where
   * they are: all entries of the other index follow ours, and the numbers of those that we had are of no use.
   */
  addAll(texts: PagedTexts, entries: Int32Array): Int32Array {
    const numbers = new Int32Array(entries.length);
    let done = this.#isGuarded ? 0 : this.#link(texts, entries, numbers);
    for (; done < entries.length; done++) {
      const { bytes, start, end } = rangeOfText(texts, entries[done]!);
      numbers[done] = this.add(bytes, start, end);
    }
    return numbers;
  }

  /** The same where hashes are known; gives how many were added before a chain of probes was too long. */
  #link(texts: PagedTexts, entries: Int32Array, numbers: Int32Array): number {
    const { offsets, hashes } = texts;
    const first = this.#size;
    const isFull = this.#offsets[first]! + offsets.at(-1)! > this.#bytesMax;
    if (hashes === undefined || hashes.key !== KEY.first || isFull) return 0;
    this.#linkPages(texts);
    this.#makeRoom(first + entries.length);
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let done = 0; done < entries.length; done++) {
      const entry = entries[done]!;
      const hash = hashes.ofEntries[entry]!;
      let slot = (hash << 1) & mask;
      let probes = 0;
      let number = slots[slot + 1]! - 1;
      // Those that are new are not equal to each other.
      while (
        number >= 0 &&
        !(slots[slot] === hash && number < first && this.#holdsText(number, texts, entry))
      ) {
        slot = (slot + 2) & mask;
        number = slots[slot + 1]! - 1;
        if (++probes > PROBES_MAX) return done;
      }
      if (number < 0) {
        number = first + entry;
        slots[slot] = hash;
        slots[slot + 1] = number + 1;
      }
      numbers[done] = number;
    }
    return entries.length;
  }

  #linkPages({ pages, offsets }: PagedTexts): void {
    const first = this.#size;
    const start = this.#offsets[first]!;
    const count = offsets.length - 1;
    this.#offsets = grownUint32(this.#offsets, first + count + 1);
    for (let entry = 0; entry <= count; entry++) {
      this.#offsets[first + entry] = start + offsets[entry]!;
    }
    const linked = pages.map((page) => ({ bytes: page.bytes, first: first + page.first }));
    this.#pages = [...this.#pages.filter((page) => page.first < first), ...linked];
    // Nothing is written to what may be read elsewhere.
    this.#bytes = NO_UINT8;
    this.#size += count;
  }

  #holdsText(number: number, texts: PagedTexts, entry: number): boolean {
    const { bytes, start, end } = rangeOfText(texts, entry);
    return this.#holds(number, bytes, start, end);
  }

  /** Where the next `byteSize` bytes begin in the last page, which has room for them then. */
  #placeOf(byteSize: number): number {
    const all = this.#offsets[this.#size]!;
    const { first } = this.#pages.at(-1)!;
    const place = all - this.#offsets[first]!;
    if (place + byteSize <= this.#bytes.length) return place;
    if (all + byteSize <= GROWN_BYTES_MAX) {
      this.#bytes = grownUint8(this.#bytes, all + byteSize);
      this.#pages = [{ bytes: this.#bytes, first: 0 }];
      return all;
    }
    this.#bytes = new Uint8Array(Math.max(Math.min(all, PAGE_BYTES_MAX), byteSize));
    const page = { bytes: this.#bytes, first: this.#size };
    this.#pages = [...this.#pages.filter((before) => before.first < page.first), page];
    return 0;
  }

  #hashes(): Hashes {
    const ofEntries = new Int32Array(this.#size);
    const slots = this.#slots;
    for (let slot = 0; slot < slots.length; slot += 2) {
      if (slots[slot + 1] !== 0) ofEntries[slots[slot + 1]! - 1] = slots[slot]!;
    }
    return { ofEntries, key: KEY.first };
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
    const offset = this.#offsets[entry]!;
    if (this.#offsets[entry + 1]! - offset !== end - start) return false;
    const { bytes: own, first } = this.#pages[pageOf(this.#pages, entry)]!;
    const shift = offset - this.#offsets[first]! - start;
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
    const place = this.#placeOf(end - start);
    const entry = this.#size++;
    this.#offsets = grownUint32(this.#offsets, entry + 2);
    const own = this.#bytes;
    if (end - start < SET_BYTES_MIN) {
      for (let at = start, to = place; at < end; at++, to++) own[to] = bytes[at]!;
    } else {
      own.set(bytes.subarray(start, end), place);
    }
    this.#offsets[entry + 1] = ownEnd;
    if (4 * this.#size > this.#slots.length) this.#makeRoom(this.#size);
    enter(this.#slots, hash, entry);
    return entry;
  }

  /** Makes slots for so many entries. */
  #makeRoom(count: number): void {
    const slots = this.#slots;
    let length = Math.max(FIRST_SLOTS_LENGTH, slots.length);
    while (length < 4 * count) length *= 2;
    if (length === slots.length) return;
    this.#slots = runInt32(length);
    for (let slot = 0; slot < slots.length; slot += 2) {
      if (slots[slot + 1] !== 0) enter(this.#slots, slots[slot]!, slots[slot + 1]! - 1);
    }
  }

  #guard(): void {
    const slots = this.#slots;
    this.#isGuarded = true;
    this.#slots = runInt32(slots.length);
    for (let slot = 0; slot < slots.length; slot += 2) {
      const entry = slots[slot + 1]! - 1;
      if (entry < 0) continue;
      const { bytes, start, end } = rangeOfText(this.texts, entry);
      enter(this.#slots, this.#hash(bytes, start, end), entry);
    }
  }
}

function tooManyBytes(bytesMax: number, byteSize: number): QueryError {
  return new QueryError(
    'query_limit',
    `the distinct texts of one column may have at most ${bytesMax} bytes (INDEXED_BYTES_MAX); got ${byteSize}`,
  );
}

/** One for all threads, so that hashes of one are those of another; it never leaves the process. */
const KEY = keyOfProcess();

function keyOfProcess(): HashKey {
  const known = getEnvironmentData(KEY_NAME) as unknown as HashKey | undefined;
  if (known !== undefined) return known;
  const key = randomHashKey();
  // What threads that start from now on find.
  setEnvironmentData(KEY_NAME, key);
  return key;
}

/** Puts an entry that is not there into slots that have room. */
function enter(slots: Int32Array, hash: number, entry: number): void {
  const mask = slots.length - 1;
  let slot = (hash << 1) & mask;
  while (slots[slot + 1] !== 0) slot = (slot + 2) & mask;
  slots[slot] = hash;
  slots[slot + 1] = entry + 1;
}
