import { carvedFloat64, grownFloat64, NO_FLOAT64, threadArrays } from '../column/arrays.ts';
import type { CodedTruths } from '../column/number-vectors.ts';
import { BOOL, INT64 } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import { numberVector, TRUE, UNKNOWN, type Vector, valueAt } from '../column/vector.ts';
import type { AggregateFunction, AggregateState } from './aggregate-function.ts';
import { type ChunkRuns, comesInRuns, hasNoNull, type RunTally, runEnd } from './chunk-runs.ts';

/** COUNT(*) and COUNT(x): rows, and rows where x is not NULL. */
export const COUNT: AggregateFunction = {
  name: 'count',
  doc: [
    'The number of rows, or of rows whose value is not NULL.',
    'COUNT(x) FROM UNNEST([1, NULL, 3]) AS x',
    '2',
  ],
  fails: 'never',
  overloads: [
    { parameters: [], result: INT64, create: () => new CountState(countRows, countRunRows) },
    {
      parameters: ['any'],
      result: INT64,
      create: () =>
        new PresentCountState(
          (counts, groups, count, vectors) => countPresent(counts, groups, count, vectors[0]!),
          countRunsPresent,
        ),
    },
  ],
};

/** COUNTIF(condition): rows where the condition is TRUE. */
export const COUNTIF: AggregateFunction = {
  name: 'countif',
  doc: [
    'The number of rows in which a condition is TRUE.',
    'COUNTIF(x > 1) FROM UNNEST([1, 2, 3]) AS x',
    '2',
  ],
  fails: 'never',
  overloads: [
    {
      parameters: [BOOL],
      result: INT64,
      create: () =>
        new CountState(
          (counts, groups, count, vectors) => countTrue(counts, groups, count, vectors[0]!),
          countRunsTrue,
        ),
    },
  ],
};

type CountKernel = (
  counts: Float64Array,
  groups: Int32Array,
  count: number,
  vectors: readonly Vector[],
) => void;

/** The same for rows in runs; false where there is no quicker way. */
type CountRunsKernel = (
  counts: Float64Array,
  runs: ChunkRuns,
  vectors: readonly Vector[],
) => boolean;

/** One count per group, in doubles: exact to 2^53 rows. The partial is these counts. */
class CountState implements AggregateState {
  readonly isCertain = true;
  readonly #kernel: CountKernel;
  readonly #runsKernel: CountRunsKernel;
  #counts: Float64Array<ArrayBuffer> = NO_FLOAT64;

  constructor(kernel: CountKernel, runsKernel: CountRunsKernel) {
    this.#kernel = kernel;
    this.#runsKernel = runsKernel;
  }

  update(groups: Int32Array, count: number, groupCount: number, vectors: readonly Vector[]): void {
    this.#counts = grownFloat64(this.#counts, groupCount);
    this.#kernel(this.#counts, groups, count, vectors);
  }

  updateRuns(runs: ChunkRuns, groupCount: number, vectors: readonly Vector[]): boolean {
    this.#counts = grownFloat64(this.#counts, groupCount);
    return this.#runsKernel(this.#counts, runs, vectors);
  }

  /** Adds to the count of one group. */
  protected addTo(group: number, count: number, groupCount: number): void {
    this.#counts = grownFloat64(this.#counts, groupCount);
    this.#counts[group]! += count;
  }

  combine(partial: unknown, groups: Int32Array, groupCount: number): void {
    const theirs = partial as Float64Array; // By contract, what partial() of this class gave.
    this.#counts = grownFloat64(this.#counts, groupCount);
    for (let group = 0; group < theirs.length; group++) {
      this.#counts[groups[group]!]! += theirs[group]!;
    }
  }

  partial(groupCount: number): Float64Array {
    return this.#counts.slice(0, groupCount);
  }

  finalize(group: number): SqlValue {
    return this.#counts[group] ?? 0;
  }

