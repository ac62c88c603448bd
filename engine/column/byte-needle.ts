/**
 * Bytes to be looked for in others, by the method of Horspool ("Practical fast searching in strings", 1980):
 * it looks at the byte where they would end and skips as far as that allows.
 */
export class ByteNeedle {
  readonly bytes: Uint8Array;
  /** How far to move on, by the byte that stands where the bytes would end. */
  readonly #shifts: Int32Array;

  /** Keeps `bytes`. */
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#shifts = new Int32Array(256).fill(bytes.length);
    for (let index = 0; index < bytes.length - 1; index++) {
      this.#shifts[bytes[index]!] = bytes.length - 1 - index;
    }
  }

  /** Where they first begin in `text[start, end)`; -1: nowhere. No bytes are found at once. */
  find(text: Uint8Array, start: number, end: number): number {
    const { length } = this.bytes;
    if (length === 0) return start;
    const shifts = this.#shifts;
    const last = length - 1;
    const lastByte = this.bytes[last]!;
    for (let at = start + last; at < end; ) {
      const byte = text[at]!;
      if (byte === lastByte && this.isAt(text, at - last, end)) return at - last;
      at += shifts[byte]!;
    }
    return -1;
  }

  /** Whether `text[at, end)` begins with them. */
  isAt(text: Uint8Array, at: number, end: number): boolean {
    const bytes = this.bytes;
    if (at + bytes.length > end) return false;
    for (let index = 0; index < bytes.length; index++) {
      if (text[at + index] !== bytes[index]) return false;
    }
    return true;
  }
}
