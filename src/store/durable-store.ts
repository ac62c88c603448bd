import { join, resolve } from 'node:path';
import { type Disk, ReadError } from '../../ingest/disk/disk.ts';
import { SteadyDisk } from '../../ingest/disk/steady-disk.ts';
import type { LogStats } from '../../ingest/log/write-ahead-log.ts';
import { LogStore, type LogStoreOptions } from '../../ingest/log-store.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import type { SegmentEngine } from '../../ingest/segment-engine.ts';
import type { Log } from '../log.ts';
import type { StackThrottle } from '../log-throttle.ts';
import { findAdvice, StartError } from '../start-error.ts';
import type { HeldBackClock, RecoveryObserver } from './backend.ts';
import { DurableClock } from './durable-clock.ts';
import { DurableLog } from './durable-log.ts';
import { DurableSegments } from './durable-segments.ts';

export type DurableStoreOptions = Omit<LogStoreOptions, 'seal' | 'readers'> & {
  readonly disk: Disk;
  readonly dataDir: string;
  /** Called on each use, but not before the recovery. */
  readonly engine: () => SegmentEngine;
  readonly log: Log;
  /** Describes errors for the log. */
  readonly stacks: StackThrottle;
  /** The monotonic clock, in milliseconds. */
  readonly nowMs?: (() => number) | undefined;
  /** Bytes from which a new log file is begun; for tests. */
  readonly logFileBytesMax?: number | undefined;
};

/**
 * A store and its files: segment files and the log before them.
 *
 * `recover` is called once, first. Until it ends, nothing may be appended, and `tick` does nothing.
 */
export class DurableStore {
  readonly store: LogStore;
  /** Holds files of queries for a moment: each loses its name as soon as it is open. */
  readonly spillFolder: string;
  readonly #disk: Disk;
  readonly #durableLog: DurableLog;
  readonly #durableSegments: DurableSegments;
  readonly #retentionUs: number;
  readonly #clock: DurableClock;
  #isRecovered = false;

  constructor(options: DurableStoreOptions) {
    const { dataDir, retentionUs, engine, log, stacks, nowMs, logFileBytesMax } = options;
    const disk = SteadyDisk.of(options.disk);
    this.#disk = disk;
    this.spillFolder = join(resolve(dataDir), 'spill');
    this.store = new LogStore({
      ...options,
      readers: engine,
      seal: (handle) =>
        engine()
          .seal(handle, PARTITION_US)
          .catch((error: unknown) => {
            // The store keeps the rows and tries again. Only this place reports it.
            log({ level: 'error', event: 'seal_failed', error: stacks.describe(error) });
            throw error;
          }),
    });
    const sources = new Set(options.sources);
    const parts = { disk, dataDir, store: this.store, sources, log, stacks };
    this.#durableLog = new DurableLog({ ...parts, nowMs, fileBytesMax: logFileBytesMax });
    this.#durableSegments = new DurableSegments({ ...parts, engine, retentionUs });
    this.#retentionUs = retentionUs;
    const monotonicMs = nowMs ?? (() => 0);
    this.#clock = new DurableClock({ disk, dataDir: resolve(dataDir), log, monotonicMs });
  }

  /**
   * Fills the store from disk. Everything is read once before anything is changed; if some of it
   * cannot be read, the start fails. Rejects with a StartError or a DiskError.
   */
  async recover(nowUs: number, observer: RecoveryObserver): Promise<void> {
    let isChanging = false;
    try {
      await this.#recover(nowUs, observer, async () => {
        await this.#durableLog.checkReadable();
        isChanging = true;
      });
    } catch (error) {
      throw error instanceof ReadError ? unreadable(error, isChanging) : error;
    }
  }

  async #recover(
    nowUs: number,
    observer: RecoveryObserver,
    beforeChanges: () => Promise<void>,
  ): Promise<void> {
    const retentionNowUs = await this.#clock.recover(nowUs);
    const recovered = await this.#durableSegments.recover(retentionNowUs, observer, beforeChanges);
    await this.#durableLog.recover({ nowUs, retentionNowUs, ...recovered }, observer);
    const newest = [recovered.newestUs, this.#durableLog.newestRecoveredUs];
    this.#clock.begin(nowUs, findNewest(newest.filter((us) => us !== undefined)));
    await this.#removeSpilled();
    this.#isRecovered = true;
  }

  /** Removes what a process left that died between opening a file and removing its name. Does not prevent the start. */
  async #removeSpilled(): Promise<void> {
    const names = await this.#disk.list(this.spillFolder).catch(() => []);
    for (const name of names) {
      await this.#disk.remove(join(this.spillFolder, name)).catch(() => {});
    }
  }

  /**
   * Whether events are stored under a name, with or without a source. Call it after the recovery.
   */
  holdsEventsOf(source: string): boolean {
    return this.store.hasSource(source) || this.#durableSegments.hasFilesOf(source);
  }

  /** Seals, stores, merges and expires segments, and trims the log. Call it about once a second. */
  tick(nowUs: number): void {
    if (!this.#isRecovered) return;
    const retentionNowUs = this.#clock.tick(nowUs);
    this.store.tick(nowUs, retentionNowUs);
    this.#durableSegments.tick();
    this.#durableLog.tick(retentionNowUs - this.#retentionUs);
  }

  /** Statistics of the log; `undefined` until the recovery has ended. */
  logStats(): LogStats | undefined {
    return this.#durableLog.stats();
  }

  /** Present while the clock is too far ahead to be used for retention. */
  get heldBackClock(): HeldBackClock | undefined {
    return this.#clock.heldBack;
  }

  /** Accepts nothing more, and resolves when all work is done. */
  async close(): Promise<void> {
    await this.store.close();
    await this.#durableSegments.close();
    await this.#durableLog.close();
    await this.#clock.close();
  }
}

/** The error of a start that could not read the disk: why, the state of the disk, and what to do. */
export function unreadable(error: ReadError, isChanging: boolean): StartError {
  const left = isChanging ? 'What cannot be read was not changed' : 'Nothing was changed on disk';
  const advice =
    findAdvice(error) ??
    'Check the disk, how it is mounted and the permissions of the file, then start again. A file that stays unreadable may be moved out of the data folder: its contents are missing then';
  return new StartError(`${error.message}. ${left}. ${advice}`, error);
}

function findNewest(timesUs: readonly number[]): number | undefined {
  return timesUs.length === 0 ? undefined : Math.max(...timesUs);
}
