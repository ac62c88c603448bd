import type { Slice, UnsignedArray } from '../slice.ts';

/** Rows, or positions of a column: [start, end). */
export type Bounds = { readonly start: number; readonly end: number };

/** Gives bytes [start, end) of a slice; good until the next call. */
export type ReadSlice = (slice: Slice, start: number, end: number) => Uint8Array;

/** Arrays of a segment, read in pieces: what is given has the bytes that were asked for, and no others. */
export class SliceBytes {
  readonly #read: ReadSlice;

  constructor(read: ReadSlice) {
    this.#read = read;
  }

  bytes(slice: Slice, start = 0, end = slice[1]): Uint8Array {
    return start === end ? new Uint8Array(0) : this.#read(slice, start, end).slice();
  }

  /** Entries [start, end) of an array of 16 bits; other widths alike. */
  unsigned16(slice: Slice, start = 0, end = slice[1] / 2): Uint16Array {
    return new Uint16Array(this.bytes(slice, 2 * start, 2 * end).buffer);
  }

  unsigned32(slice: Slice, start = 0, end = slice[1] / 4): Uint32Array {
    return new Uint32Array(this.bytes(slice, 4 * start, 4 * end).buffer);
  }

  unsigned(slice: Slice, width: 1 | 2 | 4, start: number, end: number): UnsignedArray {
    if (width === 1) return this.bytes(slice, start, end);
    return width === 2 ? this.unsigned16(slice, start, end) : this.unsigned32(slice, start, end);
  }

  /** The first entry of an ascending array of 32 bits that is `least` or more; their number where none is. */
  firstAtLeast(slice: Slice, least: number): number {
    let low = 0;
    let high = slice[1] / 4;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.unsigned32(slice, middle, middle + 1)[0]! < least) low = middle + 1;
      else high = middle;
    }
    return low;
  }
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
