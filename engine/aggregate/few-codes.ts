import { assert } from '../assert.ts';
import type { UnsignedArray } from '../column/slice.ts';

/** Parallel lists: a code, or what it stands for, and how often it came. */
export type CodeEntries = { readonly values: Float64Array; readonly counts: Uint32Array };

/**
 * To insert each row among those before takes a quarter of the square of how many they are: less than to mark
 * them, and to look through all marks, where that is less than there are of these.
 */
const STEPS_PER_MARK = 4;

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
  const markCount = Math.ceil(codeCount / CODES_PER_MARK);
  if (count * count <= STEPS_PER_MARK * markCount) {
    if (rows.length < count) rows = new Uint32Array(Math.max(count, 2 * rows.length));
    insertRows(codes, start, count);
    return countSorted(count, entries, first);
  }
  if (counters.length < codeCount) {
    counters = new Uint16Array(codeCount);
    marks = new Uint32Array(markCount);
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
function takeMarked(markCount: number, { values, counts }: CodeEntries, first: number): number {
  const [counted, marked] = [counters, marks];
  let entry = first;
  for (let at = 0; at < markCount; at++) {
    let mark = marked[at]!;
    if (mark === 0) continue;
    marked[at] = 0;
    while (mark !== 0) {
      const code = at * CODES_PER_MARK + (31 - Math.clz32(mark & -mark));
      mark &= mark - 1;
      values[entry] = code;
      counts[entry++] = counted[code]!;
      counted[code] = 0;
    }
  }
  return entry;
}
