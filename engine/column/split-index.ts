import { RangeCollector, type RowRanges, unionOf } from './row-ranges.ts';
import { bytesInHole, HEX, IS_WORD_BYTE } from './split-shape.ts';
import type { SplitBlock, StringBlock } from './vector.ts';
import { encodeWtf8 } from './wtf8.ts';

/**
 * The strings outside of which none holds a text, as ranges of their codes; `undefined` where blocks of
 * strings tell as much.
 *
 * Told is of texts that are one word, or a part of one, with a letter that is no hexadecimal digit:
 * the reference of a project, a name. Words are whole in shapes and in holes, so such a text is in a
 * head, in a shape, in a numbered word, or in a string with text that is not numbered.
 *
 * `mayHold`: whether the block of a string may hold the text.
 */
export function splitStringsWith(
  split: SplitBlock,
  text: string,
  mayHold: (code: number) => boolean,
): RowRanges | undefined {
  const needle = encodeWtf8(text);
  if (!isWord(needle)) return undefined;
  // Of texts that many strings have, blocks tell as much, in fewer ranges.
  const countMax = split.shapeCodes.length / STRINGS_PER_HIT_MIN;
  const rare: number[] = [];
  for (const code of stringsBehindHeads(split, needle, mayHold)) {
    if (rare.push(code) > countMax) return undefined;
  }
  const single = new RangeCollector();
  for (const code of Int32Array.from(rare).sort()) single.add(code, code + 1);
  return unionOf(runsWith(split, needle), single.ranges());
}

/** Fewer strings for each that holds the text are as quickly read. */
const STRINGS_PER_HIT_MIN = 16;

/** The strings that may hold the text behind their heads, in any order, some perhaps twice. */
function* stringsBehindHeads(
  { shapes, shapeCodes, words, wordStarts, wordEntries, textEntries }: SplitBlock,
  needle: Uint8Array,
  mayHold: (code: number) => boolean,
): Generator<number> {
  for (const word of entriesWith(words, needle)) {
    yield* wordEntries.subarray(wordStarts[word]!, wordStarts[word + 1]!);
  }
  // Holes are no bytes of a text, so that none is found across them.
  const codes = Buffer.from(shapeCodes.buffer, shapeCodes.byteOffset, shapeCodes.byteLength);
  for (const shape of entriesWith(shapes, needle)) {
    for (let at = codes.indexOf(shape); at >= 0; at = codes.indexOf(shape, at + 1)) yield at;
  }
  for (const code of textEntries) if (mayHold(code)) yield code;
}

/** Whether all of it are bytes of words, and some are no hexadecimal digits. */
function isWord(needle: Uint8Array): boolean {
  const isHexDigit = bytesInHole(HEX);
  return (
    needle.every((byte) => IS_WORD_BYTE[byte] === 1) && needle.some((byte) => !isHexDigit[byte])
  );
}

/** The strings whose head holds the text. */
function runsWith(
  { heads, headStarts, headCodes, shapeCodes }: SplitBlock,
  needle: Uint8Array,
): RowRanges {
  const holding = new Set(entriesWith(heads, needle));
  const ranges = new RangeCollector();
  if (holding.size === 0) return ranges.ranges();
  for (let run = 0; run < headStarts.length; run++) {
    if (!holding.has(headCodes[run]!)) continue;
    ranges.add(headStarts[run]!, headStarts[run + 1] ?? shapeCodes.length);
  }
  return ranges.ranges();
}

/** The entries of a block that hold a text, ascending: all are looked through at once. */
function* entriesWith({ bytes, offsets }: StringBlock, needle: Uint8Array): Generator<number> {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let entry = 0;
  for (let at = all.indexOf(needle); at >= 0; at = all.indexOf(needle, at + 1)) {
    entry = entryAt(offsets, at, entry);
    // What begins in one string and ends in the next is in neither.
    if (at + needle.length > offsets[entry + 1]!) continue;
    yield entry;
    at = offsets[entry + 1]! - 1;
  }
}

/** The entry that byte `at` is of, not before entry `from`. */
function entryAt(offsets: Uint32Array, at: number, from: number): number {
  let low = from;
  let high = offsets.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (offsets[middle]! <= at) low = middle;
    else high = middle;
  }
  return low;
}
