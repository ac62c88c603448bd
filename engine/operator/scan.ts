import { unreachable } from '../assert.ts';
import { carvedInt32 } from '../column/arrays.ts';
import { type Chunk, type ColumnSource, consecutivePositions, LazyChunk } from '../column/chunk.ts';
import type {
  NeededText,
  RowRange,
  RowRun,
  RowWindow,
  Segment,
  SegmentColumn,
} from '../column/segment.ts';
import { type Vector, valueAt } from '../column/vector.ts';
import { CHUNK_ROWS_MAX } from '../limits.ts';
import { type RunRows, rowsOfRun, TextRows } from './run-rows.ts';
import type { Checkpoint, Sink } from './sink.ts';

/** Rows of the first chunk of a newest-first scan: the newest 100 are mostly all that is wanted. */
const NEWEST_CHUNK_ROWS_MIN = 128;

/**
 * Rows of a run of all projects from which its segment is asked which of them are inside a window: two searches for each
 * of two thousand projects take as long as to look at so many times, some 0.2 ms; and longer where V8 has not compiled them
 * yet, for fewer rows seldom come to this.
 */
export const INSIDE_ROWS_MIN = 65_536;

/** What a scan did, added up over the scans it is handed to. */
export type ScanCounters = {
  /** Rows looked at, one by one. */
  rowsScanned: number;
  /** Rows whose part of the answer was remembered, so that they were not looked at. */
  rowsFromMemo: number;
  /**
   * Rows that were passed over, for they cannot hold a text that is needed: of those inside the window, or of all
   * where rows are not in the order of time.
   */
  rowsSkipped: number;
  segmentsScanned: number;
  segmentsSkipped: number;
};

/**
 * Of one run. A class for V8's sake: totals of a service count beyond 31 bits one day, and where they are objects of the
 * same shape, each object made from then on takes a microsecond to be brought into a new one.
 */
class RunCounters implements ScanCounters {
  rowsScanned = 0;
  rowsFromMemo = 0;
  rowsSkipped = 0;
  segmentsScanned = 0;
  segmentsSkipped = 0;
}

export function newScanCounters(): ScanCounters {
  return new RunCounters();
}

/** Adds what one scan, or one part of a run, did to what others did. */
export function addScanCounters(into: ScanCounters, from: ScanCounters): void {
  into.rowsScanned += from.rowsScanned;
  into.rowsFromMemo += from.rowsFromMemo;
  into.rowsSkipped += from.rowsSkipped;
  into.segmentsScanned += from.segmentsScanned;
  into.segmentsSkipped += from.segmentsSkipped;
}

/** One of so many parts of the rows of a scan, about equally large in each segment. */
export type RowSlice = { readonly index: number; readonly count: number };

export type ScanOptions = {
  readonly fields: readonly SegmentField[];
  /** Only rows that may belong to this project key; `undefined`: all rows. */
  readonly projectKey?: string | undefined;
  /** Only rows known to have one of these project keys, whatever `projectKey` says; `undefined`: all rows. */
  readonly reach?: readonly string[] | undefined;
  /** Only rows that may hold all of these texts; absent: all rows. */
  readonly texts?: readonly NeededText[] | undefined;
  /** Microseconds, `[startUs, endUs)`; -Infinity and Infinity when open. */
  readonly startUs: number;
  readonly endUs: number;
  readonly direction: 'forward' | 'newest-first';
  /** Only this part of them; absent: all. */
  readonly slice?: RowSlice | undefined;
  /**
   * Rows strictly older than this many microseconds are not wanted any more, as a top-N below
   * learns while it fills; asked before each chunk.
   */
  readonly floorUs?: (() => number | undefined) | undefined;
  /** Rows of a chunk at most, where it is a range of rows; CHUNK_ROWS_MAX otherwise. */
  readonly rangeRowsMax?: number | undefined;
  readonly checkpoint: Checkpoint;
  readonly counters: ScanCounters;
  /** Hears of rows that are done: pushed, or passed over with the rest of their segment. */
  readonly onRows?: ((rowCount: number) => void) | undefined;
  /** Hears of each segment that is read, before its rows are. */
  readonly onSegment?: ((segment: Segment) => void) | undefined;
};

