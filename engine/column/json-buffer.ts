import { assert } from '../assert.ts';
import type { ByteRange } from './skeleton.ts';
import {
  ASCII_COPY_SIZE,
  isSurrogateAt,
  mayNeedEscape,
  threeByteUnit,
  type ViewedBytes,
  viewed,
  WORD_SIZE,
} from './wtf8.ts';

const CAPACITY_MIN = 1024;
/** An empty buffer holds no more: a few large answers are no reason to keep their memory. */
const CAPACITY_KEPT_MAX = 4 * 1024 * 1024;
/** Code units of a string between two looks at the capacity; a unit takes six bytes at most. */
const STRING_SLICE_MAX = 4096;
/** From here on two calls that read and copy a string beat a loop over its units. */
const ENCODED_UNITS_MIN = 512;
/** A unit that needs an escape, or half of a pair. Without a repetition: the time is in proportion to the text. */
const PERHAPS_ESCAPED_UNIT = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;
const ENCODER = new TextEncoder();
/** Up to here a loop over bytes beats the call that copies them. */
const LOOP_COPY_MAX = 48;
/** Up to here a loop over words of four bytes beats it. */
const WORD_LOOP_COPY_MAX = 192;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ZERO = 0x30;
/** Digits below it are worked out in 32 bits. */
const BILLION = 1_000_000_000;
const BILLION_DIGITS = 9;
/** Of a safe integer. */
const DIGITS_MAX = 16;
const HEX_DIGITS = '0123456789abcdef';

const PLAIN = 0;
const ESCAPED = 1;
/** First byte of U+D000 to U+DFFF: a surrogate or an ordinary character. */
const PERHAPS_SURROGATE = 2;

/** What a byte of a string needs in JSON; indexed by byte. */
const BYTE_NEEDS = new Uint8Array(256);
BYTE_NEEDS.fill(ESCAPED, 0, 0x20);
BYTE_NEEDS[QUOTE] = ESCAPED;
BYTE_NEEDS[BACKSLASH] = ESCAPED;
BYTE_NEEDS[0xed] = PERHAPS_SURROGATE;

/** The letter after the backslash of a short escape; 0 where there is none. Indexed by byte. */
const SHORT_ESCAPES = new Uint8Array(256);
for (const [character, letter] of [
  ['\b', 'b'],
  ['\t', 't'],
  ['\n', 'n'],
  ['\f', 'f'],
  ['\r', 'r'],
  ['"', '"'],
  ['\\', '\\'],
] as const) {
  SHORT_ESCAPES[character.charCodeAt(0)] = letter.charCodeAt(0);
}

/** JSON in one growing buffer. Invariant: `#bytes[0, #size)` is what was written, valid UTF-8. */
export class JsonBuffer implements JsonWriter {
  #bytes: Uint8Array;
  /** Of `#bytes`. */
  #view: DataView;
  #size = 0;

  constructor(capacity: number = CAPACITY_MIN) {
    this.#bytes = new Uint8Array(Math.max(capacity, CAPACITY_MIN));
    this.#view = viewed(this.#bytes).view;
  }

  get size(): number {
    return this.#size;
  }

  /** Bytes that it has room for at present. */
  get length(): number {
    return this.#bytes.length;
  }

  /** What was written, in an array of its own; the buffer is empty afterwards. */
  take(): Uint8Array {
    const taken = this.written().slice();
    this.clear();
    return taken;
  }

  /** What was written: good until more is, or the buffer is cleared. */
  written(): Uint8Array {
    return this.#bytes.subarray(0, this.#size);
  }

