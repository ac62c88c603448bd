import { findOnce } from './caches.ts';
import { lowestBit, RangeCollector, type RowRanges } from './positions.ts';
import type { NeededText } from './segment.ts';
import type { Slice, SliceSink, SliceSource } from './slice.ts';
import { bytesInHole, HEX, IS_WORD_BYTE } from './split-shape.ts';
import type { StringBlock } from './vector.ts';
import { encodeWtf8, LONE_SURROGATE, type ViewedBytes, viewed, WORD_SIZE } from './wtf8.ts';

/**
 * What blocks of consecutive values of a column may hold: for each *gram*, a number that three bytes
 * of a string come to, the blocks in which it occurs. A text can lie only in a block that has all of
 * its grams.
 *
 * ```
 *  gram 0                 gram 1                        gram 4095
 * ┌──────────────────────┬──────────────────────┬─────┬──────────────────────┐
 * │ a bit for each block │ a bit for each block │  …  │ a bit for each block │  width bytes each
 * └──────────────────────┴──────────────────────┴─────┴──────────────────────┘
 * ```
 *
 * Gram by gram, and not block by block, so that a text of 20 bytes reads 18 short runs of bytes,
 * whatever the number of blocks. Bit `b & 7` of byte `b >> 3` stands for block `b`, which has the
 * values `[b * blockEntries, (b + 1) * blockEntries)`.
 */
export type SignatureFooter = { readonly bits: Slice; readonly blockEntries: number };

const GRAM_BITS = 12;
const GRAM_COUNT = 2 ** GRAM_BITS;
/** Bytes of a gram: a shorter text has none. */
export const GRAM_SIZE = 3;

/**
 * Bytes of strings in one block, about. URLs of 90 bytes, some with random ids, set a third of a
 * block's bits, and those with two UUIDs each set 0.75 of them: then one block in 100 seems to hold a
 * text of 20 letters that it does not. Larger blocks would seem to hold everything.
 */
const BLOCK_SIZE = 20 * 1024;

/** Fewer values are looked at in less time than it takes to tell which need not be. */
const VALUES_MIN = 2048;

/** Nobody looks for a text in shorter strings, on average, that could be in few of them. */
const STRING_SIZE_MIN = 16;

/** A signature takes at most one byte for so many that its column takes. */
const SHARE_OF_COLUMN = 16;

/** Beyond this share of set bits, as random strings have it, texts seem to be everywhere. */
const DENSITY_MAX = 0.85;

/**
 * The signature of the strings `codes` of a block; `undefined` where it would not repay its bytes.
 * `columnSize`: bytes of the column without it.
 */
export function encodeSignature(
  sink: SliceSink,
  { bytes, offsets }: StringBlock,
  { codes, columnSize }: { readonly codes: Int32Array; readonly columnSize: number },
): SignatureFooter | undefined {
  let size = 0;
  for (let i = 0; i < codes.length; i++) size += offsets[codes[i]! + 1]! - offsets[codes[i]!]!;
  if (codes.length < VALUES_MIN || size < codes.length * STRING_SIZE_MIN) return undefined;
  const width = Math.max(1, Math.round(size / (8 * BLOCK_SIZE)));
  if (width * GRAM_COUNT * SHARE_OF_COLUMN > columnSize) return undefined;
  const blockEntries = Math.ceil(codes.length / (8 * width));
  const bits = new Uint8Array(width * GRAM_COUNT);
  const held = new Uint8Array(GRAM_COUNT);
  let blockCount = 0;
  let setCount = 0;
  for (let start = 0; start < codes.length; start += blockEntries) {
    held.fill(0);
    const end = Math.min(start + blockEntries, codes.length);
    for (let i = start; i < end; i++) {
      const code = codes[i]!;
      if (i === start || code !== codes[i - 1]) {
        markGrams(held, bytes, offsets[code]!, offsets[code + 1]!);
      }
    }
    const at = blockCount >>> 3;
    const shift = blockCount & 7;
    for (let gram = 0; gram < GRAM_COUNT; gram++) {
      bits[gram * width + at]! |= held[gram]! << shift;
      setCount += held[gram]!;
    }
    blockCount++;
  }
  if (setCount > blockCount * GRAM_COUNT * DENSITY_MAX) return undefined;
  return { bits: sink.add(bits), blockEntries };
}

