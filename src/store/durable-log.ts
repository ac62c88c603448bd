import { dirname, join, resolve } from 'node:path';
import type { Disk } from '../../ingest/disk/disk.ts';
import { LOG_BYTES_MAX } from '../../ingest/limits.ts';
import {
  checkReadable,
  type LogDamage,
  LogVersionError,
  type RecoveredLog,
  type ReplayedRecord,
  recoverLog,
} from '../../ingest/log/log-recovery.ts';
import { type LogEvent, type LogStats, WriteAheadLog } from '../../ingest/log/write-ahead-log.ts';
import type { LogStore, ReplayOptions } from '../../ingest/log-store.ts';
import { oldestPartitionUs } from '../../ingest/partition.ts';
import { Quarantine } from '../../ingest/quarantine.ts';
import { showProgress } from '../command/progress.ts';
import type { Log } from '../log.ts';
import type { StackThrottle } from '../log-throttle.ts';
import { StartError } from '../start-error.ts';
import type { RecoveryObserver } from './backend.ts';

/**
 * The log on disk below a store: replays it at the start, and from then on makes each batch of the
 * store durable before it is seen.
 */
export class DurableLog {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #quarantine: Quarantine;
  readonly #store: LogStore;
  readonly #sources: ReadonlySet<string>;
  readonly #log: Log;
  readonly #stacks: StackThrottle;
  readonly #nowMs: (() => number) | undefined;
  readonly #fileBytesMax: number | undefined;
  #writeAheadLog: WriteAheadLog | undefined;
  #newestRecoveredUs: number | undefined;

  constructor(options: {
    readonly disk: Disk;
    readonly dataDir: string;
    readonly store: LogStore;
    /** That records of other sources are there is told. They are kept like all others. */
    readonly sources: ReadonlySet<string>;
    readonly log: Log;
    readonly stacks: StackThrottle;
    /** The monotonic clock, in milliseconds. */
    readonly nowMs?: (() => number) | undefined;
    /** Bytes from which a file is followed by a new one; for tests. */
    readonly fileBytesMax?: number | undefined;
  }) {
    const dataDir = resolve(options.dataDir);
    this.#disk = options.disk;
    this.#folder = join(dataDir, 'log');
    this.#quarantine = new Quarantine(options.disk, join(dataDir, 'quarantine'));
    this.#store = options.store;
    this.#sources = options.sources;
    this.#log = options.log;
    this.#stacks = options.stacks;
    this.#nowMs = options.nowMs;
    this.#fileBytesMax = options.fileBytesMax;
  }

