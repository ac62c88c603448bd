import { ALIGNMENT, type Slice, SliceSource } from '../slice.ts';

/** What is taken out beside rows: shapes, words, and small arrays of each column. */
const FIRST_SIZE_MIN = 64 * 1024;

/**
 * Takes arrays in, one behind the other, and opens them. Its memory is that of the thread, so V8 gives it back with
 * other new objects; where it is full it is moved to one twice as long, and arrays that were opened stay good.
 */
export class ExtractBuffer {
  readonly source: SliceSource;
  #bytes: Uint8Array;
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
    if (this.#end > this.#bytes.length) this.#move();
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    this.#bytes.set(bytes, slice[0]);
    return slice;
  }

  #move(): void {
    const longer = new Uint8Array(Math.max(2 * this.#bytes.length, this.#end));
    longer.set(this.#bytes);
    this.#bytes = longer;
    this.source.moveTo(longer.buffer);
  }
}
