import { assert } from '../assert.ts';
import { carvedFloat64, carvedInt32, threadArrays } from '../column/arrays.ts';
import type { IntegerCoding, PackedNumbers } from '../column/number-vectors.ts';
import type { UnsignedArray } from '../column/slice.ts';
import type { Vector } from '../column/vector.ts';
import type { CountedIntegers } from './integer-log.ts';

/** How many tests of the same integers there were in a chunk of a grouping, at most so far. */
export type KnownTests = { countMax: number };

/**
 * The groups of the rows of one chunk, where these come in runs: rows `[ends[r - 1], ends[r])`, from 0 for
 * the first, are of group `groups[r]`. A group may have several runs.
 */
export class ChunkRuns {
  /** How many rows there are. */
  readonly count: number;
  readonly groups: Int32Array;
  readonly ends: Int32Array;
  #tallied: PackedNumbers | undefined;
  #tally: RunTally | undefined;
  #tested: PackedNumbers | undefined;
  #testCount = 0;
  readonly #knownTests: KnownTests;

  /** `knownTests`: of the grouping; it is written to. */
  constructor(
    groups: Int32Array,
    ends: Int32Array,
    count: number,
    knownTests: KnownTests = { countMax: 0 },
  ) {
    this.groups = groups;
    this.ends = ends;
    this.count = count;
    this.#knownTests = knownTests;
  }

