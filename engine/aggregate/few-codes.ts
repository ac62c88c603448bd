import { assert } from '../assert.ts';
import type { UnsignedArray } from '../column/slice.ts';

/** Parallel lists: a code, or what it stands for, and how often it came. */
export type CodeEntries = { readonly values: Float64Array; readonly counts: Uint32Array };

/** To insert each row among those before takes a quarter of the square of how many they are: up to so many, least. */
const INSERTED_ROWS_MAX = 8;

/**
 * Rows up to which the words of marks are marked, too, so that few of them are looked at. Of more rows, most words
 * are marked by several, and each waits for the one before.
 */
const SUMMARIZED_ROWS_MAX = 128;

const CODES_PER_MARK = 32;

/** What a counter can count to. */
const ROWS_MAX = 65_535;

/** The codes of one run. */
let rows = new Uint32Array(0);

/**
 * Counters by code, and a bit for each that is not 0; all 0 between two calls. Of 16 bits, for V8 adds to others by
 * way of doubles, in twice the time.
 */
let counters = new Uint16Array(0);
let marks = new Uint32Array(0);

/** A bit for each word of marks that is not 0, while few rows are marked. */
let summaries = new Uint32Array(0);

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
  const markCount = Math.ceil(codeCount / CODES_PER_MARK);
  if (counters.length < codeCount) {
    counters = new Uint16Array(codeCount);
    marks = new Uint32Array(markCount);
    summaries = new Uint32Array(Math.ceil(markCount / CODES_PER_MARK));
  }
  if (count <= SUMMARIZED_ROWS_MAX) {
    markSummarized(codes, start, end);
    return takeSummarized(Math.ceil(markCount / CODES_PER_MARK), entries, first);
  }
  if (codes instanceof Uint8Array) markBytes(codes, start, end);
  else if (codes instanceof Uint16Array) markShorts(codes, start, end);
  else markWords(codes, start, end);
  return takeMarked(markCount, entries, first);
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

function countSorted(count: number, { values, counts }: CodeEntries, first: number): number {
  const ordered = rows;
  let entry = first;
  for (let row = 0; row < count; ) {
    const code = ordered[row]!;
    const start = row;
    while (row < count && ordered[row] === code) row++;
    values[entry] = code;
    counts[entry++] = row - start;
  }
  return entry;
}

function markSummarized(codes: UnsignedArray, start: number, end: number): void {
  const [counted, marked, summarized] = [counters, marks, summaries];
  for (let row = start; row < end; row++) {
    const code = codes[row]!;
    const mark = code >>> 5;
    counted[code]!++;
    marked[mark]! |= 1 << code;
    summarized[mark >>> 5]! |= 1 << mark;
  }
}

/** One loop for each width, so that each sees one kind of array. */
function markBytes(codes: Uint8Array, start: number, end: number): void {
  const [counted, marked] = [counters, marks];
  for (let row = start; row < end; row++) {
    const code = codes[row]!;
    counted[code]!++;
    marked[code >>> 5]! |= 1 << code;
  }
}

function markShorts(codes: Uint16Array, start: number, end: number): void {
  const [counted, marked] = [counters, marks];
  for (let row = start; row < end; row++) {
    const code = codes[row]!;
    counted[code]!++;
    marked[code >>> 5]! |= 1 << code;
  }
}

function markWords(codes: Uint32Array, start: number, end: number): void {
  const [counted, marked] = [counters, marks];
  for (let row = start; row < end; row++) {
    const code = codes[row]!;
    counted[code]!++;
    marked[code >>> 5]! |= 1 << code;
  }
}

/** Writes what is marked, and takes it back. */
function takeMarked(markCount: number, entries: CodeEntries, first: number): number {
  const marked = marks;
  let entry = first;
  for (let at = 0; at < markCount; at++) {
    if (marked[at] !== 0) entry = takeMark(at, entries, entry);
  }
  return entry;
}

/** As `takeMarked`, looking at the words alone that are marked themselves. */
function takeSummarized(summaryCount: number, entries: CodeEntries, first: number): number {
  const summarized = summaries;
  let entry = first;
  for (let from = 0; from < summaryCount; from++) {
    let summary = summarized[from]!;
    if (summary === 0) continue;
    summarized[from] = 0;
    while (summary !== 0) {
      entry = takeMark(from * CODES_PER_MARK + lowestBit(summary), entries, entry);
      summary &= summary - 1;
    }
  }
  return entry;
}

function takeMark(at: number, { values, counts }: CodeEntries, first: number): number {
  const counted = counters;
  let entry = first;
  let mark = marks[at]!;
  marks[at] = 0;
  while (mark !== 0) {
    const code = at * CODES_PER_MARK + lowestBit(mark);
    mark &= mark - 1;
    values[entry] = code;
    counts[entry++] = counted[code]!;
    counted[code] = 0;
  }
  return entry;
}

function lowestBit(word: number): number {
  return 31 - Math.clz32(word & -word);
}