  finalizeAll(groups: Int32Array): Vector {
    const answers = carvedFloat64(groups.length);
    for (let index = 0; index < groups.length; index++) {
      answers[index] = this.#counts[groups[index]!] ?? 0;
    }
    return numberVector(answers, groups.length);
  }
}

/** Of COUNT(x) alone, to which all values but NULL are alike. */
class PresentCountState extends CountState {
  addPresent(group: number, count: number, groupCount: number): void {
    this.addTo(group, count, groupCount);
  }
}

/** Adds to each group's count its rows. */
function countRows(counts: Float64Array, groups: Int32Array, count: number): void {
  if (comesInRuns(groups, count)) {
    for (let start = 0, end = 0; start < count; start = end) {
      end = runEnd(groups, start, count);
      counts[groups[start]!]! += end - start;
    }
    return;
  }
  if (count >= ROWS_PER_GROUP * counts.length) {
    countInTurn(counts, groups, count);
    return;
  }
  for (let row = 0; row < count; row++) counts[groups[row]!]!++;
}

/** Counters for each group cost as much as some rows: there should be fewer. */
const ROWS_PER_GROUP = 8;

/**
 * Four counters a group, one behind the other, taken in turn: to add to what was just written waits for that. The slow form adds to `counts` row by
 * row.
 */
function countInTurn(counts: Float64Array, groups: Int32Array, count: number): void {
  const second = counts.length;
  const third = 2 * second;
  const fourth = 3 * second;
  const counters = threadArrays.borrowZeros(Int32Array, 4 * second);
  let row = 0;
  for (; row + 3 < count; row += 4) {
    counters[groups[row]!]!++;
    counters[second + groups[row + 1]!]!++;
    counters[third + groups[row + 2]!]!++;
    counters[fourth + groups[row + 3]!]!++;
  }
  for (; row < count; row++) counters[groups[row]!]!++;
  for (let at = 0, group = 0; at < 4 * second; at++) {
    counts[group]! += counters[at]!;
    counters[at] = 0;
    if (++group === second) group = 0;
  }
  threadArrays.giveBackZeros(counters);
}

/** Adds to each group's count its rows where the vector is not NULL. */
export function countPresent(
  counts: Float64Array,
  groups: Int32Array,
  count: number,
  vector: Vector,
): void {
  switch (vector.kind) {
    case 'number':
      if (vector.nulls === undefined) countRows(counts, groups, count);
      else countZeros(counts, groups, count, vector.nulls);
      return;
    case 'boolean': {
      const { values } = vector;
      const unknown = UNKNOWN;
      for (let row = 0; row < count; row++) {
        counts[groups[row]!]! += Number(values[row] !== unknown);
      }
      return;
    }
    case 'dictionary':
      countNotNegative(counts, groups, count, vector.codes);
      return;
    case 'nested':
      countNotNegative(counts, groups, count, vector.nodes);
      return;
    case 'value': {
      const { values } = vector;
      for (let row = 0; row < count; row++) counts[groups[row]!]! += Number(values[row] !== null);
      return;
    }
    case 'constant':
      if (vector.value !== null) countRows(counts, groups, count);
  }
}

/** `flags` are 0 and 1. */
function countZeros(
  counts: Float64Array,
  groups: Int32Array,
  count: number,
  flags: Uint8Array,
): void {
  if (comesInRuns(groups, count)) {
    for (let start = 0, end = 0; start < count; start = end) {
      end = runEnd(groups, start, count);
      let ones = 0;
      for (let row = start; row < end; row++) ones += flags[row]!;
      counts[groups[start]!]! += end - start - ones;
    }
    return;
  }
  for (let row = 0; row < count; row++) counts[groups[row]!]! += 1 - flags[row]!;
}

/** Codes and nodes below 0 are NULL; the sign bit is their 1. */
function countNotNegative(
  counts: Float64Array,
  groups: Int32Array,
  count: number,
  codes: Int32Array,
): void {
  if (comesInRuns(groups, count)) {
    for (let start = 0, end = 0; start < count; start = end) {
      end = runEnd(groups, start, count);
      let negative = 0;
      for (let row = start; row < end; row++) negative += codes[row]! >>> 31;
      counts[groups[start]!]! += end - start - negative;
    }
    return;
  }
  for (let row = 0; row < count; row++) counts[groups[row]!]! += 1 - (codes[row]! >>> 31);
}

