import { cacheGeneration } from './caches.ts';
import {
  firstAtLeast,
  partitionPoint,
  RangeCollector,
  type RowRanges,
  rangesOfRows,
  unionOf,
} from './positions.ts';
import type { ByteRange } from './skeleton.ts';
import type { SplitTables } from './split-shape.ts';
import type { ByteNeedle, SoughtText } from './text-signature.ts';
import type { SplitBlock, StringBlock } from './vector.ts';

/**
 * The strings outside of which none holds a text, as ranges of their codes; `undefined` where blocks of
 * strings tell as much.
 *
 * Told is of texts that are one word, or a part of one, with a letter that is no hexadecimal digit:
 * the reference of a project, a name. Words are whole in shapes and in holes, so such a text is in a
 * head, in a shape, in a numbered word, or in a string with text that is not numbered.
 *
 * `blocks`: the strings that may hold the text, as far as blocks of them tell, of those `among`.
 */
export function splitStringsWith(
  split: SplitBlock,
  text: SoughtText,
  blocks: RowRanges,
  among: StringSpan = { start: 0, end: split.shapeCodes.length },
): RowRanges | undefined {
  const { isOfWord, needle } = text;
  if (!isOfWord) return undefined;
  const rare = new RareStrings(split.shapeCodes.length / STRINGS_PER_HIT_MIN);
  let isExact = true;
  let ranges = blocks;
  if (blocks.length > 0) {
    // Of texts that many strings have, blocks tell as much, in fewer ranges.
    const words = wordsWith(split, text);
    isExact = words.length === 0 || split.hasWordsCutOff === undefined;
    for (const word of words) addByWord(split, word, blocks, rare);
    addByShapes(split, needle, blocks, rare);
    isExact = addWithText(split, needle, blocks, rare) && isExact;
    if (rare.areTooMany) return undefined;
    ranges = unionOf(runsWith(split, needle, blocks), rare.ranges());
  }
  const generation = cacheGeneration();
  lastTold.set(split, { text: text.text, generation, strings: { ranges, among, isExact } });
  return ranges;
}

/**
 * As `splitStringsWith`, by tables alone: strings outside of which none holds the text, perhaps with others. Where the
 * text is in a word or a shape these are those of the blocks.
 */
export function tabledStringsWith(
  tables: SplitTables,
  { isOfWord, needle }: SoughtText,
  blocks: RowRanges,
): RowRanges {
  if (!isOfWord || blocks.length === 0) return blocks;
  const isInTable = [tables.words, tables.shapes].some((table) => isHeld(table, needle));
  return isInTable
    ? blocks
    : unionOf(runsInBlocks(tables, needle, blocks), textsInBlocks(tables, blocks));
}

function isHeld(block: StringBlock, needle: ByteNeedle): boolean {
  return entriesWith(block, needle).length > 0;
}

/** The strings with text that is in no table. */
function textsInBlocks({ textEntries }: SplitTables, blocks: RowRanges): RowRanges {
  const ranges = new RangeCollector();
  const { length } = textEntries;
  for (let at = 0; at < blocks.length; at += 2) {
    let entry = firstAtLeast(textEntries, 0, length, blocks[at]!);
    for (; entry < length && textEntries[entry]! < blocks[at + 1]!; entry++) {
      ranges.add(textEntries[entry]!, textEntries[entry]! + 1);
    }
  }
  return ranges.ranges();
}

/** Some strings, [start, end). */
export type StringSpan = { readonly start: number; readonly end: number };

/** Strings that were told. */
export type ToldStrings = {
  readonly ranges: RowRanges;
  /** None of these is left out. */
  readonly among: StringSpan;
  /** Whether each of them holds the text. */
  readonly isExact: boolean;
};

/** What was told last: who asks which strings may hold a text then tests these. */
const lastTold = new WeakMap<
  SplitBlock,
  { readonly text: string; readonly generation: number; readonly strings: ToldStrings }
