import { setTimeout as wait } from 'node:timers/promises';
import { must } from '../../engine/columns.ts';
import { type Disk, DiskError } from '../../ingest/disk/disk.ts';
import { StorageError } from '../../ingest/ingest-error.ts';
import { LogMissingError, LogTail } from '../../ingest/log/log-tail.ts';
import { RetryWait } from '../../ingest/retry-wait.ts';
import type { EventTable } from './event-table.ts';
import { ShipBatch } from './ship-batch.ts';
import type { ShipCheckpoint, ShipInterval } from './ship-checkpoint.ts';

/**
 * Rows and bytes with which a batch is sent at once. ClickHouse likes some ten thousand rows in a part; two batches are in
 * memory. The record that reaches a limit is sent as a whole.
 */
const BATCH_ROWS = 50_000;
const BATCH_BYTES = 16 * 1024 * 1024;

/**
 * Bytes of the log from which no more is accepted: an hour of 20,000 events a second of 200 bytes each. A log without a
 * limit would fill the disk, and posts would be refused by chance.
 */
export const UNSENT_LOG_BYTES_MAX = 16 * 1024 * 1024 * 1024;

/** How long the first record of a small batch waits for others: half of the second in which it must be sent. */
const BATCH_WAIT_MS = 500;

/** A failed step is tried again after a fifth of a second, then after twice the time, up to ten seconds. */
const RETRY_TICK_MS = 100;
const RETRY_TICKS_MAX = 100;

/**
 * Attempts of an insert under its token alone, within some ten minutes at most: so long ClickHouse remembers it, and answers
 * when the rows are as safe as those of any insert. Later, and after another process has tried, the rows are counted first.
 */
export const REMEMBERED_ATTEMPTS = 20;

export type ShipperOptions = {
  readonly disk: Disk;
  /** The folder of the log. */
  readonly folder: string;
  /** The log, of which only this shipper makes sure that it is sent. */
  readonly log: { readonly nextSequence: number };
  readonly checkpoint: ShipCheckpoint;
  readonly table: EventTable;
  /** Called once when a step fails, until one succeeds. */
  readonly onFailure: (error: unknown) => void;
  /** Instead of the constants above; for tests. */
  readonly limits?: {
    readonly batchRows?: number;
    readonly batchWaitMs?: number;
    readonly retryTickMs?: number;
    readonly unsentBytesMax?: number;
  };
};

export type ShipStats = {
  /** Number of records of the log that ClickHouse may not have. */
  readonly waitingRecords: number;
  /** Age of the oldest one that was read, in microseconds; 0 if there is none. */
  readonly waitingUs: number;
  readonly batchCount: number;
  readonly rowCount: number;
  /** Number of attempts that failed. */
  readonly failureCount: number;
  /** Why the last attempt failed; `undefined` after a success. */
  readonly failure: string | undefined;
  /** Number of sequences without a readable record. */
  readonly missingCount: number;
};

/** Records before `end`, and with `rowsMax` only until the batch is full. */
type RecordsToRead = { readonly end: number; readonly rowsMax?: number };

/**
 * Sends the records of the log to ClickHouse, in order, each event once.
 *
 * One batch is on its way at a time, and meanwhile the next one is read. Its interval is durable before it is sent
 * (`ShipCheckpoint`); it is sent until it is acknowledged, and so is each step around it. Nothing is given up: the log keeps
 * what was not sent.
 */
export class Shipper {
  readonly #options: ShipperOptions;
  readonly #checkpoint: ShipCheckpoint;
  readonly #tail: LogTail;
  readonly #stop = new AbortController();
  #underWay: Promise<void> | undefined;
  #batch: ShipBatch | undefined;
  /** What was read behind the last batch that was sent. */
  #ahead: ShipBatch | undefined;
  #batchCount = 0;
  #rowCount = 0;
  #failureCount = 0;
  #failure: unknown;

  constructor(options: ShipperOptions) {
    const { disk, folder, checkpoint } = options;
    this.#options = options;
    this.#checkpoint = checkpoint;
    this.#tail = new LogTail(disk, folder, checkpoint.shippedBefore);
  }

