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
 * No part of a block is carved twice, so an array is its owner's for good. But it keeps the whole block alive, and
 * takes it along to another thread: what outlives a run, or leaves the thread, is copied by `slice`.
 */
export function carvedFloat64(length: number): Float64Array<ArrayBuffer> {
  const byteSize = length * Float64Array.BYTES_PER_ELEMENT;
  if (!isCarved(byteSize)) return new Float64Array(length);
  const start = carve(byteSize);
  return new Float64Array(block, start, length);
}

export function carvedInt32(length: number): Int32Array<ArrayBuffer> {
  const byteSize = length * Int32Array.BYTES_PER_ELEMENT;
  if (!isCarved(byteSize)) return new Int32Array(length);
  const start = carve(byteSize);
  return new Int32Array(block, start, length);
}

export function carvedUint32(length: number): Uint32Array<ArrayBuffer> {
  const byteSize = length * Uint32Array.BYTES_PER_ELEMENT;
  if (!isCarved(byteSize)) return new Uint32Array(length);
  const start = carve(byteSize);
  return new Uint32Array(block, start, length);
}

export function carvedUint16(length: number): Uint16Array<ArrayBuffer> {
  const byteSize = length * Uint16Array.BYTES_PER_ELEMENT;
  if (!isCarved(byteSize)) return new Uint16Array(length);
  const start = carve(byteSize);
  return new Uint16Array(block, start, length);
}

export function carvedUint8(length: number): Uint8Array<ArrayBuffer> {
  if (!isCarved(length)) return new Uint8Array(length);
  const start = carve(length);
  return new Uint8Array(block, start, length);
}

/** Bytes that V8 has in its own heap (`V8_TYPED_ARRAY_MAX_SIZE_IN_HEAP`). */
export const HEAP_BYTES_MAX = 64;

/** Bytes of a larger array beside which the making of its memory is little: they take as long to write. */
const CARVED_BYTES_MAX = 4_096;

/**
 * Bytes of a block: several of the largest arrays, so that little is left over at its end, and its making is little for
 * each. With 8 KiB an array of 480 bytes takes twice the time, with 64 KiB a fifth less; but what keeps one keeps all.
 */
const BLOCK_BYTES = 32 * 1_024;

/** No array needs more. */
const ALIGNMENT = 8;

let block = new ArrayBuffer(0);
/** Bytes of it that are carved. */
let carvedSize = 0;

function isCarved(byteSize: number): boolean {
  return byteSize > HEAP_BYTES_MAX && byteSize <= CARVED_BYTES_MAX;
}

/** Where so many bytes begin in the block at hand. */
function carve(byteSize: number): number {
  if (carvedSize + byteSize > block.byteLength) {
    block = new ArrayBuffer(BLOCK_BYTES);
    carvedSize = 0;
  }
  const start = carvedSize;
  carvedSize = (start + byteSize + ALIGNMENT - 1) & -ALIGNMENT;
  return start;
}

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