  /** Rejects with a ReadError when any of the log cannot be read. Changes nothing. */
  checkReadable(): Promise<void> {
    return checkReadable(this.#folder, this.#disk);
  }

  /**
   * Fills the store with what the log holds, and begins to write behind it: with the record after
   * `lastSequence` at the earliest.
   *
   * @throws StartError when the log is of a version that is not known.
   */
  async recover(
    options: ReplayOptions & { readonly lastSequence: number },
    observer: RecoveryObserver,
  ): Promise<void> {
    try {
      await this.#makeFolder();
      const recovered = await this.#replay(options, observer);
      this.#report(recovered, observer);
      const newestUs = Math.max(...recovered.files.map(({ timestampUsMax }) => timestampUsMax));
      this.#newestRecoveredUs = Number.isFinite(newestUs) ? newestUs : undefined;
      this.#writeAheadLog = await WriteAheadLog.open({
        disk: this.#disk,
        folder: this.#folder,
        files: recovered.files,
        // Sequences that segment files speak of are never used again, even if the log was lost.
        nextSequence: Math.max(recovered.nextSequence, options.lastSequence + 1),
        durableBefore: recovered.durableBefore,
        nextNumber: recovered.nextNumber,
        nowMs: this.#nowMs,
        fileBytesMax: this.#fileBytesMax,
        onEvent: (event) => this.#reportEvent(event),
      });
      this.#store.useLog(this.#writeAheadLog);
    } catch (error) {
      if (error instanceof LogVersionError) throw new StartError(error.message, error);
      throw error;
    } finally {
      showProgress('');
    }
  }

  /**
   * Lets go of what is in segment files, and of events before `oldestUs`, by whole partitions. When
   * the log has grown long, what holds it up is sealed.
   */
  tick(oldestUs: number): void {
    const log = this.#writeAheadLog;
    if (log === undefined) return;
    if (log.stats().byteSize > LOG_BYTES_MAX) this.#store.sealOldest();
    log.tick(oldestPartitionUs(oldestUs), this.#store.firstUnstoredSequence());
  }

  /** To be called when nothing is appended any more. */
  async close(): Promise<void> {
    await this.#writeAheadLog?.close(this.#store.firstUnstoredSequence());
  }

  /** Timestamp of the newest event that the recovery found; `undefined` when there was none. */
  get newestRecoveredUs(): number | undefined {
    return this.#newestRecoveredUs;
  }

  /** `undefined` before the recovery has ended. */
  stats(): LogStats | undefined {
    return this.#writeAheadLog?.stats();
  }

  /** A log is as durable as the names of the folders it lies in. */
  async #makeFolder(): Promise<void> {
    await this.#disk.makeFolder(this.#folder);
    // A process that was killed may have left names that are seen, or gone, and not durably so.
    await this.#disk.syncFolder(this.#folder);
    await this.#disk.syncFolder(dirname(this.#folder));
  }

  async #replay(options: ReplayOptions, observer: RecoveryObserver): Promise<RecoveredLog> {
    const unknown = new Map<string, number>();
    const apply = async (record: ReplayedRecord): Promise<void> => {
      const { source, rowCount } = record;
      if (!this.#sources.has(source)) unknown.set(source, (unknown.get(source) ?? 0) + rowCount);
      await this.#store.replay(record, options);
    };
    const recovered = await recoverLog({
      disk: this.#disk,
      folder: this.#folder,
      quarantine: this.#quarantine,
      apply,
      onDamage: (damage) => this.#reportDamage(damage),
      onProgress: (progress) => {
        observer.progress(progress);
        const { recordsDone, bytesDone, bytesTotal } = progress;
        const share = Math.floor((100 * bytesDone) / Math.max(bytesTotal, 1));
        showProgress(`reading the log: ${share} %, ${recordsDone} posts`);
      },
    });
    for (const [source, events] of unknown) {
      this.#log({ level: 'error', event: 'log_source_unknown', source, events });
    }
    return recovered;
  }

  #report(recovered: RecoveredLog, observer: RecoveryObserver): void {
    const { recordCount, damageCount, recordsLost, tailBytes, files } = recovered;
    if (damageCount > 0) {
      const quarantined = recovered.damages.flatMap((damage) => damage.quarantined ?? []);
      observer.damage({ kind: 'log', places: damageCount, postsLost: recordsLost, quarantined });
    }
    if (recordCount === 0 && damageCount === 0 && tailBytes === 0) return;
    this.#log({
      level: 'info',
      event: 'log_replayed',
      posts: recordCount,
      files: files.length,
      damages: damageCount,
      posts_lost: recordsLost,
      tail_bytes_cut: tailBytes,
    });
  }

  #reportDamage(damage: LogDamage): void {
    const { file, offset, size, reason, quarantined } = damage;
    // What a crash cut off was never acknowledged; all else was there once.
    const level = reason === 'tail' ? 'info' : 'error';
    this.#log({ level, event: 'log_damaged', file, offset, size, reason, quarantined });
  }

  #reportEvent(event: LogEvent): void {
    if ('error' in event) {
      const error = this.#stacks.describe(event.error);
      this.#log({ level: 'error', event: `log_${event.kind}`, error });
    } else if (event.kind === 'write_resumed') {
      this.#log({ level: 'info', event: 'log_write_resumed' });
    } else {
      const { kind, freeBytes } = event;
      const level = kind === 'disk_low' ? 'error' : 'info';
      this.#log({ level, event: kind, free_bytes: freeBytes });
    }
  }
}
