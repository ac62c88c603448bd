import { stringReference } from '../engine/columns.ts';
import * as ascii from './ascii.ts';
import { copyPieces, copyPiecesInSlices, sizeOfPieces } from './body-pieces.ts';
import type { Loan } from './memory-pool.ts';

/**
 * The bytes of one body, followed by every string made while it is decoded, so that one kind of reference can name both.
 *
 * ```
 * ┌───────────────┬────┬───────────────────────────┬────────┐
 * │ body, as sent │ 00 │ strings made: unescaped … │ spare  │
 * └───────────────┴────┴───────────────────────────┴────────┘
 *  0               bodySize                         size
 * ```
 *
 * The zero byte, which JSON never contains, ends every loop over the text without a test for the end. The body is never
 * changed, because lists that are stored as text refer to it. `bytes` is replaced when it grows, so a caller must read it
 * again after an append.
 */
export class BodyText {
  readonly bodySize: number;
  bytes: Buffer;
  size: number;
  readonly #memory: Loan;

  private constructor(bodySize: number, memory: Loan) {
    this.#memory = memory;
    this.bodySize = bodySize;
    this.size = bodySize + 1;
    // One sixteenth suffices for the unescaped strings of most bodies. The memory need not be zeroed: it is written
    // before it is read.
    this.bytes = memory.bytes(this.size + (bodySize >>> 4) + 256);
    this.bytes[bodySize] = 0;
  }

  /** Copies `pieces`, end to end, into `memory`. */
  static of(pieces: readonly Uint8Array[], memory: Loan): BodyText {
    const text = new BodyText(sizeOfPieces(pieces), memory);
    copyPieces(pieces, text.bytes);
    return text;
  }

  /** Copies `pieces`, end to end, into `memory`. Yields to the event loop every COPY_SLICE_BYTES. */
  static async inSlices(pieces: readonly Uint8Array[], memory: Loan): Promise<BodyText> {
    const text = new BodyText(sizeOfPieces(pieces), memory);
    await copyPiecesInSlices(pieces, text.bytes);
    return text;
  }

  /** Makes room for `byteCount` more bytes and returns the offset where they go. */
  reserve(byteCount: number): number {
    const start = this.size;
    this.size += byteCount;
    if (this.size > this.bytes.length) {
      const grown = this.#memory.bytes(this.size + (this.size >>> 1));
      this.bytes.copy(grown, 0, 0, start);
      this.bytes = grown;
    }
    return start;
  }

  /** Appends ASCII and returns its reference. */
  appendAscii(text: string): number {
    const start = this.reserve(text.length);
    for (let index = 0; index < text.length; index++) {
      this.bytes[start + index] = text.charCodeAt(index);
    }
    return stringReference(start, text.length);
  }

  /**
   * Appends the string whose escaped form is `[start, end)`, and returns its reference. The escapes must be valid. The result
   * is never longer than its escaped form.
   */
  appendUnescaped(start: number, end: number): number {
    const target = this.reserve(end - start);
    const stop = writeUnescaped(this.bytes, start, end, target);
    this.size = stop;
    return stringReference(target, stop - target);
  }

  /** The bytes `[start, end)`, which are ASCII, as a JavaScript string. */
  ascii(start: number, end: number): string {
    return this.bytes.toString('latin1', start, end);
  }

  utf8(start: number, end: number): string {
    return this.bytes.toString('utf8', start, end);
  }
}

/** Writes `[start, end)` without its escapes to `target`. Returns the offset after the last byte written. */
function writeUnescaped(bytes: Uint8Array, start: number, end: number, target: number): number {
  let read = start;
  let write = target;
  while (read < end) {
    const byte = bytes[read]!;
    if (byte !== ascii.BACKSLASH) {
      bytes[write++] = byte;
      read++;
    } else if (bytes[read + 1] !== ascii.LOWER_U) {
      bytes[write++] = SHORT_ESCAPES[bytes[read + 1]!]!;
      read += 2;
    } else {
      let codePoint = hexadecimal(bytes, read + 2);
      read += 6;
      if (isHighSurrogate(codePoint) && isUnicodeEscape(bytes, read, end)) {
        const low = hexadecimal(bytes, read + 2);
        if (isLowSurrogate(low)) {
          codePoint = 0x10000 + ((codePoint & 0x3ff) << 10) + (low & 0x3ff);
          read += 6;
        }
      }
      write = writeCodePoint(bytes, write, codePoint);
    }
  }
  return write;
}

/**
 * For each byte that may follow a backslash, except `u`: the character that the escape means; zero if there is none. An
 * array, because a string may consist of escapes, and a map is slower.
 */
export const SHORT_ESCAPES = new Uint8Array(256);
SHORT_ESCAPES[ascii.QUOTE] = ascii.QUOTE;
SHORT_ESCAPES[ascii.BACKSLASH] = ascii.BACKSLASH;
SHORT_ESCAPES[ascii.SLASH] = ascii.SLASH;
SHORT_ESCAPES[ascii.LOWER_B] = 0x08;
SHORT_ESCAPES[ascii.LOWER_F] = 0x0c;
SHORT_ESCAPES[ascii.LOWER_N] = ascii.LINE_FEED;
SHORT_ESCAPES[ascii.LOWER_R] = ascii.CARRIAGE_RETURN;
SHORT_ESCAPES[ascii.LOWER_T] = ascii.TAB;

function isUnicodeEscape(bytes: Uint8Array, at: number, end: number): boolean {
  return at + 6 <= end && bytes[at] === ascii.BACKSLASH && bytes[at + 1] === ascii.LOWER_U;
}

function isHighSurrogate(codeUnit: number): boolean {
  return codeUnit >= 0xd800 && codeUnit < 0xdc00;
}

function isLowSurrogate(codeUnit: number): boolean {
  return codeUnit >= 0xdc00 && codeUnit < 0xe000;
}

/** The value of four hexadecimal digits. */
function hexadecimal(bytes: Uint8Array, start: number): number {
  let value = 0;
  for (let index = start; index < start + 4; index++) {
    const byte = bytes[index]!;
    value = value * 16 + (byte <= ascii.DIGIT_9 ? byte - ascii.DIGIT_0 : (byte | 0x20) - 0x61 + 10);
  }
  return value;
}

/** Writes a code point as UTF-8. A lone surrogate becomes three bytes (WTF-8). */
function writeCodePoint(bytes: Uint8Array, target: number, codePoint: number): number {
  let write = target;
  if (codePoint < 0x80) {
    bytes[write++] = codePoint;
  } else if (codePoint < 0x800) {
    bytes[write++] = 0xc0 | (codePoint >> 6);
    bytes[write++] = 0x80 | (codePoint & 0x3f);
  } else if (codePoint < 0x10000) {
    bytes[write++] = 0xe0 | (codePoint >> 12);
    bytes[write++] = 0x80 | ((codePoint >> 6) & 0x3f);
    bytes[write++] = 0x80 | (codePoint & 0x3f);
  } else {
    bytes[write++] = 0xf0 | (codePoint >> 18);
    bytes[write++] = 0x80 | ((codePoint >> 12) & 0x3f);
    bytes[write++] = 0x80 | ((codePoint >> 6) & 0x3f);
    bytes[write++] = 0x80 | (codePoint & 0x3f);
  }
  return write;
}
