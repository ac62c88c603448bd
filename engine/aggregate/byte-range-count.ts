/** Codes below it leave the highest bit of their byte to the arithmetic here. */
const CODES_MAX = 128;

const HIGHEST_BITS = 0x80808080 | 0;
const BYTES_PER_WORD = Int32Array.BYTES_PER_ELEMENT;
const EVERY_BYTE = 0x01010101;
const EVEN_BYTES = 0x00ff00ff;

/** Words that are counted before a byte of the counter could be full. */
const WORDS_AT_ONCE = 255;

/** Rows of a run from which on it pays to begin and to end with single bytes. */
const ROWS_MIN = 32;

/** The codes [least, end). */
export type CodeRange = { readonly least: number; readonly end: number };

/** The codes that are 1, where they are consecutive and all codes are small enough for `ByteRangeCount`. */
export function rangeOfOnes(ones: Uint8Array): CodeRange | undefined {
  if (ones.length > CODES_MAX) return undefined;
  const first = ones.indexOf(1);
  if (first < 0) return { least: 0, end: 0 };
  const least = first;
  let end = first;
  while (end < ones.length && ones[end] === 1) end++;
  return ones.indexOf(1, end) < 0 ? { least, end } : undefined;
}

/**
 * Counts the bytes of a range of codes four at a time, as the parts of one word: to a byte below 128 a number is added
 * that carries into its highest bit if it is `least` or more (Warren, "Hacker's Delight", 2-18 and 5-1).
 */
export class ByteRangeCount {
  readonly #codes: Uint8Array;
  readonly #words: Int32Array;
  /** The position in `#codes` of the first word. */
  readonly #wordsStart: number;
  readonly #range: CodeRange;

  /** All codes of `codes[start, end)` must be below 128. */
  constructor(
    codes: Uint8Array,
    { start, end }: { readonly start: number; readonly end: number },
    range: CodeRange,
  ) {
    this.#codes = codes;
    this.#range = range;
    const isOff = (codes.byteOffset + start) % BYTES_PER_WORD;
    this.#wordsStart = start + (isOff === 0 ? 0 : BYTES_PER_WORD - isOff);
    const wordCount = Math.max(0, Math.floor((end - this.#wordsStart) / BYTES_PER_WORD));
    const offset = wordCount === 0 ? 0 : codes.byteOffset + this.#wordsStart;
    this.#words = new Int32Array(codes.buffer, offset, wordCount);
  }

  /** How many of the rows [start, end), which are within those given, have a code of the range. */
  count(start: number, end: number): number {
    if (end - start < ROWS_MIN) return this.#countBytes(start, end);
    const firstWord = Math.ceil((start - this.#wordsStart) / BYTES_PER_WORD);
    const endWord = Math.floor((end - this.#wordsStart) / BYTES_PER_WORD);
    let count = this.#countBytes(start, this.#wordsStart + firstWord * BYTES_PER_WORD);
    for (let word = firstWord; word < endWord; word += WORDS_AT_ONCE) {
      count += countWords(this.#words, word, Math.min(word + WORDS_AT_ONCE, endWord), this.#range);
    }
    return count + this.#countBytes(this.#wordsStart + endWord * BYTES_PER_WORD, end);
  }

  #countBytes(start: number, end: number): number {
    const codes = this.#codes;
    const { least, end: codeEnd } = this.#range;
    let count = 0;
    for (let row = start; row < end; row++) {
      count += Number(codes[row]! >= least) & Number(codes[row]! < codeEnd);
    }
    return count;
  }
}

function countWords(
  words: Int32Array,
  start: number,
  end: number,
  { least, end: codeEnd }: CodeRange,
): number {
  const toLeast = Math.imul(CODES_MAX - least, EVERY_BYTE);
  const toEnd = Math.imul(CODES_MAX - codeEnd, EVERY_BYTE);
  let counts = 0;
  for (let at = start; at < end; at++) {
    const word = words[at]!;
    counts = (counts + ((((word + toLeast) ^ (word + toEnd)) & HIGHEST_BITS) >>> 7)) | 0;
  }
  const halves = (counts & EVEN_BYTES) + ((counts >>> 8) & EVEN_BYTES);
  return (halves & 0xffff) + (halves >>> 16);
}
