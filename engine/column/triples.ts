import type { UnsignedArray } from './slice.ts';

/** What fits three bytes. */
export const TRIPLE_MAX = 2 ** 24 - 1;

/**
 * Unsigned integers of three bytes each, the lowest first, for columns that are read here and there and never
 * scanned: those of more than 65,536 values would else have a byte more in every row.
 */
export class Triples {
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  static pack(values: UnsignedArray): Uint8Array {
    const bytes = new Uint8Array(3 * values.length);
    for (let index = 0; index < values.length; index++) {
      const value = values[index]!;
      bytes[3 * index] = value;
      bytes[3 * index + 1] = value >>> 8;
      bytes[3 * index + 2] = value >>> 16;
    }
    return bytes;
  }

  at(index: number): number {
    const bytes = this.#bytes;
    const start = 3 * index;
    return bytes[start]! | (bytes[start + 1]! << 8) | (bytes[start + 2]! << 16);
  }
}
