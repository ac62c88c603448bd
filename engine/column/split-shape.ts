import { UUID_BYTES, UUID_LENGTH, unpackHex, unpackUuid } from './number-vectors.ts';
import type { BlockFooter, Slice, SliceSource } from './slice.ts';
import type { SplitBlock, StringBlock } from './vector.ts';

/**
 * Long strings, nearly all different, that are made by few rules: URLs, paths, queries. Each is a
 * *head*, scheme and host, and a *rest*, that is a shape and parts (`split-shape.ts`).
 *
 * ```
 *  heads       shapes        shape codes   part sizes        parts, end to end
 * ┌─────────┐ ┌──────────┐  ┌───┬───┬──   ┌───┬───┬───┬──   ┌───────────┬──────┬──────────────┬──
 * │ strings │ │ strings  │  │ 3 │ 1 │ …   │11 │ 6 │14 │ …   │ of entry 0│ of 1 │ of 2         │ …
 * └─────────┘ └──────────┘  └───┴───┴──   └───┴───┴───┴──   └───────────┴──────┴──────────────┴──
 * ```
 *
 * - Rows are sorted by project, so entries have one head for long: run `i` of one head begins with
 *   entry `headStarts[i]` and has the head `headCodes[i]`.
 * - The parts of the first of each PART_BLOCK_ENTRIES entries begin at `partStarts`.
 * - The words of all WORD holes are numbered; the entries that hold word `w` are
 *   `wordEntries[wordStarts[w], wordStarts[w + 1])`, ascending: one that holds it twice is there twice.
 * - `wordPlaces`: a byte for each word, of bits for where it fills a hole in some entry: IN_PATH, IN_QUERY. Absent in
 *   segments made before there was any.
 * - `textEntries`: the entries with a TEXT or ANY hole, ascending. All others hold a text with letters
 *   in their head, shape or words, or nowhere.
 */
export type SplitFooter = {
  readonly kind: 'split';
  readonly heads: BlockFooter;
  readonly headStarts: Slice;
  readonly headCodes: Slice;
  /** Whether each string's head is in `heads`; if not, the one head is empty and all is rest. */
  readonly hasHeads: boolean;
  readonly shapes: BlockFooter;
  readonly shapeCodes: Slice;
  readonly parts: Slice;
  readonly partSizes: Slice;
  readonly partSizeWidth: 1 | 2 | 4;
  readonly partStarts: Slice;
  readonly words: BlockFooter;
  readonly wordStarts: Slice;
  readonly wordEntries: Slice;
  readonly wordPlaces?: Slice;
  readonly textEntries: Slice;
};

/** Shape codes are bytes: a predicate looks at each shape once, and counts rows by their bytes. */
export const SHAPES_MAX = 256;

/** Of a word: it fills a hole of the path of some string. */
export const IN_PATH = 1;
/** Of a word: it fills a hole of the query of some string. */
export const IN_QUERY = 2;

/** More make a string slower to find, fewer take more bytes: a start has four. */
export const PART_BLOCK_ENTRIES = 16;

/** Words are looked through for a text one by one: more of them would take longer than a millisecond. */
export const WORDS_MAX = 65_536;

/** Bytes of a word that is numbered: room for as much is made for each that is read. */
export const WORD_SIZE_MAX = 255;

/** No scheme has more letters. */
const SCHEME_SIZE_MAX = 12;

/**
 * Where the head of `bytes[start, end)` ends: scheme and host of a URL, nothing of other strings, nor of one that ends
 * with `://`. The rest of a string with a head begins with `/`, `?` or `#`, or is empty.
 */
export function headEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  const schemeEnd = Math.min(end - 3, start + SCHEME_SIZE_MAX);
  while (at < schemeEnd && bytes[at] !== COLON) at++;
  if (at >= schemeEnd || bytes[at + 1] !== SLASH || bytes[at + 2] !== SLASH) return start;
  at += 3;
  while (at < end && bytes[at] !== SLASH && bytes[at] !== QUESTION && bytes[at] !== HASH) at++;
  return at;
}

const COLON = 0x3a;
const SLASH = 0x2f;
const QUESTION = 0x3f;
const HASH = 0x23;

/**
 * What regular strings such as URLs have in common, and what they have not: a *shape* is a string
 * with holes in the places of what varies, written as bytes. The *parts* of a string fill the holes
 * of its shape, end to end.
 *
 * ```
 *  string   /rest/v1/orders?select=*&id=eq.4711&order=created_at.desc
 *  shape    /rest/v1/orders?select=*&id=eq.◌&order=created_at.desc       ◌: the byte NUMBER
 *  parts    E7 24
 * ```
 *
 * A byte from 0xF8 on is never part of UTF-8 or WTF-8, so the kind of a hole is its byte.
 */

