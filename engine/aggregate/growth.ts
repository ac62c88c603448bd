/** What arrays begin as: most states of a small query never grow some of theirs. */
export const NO_FLOAT64: Float64Array<ArrayBuffer> = new Float64Array(0);
export const NO_INT32: Int32Array<ArrayBuffer> = new Int32Array(0);
export const NO_UINT8: Uint8Array<ArrayBuffer> = new Uint8Array(0);
export const NO_UINT32: Uint32Array<ArrayBuffer> = new Uint32Array(0);

/**
 * Arrays with an entry per group, grown by doubling as groups appear. Each gives back `array`
 * itself while it is long enough, else a longer copy whose new entries hold `fill`.
 */
export function grownFloat64(
  array: Float64Array<ArrayBuffer>,
  length: number,
  fill = 0,
): Float64Array<ArrayBuffer> {
  if (array.length >= length) return array;
  const grown = new Float64Array(grownLength(array, length));
  grown.set(array);
  if (fill !== 0) grown.fill(fill, array.length);
  return grown;
}

export function grownInt32(
  array: Int32Array<ArrayBuffer>,
  length: number,
  fill = 0,
): Int32Array<ArrayBuffer> {
  if (array.length >= length) return array;
  const grown = new Int32Array(grownLength(array, length));
  grown.set(array);
  if (fill !== 0) grown.fill(fill, array.length);
  return grown;
}

export function grownUint8(
  array: Uint8Array<ArrayBuffer>,
  length: number,
): Uint8Array<ArrayBuffer> {
  if (array.length >= length) return array;
  const grown = new Uint8Array(grownLength(array, length));
  grown.set(array);
  return grown;
}

export function grownUint32(
  array: Uint32Array<ArrayBuffer>,
  length: number,
): Uint32Array<ArrayBuffer> {
  if (array.length >= length) return array;
  const grown = new Uint32Array(grownLength(array, length));
  grown.set(array);
  return grown;
}

/**
 * Bytes of the first array: V8 has so many in its own heap, where one is made in a tenth of the time it takes
 * elsewhere, and most states of a small query need no more.
 */
export const FIRST_BYTES = 64;

function grownLength(
  { length, BYTES_PER_ELEMENT }: { readonly length: number; readonly BYTES_PER_ELEMENT: number },
  wanted: number,
): number {
  return Math.max(FIRST_BYTES / BYTES_PER_ELEMENT, length * 2, wanted);
}
