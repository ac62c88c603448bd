import type { RowRanges } from './row-ranges.ts';
import type { SegmentBacking } from './segment-backing.ts';
import type { NestedVector, Vector } from './vector.ts';

/**
 * Up to some hundred thousand events of one source, as a query reads them. Open or sealed, the
 * answers are the same; only the cost differs. Rows are named by their index, [0, rowCount).
 */
export interface Segment {
  readonly kind: SegmentHandle['kind'];
  /** Rows this reader may touch: for an open segment the published ones of the snapshot. */
  readonly rowCount: number;
  readonly timestampUsMin: number;
  readonly timestampUsMax: number;
  /**
   * The rows that may belong to `projectKey`, or all rows when it is `undefined`. Runs do not
   * overlap. Rows of mixed projects come in every answer, in runs of their own.
   */
  runs(projectKey: string | undefined): readonly RowRun[];
  /** The column `timestamp`: no NULLs. */
  timestamps(rows: Int32Array, count: number): Vector;
  /** Position of each event in the order its source took events in: unique, no NULLs. */
  arrivals(rows: Int32Array, count: number): Vector;
  ids(rows: Int32Array, count: number): Vector;
  messages(rows: Int32Array, count: number): Vector;
  projects(rows: Int32Array, count: number): Vector;
  /**
   * The root record of each event: holds `metadata` and the further top-level keys. Keeps `rows`: the
   * caller must not write to it any more.
   */
  roots(rows: Int32Array, count: number): NestedVector;
  /**
   * Rows outside of which no string that SQL may read at the path holds the text; `undefined` when
   * there is no telling: any row may. Takes some microseconds, and the first time for a path some
   * more.
   */
  rowsWith(needed: NeededText): RowRanges | undefined;
}

/** A text that a string must hold for its row to be wanted. */
export type NeededText = {
  /** Names of fields from the root record down, through lists as through records. */
  readonly path: readonly string[];
  readonly text: string;
};

/**
 * Some rows of a segment. A sealed segment's run is a range of rows sorted by time, then arrival,
 * unless it spans projects; an open segment's run may list its rows one by one.
 */
export type RowRun = {
  readonly count: number;
  /** First row, when the rows are consecutive. */
  readonly start: number;
  /** The rows, ascending, when they are not consecutive. */
  readonly rows: Int32Array | undefined;
  /** Whether timestamps ascend along the run (equal ones in order of arrival). */
  readonly isTimeOrdered: boolean;
  /** Whether every row is known to have the project key asked for: its test need not be repeated. */
  readonly hasProjectKey: boolean;
};

/**
 * What a query needs to read a segment from another thread: plain values and shared memory, ready
 * for `postMessage`. `id` is unique in the process; the contents behind a sealed id never change.
 */
export type SegmentHandle = OpenSegmentHandle | SealedSegmentHandle;

export type SealedSegmentHandle = {
  readonly kind: 'sealed';
  readonly id: number;
  /** Of a handle that was retired there is none left (`releaseBuffer`). */
  readonly buffer: SharedArrayBuffer;
  /** Where what is missing in the buffer comes from; `undefined`: nothing is missing. */
  readonly backing?: SegmentBacking | undefined;
};

/** The published prefix of an open segment's arrays, at the moment a query's snapshot was taken. */
export type OpenSegmentHandle = {
  readonly kind: 'open';
  readonly id: number;
  readonly rowCount: number;
  readonly stringCount: number;
  readonly skeletonCount: number;
  readonly timestampUsMin: number;
  readonly timestampUsMax: number;
  readonly arrays: OpenSegmentArrays;
  /** Where the chains of rows begin for the project the query asks for; `undefined`: all rows. */
  readonly chains?: { readonly projectHead: number; readonly mixedHead: number } | undefined;
};

/** Append-only arrays over SharedArrayBuffers; entries past the counts of a handle are not to be read. */
export type OpenSegmentArrays = {
  /** All distinct strings of the segment, keys of records among them, end to end. */
  readonly stringBytes: Uint8Array;
  /** `stringCount + 1` entries. */
  readonly stringOffsets: Uint32Array;
  /** Tokens of all distinct skeletons, end to end; the key of a token is a string code. */
  readonly tokens: Int32Array;
  /** `skeletonCount + 1` entries. */
  readonly skeletonStarts: Uint32Array;
  /** Skeleton of each row. */
  readonly skeletons: Int32Array;
  /** Slots of all rows, end to end: numbers, or string codes. */
  readonly slots: Float64Array;
  /** `rowCount + 1` entries. */
  readonly slotStarts: Uint32Array;
  readonly timestampsUs: Float64Array;
  /** Ascending. */
  readonly arrivals: Float64Array;
  /** String codes; -1 is NULL. */
  readonly ids: Int32Array;
  readonly messages: Int32Array;
  readonly projects: Int32Array;
  /** String codes; -1 none, -2 mixed. */
  readonly projectKeys: Int32Array;
  /** The row before with the same project key, or -1. */
  readonly previousRows: Int32Array;
};
