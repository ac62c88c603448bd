import { newSegmentBuffer } from './segment-buffer.ts';

type SharedTypedArray = Uint8Array | Int32Array | Uint32Array | Float64Array;

/** Below this size an array grows fourfold: memory not touched yet costs nothing, copying does. */
const QUICK_GROWTH_SIZE_MAX = 16 * 1024 * 1024;

/**
 * An append-only array over a SharedArrayBuffer. It grows into a new buffer, twice as large or more;
 * the old one keeps what it held, for readers that still have it.
 */
export class SharedArray<T extends SharedTypedArray> {
  /** Longer than what is in use. Replaced when it grows: read it anew after `reserve`. */
  array: T;
  readonly #make: (buffer: SharedArrayBuffer, count: number) => T;

  /** `count` entries to begin with. */
  constructor(
    make: (buffer: SharedArrayBuffer, count: number) => T,
    bytesPerEntry: number,
    count: number,
  ) {
    this.#make = make;
    this.array = make(newSegmentBuffer(count * bytesPerEntry), count);
  }

  /** Makes room for `count` entries in all. Gives whether `array` is another one now. */
  reserve(count: number): boolean {
    if (count <= this.array.length) return false;
    const old = this.array;
    const factor = old.byteLength < QUICK_GROWTH_SIZE_MAX ? 4 : 2;
    const countNew = Math.max(count, old.length * factor);
    this.array = this.#make(newSegmentBuffer(countNew * old.BYTES_PER_ELEMENT), countNew);
    this.array.set(old);
    return true;
  }
}

export function sharedBytes(count: number): SharedArray<Uint8Array> {
  return new SharedArray((buffer, size) => new Uint8Array(buffer, 0, size), 1, count);
}

export function sharedIntegers(count: number): SharedArray<Int32Array> {
  return new SharedArray((buffer, size) => new Int32Array(buffer, 0, size), 4, count);
}

export function sharedOffsets(count: number): SharedArray<Uint32Array> {
  return new SharedArray((buffer, size) => new Uint32Array(buffer, 0, size), 4, count);
}

export function sharedNumbers(count: number): SharedArray<Float64Array> {
  return new SharedArray((buffer, size) => new Float64Array(buffer, 0, size), 8, count);
}