/** Where the rows of a scan go. */
type ScanSinks = {
  readonly rows: Sink;
  /**
   * For rows known to have the project key, in place of `rows`: a pipeline that need not test it
   * again. Absent: all go to `rows`.
   */
  readonly keyedRows?: Sink;
};

/**
 * Pushes the rows of the window: forward, segment by segment in the order given, each run from its
 * start; newest-first, the segment with the newest event first and each run from its end. Within a
 * chunk the rows ascend either way. Returns false when the sink wanted no more.
 */
export function scanSegments(
  segments: readonly Segment[],
  options: ScanOptions,
  sinks: ScanSinks,
): boolean {
  const isNewestFirst = options.direction === 'newest-first';
  const ordered = isNewestFirst
    ? segments.toSorted((left, right) => right.timestampUsMax - left.timestampUsMax)
    : segments;
  const chunkSize = { rows: isNewestFirst ? NEWEST_CHUNK_ROWS_MIN : CHUNK_ROWS_MAX };
  // Of a segment whose rows several scans share, one counts it.
  const isFirst = options.slice === undefined || options.slice.index === 0;
  for (const whole of ordered) {
    if (!mayHoldRows(whole, options)) {
      options.counters.segmentsSkipped += Number(isFirst);
      options.onRows?.(countRows(whole, options));
      continue;
    }
    options.counters.segmentsScanned += Number(isFirst);
    if (isFirst) options.onSegment?.(whole);
    options.checkpoint();
    const scan = { options, sinks, chunkSize };
    const rowsBefore = options.counters.rowsScanned;
    for (const segment of isNewestFirst ? newestParts(whole, options) : partsOf(whole, options)) {
      if (!scanSegment(segment, scan)) return false;
    }
    const rowsPushed = options.counters.rowsScanned - rowsBefore;
    options.onRows?.(Math.max(0, countRows(whole, options) - rowsPushed));
  }
  return true;
}

/** The rows of a segment that one scan of it has to get done. */
function countRows({ rowCount }: Segment, { slice }: ScanOptions): number {
  return Math.round(rowCount / (slice?.count ?? 1));
}

type SegmentScan = Pick<RunScan, 'options' | 'chunkSize'> & { readonly sinks: ScanSinks };

/** Pushes the rows of a segment; false when the sink wants no more. */
function scanSegment(segment: Segment, { options, sinks, chunkSize }: SegmentScan): boolean {
  const texts = new TextRows(segment, options.texts ?? []);
  for (const run of runsOf(segment, options)) {
    const sink = (run.hasProjectKey ? sinks.keyedRows : undefined) ?? sinks.rows;
    if (!scanRun({ segment, run, texts, options, sink, chunkSize })) return false;
  }
  return true;
}

const WHOLE: RowSlice = { index: 0, count: 1 };

/** Which rows of a segment a scan wants. */
export type ScanScope = Pick<ScanOptions, 'projectKey' | 'texts' | 'startUs' | 'endUs' | 'slice'>;

/**
 * How many rows a scan would look at, or more than `max` where these are more: those inside the window, without those
 * that cannot hold a text that is needed, unless more than `indexedMax` are inside, too many to ask for that.
 */
export function countScannedRows(
  segment: Segment,
  scope: ScanScope,
  { max, indexedMax }: { readonly max: number; readonly indexedMax: number },
): number {
  if (!mayHoldRows(segment, scope)) return 0;
  const texts = scope.texts ?? [];
  const insideCount = segment.countRows(scope, texts.length === 0 ? max : indexedMax);
  if (insideCount <= max || insideCount > indexedMax || texts.length === 0) return insideCount;
  const textRows = new TextRows(segment, texts);
  let count = 0;
  for (const run of segment.runs(scope.projectKey)) {
    const { rows, end } = rowsWithin(segment, run, { scope, texts: textRows });
    for (let from = 0; from < end && count <= max; ) {
      const part = partFrom(from, { rows, end }, { segment, run, options: scope });
      count += countOf(part.rows);
      from = part.end;
    }
  }
  return count;
}

