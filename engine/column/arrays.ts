/**
 * Arrays of zeros for what a run computes, small ones carved from blocks that several share.
 *
 * V8 has the entries of arrays of up to 64 bytes in its own heap, where one is made in 30 ns. Those of a larger one
 * are memory apart, and that takes half a microsecond however few they are: more than most rows of a small query. A
 * view of memory that is there takes 25 ns, and with its share of a block some 110 (`bench/small-arrays.ts`).
 *
 * ```
 *  block, zeros where nothing was carved yet
 * ┌──────────┬───────────────┬──────┬─────────────────────────┐
 * │ array 1  │ array 2       │ 3    │                         │   each begins at a multiple of 8 bytes
 * └──────────┴───────────────┴──────┴─────────────────────────┘
 * ```
 *
 * No part of a block is carved twice, so a carved array is its owner's for good; large arrays of a run are used again (`RunMemory`).
 * A carved array keeps the whole block alive, and takes it along to another thread: what outlives a run, or leaves the thread,
 * is copied by `slice`.
 */
export function carvedFloat64(length: number): Float64Array<ArrayBuffer> {
  const byteSize = length * Float64Array.BYTES_PER_ELEMENT;
  if (!isCarved(byteSize)) return new Float64Array(length);
  const start = threadArrays.carve(byteSize);
  return new Float64Array(threadArrays.block, start, length);
}

export function carvedInt32(length: number): Int32Array<ArrayBuffer> {
  const byteSize = length * Int32Array.BYTES_PER_ELEMENT;
  if (!isCarved(byteSize)) return new Int32Array(length);
  const start = threadArrays.carve(byteSize);
  return new Int32Array(threadArrays.block, start, length);
}

export function carvedUint32(length: number): Uint32Array<ArrayBuffer> {
  const byteSize = length * Uint32Array.BYTES_PER_ELEMENT;
  if (!isCarved(byteSize)) return new Uint32Array(length);
  const start = threadArrays.carve(byteSize);
  return new Uint32Array(threadArrays.block, start, length);
}

export function carvedUint16(length: number): Uint16Array<ArrayBuffer> {
  const byteSize = length * Uint16Array.BYTES_PER_ELEMENT;
  if (!isCarved(byteSize)) return new Uint16Array(length);
  const start = threadArrays.carve(byteSize);
  return new Uint16Array(threadArrays.block, start, length);
}

export function carvedUint8(length: number): Uint8Array<ArrayBuffer> {
  if (!isCarved(length)) return new Uint8Array(length);
  const start = threadArrays.carve(length);
  return new Uint8Array(threadArrays.block, start, length);
}

/** Bytes that V8 has in its own heap (`V8_TYPED_ARRAY_MAX_SIZE_IN_HEAP`). */
const HEAP_BYTES_MAX = 64;

/** Bytes of a larger array beside which the making of its memory is little: they take as long to write. */
const CARVED_BYTES_MAX = 4_096;

/**
 * Bytes of a block: several of the largest arrays, so that little is left over at its end, and its making is little for
 * each. With 8 KiB an array of 480 bytes takes twice the time, with 64 KiB a fifth less; but what keeps one keeps all.
 */
const BLOCK_BYTES = 32 * 1_024;

/** No array needs more. */
const ALIGNMENT = 8;

function isCarved(byteSize: number): boolean {
  return byteSize > HEAP_BYTES_MAX && byteSize <= CARVED_BYTES_MAX;
}

/** What is made with a length: an array, or an object of several. */
type Sized = { readonly length: number };

type Kind<T extends Sized> = new (length: number) => T;

/** Longer arrays are made for each borrower: those for the rows of a chunk are shorter. */
const LENT_LENGTH_MAX = 2 ** 17;

/** Arrays by kind that nobody has borrowed. */
class FreeArrays {
  readonly #arrays = new Map<Kind<Sized>, Sized[]>();

  take<T extends Sized>(kind: Kind<T>, length: number): T {
    // What stands there was made with this constructor.
    const free = this.#arrays.get(kind)?.pop() as T | undefined;
    if (free !== undefined && free.length >= length) return free;
    return new kind(Math.max(length, 2 * (free?.length ?? 0)));
  }

  add(array: Sized): void {
    if (array.length > LENT_LENGTH_MAX) return;
    const kind = array.constructor as Kind<Sized>;
    const free = this.#arrays.get(kind);
    if (free === undefined) this.#arrays.set(kind, [array]);
    else free.push(array);
  }
}

/**
 * The memory for arrays of one thread: the block that is being carved, and arrays to borrow for the time of a call, since the
 * next chunk needs them again. State of the module, as everything that computes makes arrays, and V8 has one heap a thread.
 */
class ThreadArrays {
  /** Arrays are carved from it up to `#carvedSize`. */
  block = new ArrayBuffer(0);
  #carvedSize = 0;
  readonly #free = new FreeArrays();
  readonly #zeros = new FreeArrays();

  /** Where so many bytes begin in `block`. */
  carve(byteSize: number): number {
    if (this.#carvedSize + byteSize > this.block.byteLength) {
      this.block = new ArrayBuffer(BLOCK_BYTES);
      this.#carvedSize = 0;
    }
    const start = this.#carvedSize;
    this.#carvedSize = (start + byteSize + ALIGNMENT - 1) & -ALIGNMENT;
    return start;
  }

  /** At least so long, with anything in it. One that is not given back, since the call failed, is garbage. */
  borrow<T extends Sized>(kind: Kind<T>, length: number): T {
    return this.#free.take(kind, length);
  }

  giveBack(array: Sized): void {
    this.#free.add(array);
  }

  /** As `borrow`, all zeros; who borrows it writes zeros again before it is given back. */
  borrowZeros<T extends Sized>(kind: Kind<T>, length: number): T {
    return this.#zeros.take(kind, length);
  }

