import { join, resolve } from 'node:path';
import type { Disk } from '../ingest/disk/disk.ts';
import type { ReplayedRecord } from '../ingest/log/log-recovery.ts';
import type { LogStore } from '../ingest/log-store.ts';
import type { RetentionClock } from '../ingest/retention-clock.ts';
import type { StorageFailure } from '../ingest/sealed-segments.ts';
import { SegmentFolder, type SegmentLoad } from '../ingest/segment-folder.ts';
import { SegmentVersionError } from '../ingest/segment-layout.ts';
import type { RecoveryReport } from '../ingest/segment-recovery.ts';
import { coversSequence, type SequenceInterval } from '../ingest/sequence-intervals.ts';
import type { RecoveryObserver } from './backend.ts';
import { type Log, stackOf } from './log.ts';
import { showProgress } from './progress.ts';
import { StartError } from './start-error.ts';

/** What the segment files say at a start. */
export type RecoveredSegments = {
  /** The time to measure retention from while the log is replayed; -Infinity: leave nothing out. */
  readonly retentionNowUs: number;
  /** Timestamp of the newest stored event; `undefined` when there is none. */
  readonly newestUs: number | undefined;
  /** The last record of the log whose rows are in some file; 0 when there is none. */
  readonly lastSequence: number;
  /** Whether a record's rows of a partition were in files when these were read. */
  readonly isCovered: (record: ReplayedRecord, partition: number) => boolean;
};

/** The segment files below a store: read at the start, and from then on written, merged, dropped. */
export class DurableSegments {
  readonly #disk: Disk;
  readonly #dataDir: string;
  readonly #store: LogStore;
  readonly #merge: (buffers: readonly SharedArrayBuffer[]) => Promise<SharedArrayBuffer>;
  /** Files of other sources stay where they are, unread. */
  readonly #sources: ReadonlySet<string>;
  readonly #retentionUs: number;
  readonly #log: Log;

  constructor(options: {
    readonly disk: Disk;
    readonly dataDir: string;
    readonly store: LogStore;
    readonly merge: (buffers: readonly SharedArrayBuffer[]) => Promise<SharedArrayBuffer>;
    readonly sources: ReadonlySet<string>;
    readonly retentionUs: number;
    readonly log: Log;
  }) {
    this.#disk = options.disk;
    this.#dataDir = resolve(options.dataDir);
    this.#store = options.store;
    this.#merge = options.merge;
    this.#sources = options.sources;
    this.#retentionUs = options.retentionUs;
    this.#log = options.log;
  }

  /**
   * Fills the store with what is in files, and lets it write more of them.
   *
   * @throws StartError when a file is of a version that is not known.
   */
  async recover(nowUs: number, observer: RecoveryObserver): Promise<RecoveredSegments> {
    try {
      const path = join(this.#dataDir, 'segments');
      const { folder, report, clock } = await SegmentFolder.recover({
        disk: this.#disk,
        path,
        quarantinePath: join(this.#dataDir, 'quarantine'),
        nowUs,
        retentionUs: this.#retentionUs,
      });
      this.#report(report, observer);
      const recovered = this.#summarize(folder, clock, nowUs);
      await this.#load(folder, observer);
      this.#store.useStorage({
        folder,
        merge: this.#merge,
        onFailure: (failure) => this.#reportFailure(failure),
      });
      return recovered;
    } catch (error) {
      if (error instanceof SegmentVersionError) throw new StartError(error.message, error);
      throw error;
    } finally {
      showProgress('');
    }
  }

  #summarize(folder: SegmentFolder, clock: RetentionClock, nowUs: number): RecoveredSegments {
    const coverage = new Map<string, readonly SequenceInterval[]>();
    let newestUs: number | undefined;
    let lastSequence = 0;
    for (const source of folder.sources()) {
      for (const { envelope } of folder.segments(source)) {
        const { partition, covered, timestampUsMax } = envelope;
        newestUs = Math.max(newestUs ?? timestampUsMax, timestampUsMax);
        lastSequence = Math.max(lastSequence, covered.at(-1)?.throughSequence ?? 0);
        coverage.set(`${source} ${partition}`, folder.coverage({ source, partition }));
      }
    }
    return {
      retentionNowUs: newestUs === undefined ? Number.NEGATIVE_INFINITY : clock.tick(nowUs),
      newestUs,
      lastSequence,
      isCovered: ({ source, sequence }, partition) => {
        return coversSequence(coverage.get(`${source} ${partition}`) ?? [], sequence);
      },
    };
  }

  async #load(folder: SegmentFolder, observer: RecoveryObserver): Promise<void> {
    for (const source of folder.sources()) {
      const files = folder.segments(source);
      if (!this.#sources.has(source)) {
        const events = files.reduce((sum, { envelope }) => sum + envelope.rowCount, 0);
        this.#log({ level: 'error', event: 'segment_source_unknown', source, events });
        continue;
      }
      for (const [index, file] of files.entries()) {
        showProgress(`reading segments of ${source}: ${index + 1} of ${files.length}`);
        const load = await folder.load(file);
        if (load === undefined) continue;
        if (load.kind !== 'whole') this.#reportLoad(load, file.path, observer);
        if (load.kind !== 'lost') this.#store.restore(source, load.segment, load.buffer);
      }
    }
  }

  #report(report: RecoveryReport, observer: RecoveryObserver): void {
    for (const { path, reason } of report.quarantined) {
      this.#log({ level: 'error', event: 'segment_damaged', file: path, reason });
    }
    for (const path of report.singleEnvelope) {
      const reason = 'one of its two envelopes is damaged; nothing is lost';
      this.#log({ level: 'error', event: 'segment_damaged', file: path, reason });
    }
    for (const path of report.unknown) {
      this.#log({ level: 'error', event: 'segment_file_unknown', file: path });
    }
    const segmentsLost = report.quarantined.length;
    const places = segmentsLost + report.singleEnvelope.length;
    if (places > 0) observer.damage({ places, segmentsLost });
  }

  #reportLoad(
    load: Extract<SegmentLoad, { kind: 'repaired' | 'lost' }>,
    file: string,
    observer: RecoveryObserver,
  ): void {
    const columns = load.kind === 'repaired' ? load.lostColumns : undefined;
    const reason =
      columns === undefined
        ? 'its rows cannot be told apart'
        : `the values of columns are lost: ${columns.join(', ')}`;
    this.#log({ level: 'error', event: 'segment_damaged', file, reason });
    if (columns === undefined) observer.damage({ places: 1, segmentsLost: 1 });
    else observer.damage({ places: columns.length, columnsLost: columns.length });
  }

  #reportFailure({ step, source, error }: StorageFailure): void {
    const event = `segment_${step}_failed`;
    this.#log({ level: 'error', event, source, error: stackOf(error) });
  }
}
