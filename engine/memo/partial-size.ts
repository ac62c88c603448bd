/** What a value of some parts costs beside them, and a typed array beside its bytes. */
const OBJECT_BYTES = 32;
const ARRAY_BYTES = 160;

/** About how many bytes a partial state takes, with all that its arrays keep in memory. */
export function partialSize(partial: unknown): number {
  const buffers = new Set<ArrayBufferLike>();
  let size = 0;
  const waiting: unknown[] = [partial];
  while (waiting.length > 0) {
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
      for (const part of Object.values(value)) waiting.push(part);
    }
  }
  return size;
}
