import type { ScanScope, SealedSegmentHandle } from '../engine/columns.ts';
import type { HeldSegment } from './held-segment.ts';
import { PARTITION_US, toPartition } from './partition.ts';

/**
 * The sealed segments whose newest row is of one UTC day. `quietSinceUs`: the first tick after the last segment was
 * added; `undefined` before it. After a start that found all of them in files, it is the end of the day.
 */
export type Partition = {
  readonly day: number;
  readonly segments: HeldSegment[];
  quietSinceUs: number | undefined;
};

/** Totals of several segments. */
export type SegmentTotals = {
  readonly rowCount: number;
  readonly segmentCount: number;
  /** Bytes of all segments if they were wholly in memory. */
  readonly byteSize: number;
  readonly storedCount: number;
  /** Bytes of segment files. */
  readonly storedSize: number;
  /** Infinity and -Infinity if there is no row. */
  readonly timestampUsMin: number;
  readonly timestampUsMax: number;
};

/** The sealed segments of one source by partition, oldest first. */
export class SegmentPartitions {
  readonly #partitions: Partition[] = [];

  [Symbol.iterator](): Iterator<Partition> {
    return this.#partitions[Symbol.iterator]();
  }

  /** Adds a segment to its partition, which then is not quiet. */
  insert(segment: HeldSegment): Partition {
    const day = toPartition(segment.summary.timestampUsMax);
    const index = 1 + this.#partitions.findLastIndex((each) => each.day <= day);
    let partition = this.#partitions[index - 1];
    if (partition?.day !== day) {
      partition = { day, segments: [], quietSinceUs: undefined };
      this.#partitions.splice(index, 0, partition);
    }
    partition.segments.push(segment);
    partition.quietSinceUs = undefined;
    return partition;
  }

  /** The partition that holds a segment; `undefined` if the segment was dropped. */
  holding(segment: HeldSegment): Partition | undefined {
    return this.#partitions.find(({ segments }) => segments.includes(segment));
  }

  /** Removes and returns the oldest partition if it ends before `oldestUs`. */
  takeBefore(oldestUs: number): Partition | undefined {
    const oldest = this.#partitions[0];
    if (oldest === undefined || (oldest.day + 1) * PARTITION_US > oldestUs) return undefined;
    return this.#partitions.shift();
  }

  *segments(): Iterable<HeldSegment> {
    for (const { segments } of this.#partitions) yield* segments;
  }

  /** Handles of the segments that may hold rows of the scope. */
  handles(scope: ScanScope): SealedSegmentHandle[] {
    const handles: SealedSegmentHandle[] = [];
    // If the scope asks for one project within reach, only that project is in reach.
    const projects = scope.projectKey === undefined ? scope.reach : [scope.projectKey];
    for (const { day, segments } of this.#partitions) {
      if ((day + 1) * PARTITION_US <= scope.timestampUsStart) continue;
      for (const segment of segments) {
        const { summary } = segment;
        if (!overlaps(summary, scope) || !arrivedIn(summary.arrivalMax, scope)) continue;
        if (projects === undefined || projects.some((key) => summary.mayHoldProject(key))) {
          handles.push(segment.handle());
        }
      }
    }
    return handles;
  }

  totals(): SegmentTotals {
    let timestampUsMin = Number.POSITIVE_INFINITY;
    let timestampUsMax = Number.NEGATIVE_INFINITY;
    const total = { rowCount: 0, segmentCount: 0, byteSize: 0, storedCount: 0, storedSize: 0 };
    for (const { summary, file } of this.segments()) {
      total.rowCount += summary.rowCount;
      total.segmentCount += 1;
      total.byteSize += summary.byteSize;
      total.storedCount += file === undefined ? 0 : 1;
      total.storedSize += file?.byteSize ?? 0;
      timestampUsMin = Math.min(timestampUsMin, summary.timestampUsMin);
      timestampUsMax = Math.max(timestampUsMax, summary.timestampUsMax);
    }
    return { ...total, timestampUsMin, timestampUsMax };
  }
}

/** Whether some row may have arrived after the scope's start; `arrivalMax` is the last arrival of the rows. */
export function arrivedIn(arrivalMax: number, { arrivalAfter }: ScanScope): boolean {
  return arrivalAfter === undefined || arrivalMax > arrivalAfter;
}

type TimeRange = { readonly timestampUsMin: number; readonly timestampUsMax: number };

/** Whether some row of the range may be in the scope. */
export function overlaps(range: TimeRange, scope: ScanScope): boolean {
  return (
    range.timestampUsMax >= scope.timestampUsStart && range.timestampUsMin < scope.timestampUsEnd
  );
}
