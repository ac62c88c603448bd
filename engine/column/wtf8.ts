import { keepLast } from './caches.ts';
import type { ByteRange } from './skeleton.ts';
import type { StringBlock } from './vector.ts';

/**
 * Strings as bytes: UTF-8, and a lone surrogate as the three bytes UTF-8 would give its code point
 * (WTF-8, https://simonsapin.github.io/wtf-8/). Every JavaScript string has exactly one such form.
 */

const REPLACEMENT = '\ufffd';
const REPLACEMENT_BYTES = Buffer.from(REPLACEMENT, 'utf8');

/** The bytes of any string. They may lie in a shared pool: copy them to keep them long. */
export function encodeWtf8(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'utf8');
  // Node writes U+FFFD for a lone surrogate; a U+FFFD of the text itself merely costs the slow form.
  return bytes.indexOf(REPLACEMENT_BYTES) < 0 ? bytes : encodeUnits(text);
}

/** As `encodeWtf8`, of a text that is asked for again and again: each run looks for one key in many segments. */
export const encodedKey = keepLast((text: string) => new Uint8Array(encodeWtf8(text)));

/** The string behind `bytes[start, end)`, which hold what `encodeWtf8` gives. */
export function decodeWtf8(bytes: Uint8Array, start: number, end: number): string {
  const text = decodeValid(bytes, start, end);
  return text.includes(REPLACEMENT) ? decodeUnits(bytes, start, end) : text;
}

/** One of some strings that lie end to end, as `encodeWtf8` gives them. */
export function textAt({ bytes, offsets }: StringBlock, index: number): string {
  return decodeWtf8(bytes, offsets[index]!, offsets[index + 1]!);
}

/** How two strings compare by code point: negative when `left` stands before `right`. */
export function compareRanges(left: ByteRange, right: ByteRange): number {
  const { bytes, start, end } = left;
  const { bytes: others, start: otherStart } = right;
  const size = end - start;
  const otherSize = right.end - otherStart;
  const sizeMin = Math.min(size, otherSize);
  for (let index = 0; index < sizeMin; index++) {
    const difference = bytes[start + index]! - others[otherStart + index]!;
    if (difference !== 0) return difference;
  }
  return size - otherSize;
}

/** Whether the three bytes at `at` are a lone surrogate. */
export function isSurrogateAt(bytes: Uint8Array, at: number, end: number): boolean {
  return at + 2 < end && bytes[at] === 0xed && bytes[at + 1]! >= 0xa0;
}

/** The code unit behind the three bytes at `at`. */
export function threeByteUnit(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! & 0x0f) << 12) | ((bytes[at + 1]! & 0x3f) << 6) | (bytes[at + 2]! & 0x3f);
}

function encodeUnits(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length * 3);
  let size = 0;
  for (let index = 0; index < text.length; index++) {
    const point = text.codePointAt(index)!;
    if (point < 0x80) {
      bytes[size++] = point;
    } else if (point < 0x800) {
      bytes[size++] = 0xc0 | (point >> 6);
      bytes[size++] = 0x80 | (point & 0x3f);
    } else if (point < 0x10000) {
      bytes[size++] = 0xe0 | (point >> 12);
      bytes[size++] = 0x80 | ((point >> 6) & 0x3f);
      bytes[size++] = 0x80 | (point & 0x3f);
    } else {
      bytes[size++] = 0xf0 | (point >> 18);
      bytes[size++] = 0x80 | ((point >> 12) & 0x3f);
      bytes[size++] = 0x80 | ((point >> 6) & 0x3f);
      bytes[size++] = 0x80 | (point & 0x3f);
      index++;
    }
  }
  return bytes.slice(0, size);
}

function decodeUnits(bytes: Uint8Array, start: number, end: number): string {
  const parts: string[] = [];
  let from = start;
  for (let at = start; at < end; at++) {
    if (!isSurrogateAt(bytes, at, end)) continue;
    parts.push(decodeValid(bytes, from, at), String.fromCharCode(threeByteUnit(bytes, at)));
    from = at + 3;
    at += 2;
  }
  parts.push(decodeValid(bytes, from, end));
  return parts.join('');
}

/**
 * `Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8')`, without the Buffer: to make one takes
 * longer than to decode a short text. Node has had the method for any view of bytes since its first versions, but its types
 * leave it out.
 */
function decodeValid(bytes: Uint8Array, start: number, end: number): string {
  return utf8Slice.call(bytes, start, end);
}

const { utf8Slice } = Buffer.prototype as unknown as {
  readonly utf8Slice: (this: Uint8Array, start: number, end: number) => string;
};

/** Half of a pair on its own; with the flag `u` whole pairs are one code point and do not match. */
export const LONE_SURROGATE = /\p{Surrogate}/u;

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

/** Copies bytes [start, end) to `offset`, a word at a time: `set` of a subarray goes byte by byte where memory is shared. */
export function copyWords(
  source: DataView,
  start: number,
  end: number,
  target: DataView,
  offset: number,
): void {
  let at = start;
  let to = offset;
  for (; at + WORD_SIZE <= end; at += WORD_SIZE, to += WORD_SIZE) {
    target.setInt32(to, source.getInt32(at, true), true);
  }
  for (; at < end; at++, to++) target.setUint8(to, source.getUint8(at));
}
