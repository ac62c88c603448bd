import { must } from '../engine/columns.ts';
import type { ReplayedRecord } from './log/log-walk.ts';
import { toPartition } from './partition.ts';
import type { SegmentCoverage } from './segment-coverage.ts';

/** Totals of the log's records of one source. */
export type LogCensusOfSource = {
  readonly recordCount: number;
  readonly eventCount: number;
  /** Bytes of its records. */
  readonly byteSize: number;
  /** Microseconds since the epoch. */
  readonly timestampUsMin: number;
  readonly timestampUsMax: number;
  /** Records and events that are in no segment file; a record counts if any of its events is in none. */
  readonly uncoveredRecordCount: number;
  readonly uncoveredEventCount: number;
};

/** Rows of records that were in no segment file before; entries with one index belong together. */
type Uncovered = {
  readonly sequences: number[];
  readonly partitions: number[];
  readonly rowCounts: number[];
};

type Tally = Omit<LogCensusOfSource, 'uncoveredRecordCount' | 'uncoveredEventCount'>;

/**
 * Counts the records of a log. Whether a record is in segment files is known only at the end, because a service may
 * store it meanwhile. Records that were stored before the start are not remembered, which leaves those of open
 * segments; without segment files, 24 bytes for each record.
 */
export class LogCensus {
  readonly #coveredBefore: SegmentCoverage;
  readonly #tallies = new Map<string, Tally>();
  readonly #uncovered = new Map<string, Uncovered>();

  /** `coveredBefore`: the coverage of the segment files before the log was read. */
  constructor(coveredBefore: SegmentCoverage) {
    this.#coveredBefore = coveredBefore;
  }

  /**
   * Counts a record. Records of a source must come in the order of their sequences. `byteSize`: bytes in the log.
   *
   * @throws RecordError if the data is not that of a batch. The record is not counted then.
   */
  add(record: ReplayedRecord, byteSize: number): void {
    const { source, sequence } = record;
    const partitionRows = rowsByPartition(record);
    const tally = this.#tallies.get(source);
    this.#tallies.set(source, {
      recordCount: (tally?.recordCount ?? 0) + 1,
      eventCount: (tally?.eventCount ?? 0) + record.rowCount,
      byteSize: (tally?.byteSize ?? 0) + byteSize,
      timestampUsMin: Math.min(tally?.timestampUsMin ?? Infinity, record.timestampUsMin),
      timestampUsMax: Math.max(tally?.timestampUsMax ?? -Infinity, record.timestampUsMax),
    });
    for (const [partition, rowCount] of partitionRows) {
      if (this.#coveredBefore.covers({ source, partition, sequence })) continue;
      const uncovered = this.#getUncovered(source);
      uncovered.sequences.push(sequence);
      uncovered.partitions.push(partition);
      uncovered.rowCounts.push(rowCount);
    }
  }

  /** Totals by source. `covered`: the coverage of the segment files after the log was read. */
  count(covered: SegmentCoverage): Map<string, LogCensusOfSource> {
    return new Map(
      Array.from(this.#tallies, ([source, tally]) => {
        return [
          source,
          { ...tally, ...countUncovered(source, this.#getUncovered(source), covered) },
        ];
      }),
    );
  }

  #getUncovered(source: string): Uncovered {
    const uncovered = this.#uncovered.get(source) ?? {
      sequences: [],
      partitions: [],
      rowCounts: [],
    };
    this.#uncovered.set(source, uncovered);
    return uncovered;
  }
}

function countUncovered(
  source: string,
  { sequences, partitions, rowCounts }: Uncovered,
  covered: SegmentCoverage,
): Pick<LogCensusOfSource, 'uncoveredRecordCount' | 'uncoveredEventCount'> {
  let uncoveredRecordCount = 0;
  let uncoveredEventCount = 0;
  let last: number | undefined;
  for (const [index, sequence] of sequences.entries()) {
    const partition = must(partitions[index], 'a sequence has its partition');
    if (covered.covers({ source, partition, sequence })) continue;
    if (sequence !== last) uncoveredRecordCount += 1;
    last = sequence;
    uncoveredEventCount += must(rowCounts[index], 'a sequence has its count of rows');
  }
  return { uncoveredRecordCount, uncoveredEventCount };
}

/** Number of a record's rows by day. */
function rowsByPartition(record: ReplayedRecord): ReadonlyMap<number, number> {
  const batch = record.batch();
  const first = toPartition(record.timestampUsMin);
  if (first === toPartition(record.timestampUsMax)) return new Map([[first, record.rowCount]]);
  const rows = new Map<number, number>();
  for (const timestampUs of batch.timestampsUs) {
    const partition = toPartition(timestampUs);
    rows.set(partition, (rows.get(partition) ?? 0) + 1);
  }
  return rows;
}
