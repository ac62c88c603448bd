import { must } from '../assert.ts';
import { CHUNK_ROWS_MAX } from '../limits.ts';
import { type SegmentRows, sampleRows } from './field-sample.ts';
import { type FieldKind, FieldTree, type FoundField } from './field-tree.ts';
import { FieldValues, type TopValue } from './field-values.ts';
import { countOfRanges, type RowRanges, rangesOfRows } from './row-ranges.ts';
import type { RowRun, Segment } from './segment.ts';

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
};

/**
 * The fields of the events of some segments. Which fields there are, of which kinds and in how many events, is read off the
 * skeletons, for all events: a small integer each, so ten million take some hundredths of a second. To count the values of
 * each field would take as long again for each, and to remember them of each segment some memory for each project; so they
 * are counted in all events only if these are few, else estimated from a sample (`field-sample.ts`).
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
