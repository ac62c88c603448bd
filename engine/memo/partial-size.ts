/** What a value of some parts costs beside them, and a typed array beside its bytes. */
const OBJECT_BYTES = 32;
const ARRAY_BYTES = 160;

/**
 * About how many bytes a partial state takes, with all that its arrays keep in memory; or some number above
 * `bytesMax`, as soon as that is sure.
 */
export function partialSize(partial: unknown, bytesMax = Number.POSITIVE_INFINITY): number {
  const buffers = new Set<ArrayBufferLike>();
  let size = 0;
  const waiting: unknown[] = [partial];
  while (waiting.length > 0 && size <= bytesMax) {
    const value = waiting.pop();
    if (typeof value === 'string') size += 2 * value.length;
    if (typeof value !== 'object' || value === null) {
      size += 8;
    } else if (ArrayBuffer.isView(value)) {
      size += ARRAY_BYTES;
      if (!buffers.has(value.buffer)) size += value.buffer.byteLength;
      buffers.add(value.buffer);
    } else {
      size += OBJECT_BYTES;
      const parts = Object.values(value);
      // Each takes at least so many.
      if (size + 8 * parts.length > bytesMax) return size + 8 * parts.length;
      for (const part of parts) waiting.push(part);
    }
  }
  return size;
}
