import { must } from '../assert.ts';
import { CHUNK_ROWS_MAX } from '../limits.ts';
import { type FieldKind, FieldTree, type FoundField } from './field-tree.ts';
import { countOfRanges, type RowRanges, rangesOfRows } from './positions.ts';
import type { RowRun, Segment } from './segment.ts';
import { isNested, type SqlValue } from './value.ts';
import { type Vector, valueAt } from './vector.ts';

/** Whose fields are asked for. */
export type FieldScope = {
  /** [startUs, endUs). */
  readonly startUs: number;
  readonly endUs: number;
  /** Only events known to have one of these project keys; `undefined`: all. */
  readonly projects: readonly string[] | undefined;
  /** Whether values are wanted, or just which fields there are. */
  readonly withValues: boolean;
};

/** A field of events: keys from the event down, through lists as through records. */
export type Field = {
  readonly path: readonly string[];
  /** Kinds of its values but NULL. A list of other values than records is an ARRAY. */
  readonly kinds: readonly FieldKind[];
  /** Events with such a value. */
  readonly eventCount: number;
  /** There when values are wanted. */
  readonly values?:
    | {
        readonly distinctCount: number;
        readonly isDistinctExact: boolean;
        /** Most frequent first. Without `isTopExact` the counts are estimates. */
        readonly top: readonly TopValue[];
        readonly isTopExact: boolean;
      }
    | undefined;
};

export type FieldCounts = {
  readonly eventCount: number;
  /** Most events first, those of as many by their paths. */
  readonly fields: readonly Field[];
  /** Whether there are more fields than are told. */
  readonly isCut: boolean;
  /** Present if fields were looked for in so many of the events only, and all numbers are estimates. */
  readonly sampledCount?: number;
};

/**
 * The fields of the events of some segments. Which fields there are, of which kinds and in how many events, is read off the
 * skeletons, for all events: a small integer each, so ten million take some hundredths of a second. To count the values of
 * each field would take as long again for each, and to remember them of each segment some memory for each project; so they
 * are counted in all events only if these are few, else estimated from a sample.
 */
export function countFields(
  segments: readonly Segment[],
  scope: FieldScope,
  checkpoint: () => void,
): FieldCounts {
  const tree = new FieldTree();
  const rows: SegmentRows[] = [];
  let eventCount = 0;
  for (const whole of segments) {
    checkpoint();
    const segment = segmentToRead(whole, scope);
    const ranges = findRanges(segment, scope);
    const count = countOfRanges(ranges);
    if (count === 0) continue;
    eventCount += count;
    rows.push({ segment, ranges, count });
    tree.add(must(segment.countSkeletons?.(ranges)));
  }
  const values = scope.withValues ? countValues(tree, rows, eventCount, checkpoint) : undefined;
  return {
    eventCount,
    fields: tree.fields().map((field) => ({
      path: field.path,
      kinds: [...field.kinds].sort(),
      eventCount: field.eventCount,
      values: values?.get(field)?.result(),
    })),
    isCut: tree.isCut,
  };
}

/** What a sample says of the values of each field. */
function countValues(
  tree: FieldTree,
  rows: readonly SegmentRows[],
  eventCount: number,
  checkpoint: () => void,
): ReadonlyMap<FoundField, FieldValues> {
  const sample = sampleRows(rows, eventCount);
  const sampledCount = sample.reduce((sum, { rows: taken }) => sum + taken.length, 0);
  const values = new Map(
    tree.fields().map((field) => [field, new FieldValues(eventCount, sampledCount)]),
  );
  for (const { segment, rows: taken } of sample) {
    for (let start = 0; start < taken.length; start += CHUNK_ROWS_MAX) {
      checkpoint();
      const chunk = taken.slice(start, start + CHUNK_ROWS_MAX);
      tree.read(segment.roots(chunk, chunk.length), (field, found) =>
        values.get(field)?.add(found),
      );
    }
  }
  return values;
}

