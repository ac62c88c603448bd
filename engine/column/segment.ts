import type { SkeletonCounts } from './field-tree.ts';
import type { RowRanges } from './positions.ts';
import type { SegmentBacking } from './segment-backing.ts';
import type { NestedVector, SplitBlock, Vector } from './vector.ts';

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
  /**
   * The segment to read rows of this project from: this one, or another that has few other rows, and numbers them in
   * its own way; absent: this one.
   */
  ofProject?(projectKey: string): Segment;
  /**
   * The same for whoever wants the newest rows, and mostly no others: this segment, or others with the rows in parts, the
   * newest first. A part is made when it is asked for.
   */
  newestOf?(projectKey: string): Iterable<Segment>;
  /**
   * The segments to read all rows from that may hold all of some texts, in the order of the rows: this one, or others that
   * have few other rows, and number them in their own ways; absent: this one.
   */
  partsWith?(texts: readonly NeededText[]): readonly Segment[];
  /**
   * The rows known to have one of these project keys, and no others: none of mixed projects, none of no
   * project. Runs do not overlap.
   */
  runsOf(projectKeys: readonly string[]): readonly RowRun[];
  /**
   * How many rows may be of `projectKey` and in the window, cheaply: counts no further
   * than `rowsMax` plus what one run has, and may count some too many.
   */
  countRows(scope: RowScope, rowsMax: number): number;
  /** The first position of a time-ordered run whose timestamp is `timestampUs` or later. */
  positionAt(run: RowRun, timestampUs: number): number;
  /** Project keys that so many rows have; none of a segment whose rows are not sorted by them. */
  projectsWith(rowsMin: number): readonly string[];
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
   * A column of consecutive rows, as it lies where it can be read so: the same values as by rows.
   * `undefined`: it is to be read by rows.
   */
  range?(column: SegmentColumn, range: RowRange): Vector | undefined;
  /**
   * Rows outside of which no string that SQL may read at the path holds what is needed, if it is a string of
   * `among` (default: all rows); `undefined` when there is no telling: any row may. Takes some microseconds, the
   * first time for a path some more, and as much more as rows hold it.
   */
  rowsWith(needed: NeededText, among?: RowSpan): RowRanges | undefined;
  /**
   * The strings that SQL may read at a path, taken apart; `undefined`, or absent, where some are not, or where it is not
   * known which these are.
   */
  splitsAt?(path: NeededText['path']): readonly SplitBlock[] | undefined;
  /**
   * The rows `among` these (default: all) inside a window, by two searches in each group; absent: to find them is to
   * look at each.
   */
  rowsInside?(window: RowWindow, among?: RowRanges): RowRanges;
  /** How many of some rows have each skeleton; absent where fields are not asked for. */
  countSkeletons?(ranges: RowRanges): SkeletonCounts;
  /** Whether the times of consecutive rows are known to ascend; absent: they are not known to. */
  areTimeOrdered?(start: number, count: number): boolean;
}

/** Consecutive rows. */
export type RowSpan = Pick<RowRange, 'start' | 'count'>;

/** [startUs, endUs), microseconds; -Infinity and Infinity when open. */
export type RowWindow = { readonly startUs: number; readonly endUs: number };

/** Rows of a project key, or of all where it is `undefined`, in a window. */
export type RowScope = RowWindow & { readonly projectKey?: string | undefined };

/** A column that every segment has: declared ones, the root record, and when the event came in. */
export type SegmentColumn = 'id' | 'timestamp' | 'event_message' | 'project' | 'root' | 'arrival';

/** Some consecutive rows of a segment. */
export type RowRange = {
  readonly start: number;
  readonly count: number;
  /** Whether their timestamps ascend. */
  readonly isTimeOrdered: boolean;
};

