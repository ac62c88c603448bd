/** Bytes of a word as they are copied: in JavaScript no wider integer comes without an object. */
export const WORD_SIZE = 4;

/**
 * Bytes of ASCII that are copied at once, as a double, and stay what they are: only a NaN might come out as another one,
 * and its exponent has a byte beyond ASCII.
 */
export const ASCII_COPY_SIZE = 8;

/**
 * Bytes that are copied word by word, which takes half the time and less than byte by byte. The last
 * word of a piece may reach three bytes beyond it: they must be there, and are not looked at.
 */
export type ViewedBytes = {
  /** Ends three bytes or more behind the last piece that is asked for. */
  readonly bytes: Uint8Array;
  /** Of the same bytes. */
  readonly view: DataView;
};

export function viewed(bytes: Uint8Array): ViewedBytes {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
}

/**
 * Whether some byte of a word may need an escape in a JSON string: each that does is found, and with
 * them all beyond ASCII. Subtracting 1 from a byte sets its highest bit when it was 0, and 0x20 when it
 * was less (Warren, "Hacker's Delight", 6-1); a borrow from the byte below may make it find one too
 * many, never one too few.
 */
export function mayNeedEscape(word: number): boolean {
  const quotes = (word ^ 0x22222222) - 0x01010101;
  const backslashes = (word ^ 0x5c5c5c5c) - 0x01010101;
  const controls = word - 0x20202020;
  return ((word | quotes | backslashes | controls) & 0x80808080) !== 0;
}