/**
 * Rows that a project has in a segment up to which they are taken out of it: of more it is less to read the columns they lie
 * in, since these stay in memory where there is room.
 */
const EXTRACTED_ROWS_MAX = 1_024;

function segmentToRead(segment: Segment, { projects = [] }: FieldScope): Segment {
  const [only, ...others] = projects;
  if (only === undefined || others.length > 0) return segment;
  const rowCount = segment.runsOf(projects).reduce((sum, { count }) => sum + count, 0);
  return rowCount <= EXTRACTED_ROWS_MAX ? (segment.ofProject?.(only) ?? segment) : segment;
}

function findRanges(segment: Segment, { startUs, endUs, projects }: FieldScope): RowRanges {
  const runs = projects === undefined ? segment.runs(undefined) : segment.runsOf(projects);
  const isAll = startUs <= segment.timestampUsMin && endUs > segment.timestampUsMax;
  const parts = runs.map((run) =>
    rangesOfRun(segment, run, isAll ? undefined : { startUs, endUs }),
  );
  const all = new Int32Array(parts.reduce((size, part) => size + part.length, 0));
  let size = 0;
  for (const part of parts) {
    all.set(part, size);
    size += part.length;
  }
  return all;
}

function rangesOfRun(
  segment: Segment,
  run: RowRun,
  window: { readonly startUs: number; readonly endUs: number } | undefined,
): RowRanges {
  const { start, count, rows } = run;
  if (window === undefined) {
    return rows === undefined ? Int32Array.of(start, start + count) : rangesOfRows(rows);
  }
  if (run.isTimeOrdered) {
    const from = segment.positionAt(run, window.startUs);
    const to = segment.positionAt(run, window.endUs);
    if (rows !== undefined) return rangesOfRows(rows.subarray(from, to));
    return from < to ? Int32Array.of(start + from, start + to) : new Int32Array(0);
  }
  if (rows === undefined && segment.rowsInside !== undefined) {
    return segment.rowsInside(window, Int32Array.of(start, start + count));
  }
  const all = rows ?? Int32Array.from({ length: count }, (_, index) => start + index);
  const times = segment.timestamps(all, all.length);
  const isInside = (_row: number, index: number): boolean => {
    const timeUs = times.kind === 'number' ? times.values[index]! : Number.NaN;
    return timeUs >= window.startUs && timeUs < window.endUs;
  };
  return rangesOfRows(all.filter(isInside));
}

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
type SampledRows = { readonly segment: Segment; readonly rows: Int32Array };

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

/** The most different values of one field that are held while they are counted. */
const VALUES_MAX = 16_384;

/** The most frequent values that are told. */
const TOP_COUNT = 10;

/** Values that come once or twice in a sample are rare. */
const RARE_COUNT_MAX = 2;

type TopValue = {
  readonly value: string | number | bigint | boolean;
  readonly count: number;
};

/** The values of one field in some rows, and what they say of all rows. */
export class FieldValues {
  readonly #rowCount: number;
  readonly #sampledCount: number;
  /** As keys of a Map, 5, '5' and 5n are three. */
  readonly #counts = new Map<TopValue['value'], number>();
  /** Whether there were more different values than are kept. */
  #isCut = false;

  /** `sampledCount`: so many of the rows will be added. */
  constructor(rowCount: number, sampledCount: number) {
    this.#rowCount = rowCount;
    this.#sampledCount = sampledCount;
  }

