import { resolve } from 'node:path';
import { type Disk, ReadError } from '../../ingest/disk/disk.ts';
import { SteadyDisk } from '../../ingest/disk/steady-disk.ts';
import type { LogStats } from '../../ingest/log/write-ahead-log.ts';
import { LogStore, type LogStoreOptions } from '../../ingest/log-store.ts';
import type { SegmentStorage } from '../../ingest/sealed-segments.ts';
import type { SegmentFolderOptions } from '../../ingest/segment-folder.ts';
import type { Log } from '../log.ts';
import type { StackThrottle } from '../log-throttle.ts';
import { findAdvice, StartError } from '../start-error.ts';
import type { HeldBackClock, RecoveryObserver } from './backend.ts';
import { DurableClock } from './durable-clock.ts';
import { DurableLog } from './durable-log.ts';
import { DurableSegments } from './durable-segments.ts';

export type DurableStoreOptions = LogStoreOptions & {
  readonly disk: Disk;
  readonly dataDir: string;
  /** Sealed segments of one source as one. */
  readonly merge: SegmentStorage['merge'];
  readonly divide: SegmentStorage['divide'];
  /** The blocks of a sealed segment's file. */
  readonly pack: SegmentFolderOptions['pack'];
  /** Tells the end of those who read segment files now. */
  readonly readersDone?: SegmentFolderOptions['readersDone'];
  readonly log: Log;
  /** Describes errors for the log. */
  readonly stacks: StackThrottle;
  /** The monotonic clock, in milliseconds. */
  readonly nowMs?: (() => number) | undefined;
  /** Bytes from which a file of the log is followed by a new one; for tests. */
  readonly logFileBytesMax?: number | undefined;
};

/**
 * A store and what keeps it on disk: segment files, and before them the log.
 *
 * `recover` comes first and once; before it has ended nothing may be appended, and `tick` does nothing.
 */
export class DurableStore {
  readonly store: LogStore;
  readonly #durableLog: DurableLog;
  readonly #durableSegments: DurableSegments;
  readonly #retentionUs: number;
  readonly #clock: DurableClock;
  #isRecovered = false;

  constructor(options: DurableStoreOptions) {
    const { dataDir, retentionUs, log, stacks, nowMs, logFileBytesMax } = options;
    const disk = SteadyDisk.of(options.disk);
    const { merge, divide, pack, readersDone } = options;
    this.store = new LogStore(options);
    const sources = new Set(options.sources);
    const parts = { disk, dataDir, store: this.store, sources, log, stacks };
    this.#durableLog = new DurableLog({ ...parts, nowMs, fileBytesMax: logFileBytesMax });
    this.#durableSegments = new DurableSegments({
      ...parts,
      ...{ merge, divide, pack, readersDone, retentionUs },
    });
    this.#retentionUs = retentionUs;
    const monotonicMs = nowMs ?? (() => 0);
    this.#clock = new DurableClock({ disk, dataDir: resolve(dataDir), log, monotonicMs });
  }

  /**
   * Fills the store with what is stored. All that is read for it is read once before anything is changed on
   * disk: where some of it cannot be read there is no start. Rejects with a StartError, or with a DiskError.
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
    this.#isRecovered = true;
  }

  /** Whether events are stored under a name, be it that of a source or not. To be called after the recovery. */
  holdsEventsOf(source: string): boolean {
    return this.store.hasSource(source) || this.#durableSegments.hasFilesOf(source);
  }

  /** To be called about once a second: seals, stores, merges, expires, shortens the log. */
  tick(nowUs: number): void {
    if (!this.#isRecovered) return;
    const retentionNowUs = this.#clock.tick(nowUs);
    this.store.tick(nowUs, retentionNowUs);
    this.#durableSegments.tick();
    this.#durableLog.tick(retentionNowUs - this.#retentionUs);
  }

  /** Of the log; `undefined` before the recovery has ended. */
  logStats(): LogStats | undefined {
    return this.#durableLog.stats();
  }

  /** There while the clock is too far ahead to delete by. */
  get heldBackClock(): HeldBackClock | undefined {
    return this.#clock.heldBack;
  }

  /** Takes no more in; resolves when nothing is under way. */
  async close(): Promise<void> {
    await this.store.close();
    await this.#durableSegments.close();
    await this.#durableLog.close();
    await this.#clock.close();
  }
}

/** Why there is no start, what that left on disk, and what is to be done. */
function unreadable(error: ReadError, isChanging: boolean): StartError {
  const left = isChanging ? 'What cannot be read was not changed' : 'Nothing was changed on disk';
  const advice =
    findAdvice(error) ??
    'Look at the disk, how it is mounted and the rights of the file, then start again. A file that stays unreadable may be moved out of the data folder: what is stored in it is missing then';
  return new StartError(`${error.message}. ${left}. ${advice}`, error);
}

function findNewest(timesUs: readonly number[]): number | undefined {
  return timesUs.length === 0 ? undefined : Math.max(...timesUs);
}
