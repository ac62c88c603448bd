import { join, resolve } from 'node:path';
import { SegmentReadError } from '../../engine/columns.ts';
import { type Disk, DiskError } from '../../ingest/disk/disk.ts';
import { DAMAGES_LISTED_MAX, SEGMENTS_OPENED_MAX } from '../../ingest/limits.ts';
import type { ReplayedRecord } from '../../ingest/log/log-recovery.ts';
import type { LogStore } from '../../ingest/log-store.ts';
import type { SegmentDamage, StorageFailure } from '../../ingest/sealed-segments.ts';
import type { SegmentEngine } from '../../ingest/segment-engine.ts';
import type { SegmentFile } from '../../ingest/segment-file.ts';
import { SegmentFolder } from '../../ingest/segment-folder.ts';
import { SegmentVersionError } from '../../ingest/segment-layout.ts';
import { MANIFEST_FILE } from '../../ingest/segment-manifest.ts';
import type { RecoveryReport } from '../../ingest/segment-recovery.ts';
import { type SegmentSummary, summarizeSegment } from '../../ingest/segment-summary.ts';
import { coversSequence, type SequenceInterval } from '../../ingest/sequence-intervals.ts';
import { showProgress } from '../command/progress.ts';
import type { Log } from '../log.ts';
import type { StackThrottle } from '../log-throttle.ts';
import { StartError } from '../start-error.ts';
import type { RecoveryObserver } from './backend.ts';

/** What the segment files contain at a start. */
export type RecoveredSegments = {
  /** Timestamp of the newest stored event; `undefined` without events. */
  readonly newestUs: number | undefined;
  /** The last record of the log with rows in a segment file; 0 without one. */
  readonly lastSequence: number;
  /** Whether the rows of a record in a partition were in files when these were read. */
  readonly isCovered: (record: ReplayedRecord, partition: number) => boolean;
};

/** The segment files of a store: read at the start, then written, merged and dropped. */
export class DurableSegments {
  readonly #disk: Disk;
  readonly #dataDir: string;
  readonly #store: LogStore;
  readonly #engine: () => SegmentEngine;
  /** Files of other sources are neither read nor changed. */
  readonly #sources: ReadonlySet<string>;
  readonly #retentionUs: number;
  readonly #log: Log;
  readonly #stacks: StackThrottle;
  #folder: SegmentFolder | undefined;
  /** The running write of the manifest; never rejects. */
  #writing: Promise<void> | undefined;
  #isManifestFailing = false;

  constructor(options: {
    readonly disk: Disk;
    readonly dataDir: string;
    readonly store: LogStore;
    readonly engine: () => SegmentEngine;
    readonly sources: ReadonlySet<string>;
    readonly retentionUs: number;
    readonly log: Log;
    readonly stacks: StackThrottle;
  }) {
    this.#disk = options.disk;
    this.#dataDir = resolve(options.dataDir);
    this.#store = options.store;
    this.#engine = options.engine;
    this.#sources = options.sources;
    this.#retentionUs = options.retentionUs;
    this.#log = options.log;
    this.#stacks = options.stacks;
  }

  /**
   * Fills the store from the files, and lets it write files. Drops days past the retention,
   * measured from `retentionNowUs`; none for -Infinity. `beforeChanges` is called when all files
   * that the start reads have been read and none changed; its rejections are passed on.
   *
   * @throws StartError when a file has an unknown version.
   */
  async recover(
    retentionNowUs: number,
    observer: RecoveryObserver,
    beforeChanges: () => Promise<void>,
  ): Promise<RecoveredSegments> {
    const summaries = new Map<SegmentFile, SegmentSummary>();
    try {
      const path = join(this.#dataDir, 'segments');
      const { folder, report } = await SegmentFolder.recover({
        disk: this.#disk,
        path,
        quarantinePath: join(this.#dataDir, 'quarantine'),
        retentionNowUs,
        retentionUs: this.#retentionUs,
        pack: (buffer, of) => this.#engine().pack(buffer, of),
        readersDone: () => this.#engine().readersDone(),
        look: async (segments) => {
          await this.#readSummaries(segments, summaries);
          await beforeChanges();
        },
        onQuarantined: (moved) => {
          observer.damage({ kind: 'segment', places: 0, quarantined: [moved] });
        },
      });
      this.#folder = folder;
      this.#report(report, observer);
      const summary = summarize(folder, report);
      await this.#load(folder, summaries, observer);
      this.#store.useStorage({
        folder,
        merge: (handles, part) => this.#engine().merge(handles, part),
        divide: (handles, rowsMax) => this.#engine().divide(handles, rowsMax),
        onFailure: (failure) => this.#reportFailure(failure),
        onDamage: (damage) => this.#reportDamage(damage, observer),
      });
      // The log may still have the rows of files that turned out damaged.
      return { ...summary, isCovered: createCoverage(folder) };
    } catch (error) {
      if (error instanceof SegmentVersionError) throw new StartError(error.message, error);
      throw error;
    } finally {
      showProgress('');
    }
  }