>();

/** What `splitStringsWith` has told of a text, if that was asked for last. */
export function toldStringsWith(split: SplitBlock, { text }: SoughtText): ToldStrings | undefined {
  const last = lastTold.get(split);
  const isKnown = last?.text === text && last.generation === cacheGeneration();
  return isKnown ? last.strings : undefined;
}

/** What was looked for last: who asks which strings may hold a text then tests these. */
const lastWords = new WeakMap<
  SplitBlock,
  { readonly text: string; readonly generation: number; readonly words: readonly number[] }
>();

/** The numbered words that hold a text, ascending. */
export function wordsWith(split: SplitBlock, { text, needle }: SoughtText): readonly number[] {
  const last = lastWords.get(split);
  const generation = cacheGeneration();
  if (last?.text === text && last.generation === generation) return last.words;
  const words = entriesWith(split.words, needle);
  lastWords.set(split, { text, generation, words });
  return words;
}

/** Fewer strings for each that holds the text are as quickly read. */
const STRINGS_PER_HIT_MIN = 16;

/** More ascending stretches are sorted: each doubling moves all strings once, and V8 sorts in about as many moves. */
const STRETCHES_MAX = 16;

/** Strings in any order, some perhaps twice. */
class RareStrings {
  readonly #countMax: number;
  readonly #codes: number[] = [];
  /** Where those end that ascend: each of a few lists does. */
  readonly #stretchEnds: number[] = [];
  #last = -1;

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  get areTooMany(): boolean {
    return this.#codes.length > this.#countMax;
  }