  /** Adds what some of the rows have at its path. */
  add(values: Vector): void {
    if (values.kind === 'constant') {
      this.#addValue(values.value, values.count);
    } else if (values.kind === 'dictionary') {
      const { codes, count, dictionary } = values;
      this.#addCodes(codes, { start: 0, count, size: dictionary.size }, (code) =>
        dictionary.value(code),
      );
    } else if (values.form === 'packed numbers') {
      const { codes, start, count, coding } = values;
      this.#addCodes(codes, { start, count, size: coding.codeMax + 1 }, (code) =>
        coding.value(code),
      );
    } else {
      for (let index = 0; index < values.count; index++) this.#addValue(valueAt(values, index), 1);
    }
  }

  result() {
    const isWhole = this.#sampledCount === this.#rowCount && !this.#isCut;
    const scale = this.#sampledCount === 0 ? 0 : this.#rowCount / this.#sampledCount;
    return {
      distinctCount: isWhole ? this.#counts.size : this.#estimateDistinct(scale),
      isDistinctExact: isWhole,
      top: this.#top().map(({ value, count }) => ({
        value,
        count: isWhole ? count : Math.round(count * scale),
      })),
      isTopExact: isWhole,
    };
  }

  /** Without sorting all: mostly there are few or very many. */
  #top(): readonly TopValue[] {
    const top: TopValue[] = [];
    for (const [value, count] of this.#counts) {
      const last = top[TOP_COUNT - 1];
      if (last !== undefined && compare(last, { value, count }) < 0) continue;
      const place = top.findIndex((other) => compare({ value, count }, other) < 0);
      top.splice(place < 0 ? top.length : place, 0, { value, count });
      if (top.length > TOP_COUNT) top.pop();
    }
    return top;
  }

  /**
   * The values that come more often in the sample, as they are, and an estimate of the rare ones: from how many of these come
   * once, as PostgreSQL's ANALYZE does of all (Haas and Stokes, "Estimating the number of classes in a finite population",
   * 1998). Of all together that is far too few where some values are in most rows and the others are unique; to take the
   * rare ones apart is due to Chao and Lee, "Estimating the number of classes via sample coverage" (1992).
   */
  #estimateDistinct(scale: number): number {
    let rareCount = 0;
    let onceCount = 0;
    for (const count of this.#counts.values()) {
      rareCount += Number(count <= RARE_COUNT_MAX);
      onceCount += Number(count === 1);
    }
    if (rareCount === 0) return this.#counts.size;
    const sampled = onceCount + RARE_COUNT_MAX * (rareCount - onceCount);
    const all = sampled * scale;
    const estimate = (sampled * rareCount) / (sampled - onceCount + (onceCount * sampled) / all);
    const rare = Math.min(Math.max(estimate, rareCount), all);
    return Math.round(this.#counts.size - rareCount + rare);
  }

  /** Each code once, where values are fewer than rows. */
  #addCodes(
    codes: ArrayLike<number>,
    {
      start,
      count,
      size,
    }: { readonly start: number; readonly count: number; readonly size: number },
    value: (code: number) => SqlValue,
  ): void {
    if (size > count) {
      for (let index = start; index < start + count; index++) {
        if (codes[index]! >= 0) this.#addValue(value(codes[index]!), 1);
      }
      return;
    }
    const counts = new Uint32Array(size);
    for (let index = start; index < start + count; index++) {
      if (codes[index]! >= 0) counts[codes[index]!]! += 1;
    }
    for (let code = 0; code < size; code++) {
      if (counts[code]! > 0) this.#addValue(value(code), counts[code]!);
    }
  }

  #addValue(value: SqlValue, count: number): void {
    if (value === null) return;
    if (isNested(value)) {
      // A list; records in it are fields of their own.
      if (!value.isList) return;
      for (const element of value.elements()) {
        if (!isNested(element)) this.#addValue(element, count);
      }
      return;
    }
    if (typeof value === 'object') return;
    const known = this.#counts.get(value);
    if (known !== undefined) this.#counts.set(value, known + count);
    else if (this.#counts.size < VALUES_MAX) this.#counts.set(value, count);
    else this.#isCut = true;
  }
}

/** Most frequent first, those as frequent by their kinds and texts. */
function compare(left: TopValue, right: TopValue): number {
  if (left.count !== right.count) return right.count - left.count;
  const leftKind = typeof left.value;
  const rightKind = typeof right.value;
  if (leftKind !== rightKind) return leftKind < rightKind ? -1 : 1;
  return String(left.value) < String(right.value) ? -1 : 1;
}
