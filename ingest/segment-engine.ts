import type {
  AnyContent,
  OpenSegmentHandle,
  PackedImage,
  PartRows,
  SealedSegmentHandle,
  SegmentContent,
} from '../engine/columns.ts';

/** What the store needs of the engine: it works on segments in threads of its own, and reads them. */
export interface SegmentEngine {
  /**
   * Seals an open segment's published rows: one segment for each partition of time, `partitionUs` microseconds wide and
   * counted from the epoch. Each row is in the result exactly once. May be called again after a failure.
   */
  seal(handle: OpenSegmentHandle, partitionUs: number): Promise<readonly SharedArrayBuffer[]>;
  /** Merges the rows of several segments of one source, or those of one part. */
  merge(handles: readonly SealedSegmentHandle[], part?: PartRows): Promise<SharedArrayBuffer>;
  /** Divides the rows of several segments into parts of at most `rowsMax` rows, as `divideRows` does. */
  divide(handles: readonly SealedSegmentHandle[], rowsMax: number): Promise<readonly PartRows[]>;
  /** Makes what the file of a sealed segment holds of it; `of`: what has made the segment. */
  pack(buffer: SharedArrayBuffer, of: 'seal' | 'merge'): Promise<PackedImage>;
  /** Resolves when all that reads segments now has ended; `undefined`: nothing does. */
  readersDone(): Promise<void> | undefined;
  /** Frees the memory of dropped segments, in this thread and in those that read segments. */
  releaseDropped(): void;
  /** To be told when all rows of `from` are in `to`, before each of `from` is forgotten. */
  inherit(from: readonly AnyContent[], to: SegmentContent): void;
  /** To be told when the rows of a content are gone, or are in another one. */
  forget(content: AnyContent): void;
}