  add(code: number): void {
    if (code < this.#last) this.#stretchEnds.push(this.#codes.length);
    this.#last = code;
    this.#codes.push(code);
  }

  ranges(): RowRanges {
    const codes = new Int32Array(this.#codes);
    const ends = [...this.#stretchEnds, codes.length];
    if (ends.length > STRETCHES_MAX) return rangesOfRows(codes.sort());
    let stretches: Int32Array[] = ends.map((end, at) => codes.subarray(ends[at - 1] ?? 0, end));
    while (stretches.length > 1) stretches = mergedByTwo(stretches);
    return rangesOfRows(stretches[0]!);
  }
}

function mergedByTwo(stretches: readonly Int32Array[]): Int32Array[] {
  const merged: Int32Array[] = [];
  for (let at = 0; at < stretches.length; at += 2) {
    const right = stretches[at + 1];
    merged.push(right === undefined ? stretches[at]! : mergedOf(stretches[at]!, right));
  }
  return merged;
}

/** Of two that ascend. */
function mergedOf(left: Int32Array, right: Int32Array): Int32Array {
  const merged = new Int32Array(left.length + right.length);
  let leftAt = 0;
  let rightAt = 0;
  for (let to = 0; to < merged.length; to++) {
    const isLeft =
      rightAt === right.length || (leftAt < left.length && left[leftAt]! <= right[rightAt]!);
    merged[to] = isLeft ? left[leftAt++]! : right[rightAt++]!;
  }
  return merged;
}

/** Those from the first of the blocks to the last. */
function addByWord(
  { wordStarts, wordEntries }: SplitBlock,
  word: number,
  blocks: RowRanges,
  rare: RareStrings,
): void {
  const start = wordStarts[word]!;
  const end = wordStarts[word + 1]!;
  const codeEnd = blocks[blocks.length - 1]!;
  let at = start + firstAtLeast(wordEntries, start, end - start, blocks[0]!);
  for (; at < end && wordEntries[at]! < codeEnd && !rare.areTooMany; at++) {
    rare.add(wordEntries[at]!);
  }
}

/** Holes are no bytes of a text, so that none is found across them. */
function addByShapes(
  { shapes, shapeCodes }: SplitBlock,
  needle: ByteNeedle,
  blocks: RowRanges,
  rare: RareStrings,
): void {
  const holding = entriesWith(shapes, needle);
  if (holding.length === 0) return;
  const isHolding = new Uint8Array(shapes.offsets.length - 1);
  for (const shape of holding) isHolding[shape] = 1;
  for (let at = 0; at < blocks.length; at += 2) {
    const end = blocks[at + 1]!;
    for (let code = blocks[at]!; code < end && !rare.areTooMany; code++) {
      if (isHolding[shapeCodes[code]!] === 1) rare.add(code);
    }
  }
}

/**
 * The strings that hold the text where it is in no table; all that may, if these are many: then it gives false.
 */
function addWithText(
  { texts, textEntries }: SplitBlock,
  needle: ByteNeedle,
  blocks: RowRanges,
  rare: RareStrings,
): boolean {
  if (texts !== undefined && !areFew(blocks)) {
    for (const index of entriesWith(texts.block, needle)) rare.add(textEntries[index]!);
    return true;
  }
  const { length } = textEntries;
  for (let at = 0; at < blocks.length && !rare.areTooMany; at += 2) {
    const end = blocks[at + 1]!;
    let entry = firstAtLeast(textEntries, 0, length, blocks[at]!);
    for (; entry < length && textEntries[entry]! < end; entry++) {
      const code = textEntries[entry]!;
      if (texts === undefined || holds(texts.find(code), needle)) rare.add(code);
    }
  }
  return texts !== undefined;
}

function holds({ bytes, start, end }: ByteRange, needle: ByteNeedle): boolean {
  return needle.find(bytes, start, end) >= 0;
}

/** What lies in so few blocks is looked through one by one while all there is would be end to end. */
const BLOCKS_FEW_MAX = 64;

function areFew(blocks: RowRanges): boolean {
  return blocks.length <= 2 * BLOCKS_FEW_MAX;
}

/** The strings whose head holds the text. */
function runsWith(split: SplitBlock, needle: ByteNeedle, blocks: RowRanges): RowRanges {
  return areFew(blocks)
    ? runsInBlocks(split, needle, blocks)
    : runsOfHeads(split, entriesWith(split.heads, needle));
}

/** Those among blocks. */
function runsInBlocks(
  { heads, headStarts, headCodes }: SplitTables,
  needle: ByteNeedle,
  blocks: RowRanges,
): RowRanges {
  const { bytes, offsets } = heads;
  const ranges = new RangeCollector();
  let next = 0;
  for (let at = 0; at < blocks.length; at += 2) {
    const end = blocks[at + 1]!;
    // The run that the first string is in, unless it was looked at with the strings before.
    let run = Math.max(next, firstAtLeast(headStarts, 0, headStarts.length, blocks[at]! + 1) - 1);
    for (; run < headStarts.length && headStarts[run]! < end; run++) {
      const head = headCodes[run]!;
      if (needle.find(bytes, offsets[head]!, offsets[head + 1]!) < 0) continue;
      ranges.add(headStarts[run]!, headStarts[run + 1] ?? end);
    }
    next = run;
  }
  return ranges.ranges();
}

function runsOfHeads(
  { heads, headStarts, headCodes, shapeCodes }: SplitBlock,
  holding: readonly number[],
): RowRanges {
  const ranges = new RangeCollector();
  if (holding.length === 0) return ranges.ranges();
  const isHolding = new Uint8Array(heads.offsets.length - 1);
  for (const head of holding) isHolding[head] = 1;
  for (let run = 0; run < headStarts.length; run++) {
    if (isHolding[headCodes[run]!] === 0) continue;
    ranges.add(headStarts[run]!, headStarts[run + 1] ?? shapeCodes.length);
  }
  return ranges.ranges();
}

/** The entries of a block that hold a text, ascending: all are looked through at once. */
function entriesWith({ bytes, offsets }: StringBlock, needle: ByteNeedle): readonly number[] {
  const entries: number[] = [];
  const end = offsets[offsets.length - 1]!;
  for (let at = needle.find(bytes, 0, end); at >= 0; at = needle.find(bytes, at + 1, end)) {
    const entry = firstAtLeast(offsets, 0, offsets.length, at + 1) - 1;
    // What begins in one string and ends in the next is in neither.
    if (at + needle.bytes.length > offsets[entry + 1]!) continue;
    entries.push(entry);
    at = offsets[entry + 1]! - 1;
  }
  return entries;
}

/** The words of a column, and what strings have them. */
export type ColumnWords = Pick<SplitBlock, 'words' | 'wordStarts' | 'isWordHeld'>;

/**
 * The words of a column that its strings hold, sorted by their bytes, so that those that begin alike stand side by side. A place is an
 * index into that order.
 */
export class WordOrder {
  /** The word at each place. */
  readonly words: Uint32Array;
  /** 1 for each byte that some word has. */
  readonly hasByte = new Uint8Array(256);
  readonly #block: StringBlock;
  /** For each place, and behind the last, how many strings have the words before it. */
  readonly #stringCounts: Uint32Array;

  constructor({ words, wordStarts, isWordHeld }: ColumnWords) {
    this.#block = words;
    const { bytes, offsets } = words;
    this.words = Uint32Array.from({ length: offsets.length - 1 }, (_, word) => word).filter(
      (word) => wordStarts[word] !== wordStarts[word + 1] && isWordHeld?.[word] !== 0,
    );
    this.words.sort((left, right) => compareEntries(bytes, offsets, left, right));
    this.#stringCounts = new Uint32Array(this.words.length + 1);
    this.words.forEach((word, place) => {
      for (let at = offsets[word]!; at < offsets[word + 1]!; at++) this.hasByte[bytes[at]!] = 1;
      const count = wordStarts[word + 1]! - wordStarts[word]!;
      this.#stringCounts[place + 1] = this.#stringCounts[place]! + count;
    });
  }

  /** How many strings have the words at places [start, end): one with two of them counts twice. */
  stringCount(start: number, end: number): number {
    return this.#stringCounts[end]! - this.#stringCounts[start]!;
  }

  /** Where in the bytes of all words one begins. */
  start(place: number): number {
    return this.#block.offsets[this.words[place]!]!;
  }

  size(place: number): number {
    const { offsets } = this.#block;
    const word = this.words[place]!;
    return offsets[word + 1]! - offsets[word]!;
  }

  /**
   * Where the words that have the same byte at `depth` as the one at `start` end, of words at places [start, end)
   * that are all longer, and alike before it.
   */
  endOfSame(start: number, end: number, depth: number): number {
    const { bytes } = this.#block;
    const byte = bytes[this.start(start) + depth];
    return partitionPoint(start + 1, end, (place) => bytes[this.start(place) + depth] === byte);
  }
}

/** Sorted once for as long as a column is open. */
const known = new WeakMap<object, WordOrder>();

export function wordOrderOf(column: ColumnWords): WordOrder {
  // What is cut out of strings has the same words, but may not hold all of them.
  const key = column.isWordHeld ?? column.words;
  let order = known.get(key);
  if (order === undefined) {
    order = new WordOrder(column);
    known.set(key, order);
  }
  return order;
}

function compareEntries(
  bytes: Uint8Array,
  offsets: Uint32Array,
  left: number,
  right: number,
): number {
  const leftStart = offsets[left]!;
  const rightStart = offsets[right]!;
  const leftSize = offsets[left + 1]! - leftStart;
  const rightSize = offsets[right + 1]! - rightStart;
  const size = Math.min(leftSize, rightSize);
  for (let index = 0; index < size; index++) {
    const difference = bytes[leftStart + index]! - bytes[rightStart + index]!;
    if (difference !== 0) return difference;
  }
  return leftSize - rightSize;
}