/** A text that a string must hold for its row to be wanted. */
export type NeededText = {
  /** Names of fields from the root record down, through lists as through records. */
  readonly path: readonly string[];
  readonly text: string;
  /** Texts of which any will do in place of `text`. */
  readonly or?: readonly string[];
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
  readonly backing?: SegmentBacking;
  /** Absent: nobody knows whether other handles have the same rows. */
  readonly content?: SegmentContent;
};

/**
 * What a sealed segment holds, in memory or not. On the main thread it is one object for as long as
 * the rows are the same, whatever buffer they lie in: what is remembered of them is known by it.
 */
export type SegmentContent = {
  readonly rowCount: number;
  readonly timestampUsMin: number;
  readonly timestampUsMax: number;
};

/**
 * An open segment, whatever it has published. Published rows never change, so what is remembered of the first of
 * them is known by it: on the main thread one object, as `SegmentContent` is.
 */
export type OpenContent = { readonly openId: number };

/** What partial states are of: a sealed segment, or an open one's first rows. */
export type AnyContent = SegmentContent | OpenContent;

/** The published prefix of an open segment's arrays, at the moment a query's snapshot was taken. */
export type OpenSegmentHandle = {
  readonly kind: 'open';
  readonly id: number;
  readonly content: OpenContent;
  /** Published rows, those before `rowStart` among them. */
  readonly rowCount: number;
  /** The first row to be read: who made the handle knows what those before come to. Absent: 0. */
  readonly rowStart?: number;
  /** Whether no more rows will come. */
  readonly isEnded?: boolean;
  readonly stringCount: number;
  readonly skeletonCount: number;
  readonly timestampUsMin: number;
  readonly timestampUsMax: number;
  readonly arrays: OpenSegmentArrays;
  /** Where the chains of rows begin for the project the query asks for; `undefined`: all rows. */
  readonly chains?: { readonly projectHead: number; readonly mixedHead: number };
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

/** A range of timestamps, in microseconds. */
export type TimeScope = {
  /** Inclusive; -Infinity when open. */
  readonly timestampUsStart: number;
  /** Exclusive; Infinity when open. */
  readonly timestampUsEnd: number;
};

/** Which rows a scan needs at most; a snapshot may leave out segments that hold none of them. */
export type ScanScope = TimeScope & {
  /** Only rows of this project key (and of mixed projects); `undefined`: of all. */
  readonly projectKey?: string | undefined;
  /** Only rows known to have one of these project keys; `undefined`: of any, or none. */
  readonly reach?: readonly string[] | undefined;
  /** Only rows that arrived after this one; of any arrival when left out. */
  readonly arrivalAfter?: number | undefined;
};

/** Where queries find segments; kept by whoever takes logs in. Called on the main thread. */
export interface SegmentCatalog {
  /**
   * The segments of one source that may hold rows of the scope, with every row published so far.
   * Rows outside the scope may be among them.
   */
  segments(source: string, scope: ScanScope): readonly SegmentHandle[];
  /**
   * The UTC days of the scope (since the epoch) of which rows, or values of rows, were stored and are lost; in no
   * order. None when left out.
   */
  lostDays?(source: string, scope: TimeScope): readonly number[];
  /** The segments that were removed. Other threads then free their memory. */
  dropped(): DroppedSegments;
  /**
   * Does what can be done about a segment whose file is damaged: what is lost is NULL, or the segment
   * is left out. False when nothing was done.
   */
  repair?(segmentId: number): Promise<boolean>;
  /** A query failed because the system refused to read the file of a segment. Nothing is to be changed by it. */
  noteUnread?(segmentId: number, error: Error): void;
}

/** `count`: segments dropped so far, ever. `ids`: those of the last of them, oldest first. */
export type DroppedSegments = { readonly count: number; readonly ids: readonly number[] };

/** A source as the binder sees it. */
export type SourceSchema = {
  readonly name: string;
  /**
   * Where an event names its project: `['project']`, the declared column, or a path into its
   * metadata such as `['metadata', 'project_ref']`.
   */
  readonly projectPath: readonly string[];
};
