/** The language has the second argument (ECMAScript 2024); our library of types is older. */
type GrowableBuffer = SharedArrayBuffer & {
  readonly maxByteLength: number;
  grow(size: number): void;
};
const GrowableBuffer = SharedArrayBuffer as unknown as new (
  size: number,
  options: { readonly maxByteLength: number },
) => SharedArrayBuffer;

/**
 * Zeroed shared memory whose pages are the system's until they are written to, and again once the
 * buffer is garbage. V8 maps a growable buffer, even one that never grows. Any other comes from
 * `calloc`, which after the first large free keeps up to 32 MiB for itself: buffers of 20 MB took all
 * their memory from the start, and kept it when they were gone.
 *
 * Arrays over it must be made with their length. One without follows the buffer's, and is read
 * fifty times as slowly.
 *
 * `sizeMax`: what it may grow to where it is; the addresses for that are reserved.
 */
export function newSegmentBuffer(size: number, sizeMax: number = size): SharedArrayBuffer {
  return new GrowableBuffer(size, { maxByteLength: sizeMax });
}

/** Makes a buffer longer where it is; false when no addresses are reserved for that. */
function growSegmentBuffer(buffer: SharedArrayBuffer, size: number): boolean {
  const growable = buffer as GrowableBuffer;
  if (size > growable.maxByteLength) return false;
  growable.grow(size);
  return true;
}

type SharedTypedArray = Uint8Array | Int32Array | Uint32Array | Float64Array;

/**
 * An append-only array over a SharedArrayBuffer. It grows in place as far as addresses were reserved
 * for it; from there into a new buffer, and the old one keeps what it held, for readers that still
 * have it.
 */
class SharedArray<T extends SharedTypedArray> {
  /** Longer than what is in use. Replaced when it grows: read it anew after `reserve`. */
  array: T;
  readonly #make: (buffer: SharedArrayBuffer, count: number) => T;

  /** `count` entries to begin with; addresses for `reserved` of them, which take no memory. */
  constructor(
    make: (buffer: SharedArrayBuffer, count: number) => T,
    bytesPerEntry: number,
    count: number,
    reserved: number,
  ) {
    this.#make = make;
    const sizeMax = Math.max(count, reserved) * bytesPerEntry;
    this.array = make(newSegmentBuffer(count * bytesPerEntry, sizeMax), count);
  }

  /** Makes room for `count` entries in all. Gives whether `array` is another one now. */
  reserve(count: number): boolean {
    if (count <= this.array.length) return false;
    const old = this.array;
    const countNew = Math.max(count, old.length * 2);
    const buffer = old.buffer as SharedArrayBuffer;
    const size = countNew * old.BYTES_PER_ELEMENT;
    if (growSegmentBuffer(buffer, size)) {
      this.array = this.#make(buffer, countNew);
    } else {
      this.array = this.#make(newSegmentBuffer(size, 2 * size), countNew);
      this.array.set(old);
    }
    return true;
  }
}

export function sharedBytes(count: number, reserved: number): SharedArray<Uint8Array> {
  return new SharedArray((buffer, size) => new Uint8Array(buffer, 0, size), 1, count, reserved);
}

export function sharedIntegers(count: number, reserved: number): SharedArray<Int32Array> {
  return new SharedArray((buffer, size) => new Int32Array(buffer, 0, size), 4, count, reserved);
}

export function sharedOffsets(count: number, reserved: number): SharedArray<Uint32Array> {
  return new SharedArray((buffer, size) => new Uint32Array(buffer, 0, size), 4, count, reserved);
}

export function sharedNumbers(count: number, reserved: number): SharedArray<Float64Array> {
  return new SharedArray((buffer, size) => new Float64Array(buffer, 0, size), 8, count, reserved);
}
