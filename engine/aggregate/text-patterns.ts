import { assert } from '../assert.ts';
import { IS_WORD_BYTE, isHole, NUMBER, NUMBER_DIGITS_MAX } from '../column/split-shape.ts';
import type { SplitBlock } from '../column/vector.ts';
import { ByteIndex } from './byte-index.ts';

/** In the place of the key of a text that has none. */
export const NO_KEY = -1;

/** Patterns that are numbered: a key has 40 bits beside the number of its pattern, and a double holds 53. */
const PATTERNS_MAX = 2 ** 12;

/** What the scale of a key comes to that is full. */
const SCALE_MAX = PATTERNS_MAX * 2 ** 40;

const ABSENT = -1;

const ZERO = 0x30;
const DASH = 0x2d;

/** Dashes of a UUID, which are all that it has beside words. */
const UUID_DASHES = 4;

/**
 * Keys of texts that have numbers in them. The *pattern* of a text is a shape (`split-shape.ts`) with a NUMBER hole for
 * each word that is a number, and with no other: so a text has one pattern, whatever shape some column has for it.
 * Pattern and numbers are its *key*, in one double:
 *
 * ```
 *  12 bits   8 bits    8 bits
 * ┌─────────┬─────────┬─────────┬──    bytes of the numbers, one number after the other, each as
 * │ pattern │ byte 0  │ byte 1  │ …    `writeCount` has it: five at most
 * └─────────┴─────────┴─────────┴──
 * ```
 *
 * Texts have equal keys if and only if they are equal. Texts without numbers, with more of them or with one of too many
 * patterns have none.
 */
export class TextPatterns {
  readonly #patterns = new ByteIndex();
  readonly #reader = new PatternReader();

