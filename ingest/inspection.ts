import { join, relative } from 'node:path';
import { type Disk, DiskError } from './disk/disk.ts';
import type { FolderDamage, UncheckedFile } from './folder-damage.ts';
import { FOLDER_DAMAGES_LISTED_MAX } from './limits.ts';
import { LogCensus, type LogCensusOfSource } from './log-census.ts';
import { type LogSurvey, surveyLog } from './log-survey.ts';
import { SegmentCoverage } from './segment-coverage.ts';
import type { SegmentFile } from './segment-file.ts';
import { type Leftover, SegmentListing } from './segment-listing.ts';
import { type SequenceInterval, unionOfIntervals } from './sequence-intervals.ts';

/** Both ends are inclusive, in microseconds since the epoch; `undefined` if there is no event. */
export type TimeSpan =
  | { readonly timestampUsMin: number; readonly timestampUsMax: number }
  | undefined;

/** Totals over several segment files. */
type SegmentTotals = {
  readonly fileCount: number;
  readonly eventCount: number;
  /** Number of UTC days that have a file. */
  readonly dayCount: number;
  /** Bytes of the segments in memory, then of their files. */
  readonly memorySize: number;
  readonly byteSize: number;
  readonly span: TimeSpan;
  /** Sequences of the log records that have rows in the files, of at least one day. */
  readonly covered: readonly SequenceInterval[];
};

export type SourceInspection = {
  readonly source: string;
  /** Events in segment files, plus events that are in the log only. */
  readonly eventCount: number;
  readonly span: TimeSpan;
  readonly segments: SegmentTotals;
  /** `undefined` if the log has no record of the source. */
  readonly log: LogCensusOfSource | undefined;
};

type SegmentInspection = {
  readonly path: string;
  readonly source: string;
  /** UTC day, in days since the epoch. */
  readonly partition: number;
  readonly eventCount: number;
  readonly span: TimeSpan;
  readonly memorySize: number;
  readonly byteSize: number;
  readonly covered: readonly SequenceInterval[];
};

export type Inspection = {
  /** Sorted by name. */
  readonly sources: readonly SourceInspection[];
  readonly eventCount: number;
  readonly span: TimeSpan;
  readonly segments: Omit<SegmentTotals, 'covered'>;
  readonly log: LogSurvey & {
    readonly eventCount: number;
    readonly uncoveredRecordCount: number;
    readonly uncoveredEventCount: number;
  };
  /** Every segment file that counts. */
  readonly files: readonly SegmentInspection[];
  /** At most FOLDER_DAMAGES_LISTED_MAX. */
  readonly damages: readonly FolderDamage[];
  readonly damageCount: number;
  readonly unchecked: readonly UncheckedFile[];
  readonly leftovers: readonly Leftover[];
  readonly quarantine: { readonly fileCount: number; readonly byteSize: number };
  /** Names in the folders of segments and log that weir does not use. */
  readonly unknown: readonly string[];
  /** False if the files changed so fast that the numbers may mix several moments. */
  readonly isSettled: boolean;
};

export type InspectionOptions = {
  readonly disk: Disk;
  /** An absolute path. */
  readonly dataDir: string;
  /** Progress in bytes of the log, all of which is read. */
  readonly onProgress: (bytesDone: number, bytesTotal: number) => void;
};

/**
 * Reads the contents of a data folder from the envelopes of its segment files and from every record of the log. Changes
 * nothing; a service may run on the folder. Rejects with a DiskError if a folder cannot be listed.
 *
 * Each event that existed at the start is counted once: the log is read before the final listing of segment files, and
 * a record leaves the log only when its rows are in segment files.
 */
