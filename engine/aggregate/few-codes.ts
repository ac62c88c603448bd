import { assert } from '../assert.ts';
import type { UnsignedArray } from '../column/slice.ts';

/** Parallel lists, ascending, none twice: a code, and how often it came. */
export type CodeEntries = { readonly codes: Uint32Array; readonly counts: Uint32Array };

/** To insert each row among those before takes a quarter of the square of how many they are: up to so many, least. */
const INSERTED_ROWS_MAX = 8;

/** Codes that are looked through together where some of them came. */
const CODES_PER_BLOCK = 16;

const BLOCKS_PER_WORD = 4;

const PAIRS_PER_BLOCK = CODES_PER_BLOCK / 2;

const COUNTER_BITS = 16;
const COUNTER_MASK = 0xffff;

/** Rows that a loop below marks in one go. */
const ROWS_AT_ONCE = 4;

/** What a counter can count to. */
const ROWS_MAX = 65_535;

/** The codes of one run. */
let rows = new Uint32Array(0);

/** Counters by code, all 0 between two calls. Of 16 bits, for V8 adds to others by way of doubles, in twice the time. */
let counters = new Uint16Array(0);
/** The same two by two: where a block has some, most have not come. */
let pairs = new Uint32Array(0);

/** 1 for each block of codes of which some came, four of them a word. */
let blocks = new Uint8Array(0);
let blockWords = new Uint32Array(0);

/**
 * Counts codes below `codeCount` where they are few beside it: writes each code of [start, end), ascending,
 * and how often it came, from entry `first` on; gives the end.
 */
export function countFewCodes(
  codes: UnsignedArray,
  { start, end }: { readonly start: number; readonly end: number },
  codeCount: number,
  entries: CodeEntries,
  first: number,
): number {
  const count = end - start;
  assert(count <= ROWS_MAX, 'few codes are of fewer rows than a counter counts');
  if (count <= INSERTED_ROWS_MAX) {
    if (rows.length < count) rows = new Uint32Array(Math.max(count, 2 * rows.length));
    insertRows(codes, start, count);
    return countSorted(count, entries, first);
  }
  if (counters.length < codeCount) makeRoom(codeCount);
  if (codes instanceof Uint8Array) markBytes(codes, start, end);
  else if (codes instanceof Uint16Array) markShorts(codes, start, end);
  else markWords(codes, start, end);
  return takeBlocks(Math.ceil(codeCount / CODES_PER_BLOCK / BLOCKS_PER_WORD), entries, first);
}

function makeRoom(codeCount: number): void {
  const wordCount = Math.ceil(codeCount / CODES_PER_BLOCK / BLOCKS_PER_WORD);
  counters = new Uint16Array(wordCount * BLOCKS_PER_WORD * CODES_PER_BLOCK);
  pairs = new Uint32Array(counters.buffer);
  blockWords = new Uint32Array(wordCount);
  blocks = new Uint8Array(blockWords.buffer);
}

/** Writes rows in the order of their codes. */
function insertRows(codes: UnsignedArray, start: number, count: number): void {
  const ordered = rows;
  for (let next = 0; next < count; next++) {
    const code = codes[start + next]!;
    let at = next;
    for (; at > 0; at--) {
      const before = ordered[at - 1]!;
      if (before <= code) break;
      ordered[at] = before;
    }
    ordered[at] = code;
  }
}

function countSorted(count: number, { codes, counts }: CodeEntries, first: number): number {
  const ordered = rows;
  let entry = first;
  for (let row = 0; row < count; ) {
    const code = ordered[row]!;
    const start = row;
    while (row < count && ordered[row] === code) row++;
    codes[entry] = code;
    counts[entry++] = row - start;
  }
  return entry;
}

/**
 * Counts each row and notes its block, four rows at once: what a loop does between two takes as long as one. One
 * function for each width, so that each sees one kind of array.
 */
function markBytes(codes: Uint8Array, start: number, end: number): void {
  const [counted, met] = [counters, blocks];
  let row = start;
  for (const last = end - ROWS_AT_ONCE; row <= last; row += ROWS_AT_ONCE) {
    const one = codes[row]!;
    const two = codes[row + 1]!;
    const three = codes[row + 2]!;
    const four = codes[row + 3]!;
    counted[one]!++;
    counted[two]!++;
    counted[three]!++;
    counted[four]!++;
    met[one >>> 4] = 1;
    met[two >>> 4] = 1;
    met[three >>> 4] = 1;
    met[four >>> 4] = 1;
  }
  for (; row < end; row++) {
    const code = codes[row]!;
    counted[code]!++;
    met[code >>> 4] = 1;
  }
}

function markShorts(codes: Uint16Array, start: number, end: number): void {
  const [counted, met] = [counters, blocks];
  let row = start;
  for (const last = end - ROWS_AT_ONCE; row <= last; row += ROWS_AT_ONCE) {
    const one = codes[row]!;
    const two = codes[row + 1]!;
    const three = codes[row + 2]!;
    const four = codes[row + 3]!;
    counted[one]!++;
    counted[two]!++;
    counted[three]!++;
    counted[four]!++;
    met[one >>> 4] = 1;
    met[two >>> 4] = 1;
    met[three >>> 4] = 1;
    met[four >>> 4] = 1;
  }
  for (; row < end; row++) {
    const code = codes[row]!;
    counted[code]!++;
    met[code >>> 4] = 1;
  }
}

function markWords(codes: Uint32Array, start: number, end: number): void {
  const [counted, met] = [counters, blocks];
  let row = start;
  for (const last = end - ROWS_AT_ONCE; row <= last; row += ROWS_AT_ONCE) {
    const one = codes[row]!;
    const two = codes[row + 1]!;
    const three = codes[row + 2]!;
    const four = codes[row + 3]!;
    counted[one]!++;
    counted[two]!++;
    counted[three]!++;
    counted[four]!++;
    met[one >>> 4] = 1;
    met[two >>> 4] = 1;
    met[three >>> 4] = 1;
    met[four >>> 4] = 1;
  }
  for (; row < end; row++) {
    const code = codes[row]!;
    counted[code]!++;
    met[code >>> 4] = 1;
  }
}

/** Writes what came of all blocks, and takes it back. */
function takeBlocks(wordCount: number, { codes, counts }: CodeEntries, first: number): number {
  const [counted, met, words] = [pairs, blocks, blockWords];
  let entry = first;
  for (let word = 0; word < wordCount; word++) {
    if (words[word] === 0) continue;
    const blockEnd = (word + 1) * BLOCKS_PER_WORD;
    for (let block = blockEnd - BLOCKS_PER_WORD; block < blockEnd; block++) {
      if (met[block] === 0) continue;
      met[block] = 0;
      const pairEnd = (block + 1) * PAIRS_PER_BLOCK;
      for (let pair = pairEnd - PAIRS_PER_BLOCK; pair < pairEnd; pair++) {
        const times = counted[pair]!;
        if (times === 0) continue;
        counted[pair] = 0;
        if ((times & COUNTER_MASK) !== 0) {
          codes[entry] = 2 * pair;
          counts[entry++] = times & COUNTER_MASK;
        }
        if (times > COUNTER_MASK) {
          codes[entry] = 2 * pair + 1;
          counts[entry++] = times >>> COUNTER_BITS;
        }
      }
    }
  }
  return entry;
}