  /**
   * To be told of each test of integers; how many there are of the same ones in a chunk, as far as is known
   * from this one and those before.
   */
  noteTest(numbers: PackedNumbers): number {
    const isNext = this.#tested !== undefined && isSame(this.#tested, numbers);
    this.#testCount = isNext ? this.#testCount + 1 : 1;
    this.#tested = numbers;
    const known = this.#knownTests;
    known.countMax = Math.max(known.countMax, this.#testCount);
    return known.countMax;
  }

  /** Writes the group of each row. */
  spread(groups: Int32Array): void {
    let start = 0;
    for (let run = 0; run < this.ends.length; run++) {
      groups.fill(this.groups[run]!, start, this.ends[run]!);
      start = this.ends[run]!;
    }
  }

  /**
   * What each run's integers come to; `undefined` where a vector has others, or counting them does not pay.
   * Made once for all aggregates over the same integers, one of which mostly follows the other.
   */
  tally(numbers: Vector): RunTally | undefined {
    if (numbers.form !== 'packed numbers') return undefined;
    const isKnown = this.#tallied !== undefined && isSame(this.#tallied, numbers);
    if (isKnown && (this.#tally === undefined || isLatest(this.#tally))) return this.#tally;
    this.#tallied = numbers;
    this.#tally = tallyRuns(numbers, this.ends);
    return this.#tally;
  }
}

/** Whether both are the same entries of the same codes: of one chunk they are as many. */
function isSame(left: PackedNumbers, right: PackedNumbers): boolean {
  return left.codes === right.codes && left.start === right.start && left.coding === right.coding;
}

/** Whether a vector is known to have no NULL by its form alone. */
export function hasNoNull(vector: Vector): boolean {
  if (vector.kind === 'constant') return vector.value !== null;
  return vector.form === 'string range' || (vector.kind === 'number' && vector.nulls === undefined);
}

/** Codes of integers that are counted by code: two counters for each stay within the second-level cache. */
export const TALLY_CODES_MAX = 65_536;

/**
 * How often each integer came in each run of a chunk. Those of run `r` are entries
 * `[ends[r - 1], ends[r])`, from 0 for the first, ascending and none twice; each run has some. The entries are written
 * over by the next tally.
 */
export type RunTally = CountedIntegers & {
  readonly ends: Int32Array;
  /** Sum of the integers of each run, exact. */
  readonly sums: Float64Array;
};

/**
 * A run of fewer rows than one for so many codes is counted by what its rows hold; for others it is less
 * work to look through all codes.
 */
const CODES_PER_ROW_MAX = 2;

/** Codes that are passed over together where none of them came: most of a wide range of integers mostly do not. */
const CODES_PER_BLOCK = 16;

/** Rows that the loops below count in one go. */
const ROWS_AT_ONCE = 8;

/** What a counter counts to. */
const COUNTED_ROWS_MAX = 65_535;

/** Parallel lists, ascending, none twice: a code, and how often it came. */
type CodeEntries = { readonly codes: Uint32Array; readonly counts: Uint32Array };

/**
 * The latest tally of this thread, and the entries that are written over by the next one. State of the module: a tally is read
 * by all aggregates of a chunk, so nobody could give its arrays back.
 */
const latest: { tally: RunTally | undefined; entries: CodeEntries } = {
  tally: undefined,
  entries: { codes: new Uint32Array(0), counts: new Uint32Array(0) },
};

/** Whether a tally has its entries still: none was made since. */
function isLatest(tally: RunTally): boolean {
  return tally === latest.tally;
}

/** Codes below `codeCount` that are counted, with counters that are all 0 between two runs, and where the entries go. */
export type CodeCounting = {
  readonly codes: UnsignedArray;
  readonly codeCount: number;
  readonly counters: CodeCounters;
  readonly entries: CodeEntries;
};

/** Counters by code. */
export class CodeCounters {
  readonly length: number;
  /** Of 16 bits, for V8 adds to others by way of doubles, in twice the time. */
  readonly single: Uint16Array;
  /** The same two by two, to be looked through sooner. */
  readonly pairs: Uint32Array;
  /**
   * Taken in turn with the others where codes are few: events alike come one after the other, and to add to a counter
   * just written waits for that. Where they are many it seldom is the same, and two lie in the nearest cache no more.
   */
  readonly odd = new Uint16Array(256);
  /** 1 for each block of codes of which some came, four of them a word. */
  readonly blocks: Uint8Array;
  readonly blockWords: Uint32Array;
  /** The codes of a run of a few rows. */
  readonly ordered = new Uint32Array(INSERTED_ROWS_MAX);

  constructor(length: number) {
    this.length = length;
    this.blockWords = new Uint32Array(wordCountOf(length));
    this.blocks = new Uint8Array(this.blockWords.buffer);
    this.single = new Uint16Array(CODES_PER_BLOCK * this.blocks.length);
    this.pairs = new Uint32Array(this.single.buffer);
  }
}

/**
 * Counts the integers of runs that end at `runEnds`; `undefined` where they have too many codes, or their
 * sums may not be exact.
 */
export function tallyRuns(numbers: PackedNumbers, runEnds: Int32Array): RunTally | undefined {
  const { codes, start, count, coding } = numbers;
  const codeCount = coding.codeMax + 1;
  if (codeCount > TALLY_CODES_MAX || count > COUNTED_ROWS_MAX) return undefined;
  const greatest = Math.max(Math.abs(coding.value(0)), Math.abs(coding.value(coding.codeMax)));
  if (greatest * count > Number.MAX_SAFE_INTEGER) return undefined;
  const { length } = latest.entries.counts;
  if (length < count) {
    const room = Math.max(count, 2 * length);
    latest.entries = { codes: new Uint32Array(room), counts: new Uint32Array(room) };
  }
  const { entries } = latest;
  const counters = threadArrays.borrowZeros(CodeCounters, codeCount);
  const counting = { codes, codeCount, counters, entries };
  const ends = carvedInt32(runEnds.length);
  const sums = carvedFloat64(runEnds.length);
  let entry = 0;
  let rowStart = start;
  for (let run = 0; run < runEnds.length; run++) {
    const rowEnd = start + runEnds[run]!;
    const rows = { start: rowStart, end: rowEnd };
    const isFew = codeCount > CODES_PER_ROW_MAX * (rowEnd - rowStart);
    const end = isFew ? countFewCodes(counting, rows, entry) : countAllCodes(counting, rows, entry);
    sums[run] = sumOf(coding, entries, { first: entry, end }, rowEnd - rowStart);
    ends[run] = end;
    entry = end;
    rowStart = rowEnd;
  }
  threadArrays.giveBackZeros(counters);
  latest.tally = { ends, codes: entries.codes, counts: entries.counts, coding, sums };
  return latest.tally;
}

/** Writes a run's codes and how often each came from entry `first` on; gives the end. */
function countAllCodes(
  { codes, codeCount, counters, entries }: CodeCounting,
  { start, end }: { readonly start: number; readonly end: number },
  first: number,
): number {
  const { single, pairs, odd } = counters;
  if (codes instanceof Uint8Array) {
    countBytes(codes, start, end, single, odd);
    addOddCounters(counters, codeCount);
  } else if (codes instanceof Uint16Array) {
    countShorts(codes, start, end, single);
  } else {
    countWords(codes, start, end, single);
  }
  let entry = first;
  for (let code = 0; code < codeCount; code += CODES_PER_BLOCK) {
    if (haveCome(pairs, code >>> 1)) entry = takeCounts(single, code, entries, entry);
  }
  return entry;
}

/** Moves what the second counters counted to the first. */
function addOddCounters({ single, odd }: CodeCounters, codeCount: number): void {
  for (let code = 0; code < codeCount; code++) {
    single[code]! += odd[code]!;
    odd[code] = 0;
  }
}

/** Whether any of the codes from pair `at` on that are looked at together has. */
function haveCome(pairs: Uint32Array, at: number): boolean {
  const first = pairs[at]! | pairs[at + 1]! | pairs[at + 2]! | pairs[at + 3]!;
  const second = pairs[at + 4]! | pairs[at + 5]! | pairs[at + 6]! | pairs[at + 7]!;
  return (first | second) !== 0;
}

/** Moves what was counted of these codes to the entries from `first` on; gives the end. */
function takeCounts(
  single: Uint16Array,
  start: number,
  { codes, counts }: CodeEntries,
  first: number,
): number {
  let entry = first;
  for (let code = start; code < start + CODES_PER_BLOCK; code++) {
    const times = single[code]!;
    if (times === 0) continue;
    single[code] = 0;
    codes[entry] = code;
    counts[entry++] = times;
  }
  return entry;
}

/** What the integers of a run with so many rows come to, whose entries are [first, end). */
function sumOf(
  { base, step, table }: IntegerCoding,
  { codes, counts }: CodeEntries,
  { first, end }: { readonly first: number; readonly end: number },
  rowCount: number,
): number {
  if (table !== undefined) {
    let sum = 0;
    for (let entry = first; entry < end; entry++) sum += table[codes[entry]!]! * counts[entry]!;
    return sum;
  }
  // Below 2^32: neither a code nor the rows of a chunk have more than 16 bits.
  let sum = 0;
  for (let entry = first; entry < end; entry++) {
    sum = (sum + Math.imul(codes[entry]!, counts[entry]!)) | 0;
  }
  return base * rowCount + step * (sum >>> 0);
}

/**
 * `for (let row = start; row < end; row++) even[codes[row]!]!++`, eight rows at once: what a loop does between two
 * rows takes as long as counting one.
 */
function countBytes(
  codes: Uint8Array,
  start: number,
  end: number,
  even: Uint16Array,
  odd: Uint16Array,
): void {
  let row = start;
  for (const last = end - ROWS_AT_ONCE; row <= last; row += ROWS_AT_ONCE) {
    even[codes[row]!]!++;
    odd[codes[row + 1]!]!++;
    even[codes[row + 2]!]!++;
    odd[codes[row + 3]!]!++;
    even[codes[row + 4]!]!++;
    odd[codes[row + 5]!]!++;
    even[codes[row + 6]!]!++;
    odd[codes[row + 7]!]!++;
  }
  for (; row < end; row++) even[codes[row]!]!++;
}

/** `for (let row = start; row < end; row++) counted[codes[row]!]!++`. Each sees one kind of array. */
function countShorts(codes: Uint16Array, start: number, end: number, counted: Uint16Array): void {
  let row = start;
  for (const last = end - ROWS_AT_ONCE; row <= last; row += ROWS_AT_ONCE) {
    counted[codes[row]!]!++;
    counted[codes[row + 1]!]!++;
    counted[codes[row + 2]!]!++;
    counted[codes[row + 3]!]!++;
    counted[codes[row + 4]!]!++;
    counted[codes[row + 5]!]!++;
    counted[codes[row + 6]!]!++;
    counted[codes[row + 7]!]!++;
  }
  for (; row < end; row++) counted[codes[row]!]!++;
}

function countWords(codes: Uint32Array, start: number, end: number, counted: Uint16Array): void {
  let row = start;
  for (const last = end - ROWS_AT_ONCE; row <= last; row += ROWS_AT_ONCE) {
    counted[codes[row]!]!++;
    counted[codes[row + 1]!]!++;
    counted[codes[row + 2]!]!++;
    counted[codes[row + 3]!]!++;
    counted[codes[row + 4]!]!++;
    counted[codes[row + 5]!]!++;
    counted[codes[row + 6]!]!++;
    counted[codes[row + 7]!]!++;
  }
  for (; row < end; row++) counted[codes[row]!]!++;
}

/**
 * Rows sorted by time and grouped by time bucket come in long runs of one group. A loop over a run
 * keeps its result in a register; one that scatters rows over groups waits for memory at each row.
 */

const PAIRS_SAMPLED = 16;

/** Rows below which it does not matter. */
const ROWS_MIN = 64;

/** Whether rows mostly have the group of the row before, going by a sample: a matter of speed only. */
export function comesInRuns(groups: Int32Array, count: number): boolean {
  if (count < ROWS_MIN) return false;
  const step = Math.floor((count - 1) / PAIRS_SAMPLED);
  let changes = 0;
  for (let pair = 0; pair < PAIRS_SAMPLED; pair++) {
    if (groups[pair * step] !== groups[pair * step + 1]) changes++;
  }
  return changes <= 1;
}

/** The first row after `start`, or `count`, whose group is another than that of `start`. */
export function runEnd(groups: Int32Array, start: number, count: number): number {
  const group = groups[start];
  let row = start + 1;
  while (row < count && groups[row] === group) row++;
  return row;
}

/** To insert each row among those before takes a quarter of the square of how many they are: up to so many, least. */
const INSERTED_ROWS_MAX = 8;

const BLOCKS_PER_WORD = 4;

const PAIRS_PER_BLOCK = CODES_PER_BLOCK / 2;

const COUNTER_BITS = 16;
const COUNTER_MASK = 0xffff;

/** Rows that a loop below marks in one go. */
const ROWS_MARKED_AT_ONCE = 4;

/**
 * Counts codes below `codeCount` where they are few beside it: writes each code of [start, end), ascending,
 * and how often it came, from entry `first` on; gives the end.
 */
export function countFewCodes(
  { codes, codeCount, counters, entries }: CodeCounting,
  { start, end }: { readonly start: number; readonly end: number },
  first: number,
): number {
  const count = end - start;
  assert(count <= COUNTED_ROWS_MAX, 'few codes are of fewer rows than a counter counts');
  if (count <= INSERTED_ROWS_MAX) {
    const { ordered } = counters;
    insertRows(codes, start, count, ordered);
    return countSorted(ordered, count, entries, first);
  }
  if (codes instanceof Uint8Array) markBytes(codes, start, end, counters);
  else if (codes instanceof Uint16Array) markShorts(codes, start, end, counters);
  else markWords(codes, start, end, counters);
  return takeBlocks(counters, wordCountOf(codeCount), entries, first);
}

function wordCountOf(codeCount: number): number {
  return Math.ceil(codeCount / CODES_PER_BLOCK / BLOCKS_PER_WORD);
}

/** Writes rows in the order of their codes. */
function insertRows(
  codes: UnsignedArray,
  start: number,
  count: number,
  ordered: Uint32Array,
): void {
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

function countSorted(
  ordered: Uint32Array,
  count: number,
  { codes, counts }: CodeEntries,
  first: number,
): number {
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
function markBytes(
  codes: Uint8Array,
  start: number,
  end: number,
  { single: counted, blocks: met }: CodeCounters,
): void {
  let row = start;
  for (const last = end - ROWS_MARKED_AT_ONCE; row <= last; row += ROWS_MARKED_AT_ONCE) {
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

function markShorts(
  codes: Uint16Array,
  start: number,
  end: number,
  { single: counted, blocks: met }: CodeCounters,
): void {
  let row = start;
  for (const last = end - ROWS_MARKED_AT_ONCE; row <= last; row += ROWS_MARKED_AT_ONCE) {
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

function markWords(
  codes: Uint32Array,
  start: number,
  end: number,
  { single: counted, blocks: met }: CodeCounters,
): void {
  let row = start;
  for (const last = end - ROWS_MARKED_AT_ONCE; row <= last; row += ROWS_MARKED_AT_ONCE) {
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
function takeBlocks(
  { pairs: counted, blocks: met, blockWords: words }: CodeCounters,
  wordCount: number,
  { codes, counts }: CodeEntries,
  first: number,
): number {
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
