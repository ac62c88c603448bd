import type { SegmentFile } from './segment-file.ts';
import { coversSequence, type SequenceInterval, unionOfIntervals } from './sequence-intervals.ts';

/** Of which log records the rows are in some segment files. Those of one day may be, of another not. */
export class SegmentCoverage {
  /** By source and partition. */
  readonly #covered: ReadonlyMap<string, readonly SequenceInterval[]>;

  constructor(segments: readonly SegmentFile[]) {
    const covered = new Map<string, SequenceInterval[]>();
    for (const { envelope } of segments) {
      const key = keyOf(envelope.source, envelope.partition);
      const intervals = covered.get(key) ?? [];
      intervals.push(...envelope.covered);
      covered.set(key, intervals);
    }
    this.#covered = new Map(
      Array.from(covered, ([key, intervals]) => [key, unionOfIntervals(intervals)]),
    );
  }

  /** Whether a record's rows of a partition are in the files. */
  covers(record: {
    readonly source: string;
    readonly partition: number;
    readonly sequence: number;
  }): boolean {
    const intervals = this.#covered.get(keyOf(record.source, record.partition));
    return intervals !== undefined && coversSequence(intervals, record.sequence);
  }
}

function keyOf(source: string, partition: number): string {
  return `${source} ${partition}`;
}
