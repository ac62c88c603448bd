/** Characters of a body that are left to what stands around its many parts. */
export const FRAME_SIZE = 512;

/** One part after another, until they have about so many characters. */
export function many(size: number, part: (index: number) => string, separator = ','): string {
  const parts: string[] = [];
  let length = FRAME_SIZE;
  for (let index = 0; ; index++) {
    const next = part(index);
    length += next.length + separator.length;
    if (length > size && index > 0) return parts.join(separator);
    parts.push(next);
  }
}

/** One part over and over. */
export function repeated(size: number, part: string): string {
  return part.repeat(Math.max(1, Math.floor((size - FRAME_SIZE) / part.length)));
}

/** `open` and `close` as often as fit, around `core`. */
export function nested(size: number, open: string, close: string, core = '1'): string {
  const depth = Math.max(1, Math.floor((size - FRAME_SIZE) / (open.length + close.length)));
  return open.repeat(depth) + core + close.repeat(depth);
}

/** The members of an object with as many keys as fit. */
export function members(size: number): string {
  return many(size, (index) => `"k${index.toString(36)}":1`);
}
