import type { SegmentFile } from './segment-file.ts';
import { coversSequence, type SequenceInterval, unionOfIntervals } from './sequence-intervals.ts';

/**
 * The log records whose rows are in segment files, by partition: a record's rows of one day may be in a file, those of
 * another not.
 */
export class SegmentCoverage {
  /** Intervals of sequences by source and partition. */
  readonly #covered: ReadonlyMap<string, readonly SequenceInterval[]>;

  constructor(segments: readonly SegmentFile[]) {
    const covered = new Map<string, SequenceInterval[]>();
    for (const { envelope } of segments) {
      const key = formatKey(envelope.source, envelope.partition);
      const intervals = covered.get(key) ?? [];
      intervals.push(...envelope.covered);
      covered.set(key, intervals);
    }
    this.#covered = new Map(
      Array.from(covered, ([key, intervals]) => [key, unionOfIntervals(intervals)]),
    );
  }

  /** Whether segment files hold a record's rows of a partition. */
  covers(record: {
    readonly source: string;
    readonly partition: number;
    readonly sequence: number;
  }): boolean {
    const intervals = this.#covered.get(formatKey(record.source, record.partition));
    return intervals !== undefined && coversSequence(intervals, record.sequence);
  }
}

function formatKey(source: string, partition: number): string {
  return `${source} ${partition}`;
}
