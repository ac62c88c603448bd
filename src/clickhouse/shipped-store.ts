import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Batch, must } from '../../engine/columns.ts';
import { type Disk, ReadError } from '../../ingest/disk/disk.ts';
import { SteadyDisk } from '../../ingest/disk/steady-disk.ts';
import { OverloadError } from '../../ingest/ingest-error.ts';
import { QUEUE_BYTES_MAX } from '../../ingest/limits.ts';
import type { ReplayedRecord } from '../../ingest/log/log-recovery.ts';
import type { LogStats, WriteAheadLog } from '../../ingest/log/write-ahead-log.ts';
import { batchSize } from '../../ingest/log-store.ts';
import type { Log } from '../log.ts';
import type { StackThrottle } from '../log-throttle.ts';
import { StartError } from '../start-error.ts';
import type { RecoveryObserver, ShippingStats } from '../store/backend.ts';
import { DurableLog, type LoggedStore } from '../store/durable-log.ts';
import { unreadable } from '../store/durable-store.ts';
import type { BatchStore } from '../store/store-intake.ts';
import type { EventTable } from './event-table.ts';
import { readShipped, ShipCheckpoint, ShipCheckpointError } from './ship-checkpoint.ts';
import { Shipper, type ShipperOptions } from './shipper.ts';
import { UnsentRecords } from './unsent-records.ts';

/** How long a stop waits for what is not sent yet. The next start sends the rest. */
const SENT_AT_CLOSE_MS_MAX = 2_000;

/** Of a log of which nothing was ever sent. */
const NOT_SHIPPED = { shippedBefore: 1, interval: undefined };

export type ShippedStoreOptions = {
  readonly disk: Disk;
  /** The store folder. */
  readonly dataDir: string;
  readonly table: EventTable;
  /** Names of the sources at the start. */
  readonly sources: readonly string[];
  readonly log: Log;
  readonly stacks: StackThrottle;
  readonly clock: { readonly nowUs: () => number; readonly monotonicMs: () => number };
  /** Bytes from which a new log file is begun; for tests. */
  readonly logFileBytesMax?: number | undefined;
  /** For tests. */
  readonly limits?: ShipperOptions['limits'];
};

/**
 * Events on their way to ClickHouse: a batch is durable in the log when `append` resolves, and is sent from there. None is
 * kept in memory.
 *
 * `recover` is called once, first. Until it ends, nothing may be appended.
 */
export class ShippedStore implements BatchStore, LoggedStore {
  readonly #options: ShippedStoreOptions;
  readonly #disk: SteadyDisk;
  readonly #folder: string;
  readonly #durableLog: DurableLog;
  readonly #unsent = new UnsentRecords();
  #log: WriteAheadLog | undefined;
  #shipper: Shipper | undefined;
  /** Until the shipper is there: what the checkpoint says. */
  #shippedBefore = 0;
  /** The first record of the log that was replayed. */
  #firstSequence: number | undefined;
  #queuedBytes = 0;
  #isClosed = false;