  /** Must be called at the start, and when a record has become durable. */
  notify(): void {
    if (this.#hasWork) this.#underWay ??= this.#run();
  }

  /** Resolves when all records that were durable at some moment of the call have been sent, or the shipper is closed. */
  async settled(): Promise<void> {
    while (this.#underWay !== undefined) await this.#underWay;
  }

  /** Stops. What is on its way may arrive; the next shipper sends it again. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.settled();
  }

  /** ClickHouse has all records before this one. The log must keep the others. */
  get shippedBefore(): number {
    return this.#checkpoint.shippedBefore;
  }

  /**
   * Checks whether the log, which is `logBytes` long, may grow. Files whose records were sent must be trimmed before.
   *
   * @throws StorageError
   */
  check(logBytes: number): void {
    const bytesMax = this.#options.limits?.unsentBytesMax ?? UNSENT_LOG_BYTES_MAX;
    if (logBytes < bytesMax) return;
    throw new StorageError(
      `at most ${bytesMax} bytes may wait to be sent to ClickHouse; ${logBytes} do`,
      this.#failure,
    );
  }

  stats(nowUs: number): ShipStats {
    const receivedUs = this.#batch?.receivedUs ?? nowUs;
    const { message } = this.#failure instanceof Error ? this.#failure : { message: undefined };
    return {
      waitingRecords: this.#options.log.nextSequence - this.shippedBefore,
      waitingUs: Math.max(0, nowUs - receivedUs),
      batchCount: this.#batchCount,
      rowCount: this.#rowCount,
      failureCount: this.#failureCount,
      failure: message,
      missingCount: this.#tail.missingCount,
    };
  }

  /** Runs until all is sent. */
  async #run(): Promise<void> {
    while (this.#hasWork) await this.#shipNext();
    // Without an await, so that a record that comes now starts a new loop.
    this.#underWay = undefined;
  }

  get #hasWork(): boolean {
    return !this.#stop.signal.aborted && this.shippedBefore < this.#options.log.nextSequence;
  }

  async #shipNext(): Promise<void> {
    const begun = this.#checkpoint.interval;
    const batch = this.#ahead ?? new ShipBatch(begun?.gateway ?? this.#checkpoint.gateway);
    this.#batch = batch;
    const interval = begun === undefined ? await this.#gather(batch) : begun;
    // The rows of an interval that an earlier process began are read here.
    const mayBeThere = begun !== undefined;
    const isWhole = !mayBeThere || (await this.#fill(batch, { end: begun.end }));
    if (interval === undefined || !isWhole) return;
    await Promise.all([this.#deliver(batch, interval, mayBeThere), this.#readAhead()]);
  }

  /** Sends a batch and ends its interval, unless the shipper is closed. */
  async #deliver(batch: ShipBatch, interval: ShipInterval, mayBeThere: boolean): Promise<void> {
    if (!(await this.#send(batch, interval, mayBeThere))) return;
    if (!(await this.#retrying(isDiskFailure, () => this.#checkpoint.end()))) return;
    this.#batch = undefined;
    this.#batchCount += 1;
    this.#rowCount += batch.rowCount;
  }

  /** Reads a batch that is full or has waited, and begins its interval; `undefined` if the shipper was closed. */
  async #gather(batch: ShipBatch): Promise<ShipInterval | undefined> {
    const { limits } = this.#options;
    if (!(await this.#fill(batch, this.#toFull()))) return undefined;
    if (!isFull(batch, this.#rowsMax)) {
      await this.#pause(limits?.batchWaitMs ?? BATCH_WAIT_MS);
      if (!(await this.#fill(batch, this.#toFull()))) return undefined;
    }
    const { sequence } = this.#tail;
    const isBegun = await this.#retrying(isDiskFailure, async () => {
      await this.#checkpoint.begin(sequence);
    });
    return isBegun ? must(this.#checkpoint.interval) : undefined;
  }

  /** Begins the next batch. If that fails, it is tried again when the batch is to be sent. */
  async #readAhead(): Promise<void> {
    this.#ahead = new ShipBatch(this.#checkpoint.gateway);
    try {
      await this.#read(this.#ahead, this.#toFull());
    } catch (error) {
      if (!isLogFailure(error)) throw error;
    }
  }

  /** Up to what is durable now, or until a batch is full. */
  #toFull(): RecordsToRead {
    return { end: this.#options.log.nextSequence, rowsMax: this.#rowsMax };
  }

  get #rowsMax(): number {
    return this.#options.limits?.batchRows ?? BATCH_ROWS;
  }

  /** Reads records into a batch. Resolves to false if the shipper was closed. */
  #fill(batch: ShipBatch, records: RecordsToRead): Promise<boolean> {
    return this.#retrying(isLogFailure, () => this.#read(batch, records));
  }

  /** After a failure, reading goes on behind the last record that was added. */
  async #read(batch: ShipBatch, { end, rowsMax }: RecordsToRead): Promise<void> {
    if (rowsMax !== undefined && isFull(batch, rowsMax)) return;
    for await (const record of this.#tail.read(end)) {
      await batch.add(record);
      if (rowsMax !== undefined && isFull(batch, rowsMax)) return;
    }
  }

  /**
   * Inserts the rows of each day, and gives the events numbers. Resolves to false if the shipper was closed. `mayBeThere`:
   * an earlier process may have done so.
   */
  async #send(batch: ShipBatch, interval: ShipInterval, mayBeThere: boolean): Promise<boolean> {
    const { table } = this.#options;
    const { signal } = this.#stop;
    const { gateway, end, token } = interval;
    const first = this.#checkpoint.shippedBefore;
    for (const { day, rowCount, rows } of batch.days()) {
      let attempts = mayBeThere ? REMEMBERED_ATTEMPTS : 0;
      const isSent = await this.#retrying(isAnyFailure, async () => {
        // More rows are there if a record has been damaged since.
        const isThere =
          attempts >= REMEMBERED_ATTEMPTS &&
          (await table.count({ gateway, first, end, day }, signal)) >= rowCount;
        attempts += 1;
        if (!isThere) await table.insert(rows, `${token} ${day}`, signal);
      });
      if (!isSent) return false;
    }
    // After all days, so that a follower who reads up to a number has every event before it.
    return this.#retrying(isAnyFailure, () =>
      table.appendArrivals(gateway, batch.stretches(), signal),
    );
  }

  /** Repeats a step until it succeeds. Resolves to false if the shipper was closed before. */
  async #retrying(
    isExpected: (error: unknown) => boolean,
    step: () => Promise<void>,
  ): Promise<boolean> {
    const { onFailure, limits } = this.#options;
    const retryWait = new RetryWait(RETRY_TICKS_MAX);
    while (!this.#stop.signal.aborted) {
      try {
        await step();
        this.#failure = undefined;
        return true;
      } catch (error) {
        if (!isExpected(error)) throw error;
        if (this.#stop.signal.aborted) break;
        if (this.#failure === undefined) onFailure(error);
        this.#failure = error;
        this.#failureCount += 1;
      }
      retryWait.note(false);
      for (; retryWait.isWaiting; retryWait.tick()) {
        await this.#pause(limits?.retryTickMs ?? RETRY_TICK_MS);
      }
    }
    return false;
  }

  /** Resolves early when the shipper is closed. */
  async #pause(milliseconds: number): Promise<void> {
    const { signal } = this.#stop;
    await wait(milliseconds, undefined, { signal }).catch(() => {});
  }
}

function isFull({ rowCount, byteSize }: ShipBatch, rowsMax: number): boolean {
  return rowCount >= rowsMax || byteSize >= BATCH_BYTES;
}

function isDiskFailure(error: unknown): boolean {
  return error instanceof DiskError;
}

function isLogFailure(error: unknown): boolean {
  return error instanceof DiskError || error instanceof LogMissingError;
}

/** ClickHouse may answer anything, and the network may do anything. */
function isAnyFailure(): boolean {
  return true;
}
