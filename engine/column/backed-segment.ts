import type { RowRanges } from './row-ranges.ts';
import type { SealedSegmentReader } from './sealed-segment.ts';
import type { NeededText, RowRun, Segment } from './segment.ts';
import type { SegmentBacking } from './segment-backing.ts';
import type { NestedVector, Vector } from './vector.ts';

/**
 * A sealed segment that need not be in memory: what a scan asks first is known of it, and the segment
 * itself is opened when the first row is asked for. `open` gives the same reader again, or another
 * when that one was let go meanwhile.
 */
export class BackedSegment implements Segment {
  readonly kind = 'sealed';
  readonly rowCount: number;
  readonly timestampUsMin: number;
  readonly timestampUsMax: number;
  readonly #open: () => SealedSegmentReader;

  constructor(backing: SegmentBacking, open: () => SealedSegmentReader) {
    this.rowCount = backing.rowCount;
    this.timestampUsMin = backing.timestampUsMin;
    this.timestampUsMax = backing.timestampUsMax;
    this.#open = open;
  }

  runs(projectKey: string | undefined): readonly RowRun[] {
    return this.#open().runs(projectKey);
  }

  rowsWith(needed: NeededText): RowRanges | undefined {
    return this.#open().rowsWith(needed);
  }

  timestamps(rows: Int32Array, count: number): Vector {
    return this.#open().timestamps(rows, count);
  }

  arrivals(rows: Int32Array, count: number): Vector {
    return this.#open().arrivals(rows, count);
  }

  ids(rows: Int32Array, count: number): Vector {
    return this.#open().ids(rows, count);
  }

  messages(rows: Int32Array, count: number): Vector {
    return this.#open().messages(rows, count);
  }

  projects(rows: Int32Array, count: number): Vector {
    return this.#open().projects(rows, count);
  }

  roots(rows: Int32Array, count: number): NestedVector {
    return this.#open().roots(rows, count);
  }
}
