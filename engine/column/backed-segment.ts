import type { SkeletonCounts } from './field-tree.ts';
import type { RowRanges } from './row-ranges.ts';
import type { SealedSegmentReader } from './sealed-segment.ts';
import type {
  NeededText,
  RowRange,
  RowRun,
  RowScope,
  RowSpan,
  RowWindow,
  Segment,
  SegmentColumn,
} from './segment.ts';
import type { SegmentBacking } from './segment-backing.ts';
import type { NestedVector, SplitBlock, Vector } from './vector.ts';

/** Gives some rows of a segment apart, where it is better not to read them with all others; else `undefined`. */
export type SegmentExtracts = {
  readonly ofProject: (projectKey: string) => Segment | undefined;
  /** Those outside of which none holds all of the texts. */
  readonly withTexts: (texts: readonly NeededText[]) => readonly Segment[] | undefined;
};

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
  readonly #extracts: SegmentExtracts;

  constructor(backing: SegmentBacking, open: () => SealedSegmentReader, extracts: SegmentExtracts) {
    this.rowCount = backing.rowCount;
    this.timestampUsMin = backing.timestampUsMin;
    this.timestampUsMax = backing.timestampUsMax;
    this.#open = open;
    this.#extracts = extracts;
  }

  ofProject(projectKey: string): Segment {
    return this.#extracts.ofProject(projectKey) ?? this;
  }

  partsWith(texts: readonly NeededText[]): readonly Segment[] {
    return this.#extracts.withTexts(texts) ?? [this];
  }

  runs(projectKey: string | undefined): readonly RowRun[] {
    return this.#open().runs(projectKey);
  }

  runsOf(projectKeys: readonly string[]): readonly RowRun[] {
    return this.#open().runsOf(projectKeys);
  }

  countRows(scope: RowScope): number {
    return this.#open().countRows(scope);
  }

  projectsWith(rowsMin: number): readonly string[] {
    return this.#open().projectsWith(rowsMin);
  }

  positionAt(run: RowRun, timestampUs: number): number {
    if (timestampUs <= this.timestampUsMin) return 0;
    if (timestampUs > this.timestampUsMax) return run.count;
    return this.#open().positionAt(run, timestampUs);
  }

  countSkeletons(ranges: RowRanges): SkeletonCounts {
    return this.#open().countSkeletons(ranges);
  }

  rowsWith(needed: NeededText, among?: RowSpan): RowRanges | undefined {
    return this.#open().rowsWith(needed, among);
  }

  splitsAt(path: NeededText['path']): readonly SplitBlock[] | undefined {
    return this.#open().splitsAt(path);
  }

  rowsInside(window: RowWindow, among?: RowRanges): RowRanges {
    return this.#open().rowsInside(window, among);
  }

  areTimeOrdered(start: number, count: number): boolean {
    return this.#open().areTimeOrdered(start, count);
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
  range(column: SegmentColumn, range: RowRange): Vector | undefined {
    return this.#open().range(column, range);
  }
}
