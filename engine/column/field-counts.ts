import { must } from '../assert.ts';
import { FieldValues, type TopValue } from './field-values.ts';
import { countOfRanges, type RowRanges, rangesOfRows } from './row-ranges.ts';
import type { RowRun, Segment } from './segment.ts';
import { endOfNode } from './skeleton.ts';
import {
  BIG_INTEGER,
  FALSE_KIND,
  FLOAT,
  HUGE_NUMBER,
  INTEGER,
  JSON_TEXT,
  KIND_BITS,
  KIND_MASK,
  NODE_HEADER_SIZE,
  RECORD,
  RECORD_LIST,
  TEXT,
  TRUE_KIND,
} from './token.ts';
import { decodeWtf8 } from './wtf8.ts';

/** The most fields that are told: strangers make as many keys as they like. */
const FIELD_PATHS_MAX = 2_000;

/** Rows up to which all values are counted; of more rows, about so many are sampled. */
const SAMPLED_ROWS = 16_384;

/** Segments that a sample is taken from: each may have to be read from its file. */
const SAMPLED_SEGMENTS_MAX = 8;

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

/** What is known of a kind's values. */
type FieldKind = 'BOOL' | 'INT64' | 'FLOAT64' | 'STRING' | 'ARRAY';

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
  /** Most events first. */
  readonly fields: readonly Field[];
  /** Whether there are more fields than FIELD_PATHS_MAX. */
  readonly isCut: boolean;
};

/** How many rows have each skeleton, and the tokens of these. */
export type SkeletonCounts = {
  readonly tokens: Int32Array;
  /** First token of each skeleton. */
  readonly starts: Uint32Array;
  readonly keys: { readonly bytes: Uint8Array; readonly offsets: Uint32Array };
  /** By skeleton. */
  readonly counts: ReadonlyMap<number, number>;
};

/** Counts the skeletons of rows. */
export function countByRow(
  ranges: RowRanges,
  skeletonOf: (row: number) => number,
  counts: Map<number, number>,
): void {
  for (let at = 0; at < ranges.length; at += 2) {
    let last = -1;
    let count = 0;
    // Neighbours are mostly alike.
    for (let row = ranges[at]!; row < ranges[at + 1]!; row++) {
      const skeleton = skeletonOf(row);
      if (skeleton !== last && count > 0) {
        counts.set(last, (counts.get(last) ?? 0) + count);
        count = 0;
      }
      last = skeleton;
      count += 1;
    }
    if (count > 0) counts.set(last, (counts.get(last) ?? 0) + count);
  }
}

/** Rows of a segment that are in the scope. */
type SegmentRows = {
  readonly segment: Segment;
  readonly ranges: RowRanges;
  readonly count: number;
};

type FoundField = {
  readonly path: readonly string[];
  readonly kinds: Set<FieldKind>;
  eventCount: number;
};

/**
 * The fields of the events of some segments. Which fields there are, of which kinds and in how many events, is read off the
 * skeletons, for all events. Their values are counted in all events if these are few, else in some stretches of rows that
 * are spread evenly, and estimated from these.
 */
