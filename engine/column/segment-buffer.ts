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
export function growSegmentBuffer(buffer: SharedArrayBuffer, size: number): boolean {
  const growable = buffer as GrowableBuffer;
  if (size > growable.maxByteLength) return false;
  growable.grow(size);
  return true;
}
