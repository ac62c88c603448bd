/** Every array begins at a multiple of it: the widest element has eight bytes. */
const ALIGNMENT = 8;

/** Where an array lies: offset and size in bytes. */
export type Slice = readonly [offset: number, size: number];

/** Strings end to end. */
export type BlockFooter = {
  readonly count: number;
  readonly bytes: Slice;
  readonly offsets: Slice;
};

/** Collects the arrays of a segment in the making. They are kept, not copied, until `copyTo`. */
export class SliceSink {
  readonly #views: { readonly offset: number; readonly bytes: Uint8Array }[] = [];
  #end: number;

  /** `start`: offset of the first, a multiple of ALIGNMENT. */
  constructor(start: number) {
    this.#end = start;
  }

  /** The offset behind all that was added. */
  get end(): number {
    return this.#end;
  }

  add(view: ArrayBufferView): Slice {
    const offset = this.#end;
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    this.#views.push({ offset, bytes });
    this.#end = offset + Math.ceil(bytes.length / ALIGNMENT) * ALIGNMENT;
    return [offset, bytes.length];
  }

  /** Writes every array to its place. */
  copyTo(buffer: SharedArrayBuffer): void {
    for (const { offset, bytes } of this.#views) new Uint8Array(buffer, offset).set(bytes);
  }
}

/** Opens slices of one sealed segment. */
export class SliceSource {
  readonly #buffer: SharedArrayBuffer;

  constructor(buffer: SharedArrayBuffer) {
    this.#buffer = buffer;
  }

  bytes([offset, size]: Slice): Uint8Array {
    return new Uint8Array(this.#buffer, offset, size);
  }

  unsigned16([offset, size]: Slice): Uint16Array {
    return new Uint16Array(this.#buffer, offset, size / 2);
  }

  unsigned32([offset, size]: Slice): Uint32Array {
    return new Uint32Array(this.#buffer, offset, size / 4);
  }

  integers([offset, size]: Slice): Int32Array {
    return new Int32Array(this.#buffer, offset, size / 4);
  }

  floats32([offset, size]: Slice): Float32Array {
    return new Float32Array(this.#buffer, offset, size / 4);
  }

  floats64([offset, size]: Slice): Float64Array {
    return new Float64Array(this.#buffer, offset, size / 8);
  }

  /** Unsigned integers of one, two or four bytes. */
  unsigned(slice: Slice, width: number): UnsignedArray {
    if (width === 1) return this.bytes(slice);
    return width === 2 ? this.unsigned16(slice) : this.unsigned32(slice);
  }
}

export type UnsignedArray = Uint8Array | Uint16Array | Uint32Array;

/** An array of unsigned integers below `limit`, as narrow as they allow. */
export function unsignedArray(count: number, limit: number): UnsignedArray {
  if (limit <= 2 ** 8) return new Uint8Array(count);
  return limit <= 2 ** 16 ? new Uint16Array(count) : new Uint32Array(count);
}
