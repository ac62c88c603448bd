import { carvedInt32 } from '../column/arrays.ts';
import { consecutivePositions } from '../column/chunk.ts';
import { intersectionOf, partitionPoint, type RowRanges } from '../column/positions.ts';
import type { NeededText, RowRange, RowRun, RowSpan, Segment } from '../column/segment.ts';
import { CHUNK_ROWS_MAX } from '../limits.ts';

/**
 * Rows of a run from which its segment is asked which of them may hold a text: the answer takes some
 * microseconds, as does looking at 100 rows.
 */
const TEXT_ROWS_MIN = 512;

type AreOrdered = (start: number, count: number) => boolean;

/**
 * Some rows of a run, in its order, counted from 0: those at its positions `[start, end)`, or fewer
 * of them.
 */
export interface RunRows {
  /** How many rows there are. */
  readonly count: number;
  /** Rows [from, to) of them, in an array of their own. */
  rows(from: number, to: number): Int32Array;
  /** Rows [from, to) of them, or the first of these, as consecutive rows; `undefined`: those are few. */
  range(from: number, to: number): RowRange | undefined;
  /** Where rows from `from` on that are read one by one end: before the next that are many in a row. */
  listEnd(from: number): number;
}

/** Those at the positions `[start, end)` of a run: of most scans of a segment these are all. */
class SpanRows implements RunRows {
  readonly count: number;
  readonly #run: RowRun;
  readonly #start: number;

  constructor(run: RowRun, start: number, end: number) {
    this.#run = run;
    this.#start = start;
    this.count = Math.max(0, end - start);
  }

  rows(from: number, to: number): Int32Array {
    const first = this.#start + from;
    const listed = this.#run.rows;
    if (listed !== undefined) return listed.slice(first, this.#start + to);
    return consecutivePositions(this.#run.start + first, this.#run.start + this.#start + to);
  }

  range(from: number, to: number): RowRange | undefined {
    if (this.#run.rows !== undefined || from >= to) return undefined;
    const start = this.#run.start + this.#start + from;
    const count = Math.min(to, this.count) - from;
    return { start, count, isTimeOrdered: this.#run.isTimeOrdered };
  }

  listEnd(from: number): number {
    return Math.min(from + CHUNK_ROWS_MAX, this.count);
  }
}

/** Those in ranges of positions of a run. */
class RangedRows implements RunRows {
  readonly count: number;
  readonly #run: RowRun;
  /** Ranges of positions of the run. */
  readonly #ranges: RowRanges;
  /** For each range how many rows there are before it. */
  readonly #starts: Int32Array;
  readonly #areOrdered: AreOrdered;

  /** `areOrdered`: whether consecutive rows of a run that is not ordered by time are. */
  constructor(run: RowRun, ranges: RowRanges, areOrdered: AreOrdered) {
    this.#run = run;
    this.#ranges = ranges;
    this.#areOrdered = areOrdered;
    this.#starts = new Int32Array(ranges.length / 2);
    let count = 0;
    for (let range = 0; range < this.#starts.length; range++) {
      this.#starts[range] = count;
      count += ranges[2 * range + 1]! - ranges[2 * range]!;
    }
    this.count = count;
  }

  rows(from: number, to: number): Int32Array {
    const rows = carvedInt32(to - from);
    const starts = this.#starts;
    let range = this.#rangeOf(from);
    for (let index = from; index < to; range++) {
      const end = Math.min(to, starts[range + 1] ?? this.count);
      // Position of a row less its index: the same for all rows of a range.
      const shift = this.#ranges[2 * range]! - starts[range]!;
      const listed = this.#run.rows;
      if (listed === undefined) {
        const first = this.#run.start + shift;
        for (; index < end; index++) rows[index - from] = first + index;
      } else {
        for (; index < end; index++) rows[index - from] = listed[shift + index]!;
      }
    }
    return rows;
  }

  range(from: number, to: number): RowRange | undefined {
    if (this.#run.rows !== undefined || from >= to) return undefined;
    const range = this.#rangeOf(from);
    const end = Math.min(to, this.#starts[range + 1] ?? this.count);
    if (end < to && end - from < CHUNK_ROWS_MAX) return undefined;
    const start = this.#run.start + this.#ranges[2 * range]! + from - this.#starts[range]!;
    const count = end - from;
    const isTimeOrdered = this.#run.isTimeOrdered || this.#areOrdered(start, count);
    return { start, count, isTimeOrdered };
  }

  listEnd(from: number): number {
    const end = Math.min(from + CHUNK_ROWS_MAX, this.count);
    const starts = this.#starts;
    for (let range = this.#rangeOf(from) + 1; range < starts.length; range++) {
      const start = starts[range]!;
      if (start >= end) break;
      if ((starts[range + 1] ?? this.count) - start >= CHUNK_ROWS_MAX) return start;
    }
    return end;
  }

  /** The last range that begins with row `index` or before. */
  #rangeOf(index: number): number {
    const starts = this.#starts;
    return Math.max(0, partitionPoint(0, starts.length, (range) => starts[range]! <= index) - 1);
  }
}

/** The rows at positions [start, end) of a run of a segment, of some of its rows where these are given. */
export function rowsOfRun(
  segment: Segment,
  run: RowRun,
  [start, end]: readonly [number, number],
  among?: RowRanges,
): RunRows {
  if (among === undefined) return new SpanRows(run, start, end);
  const ranges = intersectionOf(shifted(among, -run.start), Int32Array.of(start, end));
  const areOrdered = (start: number, count: number) =>
    segment.areTimeOrdered?.(start, count) === true;
  return new RangedRows(run, ranges, areOrdered);
}

/** What may hold all of some texts; `undefined`: any row may. */
type WantedRows = { readonly rows: RowRanges | undefined };

/** The rows of one segment that may hold all of some texts: asked for when they are first wanted. */
export class TextRows {
  readonly #segment: Segment;
  readonly #texts: readonly NeededText[];
  #all: WantedRows | undefined;

  constructor(segment: Segment, texts: readonly NeededText[]) {
    this.#segment = segment;
    this.#texts = texts;
  }

  /** Outside of these rows of the segment none at positions [start, end) of a run has all texts; `undefined`: any may. */
  wanted(run: RowRun, start: number, end: number): RowRanges | undefined {
    if (run.rows !== undefined || end - start < TEXT_ROWS_MIN || this.#texts.length === 0) {
      return undefined;
    }
    return this.#among({ start: run.start + start, count: end - start });
  }

  /** Of all rows at once where it is asked of a large part of them, as it may be of further runs. */
  #among(among: RowSpan): RowRanges | undefined {
    const { rowCount } = this.#segment;
    if (among.count * PARTS_MIN < rowCount) return this.#find(among);
    this.#all ??= { rows: this.#find({ start: 0, count: rowCount }) };
    return this.#all.rows;
  }

  #find(among: RowSpan): RowRanges | undefined {
    let rows: RowRanges | undefined;
    for (const needed of this.#texts) {
      const found = this.#segment.rowsWith(needed, among);
      if (found === undefined) continue;
      rows = rows === undefined ? found : intersectionOf(rows, found);
    }
    return rows;
  }
}

/** Rows that are fewer than a fourth of a segment are asked for by themselves. */
const PARTS_MIN = 4;

function shifted(ranges: RowRanges, by: number): RowRanges {
  return by === 0 ? ranges : ranges.map((bound) => bound + by);
}
