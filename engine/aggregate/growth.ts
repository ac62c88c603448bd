import {
  carvedFloat64,
  carvedInt32,
  carvedUint8,
  carvedUint32,
  HEAP_BYTES_MAX,
} from '../column/carved-arrays.ts';

/** What arrays begin as: most states of a small query never grow some of theirs. */
export const NO_FLOAT64: Float64Array<ArrayBuffer> = new Float64Array(0);
export const NO_INT32: Int32Array<ArrayBuffer> = new Int32Array(0);
export const NO_UINT8: Uint8Array<ArrayBuffer> = new Uint8Array(0);
export const NO_UINT32: Uint32Array<ArrayBuffer> = new Uint32Array(0);

type Growable =
  | Float64Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Uint8Array<ArrayBuffer>
  | Uint32Array<ArrayBuffer>;

/**
 * Arrays with an entry per group, grown by doubling as groups appear: of one run, and copied by `slice` where they
 * are to leave it (`carved-arrays.ts`). Each gives back `array` itself while it is long enough, else a longer copy
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
  const longer = carve(grownLength(array, length));
  longer.set(array);
  if (fill !== 0) longer.fill(fill, array.length);
  return longer;
}

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