/**
 * The segments to read the rows of a scan from: where it is of one project, one of this project alone perhaps; where texts
 * are needed of any rows, some with the rows that may hold them.
 */
function partsOf(segment: Segment, options: ScanOptions): readonly Segment[] {
  const { reach, texts = [], slice = WHOLE, counters } = options;
  const wanted = projectWanted(options);
  if (wanted !== undefined) return [segment.ofProject?.(wanted) ?? segment];
  // Of slices of a segment each must count the same rows.
  if (reach !== undefined || texts.length === 0 || slice.count > 1) return [segment];
  const parts = segment.partsWith?.(texts);
  if (parts === undefined) return [segment];
  const runs = parts.flatMap((part) => part.runs(undefined));
  counters.rowsSkipped += segment.rowCount - runs.reduce((sum, { count }) => sum + count, 0);
  return parts;
}

/** The same, with the newest rows first. */
function newestParts(segment: Segment, options: ScanOptions): Iterable<Segment> {
  const project = projectWanted(options);
  const { slice = WHOLE } = options;
  // Slices are of the rows of a segment: where others read it as a whole, its parts have other slices.
  if (project === undefined || slice.count > 1) return partsOf(segment, options).toReversed();
  return segment.newestOf?.(project) ?? [segment];
}

/** The only project whose rows are wanted; `undefined`: those of several. */
function projectWanted({ projectKey, reach }: ScanOptions): string | undefined {
  if (reach === undefined) return projectKey;
  return reach.length === 1 ? reach[0] : undefined;
}

/** The one place where rows are taken from a segment: what is out of reach goes no further. */
function runsOf(segment: Segment, { projectKey, reach }: ScanOptions): readonly RowRun[] {
  return reach === undefined ? segment.runs(projectKey) : segment.runsOf(reach);
}

/** The window of a scan, whose start moves up. */
type MovingWindow = Pick<ScanOptions, 'startUs' | 'endUs' | 'floorUs'>;

function mayHoldRows(segment: Segment, options: MovingWindow): boolean {
  return (
    segment.rowCount > 0 &&
    segment.timestampUsMax >= wantedStartUs(options) &&
    segment.timestampUsMin < options.endUs
  );
}

/** The start of the window, as far as it has moved up by what the sink has seen already. */
function wantedStartUs(options: MovingWindow): number {
  return Math.max(options.startUs, options.floorUs?.() ?? Number.NEGATIVE_INFINITY);
}

type RunScan = {
  readonly segment: Segment;
  readonly run: RowRun;
  readonly texts: TextRows;
  readonly options: ScanOptions;
  readonly sink: Sink;
  /** Rows of the next chunk; grows from chunk to chunk. */
  readonly chunkSize: { rows: number };
};

/** Pushes one run; false when the sink wants no more. */
function scanRun(scan: RunScan): boolean {
  const { segment, run, texts, options } = scan;
  const part = rowsWithin(segment, run, { scope: options, texts });
  options.counters.rowsSkipped += part.skippedCount;
  return options.direction === 'forward' ? scanForward(scan, part) : scanNewestFirst(scan, part);
}

/** Rows [start, end) of some rows of a run. */
type RowsPart = {
  readonly rows: RunRows;
  readonly start: number;
  readonly end: number;
  /** Whether the segment told which rows are inside the window, and they are of these. */
  readonly areInside: boolean;
};

/**
 * The rows of a run that are inside the window, as far as can be told without looking at each, of the slice, and may
 * hold the texts. Of a run whose rows several scans share, one counts what it skips.
 */
