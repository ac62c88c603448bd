import { must } from '../assert.ts';
import type { RowRanges } from './row-ranges.ts';
import type { Segment } from './segment.ts';

/**
 * Rows up to which all values are counted; of more rows, about so many are sampled: the share of a value among them is off by
 * 0.4 % of all rows, one standard error, or less.
 */
const SAMPLED_ROWS = 16_384;

/** Segments that a sample is taken from: to open the columns of one takes as long as to read some dozens of its rows. */
const SAMPLED_SEGMENTS_MAX = 64;

/** As few as this only where they are large: columns that are not in memory are read from files whole. */
const SAMPLED_SEGMENTS_MIN = 8;

/** About so many rows these segments have together, where they are more than SAMPLED_SEGMENTS_MIN. */
const SAMPLED_FROM_ROWS_MAX = 4_194_304;

/** Rows of a segment that are in the scope. */
export type SegmentRows = {
  readonly segment: Segment;
  readonly ranges: RowRanges;
  readonly count: number;
};

/** Rows of a segment, one by one, ascending. */
export type SampledRows = { readonly segment: Segment; readonly rows: Int32Array };

/**
 * All rows if these are few, else a sample: the same one whenever the same rows are asked for. Its rows lie alone and evenly
 * apart. Rows are sorted by project and time, so each project and each time of a segment has its share of it.
 */
export function sampleRows(
  segments: readonly SegmentRows[],
  rowCount: number,
): readonly SampledRows[] {
  if (rowCount <= SAMPLED_ROWS) {
    return segments.map((of) => ({ segment: of.segment, rows: takeEvenly(of, of.count) }));
  }
  const counts = shareOut(segments, rowCount);
  return segments.flatMap((of, index) =>
    counts[index] === 0 ? [] : [{ segment: of.segment, rows: takeEvenly(of, counts[index]!) }],
  );
}

/** How many rows are sampled of each segment: its share, or, where there are too many segments, that of some others, too. */
function shareOut(segments: readonly SegmentRows[], rowCount: number): Uint32Array {
  const counts = new Uint32Array(segments.length);
  const blockCount = blockCountOf(segments);
  const blockRows = Math.floor(SAMPLED_ROWS / blockCount);
  let index = 0;
  let end = must(segments[0]).count;
  for (let block = 0; block < blockCount; block++) {
    // A block is of the segment that has the row in its middle.
    const middle = Math.floor(((block + 0.5) * rowCount) / blockCount);
    while (end <= middle) end += must(segments[++index]).count;
    counts[index]! += blockRows;
  }
  return counts.map((count, at) => Math.min(count, segments[at]!.count));
}

/** In how many blocks the sample is shared out: each of one row where all segments can be sampled. */
function blockCountOf(segments: readonly SegmentRows[]): number {
  const rowCount = segments.reduce((sum, { segment }) => sum + segment.rowCount, 0);
  const ofRows = Math.floor((segments.length * SAMPLED_FROM_ROWS_MAX) / rowCount);
  const segmentsMax = Math.min(SAMPLED_SEGMENTS_MAX, Math.max(SAMPLED_SEGMENTS_MIN, ofRows));
  return segments.length <= segmentsMax ? SAMPLED_ROWS : segmentsMax;
}

/** Its multiples modulo 1 lie evenly, however many there are. */
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;

/**
 * So many of the rows: one of each of as many stretches of equal length. Where in its stretch it lies changes from one to the
 * next, so that what comes again every so many rows has its share, too.
 */
function takeEvenly({ ranges, count }: SegmentRows, wanted: number): Int32Array {
  const rows = new Int32Array(wanted);
  const step = count / wanted;
  let at = 0;
  /** Rows of the ranges before. */
  let before = 0;
  for (let index = 0; index < wanted; index++) {
    const start = Math.floor(index * step);
    const size = Math.floor((index + 1) * step) - start;
    const position = start + Math.floor(((index * GOLDEN_RATIO) % 1) * size);
    while (position - before >= ranges[at + 1]! - ranges[at]!) {
      before += ranges[at + 1]! - ranges[at]!;
      at += 2;
    }
    rows[index] = ranges[at]! + position - before;
  }
  return rows;
}
