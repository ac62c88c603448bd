import { type ByteRange, endOfString } from '../../engine/columns.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const LETTER_U = 0x75;
const LIST_START = 0x5b;
const LIST_END = 0x5d;
const MAP_START = 0x7b;
const MAP_END = 0x7d;

/** Characters of an escape such as `\ud800`. */
const ESCAPE_SIZE = 6;

/** U+FFFD: as many characters as half a surrogate pair, and as many bytes as it has in WTF-8. */
const REPLACEMENT = Buffer.from('\ufffd');
const NULL_TEXT = Buffer.from('null');

/** A number with fewer bytes, and no exponent, is one that ClickHouse reads. */
const SHORT_NUMBER_SIZE = 19;
const INT64_MIN = -(2n ** 63n);
const UINT64_MAX = 2n ** 64n - 1n;
/** From here on, ClickHouse writes a double with an exponent. */
const EXPONENT_MIN = 1e21;

/**
 * Levels of records and lists that stay. ClickHouse's parser, simdjson, reads 1,024 of them; a field is read level by
 * level, which takes time and memory in proportion.
 */
const DEPTH_MAX = 1000;

/**
 * JSON that ClickHouse can parse, with the same fields as `json`, which must be valid; `undefined` if `json` is such JSON
 * itself. ClickHouse finds no field at all in a text that holds one of these, so each is replaced:
 *
 * | in `json`                                 | in the result                                                          |
 * |-------------------------------------------|------------------------------------------------------------------------|
 * | a number that no double holds (`1e999`)   | `null`, as the embedded engine reads it                                |
 * | another number beyond 64 bits, below 1e21 | a string of its digits: ClickHouse would write a double as digits, and then not read these |
 * | an integer from 1e21 on                   | the nearest double, as the embedded engine reads it                    |
 * | half a surrogate pair                     | U+FFFD                                                                 |
 * | a value below DEPTH_MAX levels            | `null`                                                                 |
 *
 * Reading takes time in proportion to the text, and nothing recurses.
 */
export function readableJson(json: ByteRange): ByteRange | undefined {
  const { bytes, end } = json;
  const edits = new Edits(json);
  let depth = 0;
  for (let at = json.start; at < end; ) {
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      at = readString(bytes, at, edits);
    } else if (byte === MINUS || (byte >= ZERO && byte <= NINE)) {
      at = readNumber(json, at, edits);
    } else {
      at++;
      if (byte === LIST_START || byte === MAP_START) {
        depth++;
        if (depth > DEPTH_MAX) {
          const start = at - 1;
          at = endOfContainer(bytes, at);
          edits.replace(start, at, NULL_TEXT);
          depth--;
        }
      } else if (byte === LIST_END || byte === MAP_END) depth--;
    }
  }
  return edits.result();
}

/** Collects replacements, from the first byte to the last. */
class Edits {
  readonly #json: ByteRange;
  /** Made with the first: nearly all events have none. */
  #parts: Uint8Array[] | undefined;
  #copied: number;

  constructor(json: ByteRange) {
    this.#json = json;
    this.#copied = json.start;
  }

  replace(start: number, end: number, by: Uint8Array): void {
    this.#parts ??= [];
    this.#parts.push(this.#json.bytes.subarray(this.#copied, start), by);
    this.#copied = end;
  }

  /** `undefined` if nothing was replaced. */
  result(): ByteRange | undefined {
    if (this.#parts === undefined) return undefined;
    const rest = this.#json.bytes.subarray(this.#copied, this.#json.end);
    const bytes = Buffer.concat([...this.#parts, rest]);
    return { bytes, start: 0, end: bytes.length };
  }
}

/** Reads the string whose quote is at `start`; returns where it ends. */
function readString(json: Uint8Array, start: number, edits: Edits): number {
  let at = start + 1;
  for (;;) {
    const byte = json[at];
    if (byte === QUOTE) return at + 1;
    if (byte !== BACKSLASH) {
      at++;
      continue;
    }
    if (json[at + 1] !== LETTER_U) {
      at += 2;
      continue;
    }
    const unit = unitAt(json, at);
    if (isHigh(unit) && isEscape(json, at + ESCAPE_SIZE)) {
      if (isLow(unitAt(json, at + ESCAPE_SIZE))) {
        at += 2 * ESCAPE_SIZE;
        continue;
      }
    }
    if (isHigh(unit) || isLow(unit)) edits.replace(at, at + ESCAPE_SIZE, REPLACEMENT);
    at += ESCAPE_SIZE;
  }
}

function isEscape(json: Uint8Array, at: number): boolean {
  return json[at] === BACKSLASH && json[at + 1] === LETTER_U;
}

/** The code unit of the escape at `at`. */
function unitAt(json: Uint8Array, at: number): number {
  let unit = 0;
  for (let index = at + 2; index < at + ESCAPE_SIZE; index++) {
    const byte = json[index]!;
    unit = unit * 16 + (byte <= NINE ? byte - ZERO : (byte & 0x0f) + 9);
  }
  return unit;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

/** Reads the number at `start`; returns where it ends. */
function readNumber({ bytes, end }: ByteRange, start: number, edits: Edits): number {
  let at = start + 1;
  let isInteger = true;
  let hasExponent = false;
  for (; at < end; at++) {
    const byte = bytes[at]!;
    if (byte >= ZERO && byte <= NINE) continue;
    // A dot, a sign, or the letter of an exponent in either case.
    const isLetter = (byte | 0x20) === 0x65;
    if (byte !== 0x2e && byte !== 0x2b && byte !== MINUS && !isLetter) break;
    isInteger = false;
    hasExponent ||= isLetter;
  }
  if (at - start < SHORT_NUMBER_SIZE && !hasExponent) return at;
  const readable = readableNumber(Buffer.from(bytes.subarray(start, at)).toString(), isInteger);
  if (readable !== undefined) edits.replace(start, at, Buffer.from(readable));
  return at;
}

/** `undefined` for a number that ClickHouse reads, and reads again after it has written it. */
function readableNumber(text: string, isInteger: boolean): string | undefined {
  const value = Number(text);
  if (!Number.isFinite(value)) return 'null';
  if (Math.abs(value) >= EXPONENT_MIN) return isInteger ? String(value) : undefined;
  if (Math.abs(value) < 2 ** 63) return undefined;
  const whole = BigInt(isInteger ? text : value);
  return whole >= INT64_MIN && whole <= UINT64_MAX ? undefined : `"${text}"`;
}

/** The first byte after the container whose first byte is before `start`. */
function endOfContainer(json: Uint8Array, start: number): number {
  let depth = 1;
  let at = start;
  while (depth > 0) {
    const byte = json[at]!;
    if (byte === QUOTE) {
      at = endOfString(json, at);
      continue;
    }
    if (byte === LIST_START || byte === MAP_START) depth++;
    if (byte === LIST_END || byte === MAP_END) depth--;
    at++;
  }
  return at;
}
