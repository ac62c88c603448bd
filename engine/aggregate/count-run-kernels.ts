import type { CodedTruths } from '../column/coded-truths.ts';
import { TRUE, type Vector } from '../column/vector.ts';
import { ByteRangeCount, rangeOfOnes } from './byte-range-count.ts';
import { type ChunkRuns, hasNoNull } from './chunk-runs.ts';
import type { RunTally } from './run-tally.ts';

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
export function countRunsPresent(
  counts: Float64Array,
  runs: ChunkRuns,
  vectors: readonly Vector[],
): boolean {
  return hasNoNull(vectors[0]!) && countRunRows(counts, runs);
}

/** Adds to each group's count its rows where a test of integers where they lie is TRUE. */
export function countRunsTrue(
  counts: Float64Array,
  runs: ChunkRuns,
  vectors: readonly Vector[],
): boolean {
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
