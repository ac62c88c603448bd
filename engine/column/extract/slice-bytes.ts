import { must } from '../../assert.ts';
import { carvedUint8, lengthened } from '../arrays.ts';
import { partitionPoint } from '../positions.ts';
import { ALIGNMENT, type Slice, SliceSource, type UnsignedArray } from '../slice.ts';
import type { StringBlock } from '../vector.ts';

/** Rows, or positions of a column: [start, end). */
export type Bounds = { readonly start: number; readonly end: number };

/** What reads the arrays of a segment. */
export type SliceReader = {
  /** Gives bytes [start, end) of a slice; good until the next call. */
  readonly read: (slice: Slice, start: number, end: number) => Uint8Array;
  /** These parts of slices are read soon, or most of them. */
  readonly expect: (parts: readonly Slice[]) => void;
};

type TextSlices = { readonly bytes: Slice; readonly offsets: Slice };

/** To read a block's worth of bytes at once takes less than to ask for a few of them one by one. */
const NEAR_BYTES_MAX = 4 * 1024;
const NEAR_ENTRIES_MAX = NEAR_BYTES_MAX / 4;

/** Arrays of a segment, read in pieces: what is given has the bytes that were asked for, and no others. */
export class SliceBytes {
  readonly expect: SliceReader['expect'];
  readonly #read: SliceReader['read'];

  constructor({ read, expect }: SliceReader) {
    this.#read = read;
    this.expect = expect;
  }

  bytes(slice: Slice, start = 0, end = slice[1]): Uint8Array {
    if (start === end) return new Uint8Array(0);
    const read = this.#read(slice, start, end);
    const copy = carvedUint8(read.length);
    copy.set(read);
    return copy;
  }

  /** Entries [start, end) of an array of 16 bits; other widths alike. */
  unsigned16(slice: Slice, start = 0, end = slice[1] / 2): Uint16Array {
    return shortsOf(this.bytes(slice, 2 * start, 2 * end));
  }

  unsigned32(slice: Slice, start = 0, end = slice[1] / 4): Uint32Array {
    return wordsOf(this.bytes(slice, 4 * start, 4 * end));
  }

  unsigned(slice: Slice, width: 1 | 2 | 4, start: number, end: number): UnsignedArray {
    if (width === 1) return this.bytes(slice, start, end);
    return width === 2 ? this.unsigned16(slice, start, end) : this.unsigned32(slice, start, end);
  }

  /** Entries `index` and `index + 1` of an array of 32 bits: where a string begins and ends. */
  pair32(slice: Slice, index: number): readonly [number, number] {
    const bytes = this.#read(slice, 4 * index, 4 * index + 8);
    return [entryAt(bytes, 0), entryAt(bytes, 4)];
  }

  /** Some strings of a block, ascending. Those that lie near each other are read at once. */
  texts({ bytes, offsets }: TextSlices, entries: UnsignedArray): Uint8Array[] {
    if (entries.length === 0) return [];
    const [first, last] = [entries[0]!, entries[entries.length - 1]!];
    if (last - first > NEAR_ENTRIES_MAX) {
      return Array.from(entries, (entry) => this.bytes(bytes, ...this.pair32(offsets, entry)));
    }
    const bounds = this.unsigned32(offsets, first, last + 2);
    const boundsOf = (entry: number) =>
      [bounds[entry - first]!, bounds[entry - first + 1]!] as const;
    const [start, end] = [bounds[0]!, bounds[bounds.length - 1]!];
    if (end - start > NEAR_BYTES_MAX) {
      return Array.from(entries, (entry) => this.bytes(bytes, ...boundsOf(entry)));
    }
    const all = this.bytes(bytes, start, end);
    return Array.from(entries, (entry) => {
      const [from, to] = boundsOf(entry);
      return all.subarray(from - start, to - start);
    });
  }

  /** The first entry of an ascending array of 32 bits that is `least` or more; their number where none is. */
  firstAtLeast(slice: Slice, least: number): number {
    return partitionPoint(0, slice[1] / 4, (index) => {
      return entryAt(this.#read(slice, 4 * index, 4 * index + 4), 0) < least;
    });
  }
}

/** The bytes as integers of 16 bits. They begin where such an integer may. */
export function shortsOf({ buffer, byteOffset, byteLength }: Uint8Array): Uint16Array {
  return new Uint16Array(buffer, byteOffset, byteLength / 2);
}

/** The same with 32 bits. */
export function wordsOf({ buffer, byteOffset, byteLength }: Uint8Array): Uint32Array {
  return new Uint32Array(buffer, byteOffset, byteLength / 4);
}

/** Little-endian; as a DataView reads it, without one for each. */
function entryAt(bytes: Uint8Array, at: number): number {
  const high = bytes[at + 3]! * 2 ** 24;
  return high + (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16));
}

export function sumOf(values: UnsignedArray): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}

/** Each entry less a number. */
export function less(values: Uint32Array, base: number): Uint32Array {
  return values.map((value) => value - base);
}

/** Texts end to end. */
export function joinedTexts(texts: readonly Uint8Array[]): StringBlock {
  const offsets = new Uint32Array(texts.length + 1);
  for (const [index, text] of texts.entries()) {
    offsets[index + 1] = must(offsets[index]) + text.length;
  }
  return { bytes: Buffer.concat(texts), offsets };
}

/** Each value once, ascending. */
export function distinctOf<T extends Uint8Array | Uint32Array>(values: T): T {
  const sorted = values.slice().sort() as T;
  let count = 0;
  for (let index = 0; index < sorted.length; index++) {
    if (index === 0 || sorted[index] !== sorted[count - 1]) sorted[count++] = sorted[index]!;
  }
  return sorted.subarray(0, count) as T;
}

/** What is taken out beside rows: shapes, words, and small arrays of each column. */
const FIRST_SIZE_MIN = 64 * 1024;

/**
 * Takes arrays in, one behind the other, and opens them. Its memory is that of the thread, so V8 gives it back with
 * other new objects; where it is full it is moved to one twice as long, and arrays that were opened stay good.
 */
export class ExtractBuffer {
  readonly source: SliceSource;
  #bytes: Uint8Array<ArrayBuffer>;
  #end = 0;

  /** `sizeExpected`: of all arrays together, about. */
  constructor(sizeExpected: number) {
    this.#bytes = new Uint8Array(Math.max(FIRST_SIZE_MIN, sizeExpected));
    this.source = new SliceSource(this.#bytes.buffer);
  }

  /** Bytes of memory. */
  get size(): number {
    return this.#bytes.length;
  }

  add(array: ArrayBufferView): Slice {
    const slice: Slice = [this.#end, array.byteLength];
    this.#end += Math.ceil(array.byteLength / ALIGNMENT) * ALIGNMENT;
    if (this.#end > this.#bytes.length) {
      this.#bytes = lengthened(this.#bytes, this.#end);
      this.source.moveTo(this.#bytes.buffer);
    }
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    this.#bytes.set(bytes, slice[0]);
    return slice;
  }
}
