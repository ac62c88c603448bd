import { growSegmentBuffer, newSegmentBuffer } from '../segment-buffer.ts';
import { ALIGNMENT, type Slice, SliceSource } from '../slice.ts';

/** Takes arrays in, one behind the other, and opens them. */
export class ExtractBuffer {
  readonly source: SliceSource;
  readonly #buffer: SharedArrayBuffer;
  #end = 0;
  /** Arrays for which the buffer has no addresses, each in one of its own. */
  readonly #apart = new Map<Slice, SharedArrayBuffer>();
  #apartSize = 0;

  /** `sizeMax`: of most arrays together; what is not taken in takes no memory. */
  constructor(sizeMax: number) {
    this.#buffer = newSegmentBuffer(0, sizeMax);
    this.source = new SliceSource(this.#buffer, (slice) => this.#apart.get(slice) ?? this.#buffer);
  }

  /** Bytes taken in. */
  get size(): number {
    return this.#end + this.#apartSize;
  }

  add(array: ArrayBufferView): Slice {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    const slice: Slice = [this.#end, bytes.length];
    const end = this.#end + Math.ceil(bytes.length / ALIGNMENT) * ALIGNMENT;
    if (!growSegmentBuffer(this.#buffer, end)) return this.#addApart(bytes);
    this.#end = end;
    new Uint8Array(this.#buffer, ...slice).set(bytes);
    return slice;
  }

  #addApart(bytes: Uint8Array): Slice {
    const slice: Slice = [0, bytes.length];
    const buffer = newSegmentBuffer(bytes.length);
    new Uint8Array(buffer, ...slice).set(bytes);
    this.#apart.set(slice, buffer);
    this.#apartSize += bytes.length;
    return slice;
  }
}
