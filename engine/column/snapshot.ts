import type { SegmentHandle } from './segment.ts';

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
  /** Which segments are no more, so that other threads can let go of their memory. */
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