/** Digits without leading zeros, below 2^53: seven bits a byte, the lowest first; 0x80 on all but the last. */
export const NUMBER = 0xf9;
/** Lower-case hexadecimal digits: how many (as a NUMBER), then two a byte, the last perhaps half used. */
export const HEX = 0xfa;
/** The lower-case canonical form: 16 bytes. */
export const UUID = 0xfb;
/** Letters, digits, `_` and bytes from 0x80 on: as a NUMBER which of the words of the column. */
export const WORD = 0xfc;
/** The same bytes: how many (as a NUMBER), then as they are. */
export const TEXT = 0xfd;
/** Any bytes, perhaps none: how many (as a NUMBER), then as they are. */
export const ANY = 0xfe;

const ZERO = 0x30;
const NINE = 0x39;
const LOWER_A = 0x61;
const DASH = 0x2d;

export function isHole(byte: number): boolean {
  return byte >= NUMBER;
}

/** Whether letters of any alphabet fill the hole, and are written nowhere else. */
export function isInline(hole: number): boolean {
  return hole >= TEXT;
}

/** Whether a shape is a hole for anything, which stands alone: its strings lie as they are. */
export function isWhole({ bytes, offsets }: StringBlock, shape: number): boolean {
  const start = offsets[shape]!;
  return bytes[start] === ANY && offsets[shape + 1] === start + 1;
}

/** 1 for bytes of words. */
export const IS_WORD_BYTE = bytesOf((byte) => isDigit(byte) || isLetter(byte) || byte >= 0x80);
const IS_HEX_DIGIT = bytesOf((byte) => isDigit(byte) || (byte >= 0x61 && byte <= 0x66));
const IS_DIGIT = bytesOf(isDigit);
const IS_UUID_BYTE = bytesOf((byte) => IS_HEX_DIGIT[byte] === 1 || byte === DASH);
const IS_ANY_BYTE = bytesOf(() => true);

/** 1 for each byte that what fills the hole may have. */
export function bytesInHole(hole: number): Uint8Array {
  if (hole === NUMBER) return IS_DIGIT;
  if (hole === HEX) return IS_HEX_DIGIT;
  if (hole === UUID) return IS_UUID_BYTE;
  return hole === ANY ? IS_ANY_BYTE : IS_WORD_BYTE;
}

/** Longer digits might not be exact as a double. */
export const NUMBER_DIGITS_MAX = 15;
/** Shorter ones do not repay the byte that counts them. */
const HEX_DIGITS_MIN = 4;

/** The hole that a word, `bytes[start, end)`, fills in the fewest bytes; WORD also for TEXT. */
export function holeOfWord(bytes: Uint8Array, start: number, end: number): number {
  let digitCount = 0;
  for (let at = start; at < end; at++) {
    if (IS_HEX_DIGIT[bytes[at]!] === 0) return WORD;
    digitCount += IS_DIGIT[bytes[at]!]!;
  }
  const size = end - start;
  const isNumber = bytes[start] !== ZERO || size === 1;
  if (digitCount === size && isNumber && size <= NUMBER_DIGITS_MAX) return NUMBER;
  return size < HEX_DIGITS_MIN ? WORD : HEX;
}

/** Whether a UUID in its lower-case canonical form begins at `at`, and ends with its word. */
export function isUuidAt(bytes: Uint8Array, at: number, end: number): boolean {
  const last = at + UUID_LENGTH;
  if (last > end || bytes[at + 8] !== DASH) return false;
  if (last < end && IS_WORD_BYTE[bytes[last]!] === 1) return false;
  for (let index = 0; index < UUID_LENGTH; index++) {
    const isDash = index === 8 || index === 13 || index === 18 || index === 23;
    const byte = bytes[at + index]!;
    if (isDash ? byte !== DASH : IS_HEX_DIGIT[byte] === 0) return false;
  }
  return true;
}

/**
 * Writes what fills a hole, `bytes[start, end)`, as a part at `parts[to]`; gives where that ends. Of a
 * WORD the number is written with `writeCount`.
 */
export function writePart(
  hole: number,
  { bytes, start, end }: { bytes: Uint8Array; start: number; end: number },
  parts: Uint8Array,
  to: number,
): number {
  if (hole === NUMBER) {
    let value = 0;
    for (let at = start; at < end; at++) value = value * 10 + bytes[at]! - ZERO;
    return writeCount(value, parts, to);
  }
  let next = to;
  if (hole === HEX || hole === UUID) {
    if (hole === HEX) next = writeCount(end - start, parts, to);
    let isHigh = true;
    for (let at = start; at < end; at++) {
      const byte = bytes[at]!;
      if (byte === DASH) continue;
      const digit = byte <= NINE ? byte - ZERO : byte - LOWER_A + 10;
      if (isHigh) parts[next] = digit << 4;
      else parts[next++]! |= digit;
      isHigh = !isHigh;
    }
    return isHigh ? next : next + 1;
  }
  next = writeCount(end - start, parts, to);
  for (let at = start; at < end; at++) parts[next++] = bytes[at]!;
  return next;
}

/** Bytes a part takes at most for each byte of the string: the number of the word `a` has up to 4. */
export const PART_BYTES_PER_BYTE_MAX = 4;

