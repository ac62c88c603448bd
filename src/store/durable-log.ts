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

/** The store whose batches a log makes durable. */
export type LoggedStore = Pick<LogStore, 'replay' | 'firstUnstoredSequence' | 'sealOldest'> & {
  useLog(log: WriteAheadLog): void;
};

/** The log of a store: replays it at the start, and then makes each batch durable before it becomes visible. */
export class DurableLog {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #quarantine: Quarantine;
  readonly #store: LoggedStore;
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
    readonly store: LoggedStore;
    /** Records of other sources are reported, and kept like all others. */
    readonly sources: ReadonlySet<string>;
    readonly log: Log;
    readonly stacks: StackThrottle;
    /** The monotonic clock, in milliseconds. */
    readonly nowMs?: (() => number) | undefined;
    /** Bytes from which a new file is begun; for tests. */
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

  /** Rejects with a ReadError if any of the log cannot be read. Changes nothing. */
  checkReadable(): Promise<void> {
    return checkReadable(this.#folder, this.#disk);
  }

  /**
   * Replays the log into the store, and starts to write it, with sequences after `lastSequence`.
   *
   * @throws StartError if the log has an unknown version.
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
        // Sequences that segment files cover are never used again, even if the log was lost.
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
   * Trims records that are in segment files, and records of partitions that end before `oldestUs`. If the log has grown
   * long, seals the segments that prevent trimming.
   */
  tick(oldestUs: number): void {
    const log = this.#writeAheadLog;
    if (log === undefined) return;
    if (log.stats().byteSize > LOG_BYTES_MAX) this.#store.sealOldest();
    log.tick(oldestPartitionUs(oldestUs), this.#store.firstUnstoredSequence());
  }

  /** Must be called when nothing is appended any more. */
  async close(): Promise<void> {
    await this.#writeAheadLog?.close(this.#store.firstUnstoredSequence());
  }

  /** The newest timestamp that the recovery found; `undefined` if there was none. */
  get newestRecoveredUs(): number | undefined {
    return this.#newestRecoveredUs;
  }

  /** `undefined` before the recovery has ended. */
  stats(): LogStats | undefined {
    return this.#writeAheadLog?.stats();
  }

  /** A log is only as durable as the names of its parent folders. */
  async #makeFolder(): Promise<void> {
    await this.#disk.makeFolder(this.#folder);
    // A killed process may have left names that are visible, or removed, but not durably.
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
    // A write that a crash cut off was never acknowledged; other damage loses data.
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
