const HEX_DIGITS = Uint8Array.from(Buffer.from('0123456789abcdef', 'latin1'));
/** Hex digits of each byte of a UUID begin here in its canonical form. */
const UUID_PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34] as const;
const DASH_PLACES = [8, 13, 18, 23] as const;
const DASH = 0x2d;

/** The value of a lower-case hexadecimal digit, or -1; indexed by byte. */
export const DIGIT_VALUES = new Int8Array(256).fill(-1);
for (let digit = 0; digit < 16; digit++) DIGIT_VALUES[HEX_DIGITS[digit]!] = digit;

export const UUID_BYTES = 16;
export const UUID_LENGTH = 36;

/** Writes the digits packed at `bytes[start]` to `text[at]`; gives where they end. */
export function unpackHex(
  bytes: Uint8Array,
  start: number,
  digitCount: number,
  text: Uint8Array,
  at: number,
): number {
  let to = at;
  for (let index = start; index < start + (digitCount >> 1); index++) {
    const byte = bytes[index]!;
    text[to++] = HEX_DIGITS[byte >> 4]!;
    text[to++] = HEX_DIGITS[byte & 15]!;
  }
  if ((digitCount & 1) === 1) text[to] = HEX_DIGITS[bytes[start + (digitCount >> 1)]! >> 4]!;
  return at + digitCount;
}

/** Writes the UUID packed at `bytes[start]` to `text[at]`; gives where it ends. */
export function unpackUuid(bytes: Uint8Array, start: number, text: Uint8Array, at: number): number {
  for (let index = 0; index < UUID_BYTES; index++) {
    const byte = bytes[start + index]!;
    const to = at + UUID_PLACES[index]!;
    text[to] = HEX_DIGITS[byte >> 4]!;
    text[to + 1] = HEX_DIGITS[byte & 15]!;
  }
  for (const place of DASH_PLACES) text[at + place] = DASH;
  return at + UUID_LENGTH;
}

/**
 * Packs the text `bytes[start, end)` to the first bytes of `packed`, if it is a UUID in its canonical form;
 * gives whether.
 */
export function packUuid(
  bytes: Uint8Array,
  start: number,
  end: number,
  packed: Uint8Array,
): boolean {
  if (end - start !== UUID_LENGTH) return false;
  for (const place of DASH_PLACES) if (bytes[start + place] !== DASH) return false;
  for (let index = 0; index < UUID_BYTES; index++) {
    const at = start + UUID_PLACES[index]!;
    const high = DIGIT_VALUES[bytes[at]!]!;
    const low = DIGIT_VALUES[bytes[at + 1]!]!;
    if ((high | low) < 0) return false;
    packed[index] = (high << 4) | low;
  }
  return true;
}