  /** Whether a source has segment files, read or not. Call it after the recovery. */
  hasFilesOf(source: string): boolean {
    return (this.#folder?.segments(source).length ?? 0) > 0;
  }

  /** Call it about once a second. */
  tick(): void {
    this.#writing ??= this.#writeManifest().finally(() => {
      this.#writing = undefined;
    });
  }

  /** Call it when nothing is stored any more and no query runs. */
  async close(): Promise<void> {
    await this.#folder?.close();
    await this.#writeManifest();
  }

  async #writeManifest(): Promise<void> {
    try {
      await this.#folder?.writeManifest();
      this.#isManifestFailing = false;
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      // Reported once until a write succeeds. An older manifest detects fewer missing files.
      if (!this.#isManifestFailing) {
        this.#log({ level: 'error', event: 'segment_manifest_failed', error: error.message });
      }
      this.#isManifestFailing = true;
    }
  }

  /** Reads the summaries. A file with damaged projects is read whole, as `load` will do. */
  async #readSummaries(
    segments: readonly SegmentFile[],
    summaries: Map<SegmentFile, SegmentSummary>,
  ): Promise<void> {
    const known = segments.filter(({ envelope }) => this.#sources.has(envelope.source));
    for (let start = 0; start < known.length; start += SEGMENTS_OPENED_MAX) {
      showProgress(`reading segments: ${start + 1} of ${known.length}`);
      const some = known.slice(start, start + SEGMENTS_OPENED_MAX);
      const read = await Promise.all(some.map((file) => file.summary()));
      for (const [index, file] of some.entries()) {
        const summary = read[index];
        if (summary === undefined) await file.load();
        else summaries.set(file, summary);
      }
    }
  }

  async #load(
    folder: SegmentFolder,
    summaries: ReadonlyMap<SegmentFile, SegmentSummary>,
    observer: RecoveryObserver,
  ): Promise<void> {
    for (const source of folder.sources()) {
      const files = folder.segments(source);
      if (!this.#sources.has(source)) {
        const events = files.reduce((sum, { envelope }) => sum + envelope.rowCount, 0);
        this.#log({ level: 'error', event: 'segment_source_unknown', source, events });
        continue;
      }
      for (const file of files) {
        const summary = summaries.get(file);
        if (summary !== undefined) this.#store.restore(source, file, summary);
        else await this.#loadDamaged(folder, file, observer);
      }
    }
  }

  /**
   * Loads segments with damaged projects, and those back from quarantine. The other parts of intact
   * segments are read when they are needed.
   */
  async #loadDamaged(
    folder: SegmentFolder,
    file: SegmentFile,
    observer: RecoveryObserver,
  ): Promise<void> {
    const load = await folder.load(file);
    if (load === undefined) return;
    const { source, partition } = file.envelope;
    const damage = { source, partition, path: file.path };
    if (load.kind !== 'whole') this.#reportDamage({ ...damage, load }, observer);
    if (load.kind === 'lost') return;
    const { segment, buffer } = load;
    this.#store.restore(segment.envelope.source, segment, summarizeSegment(buffer));
  }

  #report(report: RecoveryReport, observer: RecoveryObserver): void {
    for (const { path, reason, movedTo: quarantined } of report.quarantined) {
      this.#log({ level: 'error', event: 'segment_damaged', file: path, reason, quarantined });
    }
    for (const { path, reason } of report.leftAside) {
      this.#log({ level: 'error', event: 'segment_in_quarantine', file: path, reason });
    }
    this.#reportMissing(report, observer);
    for (const { source, partition } of [
      ...report.quarantined,
      ...report.leftAside,
      ...report.missing,
    ]) {
      this.#store.noteLost(source, partition);
    }
    for (const path of report.restored) {
      this.#log({ level: 'info', event: 'segment_restored', file: path });
    }
    for (const path of report.singleEnvelope) {
      const reason = 'one of its two envelopes is damaged; nothing is lost';
      this.#log({ level: 'error', event: 'segment_damaged', file: path, reason });
    }
    for (const path of report.unknown) {
      this.#log({ level: 'error', event: 'segment_file_unknown', file: path });
    }
    const quarantined = report.quarantined.map(({ movedTo }) => movedTo);
    const segmentsLost = quarantined.length;
    if (segmentsLost > 0) {
      observer.damage({ kind: 'segment', places: segmentsLost, segmentsLost, quarantined });
    }
    const leftAside = report.leftAside.map(({ path }) => path);
    if (leftAside.length > 0) {
      observer.damage({ kind: 'segment', places: 0, quarantined: leftAside });
    }
    const envelopes = report.singleEnvelope.length;
    if (envelopes > 0) observer.damage({ kind: 'envelope', places: envelopes });
  }

  /** Reports missing files once: from the next tick on, the manifest does not name them. */
  #reportMissing({ missing, isManifestDamaged }: RecoveryReport, observer: RecoveryObserver): void {
    if (isManifestDamaged) {
      const reason = 'it cannot be read, so whether segment files are missing is not known';
      const file = join(this.#dataDir, MANIFEST_FILE);
      this.#log({ level: 'error', event: 'segment_manifest_damaged', file, reason });
      observer.damage({ kind: 'segment', places: 1 });
    }
    if (missing.length === 0) return;
    for (const { path: file } of missing.slice(0, DAMAGES_LISTED_MAX)) {
      const reason = 'it was removed: its events are lost, unless the log still has them';
      this.#log({ level: 'error', event: 'segment_missing', file, reason });
    }
    const segmentsLost = missing.length;
    this.#log({ level: 'error', event: 'segments_missing', files: segmentsLost });
    observer.damage({ kind: 'segment', places: segmentsLost, segmentsLost });
  }

  #reportDamage(
    { source, partition, path: file, load }: SegmentDamage,
    observer: RecoveryObserver,
  ): void {
    this.#store.noteLost(source, partition);
    const columns = load.kind === 'repaired' ? load.lostColumns : undefined;
    const reason =
      columns === undefined
        ? 'the structure of its rows cannot be read'
        : `the values of columns are lost: ${columns.join(', ')}`;
    this.#log({ level: 'error', event: 'segment_damaged', file, reason });
    if (columns === undefined) {
      observer.damage({ kind: 'segment', places: 1, segmentsLost: 1 });
    } else {
      const columnsLost = columns.length;
      observer.damage({ kind: 'column', places: columnsLost, columnsLost });
    }
  }

  #reportFailure({ step, source, error }: StorageFailure): void {
    const event = `segment_${step}_failed`;
    const file = error instanceof SegmentReadError ? error.path : undefined;
    this.#log({ level: 'error', event, source, file, error: this.#stacks.describe(error) });
  }
}

function summarize(
  folder: SegmentFolder,
  report: RecoveryReport,
): Omit<RecoveredSegments, 'isCovered'> {
  let newestUs: number | undefined;
  let lastSequence = report.setAsideThrough;
  for (const source of folder.sources()) {
    for (const { envelope } of folder.segments(source)) {
      const { covered, timestampUsMax } = envelope;
      newestUs = Math.max(newestUs ?? timestampUsMax, timestampUsMax);
      lastSequence = Math.max(lastSequence, covered.at(-1)?.throughSequence ?? 0);
    }
  }
  return { newestUs, lastSequence };
}

/** Answers from the files that are valid now. */
function createCoverage(folder: SegmentFolder): RecoveredSegments['isCovered'] {
  const coverage = new Map<string, readonly SequenceInterval[]>();
  for (const source of folder.sources()) {
    const partitions = new Set(folder.segments(source).map(({ envelope }) => envelope.partition));
    for (const partition of partitions) {
      coverage.set(`${source} ${partition}`, folder.coverage({ source, partition }));
    }
  }
  return ({ source, sequence }, partition) => {
    return coversSequence(coverage.get(`${source} ${partition}`) ?? [], sequence);
  };
}