  /** The key of a text, or NO_KEY. */
  keyOf(bytes: Uint8Array, start: number, end: number): number {
    this.#reader.read(bytes, start, end);
    if (!this.#reader.isPattern || this.#reader.holeCount > 0) return NO_KEY;
    const [{ value, scale }] = this.#reader.constants as [Constant];
    if (scale === 1) return NO_KEY;
    const pattern = this.numberOf(this.#reader.bytes, 0, this.#reader.size);
    return pattern === ABSENT ? NO_KEY : pattern + PATTERNS_MAX * value;
  }

  /** Whether a word of a text is a number: then it has a key but where there are too many or too large ones, or patterns. */
  hasNumbers(bytes: Uint8Array, start: number, end: number): boolean {
    this.#reader.read(bytes, start, end);
    return this.#reader.constants.some(({ scale }) => scale > 1);
  }

  /** The number of a pattern, or -1 when there are too many. */
  numberOf(bytes: Uint8Array, start: number, end: number): number {
    if (this.#patterns.size < PATTERNS_MAX) return this.#patterns.add(bytes, start, end);
    return this.#patterns.find(bytes, start, end);
  }

  /**
   * How keys are made of the strings of a shape behind one head for all; `undefined` where other holes than those for
   * numbers are in it, or none of its words is a number.
   */
  formOf({ heads, shapes }: SplitBlock, shape: number): KeyForm | undefined {
    const start = shapes.offsets[shape]!;
    const end = shapes.offsets[shape + 1]!;
    const headSize = heads.offsets[1]!;
    if (headSize === 0) {
      this.#reader.read(shapes.bytes, start, end);
    } else {
      const head = heads.bytes.subarray(0, headSize);
      this.#reader.read(
        Buffer.concat([head, shapes.bytes.subarray(start, end)]),
        0,
        headSize + end - start,
      );
    }
    const { holeCount, constants } = this.#reader;
    if (!this.#reader.isPattern || (holeCount === 0 && constants[0]!.scale === 1)) return undefined;
    const pattern = this.numberOf(this.#reader.bytes, 0, this.#reader.size);
    if (pattern === ABSENT) return undefined;
    const [{ value, scale }, ...behind] = constants as [Constant, ...Constant[]];
    const first = { value: pattern + PATTERNS_MAX * value, scale: PATTERNS_MAX * scale };
    return { holeCount, constants: [first, ...behind] };
  }
}

/** Bytes of numbers: `value` of them, the first the lowest, and 256 to the power of their count. */
type Constant = { readonly value: number; readonly scale: number };

/**
 * How the key of a string is made of its parts: the constant before the first part is its beginning, and behind part
 * `i` follows constant `i + 1`.
 */
export type KeyForm = { readonly holeCount: number; readonly constants: readonly Constant[] };

/** Codes of strings taken apart, and where the parts of each begin (`SplitBlock.partStarts`). */
export interface SplitEntries {
  readonly codes: Int32Array;
  readonly starts: Int32Array;
  readonly count: number;
}

/** In place of the first byte of a string's parts: the string has none, or is no string of the shape. */
export const ANY_PART = -1;
export const NO_PART = -2;

/** The forms of the shapes of one dictionary, in arrays to be read row by row. */
export class KeyForms {
  readonly #formOf: (shape: number) => KeyForm | undefined;
  /** Of each shape where its constants begin, ABSENT where it has no form, or NOT_ASKED. */
  readonly #starts: Int32Array;
  readonly #holeCounts: Int32Array;
  readonly #values: number[] = [];
  readonly #scales: number[] = [];

  constructor(shapeCount: number, formOf: (shape: number) => KeyForm | undefined) {
    this.#formOf = formOf;
    this.#starts = new Int32Array(shapeCount).fill(NOT_ASKED);
    this.#holeCounts = new Int32Array(shapeCount);
  }

  /** The forms of a dictionary's shapes: none where its strings have several heads. */
  static of(split: SplitBlock, patterns: TextPatterns): KeyForms {
    const isOfOneHead = split.heads.offsets.length === 2;
    return new KeyForms(split.shapes.offsets.length - 1, (shape) =>
      isOfOneHead ? patterns.formOf(split, shape) : undefined,
    );
  }

  /** Whether strings of a shape have keys, but for those with numbers too large for one. */
  has(shape: number): boolean {
    if (this.#starts[shape] === NOT_ASKED) this.#ask(shape);
    return this.#starts[shape]! >= 0;
  }

  /** The first byte of the parts that a string of a shape has where this is its key; of a shape that has a form. */
  firstPartOf(shape: number, key: number): number {
    assert(this.has(shape), 'the shape has a form');
    const start = this.#starts[shape]!;
    const value = this.#values[start]!;
    const scale = this.#scales[start]!;
    if (this.#holeCounts[shape] === 0) return key === value ? ANY_PART : NO_PART;
    return key % scale === value ? Math.floor(key / scale) % 256 : NO_PART;
  }

  /** Writes the key of the string of each code, or NO_KEY. */
  keysOf(
    split: SplitBlock,
    { codes, starts: partStarts, count }: SplitEntries,
    keys: Float64Array,
  ): void {
    const { shapeCodes, parts } = split;
    const starts = this.#starts;
    const holeCounts = this.#holeCounts;
    const values = this.#values;
    const scales = this.#scales;
    for (let row = 0; row < count; row++) {
      const code = codes[row]!;
      const shape = code < 0 ? 0 : shapeCodes[code]!;
      if (starts[shape] === NOT_ASKED) this.#ask(shape);
      const start = starts[shape]!;
      if (start < 0 || code < 0) {
        keys[row] = NO_KEY;
        continue;
      }
      let key = values[start]!;
      let scale = scales[start]!;
      const holeCount = holeCounts[shape]!;
      let at = partStarts[row]!;
      for (let hole = 1; hole <= holeCount; hole++) {
        for (let isMore = true; isMore; at++) {
          const byte = parts[at]!;
          key += scale * byte;
          scale *= 256;
          isMore = byte >= 0x80;
        }
        key += scale * values[start + hole]!;
        scale *= scales[start + hole]!;
      }
      keys[row] = scale <= SCALE_MAX ? key : NO_KEY;
    }
  }

  #ask(shape: number): void {
    const form = this.#formOf(shape);
    this.#starts[shape] = form === undefined ? ABSENT : this.#values.length;
    if (form === undefined) return;
    this.#holeCounts[shape] = form.holeCount;
    for (const { value, scale } of form.constants) {
      this.#values.push(value);
      this.#scales.push(scale);
    }
  }
}

const NOT_ASKED = -2;

/** Reads the pattern of a text, or of the texts of a shape. All share one. */
class PatternReader {
  /** `bytes[0, size)`. */
  bytes = new Uint8Array(1024);
  size = 0;
  /**
   * Whether what was read has a pattern: other holes than for numbers, parts of words, or numbers that are too many for a
   * key, are in none. Then what is behind is not read.
   */
  isPattern = true;
  /** NUMBER holes that were read: the parts of a string fill them. */
  holeCount = 0;
  /** The numbers that were read as digits: before the first of these holes, and behind each. */
  constants: Constant[] = [];

  read(bytes: Uint8Array, start: number, end: number): void {
    if (this.bytes.length < end - start) this.bytes = new Uint8Array(2 * (end - start));
    this.size = 0;
    this.isPattern = true;
    this.holeCount = 0;
    this.constants = [{ value: 0, scale: 1 }];
    let dashes = 0;
    let others = 0;
    for (let at = start; at < end; ) {
      const byte = bytes[at]!;
      if (IS_WORD_BYTE[byte] === 1) {
        const wordEnd = endOfWord(bytes, at, end);
        this.#readWord(bytes, at, wordEnd);
        // Of a message with many numbers the rest need not be read.
        if (!this.isPattern) return;
        at = wordEnd;
        continue;
      }
      if (byte === DASH) dashes++;
      else others++;
      this.bytes[this.size++] = byte;
      at++;
    }
    // Might be a UUID, which is no text.
    if (dashes === UUID_DASHES && others === 0) this.isPattern = false;
  }

  #readWord(bytes: Uint8Array, start: number, end: number): void {
    if (bytes[start] === NUMBER && end === start + 1) {
      this.holeCount++;
      this.constants.push({ value: 0, scale: 1 });
      this.bytes[this.size++] = NUMBER;
      return;
    }
    if (isNumber(bytes, start, end)) {
      this.#addNumber(bytes, start, end);
      return;
    }
    for (let at = start; at < end; at++) {
      if (isHole(bytes[at]!)) this.isPattern = false;
      this.bytes[this.size++] = bytes[at]!;
    }
  }

  #addNumber(bytes: Uint8Array, start: number, end: number): void {
    let number = 0;
    for (let at = start; at < end; at++) number = number * 10 + bytes[at]! - ZERO;
    let { value, scale } = this.constants.pop()!;
    for (let isMore = true; isMore; ) {
      isMore = number >= 0x80;
      value += scale * (isMore ? (number % 0x80) + 0x80 : number);
      number = Math.floor(number / 0x80);
      scale *= 256;
    }
    this.constants.push({ value, scale });
    this.bytes[this.size++] = NUMBER;
    if (scale * PATTERNS_MAX > SCALE_MAX) this.isPattern = false;
  }
}

function endOfWord(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && IS_WORD_BYTE[bytes[at]!] === 1) at++;
  return at;
}

/** Whether a word is written as the number that it is, and fills a NUMBER hole. */
function isNumber(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > NUMBER_DIGITS_MAX) return false;
  if (bytes[start] === ZERO && end > start + 1) return false;
  for (let at = start; at < end; at++) {
    const digit = bytes[at]! - ZERO;
    if (digit < 0 || digit > 9) return false;
  }
  return true;
}