/** Seven bits of a number to a byte, the lowest first; 0x80 is set on all bytes but the last. */
export function writeCount(value: number, parts: Uint8Array, to: number): number {
  let rest = value;
  let next = to;
  while (rest >= 0x80) {
    parts[next++] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  parts[next++] = rest;
  return next;
}

export const NOT_COUNTED = -1;

/** Of each shape how many holes it has, where all of them are filled by counts; else NOT_COUNTED. */
export function countedHoles({ bytes, offsets }: StringBlock): Int16Array {
  return Int16Array.from({ length: offsets.length - 1 }, (_, shape) => {
    const holes = bytes.subarray(offsets[shape]!, offsets[shape + 1]!).filter(isHole);
    return holes.every((hole) => hole === NUMBER || hole === WORD) ? holes.length : NOT_COUNTED;
  });
}

/** As `countedHoles` of strings that these do not tell apart. */
export function noCountedHoles({ offsets }: StringBlock): Int16Array {
  return new Int16Array(offsets.length - 1).fill(NOT_COUNTED);
}

/** Reads parts where they lie, one after the other: all that reads them shares one. */
export class PartReader {
  /** Where the next part begins. */
  at = 0;

  /** Writes what fills a hole at `text[to]`; gives where it ends. `words`: those of the column. */
  fill(
    hole: number,
    { parts, words }: { readonly parts: Uint8Array; readonly words: StringBlock },
    text: Uint8Array,
    to: number,
  ): number {
    if (hole === UUID) {
      const end = unpackUuid(parts, this.at, text, to);
      this.at += UUID_BYTES;
      return end;
    }
    const count = this.count(parts);
    if (hole === NUMBER) return writeDigits(count, text, to);
    if (hole === HEX) {
      const end = unpackHex(parts, this.at, count, text, to);
      this.at += (count + 1) >> 1;
      return end;
    }
    if (hole === WORD) {
      const { bytes, offsets } = words;
      let end = to;
      for (let at = offsets[count]!; at < offsets[count + 1]!; at++) text[end++] = bytes[at]!;
      return end;
    }
    const start = this.at;
    for (let index = 0; index < count; index++) text[to + index] = parts[start + index]!;
    this.at = start + count;
    return to + count;
  }

  /** Leaves out the part of a hole. */
  skip(hole: number, parts: Uint8Array): void {
    if (hole === UUID) {
      this.at += UUID_BYTES;
      return;
    }
    const count = this.count(parts);
    if (hole === HEX) this.at += (count + 1) >> 1;
    else if (isInline(hole)) this.at += count;
  }

  /** Bytes that `fill` writes for the next part at most; not of a WORD. */
  sizeMax(hole: number, parts: Uint8Array): number {
    if (hole === UUID) return UUID_LENGTH;
    if (hole === NUMBER) return NUMBER_DIGITS_MAX;
    const start = this.at;
    const count = this.count(parts);
    this.at = start;
    return count;
  }

  /** Reads the number that the next part is, or begins with. */
  count(parts: Uint8Array): number {
    let byte = parts[this.at++]!;
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    for (let scale = 0x80; byte >= 0x80; scale *= 0x80) {
      byte = parts[this.at++]!;
      value += (byte & 0x7f) * scale;
    }
    return value;
  }
}

/** Bytes of what fills a hole for each byte of its part, at most, but for a WORD. */
export const TEXT_BYTES_PER_PART_BYTE_MAX = 3;

/** Writes a number at `text[to]`; gives where it ends. */
function writeDigits(value: number, text: Uint8Array, to: number): number {
  let size = 1;
  for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) size++;
  let rest = value;
  for (let at = to + size - 1; at >= to; at--) {
    const tenth = Math.floor(rest / 10);
    text[at] = ZERO + rest - 10 * tenth;
    rest = tenth;
  }
  return to + size;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

/** `_` is one of them. */
function isLetter(byte: number): boolean {
  const lower = byte | 0x20;
  return (lower >= 0x61 && lower <= 0x7a) || byte === 0x5f;
}

function bytesOf(isIn: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (isIn(byte) ? 1 : 0));
}

/** Of strings that are taken apart what all of them have in common, without the bytes that each of them takes. */
export type SplitTables = Pick<
  SplitBlock,
  'heads' | 'headStarts' | 'headCodes' | 'shapes' | 'words' | 'textEntries'
>;

export function openSplitTables(source: SliceSource, footer: SplitFooter): SplitTables {
  const open = ({ bytes, offsets }: SplitFooter['heads']): StringBlock => ({
    bytes: source.bytes(bytes),
    offsets: source.unsigned32(offsets),
  });
  return {
    heads: open(footer.heads),
    headStarts: source.unsigned32(footer.headStarts),
    headCodes: source.unsigned32(footer.headCodes),
    shapes: open(footer.shapes),
    words: open(footer.words),
    textEntries: source.unsigned32(footer.textEntries),
  };
}