/** Sets `held[gram]` to 1 for each gram of `bytes[start, end)`. */
function markGrams(held: Uint8Array, bytes: Uint8Array, start: number, end: number): void {
  if (end - start < GRAM_SIZE) return;
  let last = (bytes[start]! << 8) | bytes[start + 1]!;
  for (let at = start + 2; at < end; at++) {
    last = ((last << 8) | bytes[at]!) & 0xffffff;
    held[gramOf(last)] = 1;
  }
}

/** Multiplicative hashing (Knuth, "Sorting and Searching", 6.4): the upper bits of the product. */
function gramOf(threeBytes: number): number {
  return Math.imul(threeBytes, 0x9e3779b1) >>> (32 - GRAM_BITS);
}

/**
 * The grams of a text, each once; none where they would not tell: of a text shorter than three bytes,
 * and of one with half a surrogate pair, which would match within a whole pair.
 */
export function gramsOf(text: string): Int32Array {
  if (LONE_SURROGATE.test(text)) return new Int32Array(0);
  const bytes = encodeWtf8(text);
  const grams = new Set<number>();
  for (let at = GRAM_SIZE; at <= bytes.length; at++) {
    grams.add(gramOf((bytes[at - 3]! << 16) | (bytes[at - 2]! << 8) | bytes[at - 1]!));
  }
  return Int32Array.from(grams);
}

/** The signature of one column, read in place. */
export class TextSignature {
  /** Values of each block but the last. */
  readonly blockEntries: number;
  readonly #bits: ViewedBytes;
  readonly #width: number;

  constructor(source: SliceSource, footer: SignatureFooter) {
    this.blockEntries = footer.blockEntries;
    this.#bits = viewed(source.bytes(footer.bits));
    this.#width = this.#bits.bytes.length / GRAM_COUNT;
  }

  /** The values, of so many, in the blocks where all `grams` occur. */
  valuesWith(grams: Int32Array, valueCount: number): RowRanges {
    const { blockEntries } = this;
    const values = new RangeCollector();
    for (let at = 0; at < this.#width; at += WORD_SIZE) {
      for (let blocks = this.#blocksWith(grams, at); blocks !== 0; blocks &= blocks - 1) {
        const block = 8 * at + lowestBit(blocks);
        values.add(block * blockEntries, Math.min((block + 1) * blockEntries, valueCount));
      }
    }
    return values.ranges();
  }

  /** Of the blocks that the bytes from `at` on are of, four bytes at most, 1 where all grams occur: soon there is none left. */
  #blocksWith(grams: Int32Array, at: number): number {
    const width = this.#width;
    const isWord = at + WORD_SIZE <= width;
    let blocks = -1;
    for (let i = 0; i < grams.length && blocks !== 0; i++) {
      const from = grams[i]! * width + at;
      blocks &= isWord ? this.#bits.view.getInt32(from, true) : this.#rest(from, width - at);
    }
    return blocks;
  }

  /** The last bytes of a gram's bits, fewer than a word. */
  #rest(from: number, count: number): number {
    let word = 0;
    for (let i = 0; i < count; i++) word |= this.#bits.bytes[from + i]! << (8 * i);
    return word;
  }
}

/** A text to be looked for in many segments, in the forms that it is looked for in. */
export class SoughtText {
  readonly text: string;
  readonly grams: Int32Array;
  readonly needle: ByteNeedle;
  /**
   * Whether it is a word, or a part of one, with a letter that is no hexadecimal digit: whole in heads, shapes,
   * numbered words and text, and never a part of digits that are packed.
   */
  readonly isOfWord: boolean;

  constructor(text: string) {
    this.text = text;
    this.grams = gramsOf(text);
    const bytes = new Uint8Array(encodeWtf8(text));
    this.needle = new ByteNeedle(bytes);
    const isHexDigit = bytesInHole(HEX);
    this.isOfWord =
      bytes.every((byte) => IS_WORD_BYTE[byte] === 1) && bytes.some((byte) => !isHexDigit[byte]);
  }
}

/** The texts of which any will do: one `NeededText` is asked for in each segment of a scan. */
export const soughtTexts = findOnce(({ text, or = [] }: NeededText): readonly SoughtText[] =>
  [text, ...or].map((each) => new SoughtText(each)),
);

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
    const last = length - 1;
    const lastByte = this.bytes[last]!;
    if (last === 0) {
      // There is nothing to skip, and to look for that takes four times as long.
      for (let at = start; at < end; at++) if (text[at] === lastByte) return at;
      return -1;
    }
    const shifts = this.#shifts;
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