  /** What was written, as a range of this buffer, good for as long. It costs less than a view, for one in each row. */
  range(): ByteRange {
    return { bytes: this.#bytes, start: 0, end: this.#size };
  }

  /** Forgets what was written. The memory is kept for what comes next, unless it is much. */
  clear(): void {
    this.#size = 0;
    if (this.#bytes.length <= CAPACITY_KEPT_MAX) return;
    this.#bytes = new Uint8Array(CAPACITY_MIN);
    this.#view = viewed(this.#bytes).view;
  }

  raw(text: string): void {
    this.#reserve(text.length);
    const bytes = this.#bytes;
    const size = this.#size;
    for (let index = 0; index < text.length; index++) bytes[size + index] = text.charCodeAt(index);
    this.#size = size + text.length;
  }

  rawBytes(bytes: Uint8Array, start: number, end: number): void {
    this.#reserve(end - start);
    if (end - start > LOOP_COPY_MAX) {
      this.#bytes.set(bytes.subarray(start, end), this.#size);
      this.#size += end - start;
      return;
    }
    const target = this.#bytes;
    let size = this.#size;
    for (let at = start; at < end; at++) target[size++] = bytes[at]!;
    this.#size = size;
  }

  /** As `rawBytes`. */
  rawViewed({ bytes, view }: ViewedBytes, start: number, end: number): void {
    const count = end - start;
    if (count > WORD_LOOP_COPY_MAX) {
      this.rawBytes(bytes, start, end);
      return;
    }
    this.#reserve(count + WORD_SIZE);
    const target = this.#view;
    const size = this.#size;
    for (let index = 0; index < count; index += WORD_SIZE) {
      target.setInt32(size + index, view.getInt32(start + index, true), true);
    }
    this.#size = size + count;
  }

  /** `ascii[0, size)`, which has ASCII_COPY_SIZE bytes more for the copy, and a finite number behind it. */
  numberBehind({ view }: ViewedBytes, size: number, value: number): void {
    this.#reserve(size + ASCII_COPY_SIZE + DIGITS_MAX);
    const target = this.#view;
    const start = this.#size;
    for (let index = 0; index < size; index += ASCII_COPY_SIZE) {
      target.setFloat64(start + index, view.getFloat64(index, true), true);
    }
    this.#size = start + size;
    // Most numbers are small integers.
    if ((value | 0) === value && value < BILLION && !isNegative(value)) {
      const end = this.#size + digitCount(value);
      writeDigits(this.#bytes, value, this.#size, end);
      this.#size = end;
    } else {
      this.number(value);
    }
  }

  /** As `stringBytes`. */
  stringViewed({ bytes, view }: ViewedBytes, start: number, end: number): void {
    const count = end - start;
    this.#reserve(count + 1 + WORD_SIZE);
    const target = this.#view;
    const size = this.#size + 1;
    for (let index = 0; index < count; index += WORD_SIZE) {
      const word = view.getInt32(start + index, true);
      if (mayNeedEscape(word)) {
        this.stringBytes(bytes, start, end);
        return;
      }
      target.setInt32(size + index, word, true);
    }
    target.setUint8(size - 1, QUOTE);
    target.setUint8(size + count, QUOTE);
    this.#size = size + count + 1;
  }

  /** A finite number in JavaScript's shortest form, a bigint as its digits, -0 as `-0`. */
  number(value: number | bigint): void {
    if (typeof value === 'number' && Number.isSafeInteger(value) && !isNegative(value)) {
      this.#digits(value);
      return;
    }
    assert(typeof value === 'bigint' || Number.isFinite(value), 'a JSON number is finite');
    this.raw(numberText(value));
  }

  /** A safe integer from 0 on, without a string made of it. */
  #digits(value: number): void {
    const high = value < BILLION ? 0 : Math.floor(value / BILLION);
    const highCount = high === 0 ? 0 : digitCount(high);
    const low = value - high * BILLION;
    const lowCount = high === 0 ? digitCount(low) : BILLION_DIGITS;
    this.#reserve(highCount + lowCount);
    const middle = this.#size + highCount;
    if (highCount > 0) writeDigits(this.#bytes, high, this.#size, middle);
    this.#size = middle + lowCount;
    writeDigits(this.#bytes, low, middle, this.#size);
  }

  string(text: string): void {
    this.#reserve(1);
    this.#bytes[this.#size++] = QUOTE;
    for (let start = 0; start < text.length; ) {
      const end = Math.min(start + STRING_SLICE_MAX, text.length);
      this.#reserve((end - start + 1) * 6);
      const isLong = end - start >= ENCODED_UNITS_MIN;
      start = isLong ? this.#slice(text, start, end) : this.#units(text, start, end);
    }
    this.#reserve(1);
    this.#bytes[this.#size++] = QUOTE;
  }

  stringBytes(bytes: Uint8Array, start: number, end: number): void {
    this.#reserve(end - start + 2);
    const target = this.#bytes;
    let size = this.#size;
    target[size++] = QUOTE;
    for (let at = start; at < end; at++) {
      const byte = bytes[at]!;
      if (BYTE_NEEDS[byte] !== PLAIN) {
        this.#size = size;
        this.#escapedBytes(bytes, at, end);
        return;
      }
      target[size++] = byte;
    }
    target[size++] = QUOTE;
    this.#size = size;
  }

  /** As `#units`. Where no unit needs an escape, calls that are not JavaScript read and copy all of them. */
  #slice(text: string, start: number, end: number): number {
    const slice = text.slice(start, end);
    if (PERHAPS_ESCAPED_UNIT.test(slice)) return this.#units(text, start, end);
    this.#size += ENCODER.encodeInto(slice, this.#bytes.subarray(this.#size)).written;
    return end;
  }

  /** Writes units [start, end), or one more when a pair crosses the end; gives where it stopped. */
  #units(text: string, start: number, end: number): number {
    const bytes = this.#bytes;
    let size = this.#size;
    let index = start;
    for (; index < end; index++) {
      const unit = text.charCodeAt(index);
      if (unit < 0x80) {
        if (BYTE_NEEDS[unit] === PLAIN) {
          bytes[size++] = unit;
        } else {
          size = writeEscape(bytes, size, unit);
        }
      } else if (unit < 0x800) {
        bytes[size++] = 0xc0 | (unit >> 6);
        bytes[size++] = 0x80 | (unit & 0x3f);
      } else if (unit < 0xd800 || unit > 0xdfff) {
        bytes[size++] = 0xe0 | (unit >> 12);
        bytes[size++] = 0x80 | ((unit >> 6) & 0x3f);
        bytes[size++] = 0x80 | (unit & 0x3f);
      } else {
        const point = text.codePointAt(index)!;
        if (point < 0x10000) {
          size = writeEscape(bytes, size, unit);
        } else {
          bytes[size++] = 0xf0 | (point >> 18);
          bytes[size++] = 0x80 | ((point >> 12) & 0x3f);
          bytes[size++] = 0x80 | ((point >> 6) & 0x3f);
          bytes[size++] = 0x80 | (point & 0x3f);
          index++;
        }
      }
    }
    this.#size = size;
    return index;
  }

  /** The rest of a string from the first byte that may need an escape, and its closing quote. */
  #escapedBytes(bytes: Uint8Array, start: number, end: number): void {
    let at = start;
    while (at < end) {
      let plainEnd = at;
      while (plainEnd < end && BYTE_NEEDS[bytes[plainEnd]!] === PLAIN) plainEnd++;
      this.rawBytes(bytes, at, plainEnd);
      at = plainEnd;
      if (at === end) break;
      this.#reserve(6);
      if (BYTE_NEEDS[bytes[at]!] === ESCAPED) {
        this.#size = writeEscape(this.#bytes, this.#size, bytes[at]!);
        at++;
      } else if (isSurrogateAt(bytes, at, end)) {
        this.#size = writeEscape(this.#bytes, this.#size, threeByteUnit(bytes, at));
        at += 3;
      } else {
        this.#bytes[this.#size++] = bytes[at++]!;
      }
    }
    this.#reserve(1);
    this.#bytes[this.#size++] = QUOTE;
  }

  #reserve(count: number): void {
    const needed = this.#size + count;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#size));
    this.#bytes = grown;
    this.#view = viewed(grown).view;
  }
}