function rowsWithin(
  segment: Segment,
  run: RowRun,
  { scope, texts }: { readonly scope: ScanScope; readonly texts: TextRows },
): RowsPart & { readonly skippedCount: number } {
  const first = run.isTimeOrdered ? segment.positionAt(run, scope.startUs) : 0;
  const last = run.isTimeOrdered ? segment.positionAt(run, scope.endUs) : run.count;
  const span = [first, Math.max(first, last)] as const;
  const wanted = texts.wanted(run, ...span);
  const all = rowsOfRun(segment, run, span, wanted);
  const isCut = !run.isTimeOrdered && !isInside(segment, scope);
  const isAsked = isCut && run.rows === undefined && all.count >= INSIDE_ROWS_MIN;
  const inside = isAsked ? segment.rowsInside?.(scope, wanted) : undefined;
  const rows = inside === undefined ? all : rowsOfRun(segment, run, span, inside);
  const { index, count } = scope.slice ?? WHOLE;
  const start = Math.floor((rows.count * index) / count);
  const end = Math.floor((rows.count * (index + 1)) / count);
  const skippedCount = index === 0 ? span[1] - first - all.count : 0;
  return { rows, start, end, areInside: inside !== undefined, skippedCount };
}

/** Whether all rows of a segment are inside the window. */
function isInside(segment: Segment, { startUs, endUs }: RowWindow): boolean {
  return segment.timestampUsMin >= startUs && segment.timestampUsMax < endUs;
}

function scanForward(scan: RunScan, part: RowsPart): boolean {
  for (let from = part.start; from < part.end; ) {
    const next = partFrom(from, part, scan);
    if (countOf(next.rows) > 0 && !pushRows(scan, next.rows, part.areInside)) return false;
    from = next.end;
  }
  return true;
}

type RunWindow = Pick<RunScan, 'segment' | 'run'> & {
  readonly options: MovingWindow & Pick<ScanOptions, 'rangeRowsMax'>;
};

/** What a forward scan pushes next, from row `from` of a run on, and where it goes on from. */
function partFrom(
  from: number,
  { rows, end: endOfAll }: Pick<RowsPart, 'rows' | 'end'>,
  window: RunWindow,
): { readonly rows: ChunkRows; readonly end: number } {
  const { rangeRowsMax = CHUNK_ROWS_MAX } = window.options;
  const range = rows.range(from, Math.min(from + rangeRowsMax, endOfAll));
  if (range !== undefined) return { rows: withinWindow(window, range), end: from + range.count };
  const end = Math.min(rows.listEnd(from), endOfAll);
  return { rows: rows.rows(from, end), end };
}

/** The rows of a range that are inside the window, where time orders them; else the range. */
function withinWindow({ segment, run, options }: RunWindow, range: RowRange): RowRange {
  if (run.isTimeOrdered || !range.isTimeOrdered) return range;
  const ordered: RowRun = { ...run, ...range };
  const from = segment.positionAt(ordered, wantedStartUs(options));
  const to = segment.positionAt(ordered, options.endUs);
  return { ...range, start: range.start + from, count: Math.max(0, to - from) };
}

function scanNewestFirst(scan: RunScan, { rows, start, end, areInside }: RowsPart): boolean {
  const { segment, run, options, chunkSize } = scan;
  for (let to = end; to > start; ) {
    const newest = rows.rows(to - 1, to);
    if (run.isTimeOrdered && timestampAt(segment, newest) < wantedStartUs(options)) break;
    const from = Math.max(start, to - chunkSize.rows);
    if (!pushRows(scan, rows.rows(from, to), areInside)) return false;
    chunkSize.rows = Math.min(chunkSize.rows * 2, CHUNK_ROWS_MAX);
    to = from;
  }
  return true;
}

/** Pushes those of the rows that are inside the window, where that is not known of all; keeps the array. */
function pushRows(scan: RunScan, rows: ChunkRows, areInside: boolean): boolean {
  const { segment, run, options, sink } = scan;
  const rowCount = countOf(rows);
  options.checkpoint();
  options.counters.rowsScanned += rowCount;
  options.onRows?.(rowCount);
  const chunk = segmentChunk(segment, options.fields, rows);
  const startUs = wantedStartUs(options);
  const areKnown =
    run.isTimeOrdered ||
    (areInside && startUs === options.startUs) ||
    (!(rows instanceof Int32Array) && rows.isTimeOrdered) ||
    isInside(segment, { startUs, endUs: options.endUs });
  if (areKnown) return sink.push(chunk);
  const timestampIndex = options.fields.indexOf('timestamp');
  const timestamps =
    timestampIndex < 0 ? readColumn(segment, 'timestamp', rows) : chunk.column(timestampIndex);
  const positions = carvedInt32(rowCount);
  const count = positionsWithin(timestamps, startUs, options.endUs, positions);
  if (count === 0) return true;
  return sink.push(count === chunk.count ? chunk : chunk.select(positions, count));
}