/** Adds to each group's count its rows where the vector is TRUE. */
function countTrue(counts: Float64Array, groups: Int32Array, count: number, vector: Vector): void {
  if (vector.kind === 'boolean') {
    countTrueBytes(counts, groups, count, vector.values);
    return;
  }
  for (let row = 0; row < count; row++) {
    if (valueAt(vector, row) === true) counts[groups[row]!]!++;
  }
}

/** Of FALSE, TRUE and UNKNOWN only TRUE is odd. */
function countTrueBytes(
  counts: Float64Array,
  groups: Int32Array,
  count: number,
  truths: Uint8Array,
): void {
  if (comesInRuns(groups, count)) {
    for (let start = 0, end = 0; start < count; start = end) {
      end = runEnd(groups, start, count);
      let trues = 0;
      for (let row = start; row < end; row++) trues += truths[row]! & 1;
      counts[groups[start]!]! += trues;
    }
    return;
  }
  for (let row = 0; row < count; row++) counts[groups[row]!]! += truths[row]! & 1;
}

/** Rows of a run for each code, from which on its codes are counted. */
const ROWS_PER_CODE = 0.5;

/** Tests of the same integers, from which on these are counted: that takes as long as two tests do row by row. */
const TESTS_TALLIED_MIN = 3;

/** Rows that the loops below look at in one go. */
const ROWS_AT_ONCE = 8;

/** Adds to each group's count the rows of its runs. */
export function countRunRows(counts: Float64Array, { groups, ends }: ChunkRuns): boolean {
  let start = 0;
  for (let run = 0; run < ends.length; run++) {
    const end = ends[run]!;
    counts[groups[run]!]! += end - start;
    start = end;
  }
  return true;
}

/** Adds the rows of each group to its count, for a vector whose form excludes NULL. */
function countRunsPresent(
  counts: Float64Array,
  runs: ChunkRuns,
  vectors: readonly Vector[],
): boolean {
  return hasNoNull(vectors[0]!) && countRunRows(counts, runs);
}

/** Adds to each group's count its rows where a test of integers where they lie is TRUE. */
function countRunsTrue(counts: Float64Array, runs: ChunkRuns, vectors: readonly Vector[]): boolean {
  const truths = vectors[0]!;
  if (truths.form !== 'coded truths') return false;
  const isTallied = runs.noteTest(truths.numbers) >= TESTS_TALLIED_MIN && !isShort(runs, truths);
  const tally = isTallied ? runs.tally(truths.numbers) : undefined;
  if (tally === undefined) countRunsByRow(counts, runs, truths);
  else countRunsTallied(counts, runs, truths, tally);
  countRunsExceptions(counts, runs, truths);
  return true;
}

/** Whether runs have so few rows that to count their codes takes longer than to look at each row for several tests. */
function isShort({ count, ends }: ChunkRuns, { numbers }: CodedTruths): boolean {
  return count < ROWS_PER_CODE * ends.length * numbers.coding.codeMax;
}

/** By how often each code came in each run, which is shared by all tests of the same integers. */
function countRunsTallied(
  counts: Float64Array,
  { groups }: ChunkRuns,
  { truthOfCode }: CodedTruths,
  tally: RunTally,
): void {
  let entry = 0;
  for (let run = 0; run < groups.length; run++) {
    let count = 0;
    for (; entry < tally.ends[run]!; entry++) {
      if (truthOfCode[tally.codes[entry]!] === TRUE) count += tally.counts[entry]!;
    }
    counts[groups[run]!]! += count;
  }
}

