import { crc32 } from 'node:zlib';

/** Every array begins at a multiple of it: the widest element has eight bytes. */
export const ALIGNMENT = 8;

/** Where an array lies: offset and size in bytes. */
export type Slice = readonly [offset: number, size: number];

/** Strings end to end. */
export type BlockFooter = {
  readonly count: number;
  readonly bytes: Slice;
  readonly offsets: Slice;
};

/** Arrays of fewer bytes lie together, behind all others: a few blocks of a file hold those of all columns. */
export const SMALL_SLICE_SIZE = 4096;

type SinkArray = { readonly slice: [offset: number, size: number]; readonly bytes: Uint8Array };

/**
 * Collects the arrays of a segment in the making. They are kept, not copied, until `copyTo`. Where each of them lies is
 * known once all are there: a slice has its offset from `place` on.
 */
export class SliceSink {
  readonly #arrays: SinkArray[] = [];
  readonly #start: number;

  /** `start`: offset of the first, a multiple of ALIGNMENT. */
  constructor(start: number) {
    this.#start = start;
  }

  add(view: ArrayBufferView): Slice {
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    const slice: SinkArray['slice'] = [Number.NaN, bytes.length];
    this.#arrays.push({ slice, bytes });
    return slice;
  }

  /**
   * Gives every array its place. The offset behind the last. Large arrays that are equal have one place: fields that come together
   * are in the same rows, and some have the same values.
   */
  place(): number {
    let end = this.#start;
    const isSmall = ({ bytes }: SinkArray): boolean => bytes.length < SMALL_SLICE_SIZE;
    const large = this.#arrays.filter((array) => !isSmall(array));
    const equals = new EqualArrays();
    for (const array of [...large, ...this.#arrays.filter(isSmall)]) {
      const first = isSmall(array) ? array : equals.findFirst(array);
      if (first === array) {
        array.slice[0] = end;
        end += Math.ceil(array.bytes.length / ALIGNMENT) * ALIGNMENT;
      } else array.slice[0] = first.slice[0];
    }
    return end;
  }

  /** Writes every array to its place. */
  copyTo(buffer: SharedArrayBuffer): void {
    for (const { slice, bytes } of this.#arrays) new Uint8Array(buffer, slice[0]).set(bytes);
  }
}

/** Finds arrays that have the same bytes. */
class EqualArrays {
  /** By size and checksum. */
  readonly #arrays = new Map<string, SinkArray[]>();

  /** The first of the arrays so far with the same bytes, or the array itself. */
  findFirst(array: SinkArray): SinkArray {
    const key = `${array.bytes.length} ${crc32(array.bytes)}`;
    const alike = this.#arrays.get(key) ?? [];
    const first = alike.find(({ bytes }) => Buffer.compare(bytes, array.bytes) === 0);
    if (first !== undefined) return first;
    this.#arrays.set(key, [...alike, array]);
    return array;
  }
}

/** Makes sure that a slice is in memory; gives the buffer in which it is at its place. */
export type SliceFinder = (slice: Slice) => SharedArrayBuffer;

/** Opens slices of one sealed segment. */
export class SliceSource {
  #buffer: ArrayBufferLike;
  readonly #need: SliceFinder | undefined;
  #hasApart = false;

  /** `need` brings a slice into memory before it is opened, and tells where it is. */
  constructor(buffer: ArrayBufferLike, need?: SliceFinder) {
    this.#buffer = buffer;
    this.#need = need;
  }

  /** All slices are in a longer buffer, too: from now on they are opened there. */
  moveTo(buffer: ArrayBufferLike): void {
    this.#buffer = buffer;
  }

  /** Bytes of the segment. */
  get size(): number {
    return this.#buffer.byteLength;
  }

  /** Whether some slice that was opened is in another buffer than the others. */
  get hasApart(): boolean {
    return this.#hasApart;
  }

  /**
   * All of the segment, in the widths its arrays have: good for slices that were opened while none was
   * apart.
   */
  whole(): WholeSegment {
    const buffer = this.#buffer;
    return {
      bytes: new Uint8Array(buffer, 0, buffer.byteLength),
      view: new DataView(buffer, 0, buffer.byteLength),
      shorts: new Uint16Array(buffer, 0, Math.floor(buffer.byteLength / 2)),
      words: new Uint32Array(buffer, 0, Math.floor(buffer.byteLength / 4)),
      floats32: new Float32Array(buffer, 0, Math.floor(buffer.byteLength / 4)),
      floats64: new Float64Array(buffer, 0, Math.floor(buffer.byteLength / 8)),
    };
  }

  bytes(slice: Slice): Uint8Array {
    return new Uint8Array(this.#find(slice), slice[0], slice[1]);
  }

  unsigned16(slice: Slice): Uint16Array {
    return new Uint16Array(this.#find(slice), slice[0], slice[1] / 2);
  }

  unsigned32(slice: Slice): Uint32Array {
    return new Uint32Array(this.#find(slice), slice[0], slice[1] / 4);
  }

  integers(slice: Slice): Int32Array {
    return new Int32Array(this.#find(slice), slice[0], slice[1] / 4);
  }

  floats32(slice: Slice): Float32Array {
    return new Float32Array(this.#find(slice), slice[0], slice[1] / 4);
  }

  floats64(slice: Slice): Float64Array {
    return new Float64Array(this.#find(slice), slice[0], slice[1] / 8);
  }

  /** Unsigned integers of one, two or four bytes. */
  unsigned(slice: Slice, width: number): UnsignedArray {
    if (width === 1) return this.bytes(slice);
    return width === 2 ? this.unsigned16(slice) : this.unsigned32(slice);
  }

  #find(slice: Slice): ArrayBufferLike {
    if (this.#need === undefined) return this.#buffer;
    const buffer = this.#need(slice);
    if (buffer !== this.#buffer) this.#hasApart = true;
    return buffer;
  }
}

/** What lies at byte `offset` of a segment is entry `offset / width` of the array of that width. */
export type WholeSegment = {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly shorts: Uint16Array;
  readonly words: Uint32Array;
  readonly floats32: Float32Array;
  readonly floats64: Float64Array;
};

export type UnsignedArray = Uint8Array | Uint16Array | Uint32Array;

/** An array of unsigned integers below `limit`, as narrow as they allow. */
export function unsignedArray(count: number, limit: number): UnsignedArray {
  if (limit <= 2 ** 8) return new Uint8Array(count);
  return limit <= 2 ** 16 ? new Uint16Array(count) : new Uint32Array(count);
}

/** What `open` gives, opened when it is first asked for. */
export function whenAsked<T>(open: () => T): () => T {
  let opened: { readonly value: T } | undefined;
  return () => {
    opened ??= { value: open() };
    return opened.value;
  };
}