  giveBackZeros(array: Sized): void {
    this.#zeros.add(array);
  }
}

export const threadArrays = new ThreadArrays();

type Growable =
  | Uint8Array<ArrayBuffer>
  | Uint32Array<ArrayBuffer>
  | Int16Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Float64Array<ArrayBuffer>;

/** `array` while it has so many entries, else a copy at least twice as long, with zeros behind: memory apart, which may be kept. */
export function lengthened<A extends Growable>(array: A, length: number): A {
  if (array.length >= length) return array;
  const make = array.constructor as new (length: number) => A;
  const longer = new make(Math.max(length, 2 * array.length));
  longer.set(array);
  return longer;
}

/** What arrays begin as: most states of a small query never grow some of theirs. */
export const NO_FLOAT64: Float64Array<ArrayBuffer> = new Float64Array(0);
export const NO_INT32: Int32Array<ArrayBuffer> = new Int32Array(0);
export const NO_UINT8: Uint8Array<ArrayBuffer> = new Uint8Array(0);
export const NO_UINT32: Uint32Array<ArrayBuffer> = new Uint32Array(0);

/**
 * Arrays with an entry per group, grown by doubling as groups appear: of one run, and copied by `slice` where they
 * are to leave it. Each gives back `array` itself while it is long enough, else a longer copy
 * whose new entries hold `fill`.
 */
export function grownFloat64(array: Float64Array<ArrayBuffer>, length: number, fill = 0) {
  return grown(array, length, carvedFloat64, fill);
}

export function grownInt32(array: Int32Array<ArrayBuffer>, length: number, fill = 0) {
  return grown(array, length, carvedInt32, fill);
}

export function grownUint8(array: Uint8Array<ArrayBuffer>, length: number) {
  return grown(array, length, carvedUint8, 0);
}

export function grownUint32(array: Uint32Array<ArrayBuffer>, length: number) {
  return grown(array, length, carvedUint32, 0);
}

function grown<A extends Growable>(
  array: A,
  length: number,
  carve: (length: number) => A,
  fill: number,
): A {
  if (array.length >= length) return array;
  const longer = ofRun(grownLength(array, length), carve);
  longer.set(array);
  if (fill !== 0) longer.fill(fill, array.length);
  return longer;
}

/** Zeros for the run at hand alone: a hash table, say. */
export function runInt32(length: number): Int32Array<ArrayBuffer> {
  return ofRun(length, carvedInt32);
}

export function runFloat64(length: number): Float64Array<ArrayBuffer> {
  return ofRun(length, carvedFloat64);
}

function ofRun<A extends Growable>(length: number, carve: (length: number) => A): A {
  const none = carve(0);
  const byteSize = length * none.BYTES_PER_ELEMENT;
  if (!runMemory.isInUse || byteSize < REUSED_BYTES_MIN) return carve(length);
  const make = none.constructor as new (buffer: ArrayBuffer, start: number, length: number) => A;
  return new make(runMemory.take(byteSize), 0, length);
}

/** Bytes of an array from which its memory is used again. */
const REUSED_BYTES_MIN = 65_536;

/**
 * Memory of the large arrays of a run, which the runs after it use again: a system may take longer to give new memory to a
 * process than a run takes to fill it, and V8 gives memory back when it collects it. Only where runs do not overlap, and
 * say when they begin and end.
 */
class RunMemory {
  isInUse = false;
  /** Bytes kept of the runs that have ended. */
  keptSize = 0;
  #taken: ArrayBuffer[] = [];
  readonly #free = new Map<number, ArrayBuffer[]>();

  /** Zeros: as many as asked for, and others behind them. */
  take(byteSize: number): ArrayBuffer {
    const size = 2 ** Math.ceil(Math.log2(byteSize));
    const known = this.#free.get(size)?.pop();
    if (known !== undefined) new Uint8Array(known, 0, byteSize).fill(0);
    const buffer = known ?? new ArrayBuffer(size);
    this.#taken.push(buffer);
    return buffer;
  }

  /** From here on nobody reads the arrays of the runs before. */
  begin(): void {
    this.isInUse = true;
    for (const buffer of this.#taken) {
      const { byteLength } = buffer;
      // What was moved to another thread is that one's.
      if (byteLength === 0) continue;
      const alike = this.#free.get(byteLength) ?? [];
      alike.push(buffer);
      this.#free.set(byteLength, alike);
    }
    this.#taken = [];
  }

  /** Nothing of the run at hand, nor of those before, is used again: what nobody reads is garbage. */
  forget(): void {
    this.#taken = [];
    this.#free.clear();
    this.keptSize = 0;
  }

  /** Keeps so many bytes at most, those that were taken last: the largest of each array that grew. */
  end(bytesMax: number): void {
    const all = [...this.#taken.reverse(), ...[...this.#free.values()].flat()];
    this.#free.clear();
    this.keptSize = 0;
    this.#taken = all.filter((buffer) => {
      const isKept = this.keptSize + buffer.byteLength <= bytesMax;
      if (isKept) this.keptSize += buffer.byteLength;
      return isKept;
    });
  }
}

/** Of this thread. */
export const runMemory = new RunMemory();

/** Bytes of the first array: most states of a small query need no more. */
export const FIRST_BYTES = HEAP_BYTES_MAX;

/** Entries of the longest array that V8 of Node 20 makes. */
const LENGTH_MAX = 2 ** 32;

function grownLength(
  { length, BYTES_PER_ELEMENT }: { readonly length: number; readonly BYTES_PER_ELEMENT: number },
  wanted: number,
): number {
  return Math.max(FIRST_BYTES / BYTES_PER_ELEMENT, Math.min(length * 2, LENGTH_MAX), wanted);
}

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