function countRunsByRow(
  counts: Float64Array,
  { groups, ends }: ChunkRuns,
  { truthOfCode, numbers }: CodedTruths,
): void {
  const { codes, start, count } = numbers;
  const isTrue = truthOfCode.map((truth) => (truth === TRUE ? 1 : 0));
  const range = codes instanceof Uint8Array ? rangeOfOnes(isTrue) : undefined;
  const inRange =
    range && new ByteRangeCount(codes as Uint8Array, { start, end: start + count }, range);
  let rowStart = start;
  for (let run = 0; run < ends.length; run++) {
    const rowEnd = start + ends[run]!;
    if (inRange !== undefined) {
      counts[groups[run]!]! += inRange.count(rowStart, rowEnd);
    } else if (codes instanceof Uint8Array) {
      counts[groups[run]!]! += countBytes(codes, rowStart, rowEnd, isTrue);
    } else if (codes instanceof Uint16Array) {
      counts[groups[run]!]! += countShorts(codes, rowStart, rowEnd, isTrue);
    } else {
      counts[groups[run]!]! += countWords(codes, rowStart, rowEnd, isTrue);
    }
    rowStart = rowEnd;
  }
}

/** Takes back what the codes of exceptions said. */
function countRunsExceptions(
  counts: Float64Array,
  { groups, ends }: ChunkRuns,
  { exceptions, truthOfCode, numbers }: CodedTruths,
): void {
  const { codes, start } = numbers;
  let run = 0;
  for (const row of exceptions) {
    while (ends[run]! <= row) run++;
    counts[groups[run]!]! += truthOfCode[codes[start + row]!] === TRUE ? -1 : 1;
  }
}

/** `for (let row = start; row < end; row++) count += isTrue[codes[row]!]!`, eight rows at once. */
function countBytes(codes: Uint8Array, start: number, end: number, isTrue: Uint8Array): number {
  let count = 0;
  let row = start;
  for (const last = end - ROWS_AT_ONCE; row <= last; row += ROWS_AT_ONCE) {
    count += isTrue[codes[row]!]! + isTrue[codes[row + 1]!]!;
    count += isTrue[codes[row + 2]!]! + isTrue[codes[row + 3]!]!;
    count += isTrue[codes[row + 4]!]! + isTrue[codes[row + 5]!]!;
    count += isTrue[codes[row + 6]!]! + isTrue[codes[row + 7]!]!;
  }
  for (; row < end; row++) count += isTrue[codes[row]!]!;
  return count;
}

/** As `countBytes`: each sees one kind of array. */
function countShorts(codes: Uint16Array, start: number, end: number, isTrue: Uint8Array): number {
  let count = 0;
  let row = start;
  for (const last = end - ROWS_AT_ONCE; row <= last; row += ROWS_AT_ONCE) {
    count += isTrue[codes[row]!]! + isTrue[codes[row + 1]!]!;
    count += isTrue[codes[row + 2]!]! + isTrue[codes[row + 3]!]!;
    count += isTrue[codes[row + 4]!]! + isTrue[codes[row + 5]!]!;
    count += isTrue[codes[row + 6]!]! + isTrue[codes[row + 7]!]!;
  }
  for (; row < end; row++) count += isTrue[codes[row]!]!;
  return count;
}

function countWords(codes: Uint32Array, start: number, end: number, isTrue: Uint8Array): number {
  let count = 0;
  let row = start;
  for (const last = end - ROWS_AT_ONCE; row <= last; row += ROWS_AT_ONCE) {
    count += isTrue[codes[row]!]! + isTrue[codes[row + 1]!]!;
    count += isTrue[codes[row + 2]!]! + isTrue[codes[row + 3]!]!;
    count += isTrue[codes[row + 4]!]! + isTrue[codes[row + 5]!]!;
    count += isTrue[codes[row + 6]!]! + isTrue[codes[row + 7]!]!;
  }
  for (; row < end; row++) count += isTrue[codes[row]!]!;
  return count;
}

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
type CodeRange = { readonly least: number; readonly end: number };

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
      count += countInWords(
        this.#words,
        word,
        Math.min(word + WORDS_AT_ONCE, endWord),
        this.#range,
      );
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

function countInWords(
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