  constructor(options: ShippedStoreOptions) {
    const { dataDir, sources, log, stacks, clock, logFileBytesMax: fileBytesMax } = options;
    this.#options = options;
    this.#folder = resolve(dataDir);
    const disk = SteadyDisk.of(options.disk);
    this.#disk = disk;
    this.#durableLog = new DurableLog({
      ...{ disk, dataDir, store: this, sources: new Set(sources), log, stacks, fileBytesMax },
      nowMs: clock.monotonicMs,
    });
  }

  /** Reads the log and begins to send it. Rejects with a StartError or a DiskError. */
  async recover(nowUs: number, observer: RecoveryObserver): Promise<void> {
    let isChanging = false;
    try {
      const { shippedBefore, interval } =
        (await readShipped(this.#disk, this.#folder)) ?? NOT_SHIPPED;
      this.#shippedBefore = shippedBefore;
      await this.#durableLog.checkReadable();
      isChanging = true;
      await this.#durableLog.recover(
        {
          ...{ nowUs, retentionNowUs: Number.NEGATIVE_INFINITY, isCovered: () => false },
          // A sequence that was sent is never used again, even if the log was lost.
          lastSequence: Math.max(shippedBefore, interval?.end ?? 0) - 1,
        },
        observer,
      );
      await this.#beginShipping();
    } catch (error) {
      if (error instanceof ShipCheckpointError) throw new StartError(error.message, error);
      throw error instanceof ReadError ? unreadable(error, isChanging) : error;
    }
  }

  async #beginShipping(): Promise<void> {
    const { table, log: report, stacks, limits } = this.#options;
    const log = must(this.#log, 'the log is open after its recovery');
    const { nextSequence } = log;
    const disk = this.#disk;
    const firstSequence = this.#firstSequence ?? nextSequence;
    const checkpoint = await ShipCheckpoint.open({
      ...{ disk, folder: this.#folder, firstSequence, nextSequence },
    });
    this.#shipper = new Shipper({
      ...{ disk, folder: join(this.#folder, 'log'), log, checkpoint, table },
      ...(limits === undefined ? {} : { limits }),
      onFailure: (error) => {
        report({ level: 'error', event: 'ship_failed', error: stacks.describe(error) });
      },
    });
    this.#shipper.notify();
  }

  /** Counts a record that ClickHouse may not have. */
  async replay({ sequence, rowCount, receivedUs, batch }: ReplayedRecord): Promise<void> {
    this.#firstSequence ??= sequence;
    if (sequence < this.#shippedBefore) return;
    const record = { sequence, events: rowCount, bytes: batchSize(batch()), nowUs: receivedUs };
    this.#unsent.add(record, this.#shippedBefore);
  }

  useLog(log: WriteAheadLog): void {
    this.#log = log;
  }

  /** The first record that must stay in the log. */
  firstUnstoredSequence(): number {
    return this.#shipper?.shippedBefore ?? this.#shippedBefore;
  }

  /** Nothing makes ClickHouse take records earlier. */
  sealOldest(): void {}

  /**
   * Makes a batch durable. When the promise resolves it is in the log, and will be in ClickHouse. The batch must not change
   * before that, and is not kept afterwards.
   *
   * Rejects with an `OverloadError` when too much waits for the disk, or when the store is closed, and with a
   * `StorageError` when the log cannot make the batch durable, or holds too much that was not sent.
   */
  async append(source: string, batch: Batch, receivedUs = 0): Promise<void> {
    const size = batchSize(batch);
    if (this.#queuedBytes + size > QUEUE_BYTES_MAX) {
      throw new OverloadError(
        `at most ${QUEUE_BYTES_MAX} bytes of events may wait; ${this.#queuedBytes} do, got ${size} more`,
      );
    }
    this.check();
    const events = batch.rowCount;
    if (events === 0) return;
    const log = must(this.#log, 'the store is recovered');
    this.#queuedBytes += size;
    try {
      const sequence = await log.append({ source, receivedUs, arrivalBase: 0, batch });
      const nowUs = this.#options.clock.nowUs();
      this.#unsent.add({ sequence, events, bytes: size, nowUs }, this.firstUnstoredSequence());
      this.#shipper?.notify();
    } finally {
      this.#queuedBytes -= size;
    }
  }

  /** @throws OverloadError, StorageError if a batch would not be accepted at present. */
  check(): void {
    if (this.#isClosed) throw new OverloadError('the store is closed');
    this.#shipper?.check(this.#log?.stats().byteSize ?? 0);
    this.#log?.check();
  }

  /** What is in memory: nothing. */
  stats(): ReturnType<BatchStore['stats']> {
    return [];
  }

  /** ClickHouse has every event that was acknowledged before this time. */
  completeUntilUs(): number {
    const nowUs = this.#options.clock.nowUs();
    return this.#unsent.completeUntilUs(this.firstUnstoredSequence(), nowUs);
  }

  /** Trims the log. Call it about once a second. */
  tick(): void {
    if (this.#shipper !== undefined) this.#durableLog.tick(Number.NEGATIVE_INFINITY);
  }

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  logStats(): LogStats | undefined {
    return this.#durableLog.stats();
  }

  /** `undefined` before the recovery has ended. */
  shippingStats(): ShippingStats | undefined {
    if (this.#shipper === undefined) return undefined;
    const nowUs = this.#options.clock.nowUs();
    const { batchCount, rowCount, failureCount, failure } = this.#shipper.stats(nowUs);
    const unsent = this.#unsent.unsent(this.#shipper.shippedBefore, nowUs);
    return { ...unsent, batchCount, rowCount, failureCount, isFailing: failure !== undefined };
  }

  /** Accepts nothing more, and sends what ClickHouse takes in a moment. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const shipper = this.#shipper;
    if (shipper !== undefined) {
      const isAway = this.shippingStats()?.isFailing === true;
      const late = new AbortController();
      const giveUp = wait(SENT_AT_CLOSE_MS_MAX, undefined, { signal: late.signal });
      if (!isAway) await Promise.race([shipper.settled(), giveUp]);
      late.abort();
      await giveUp.catch(() => {});
      await shipper.close();
    }
    await this.#durableLog.close();
    await this.#options.table.close();
  }
}