export async function inspectFolder(options: InspectionOptions): Promise<Inspection> {
  const { disk, dataDir, onProgress } = options;
  const listing = new SegmentListing(disk, dataDir);
  const before = await listing.read();
  const census = new LogCensus(new SegmentCoverage(before.segments));
  const logDamages: FolderDamage[] = [];
  const log = await surveyLog({
    ...{ disk, dataDir, onProgress },
    onRecord: (record, byteSize) => census.add(record, byteSize),
    onDamage: (damage) => {
      if (logDamages.length < FOLDER_DAMAGES_LISTED_MAX) logDamages.push(damage);
    },
  });
  const listed = await listing.read();
  const { segments } = listed;
  const sources = listSources(segments, census.count(new SegmentCoverage(segments)));
  const damages = [...listed.damages, ...logDamages];
  const { covered: _, ...totals } = sumSegments(segments);
  const sum = (pick: (log: LogCensusOfSource) => number): number =>
    sources.reduce((total, { log }) => total + (log === undefined ? 0 : pick(log)), 0);
  return {
    sources,
    eventCount: sources.reduce((total, { eventCount }) => total + eventCount, 0),
    span: computeSpan(sources.flatMap(({ span }) => span ?? [])),
    segments: totals,
    log: {
      ...log,
      eventCount: sum(({ eventCount }) => eventCount),
      uncoveredRecordCount: sum(({ uncoveredRecordCount }) => uncoveredRecordCount),
      uncoveredEventCount: sum(({ uncoveredEventCount }) => uncoveredEventCount),
    },
    files: segments.map((segment) => describeFile(segment, dataDir)),
    damages: damages.slice(0, FOLDER_DAMAGES_LISTED_MAX),
    damageCount: listed.damages.length + log.damageCount,
    unchecked: [...listed.unchecked, ...log.unchecked],
    leftovers: listed.leftovers,
    quarantine: await sizeOfFolder(disk, join(dataDir, 'quarantine')),
    unknown: [...listed.unknown, ...log.unknown],
    isSettled: listed.isSettled,
  };
}

function listSources(
  segments: readonly SegmentFile[],
  logs: ReadonlyMap<string, LogCensusOfSource>,
): SourceInspection[] {
  const segmentsBySource = new Map<string, SegmentFile[]>();
  for (const source of logs.keys()) segmentsBySource.set(source, []);
  for (const segment of segments) {
    const { source } = segment.envelope;
    const others = segmentsBySource.get(source);
    if (others === undefined) segmentsBySource.set(source, [segment]);
    else others.push(segment);
  }
  const sources = Array.from(segmentsBySource, ([source, its]) => {
    const totals = sumSegments(its);
    const log = logs.get(source);
    const spans = totals.span === undefined ? [] : [totals.span];
    return {
      source,
      eventCount: totals.eventCount + (log?.uncoveredEventCount ?? 0),
      span: computeSpan(log === undefined ? spans : [...spans, log]),
      segments: totals,
      log,
    };
  });
  return sources.sort((left, right) => (left.source < right.source ? -1 : 1));
}

function sumSegments(segments: readonly SegmentFile[]): SegmentTotals {
  const sum = (pick: (segment: SegmentFile) => number): number =>
    segments.reduce((total, segment) => total + pick(segment), 0);
  return {
    fileCount: segments.length,
    eventCount: sum(({ envelope }) => envelope.rowCount),
    dayCount: new Set(segments.map(({ envelope }) => envelope.partition)).size,
    memorySize: sum(({ envelope }) => envelope.imageSize),
    byteSize: sum(({ byteSize }) => byteSize),
    span: computeSpan(segments.map(({ envelope }) => envelope)),
    covered: unionOfIntervals(segments.flatMap(({ envelope }) => envelope.covered)),
  };
}

function describeFile(
  { path, byteSize, envelope }: SegmentFile,
  dataDir: string,
): SegmentInspection {
  const { source, partition, rowCount, imageSize, covered } = envelope;
  return {
    path: relative(dataDir, path),
    source,
    partition,
    eventCount: rowCount,
    span: computeSpan([envelope]),
    memorySize: imageSize,
    byteSize,
    covered,
  };
}

function computeSpan(
  spans: readonly { readonly timestampUsMin: number; readonly timestampUsMax: number }[],
): TimeSpan {
  let timestampUsMin = Number.POSITIVE_INFINITY;
  let timestampUsMax = Number.NEGATIVE_INFINITY;
  for (const span of spans) {
    timestampUsMin = Math.min(timestampUsMin, span.timestampUsMin);
    timestampUsMax = Math.max(timestampUsMax, span.timestampUsMax);
  }
  return timestampUsMin <= timestampUsMax ? { timestampUsMin, timestampUsMax } : undefined;
}

async function sizeOfFolder(
  disk: Disk,
  path: string,
): Promise<{ readonly fileCount: number; readonly byteSize: number }> {
  let fileCount = 0;
  let byteSize = 0;
  for (const name of await disk.list(path)) {
    try {
      const reader = await disk.open(join(path, name));
      await reader.close();
      fileCount += 1;
      byteSize += reader.size;
    } catch (error) {
      // An operator may remove files meanwhile.
      if (!(error instanceof DiskError && error.code === 'ENOENT')) throw error;
    }
  }
  return { fileCount, byteSize };
}