/** Writes the positions of the timestamps in [startUs, endUs), ascending; how many they are. */
function positionsWithin(
  timestamps: Vector,
  startUs: number,
  endUs: number,
  positions: Int32Array,
): number {
  let count = 0;
  if (timestamps.kind === 'number') {
    const { values } = timestamps;
    for (let i = 0; i < positions.length; i++) {
      const timestampUs = values[i]!;
      positions[count] = i;
      count += Number(timestampUs >= startUs) & Number(timestampUs < endUs);
    }
    return count;
  }
  for (let i = 0; i < positions.length; i++) {
    const timestampUs = timestampOf(timestamps, i);
    positions[count] = i;
    count += Number(timestampUs >= startUs) & Number(timestampUs < endUs);
  }
  return count;
}

/** The timestamp of a row, given alone. */
function timestampAt(segment: Segment, row: Int32Array): number {
  return timestampOf(segment.timestamps(row, 1), 0);
}

/** Timestamps are never NULL, and within ±2^53: some 285 years around 1970. */
function timestampOf(timestamps: Vector, index: number): number {
  return valueAt(timestamps, index) as number;
}

/** A column of a scan; the same names as the logical plan's. */
type SegmentField = SegmentColumn;

/** Rows of a segment: each by itself, or consecutive ones. */
type ChunkRows = Int32Array | RowRange;

/** Rows of one segment; column `i` is `fields[i]`, read for the rows that ask for it. */
function segmentChunk(segment: Segment, fields: readonly SegmentField[], rows: ChunkRows): Chunk {
  return new LazyChunk(new SegmentSource(segment, fields, rows), countOf(rows));
}

function countOf(rows: ChunkRows): number {
  return rows instanceof Int32Array ? rows.length : rows.count;
}

/** A column of some rows. */
function readColumn(segment: Segment, column: SegmentColumn, rows: ChunkRows): Vector {
  if (rows instanceof Int32Array) return readByRows(segment, column, rows, rows.length);
  const range = segment.range?.(column, rows);
  if (range !== undefined) return range;
  return readByRows(segment, column, rowsOf(rows), rows.count);
}

function rowsOf({ start, count }: RowRange): Int32Array {
  return consecutivePositions(start, start + count);
}

class SegmentSource implements ColumnSource {
  readonly #segment: Segment;
  readonly #fields: readonly SegmentField[];
  readonly #rows: ChunkRows;

  constructor(segment: Segment, fields: readonly SegmentField[], rows: ChunkRows) {
    this.#segment = segment;
    this.#fields = fields;
    this.#rows = rows;
  }

  column(index: number): Vector {
    return readColumn(this.#segment, this.#fields[index]!, this.#rows);
  }

  select(positions: Int32Array, count: number): ColumnSource {
    const rows = carvedInt32(count);
    if (this.#rows instanceof Int32Array) {
      for (let i = 0; i < count; i++) rows[i] = this.#rows[positions[i]!]!;
    } else {
      const { start } = this.#rows;
      for (let i = 0; i < count; i++) rows[i] = start + positions[i]!;
    }
    return new SegmentSource(this.#segment, this.#fields, rows);
  }
}

function readByRows(
  segment: Segment,
  column: SegmentColumn,
  rows: Int32Array,
  count: number,
): Vector {
  switch (column) {
    case 'id':
      return segment.ids(rows, count);
    case 'timestamp':
      return segment.timestamps(rows, count);
    case 'event_message':
      return segment.messages(rows, count);
    case 'project':
      return segment.projects(rows, count);
    case 'root':
      return segment.roots(rows, count);
    case 'arrival':
      return segment.arrivals(rows, count);
    default:
      return unreachable(column);
  }
}