function isNegative(value: number): boolean {
  return value < 0 || Object.is(value, -0);
}

/** Powers of ten below 2^31. */
const POWERS = Int32Array.from({ length: BILLION_DIGITS + 1 }, (_, power) => 10 ** power);

/** How many digits an integer below 2^31 has: by its bits, then by one comparison (Warren, "Hacker's Delight", 11-4). */
function digitCount(value: number): number {
  // 0 has one, too.
  const positive = value | 1;
  const fewer = ((32 - Math.clz32(positive)) * 1233) >> 12;
  return positive >= POWERS[fewer]! ? fewer + 1 : fewer;
}

/** Both digits of the integers below 100. */
const TENS = Uint8Array.from({ length: 100 }, (_, value) => ZERO + Math.floor(value / 10));
const ONES = Uint8Array.from({ length: 100 }, (_, value) => ZERO + (value % 10));

/** Fills `bytes[start, end)` with the last digits of an integer below 2^31. */
function writeDigits(bytes: Uint8Array, value: number, start: number, end: number): void {
  let rest = value | 0;
  let at = end - 2;
  for (; at >= start; at -= 2) {
    const hundredth = (rest / 100) | 0;
    const two = rest - 100 * hundredth;
    bytes[at] = TENS[two]!;
    bytes[at + 1] = ONES[two]!;
    rest = hundredth;
  }
  if (at + 1 === start) bytes[start] = ONES[rest % 100]!;
}

/** The number as JSON writes it: JavaScript's shortest form, but `-0` keeps its sign. */
export function numberText(value: number | bigint): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

/** Writes a unit as its short escape, or as `\uXXXX`; gives the new size. */
function writeEscape(bytes: Uint8Array, size: number, unit: number): number {
  const letter = unit < 256 ? SHORT_ESCAPES[unit]! : 0;
  bytes[size] = BACKSLASH;
  if (letter !== 0) {
    bytes[size + 1] = letter;
    return size + 2;
  }
  bytes[size + 1] = 0x75;
  for (let digit = 0; digit < 4; digit++) {
    bytes[size + 2 + digit] = HEX_DIGITS.charCodeAt((unit >> (12 - 4 * digit)) & 15);
  }
  return size + 6;
}

/** Where JSON is written to, as UTF-8 bytes in one growing buffer. */
export interface JsonWriter {
  /** ASCII that needs no escaping: punctuation, digits, literals. */
  raw(text: string): void;
  /** UTF-8 that is JSON already. */
  rawBytes(bytes: Uint8Array, start: number, end: number): void;
  /** A string, quoted and escaped. A lone surrogate becomes its `\uXXXX` escape. */
  string(text: string): void;
  /** A string given as UTF-8 (a lone surrogate as its three bytes), quoted and escaped. */
  stringBytes(bytes: Uint8Array, start: number, end: number): void;
  /** Bytes written so far. */
  readonly size: number;
}