export function countFields(
  segments: readonly Segment[],
  scope: FieldScope,
  checkpoint: () => void,
): FieldCounts {
  const found = new Map<string, FoundField>();
  const rows: SegmentRows[] = [];
  let eventCount = 0;
  let isCut = false;
  for (const whole of segments) {
    checkpoint();
    const [only, ...others] = scope.projects ?? [];
    const isOne = only !== undefined && others.length === 0;
    const segment = isOne ? (whole.ofProject?.(only) ?? whole) : whole;
    const ranges = findRanges(segment, scope);
    const count = countOfRanges(ranges);
    if (count === 0) continue;
    eventCount += count;
    rows.push({ segment, ranges, count });
    if (!addPaths(must(segment.countSkeletons?.(ranges)), found)) isCut = true;
  }
  const fields = [...found.values()].sort((left, right) => right.eventCount - left.eventCount);
  const values = scope.withValues
    ? countValues(
        fields.map(({ path }) => path),
        rows,
        eventCount,
        checkpoint,
      )
    : undefined;
  return {
    eventCount,
    fields: fields.map(({ path, kinds, eventCount: count }, index) => ({
      path,
      kinds: [...kinds].sort(),
      eventCount: count,
      values: values?.[index]?.result(),
    })),
    isCut,
  };
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

/** Adds the fields of skeletons; false if there are too many. */
function addPaths(
  { tokens, starts, keys, counts }: SkeletonCounts,
  found: Map<string, FoundField>,
): boolean {
  const names = new Map<number, string>();
  const nameOf = (key: number): string => {
    let name = names.get(key);
    if (name === undefined) {
      name = decodeWtf8(keys.bytes, keys.offsets[key]!, keys.offsets[key + 1]!);
      names.set(key, name);
    }
    return name;
  };
  let isWhole = true;
  for (const [skeleton, rowCount] of counts) {
    const seen = new Set<FoundField>();
    const visit = (node: number, path: readonly string[]): void => {
      const kind = tokens[node]! & KIND_MASK;
      if (kind === RECORD || kind === RECORD_LIST) {
        const end = endOfNode(tokens, node);
        for (let at = node + NODE_HEADER_SIZE; at < end; at = endOfNode(tokens, at)) {
          visit(at, kind === RECORD ? [...path, nameOf(tokens[at]! >>> KIND_BITS)] : path);
        }
        return;
      }
      const fieldKind = KINDS[kind];
      if (fieldKind === undefined) return;
      const id = JSON.stringify(path);
      let field = found.get(id);
      if (field === undefined) {
        if (found.size >= FIELD_PATHS_MAX) {
          isWhole = false;
          return;
        }
        field = { path, kinds: new Set(), eventCount: 0 };
        found.set(id, field);
      }
      field.kinds.add(fieldKind);
      if (!seen.has(field)) field.eventCount += rowCount;
      seen.add(field);
    };
    visit(starts[skeleton]!, []);
  }
  return isWhole;
}

/** By kind of token; those without a value have none. */
const KINDS: readonly (FieldKind | undefined)[] = (() => {
  const kinds: (FieldKind | undefined)[] = [];
  kinds[FALSE_KIND] = 'BOOL';
  kinds[TRUE_KIND] = 'BOOL';
  kinds[INTEGER] = 'INT64';
  kinds[BIG_INTEGER] = 'INT64';
  kinds[FLOAT] = 'FLOAT64';
  kinds[HUGE_NUMBER] = 'FLOAT64';
  kinds[TEXT] = 'STRING';
  kinds[JSON_TEXT] = 'ARRAY';
  return kinds;
})();

function countValues(
  paths: readonly (readonly string[])[],
  rows: readonly SegmentRows[],
  eventCount: number,
  checkpoint: () => void,
): readonly FieldValues[] {
  const sampled = sampleRows(rows, eventCount);
  const sampledCount = sampled.reduce((sum, { rows: taken }) => sum + taken.length, 0);
  const values = paths.map((path) => new FieldValues(path, eventCount, sampledCount));
  for (const { segment, rows: taken } of sampled) {
    for (let start = 0; start < taken.length; start += STRETCH_ROWS) {
      checkpoint();
      const chunk = taken.slice(start, start + STRETCH_ROWS);
      const roots = segment.roots(chunk, chunk.length);
      for (const each of values) each.add(roots);
    }
  }
  return values;
}

/** Rows that are read together, and that lie together in a sample. */
const STRETCH_ROWS = 512;

/** All rows if these are few, else stretches that lie evenly apart, of few segments: a segment is read from its file. */
function sampleRows(
  all: readonly SegmentRows[],
  eventCount: number,
): readonly { readonly segment: Segment; readonly rows: Int32Array }[] {
  const isAll = eventCount <= SAMPLED_ROWS;
  const step = isAll ? 1 : Math.ceil(all.length / SAMPLED_SEGMENTS_MAX);
  const chosen = all.filter((_, index) => index % step === 0);
  const chosenCount = chosen.reduce((sum, { count }) => sum + count, 0);
  const part = isAll ? 1 : Math.min(1, SAMPLED_ROWS / chosenCount);
  return chosen.map(({ segment, ranges, count }) => ({
    segment,
    rows: takeStretches(ranges, count, part),
  }));
}

function takeStretches(ranges: RowRanges, count: number, part: number): Int32Array {
  const stretchEvery = STRETCH_ROWS / part;
  const rows = new Int32Array(part === 1 ? count : Math.ceil(count * part) + STRETCH_ROWS);
  let size = 0;
  let index = 0;
  for (let at = 0; at < ranges.length; at += 2) {
    for (let row = ranges[at]!; row < ranges[at + 1]!; row++) {
      if (index++ % stretchEvery < STRETCH_ROWS && size < rows.length) rows[size++] = row;
    }
  }
  return rows.subarray(0, size);
}
