import { join, relative } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { must } from '../../engine/columns.ts';
import { type Disk, DiskError } from '../../ingest/disk/disk.ts';
import { yieldToEventLoop } from '../../ingest/event-loop.ts';
import type { FolderDamage, UncheckedFile } from '../../ingest/folder-damage.ts';
import { GARBAGE_BYTES_MAX } from '../../ingest/limits.ts';
import { LOG_END_FILE, LogEndFile } from '../../ingest/log/log-end.ts';
import {
  type LogVisitor,
  listLogNumbers,
  type ReplayedRecord,
  type WalkedDamage,
  walkLog,
} from '../../ingest/log/log-walk.ts';
import { toPartition } from '../../ingest/partition.ts';
import { RetryWait } from '../../ingest/retry-wait.ts';
import { SegmentCoverage } from '../../ingest/segment-coverage.ts';
import type { SegmentFile } from '../../ingest/segment-file.ts';
import { SegmentDamageError, SegmentVersionError } from '../../ingest/segment-layout.ts';
import { SegmentListing } from '../../ingest/segment-listing.ts';
import { manifestName } from '../../ingest/segment-manifest.ts';
import { MoveBatch, tokenOf } from './move-batch.ts';
import { type ArrivalRange, Arrivals, type MovedTable } from './moved-table.ts';
import { SegmentRows } from './segment-rows.ts';
import type { ShipCheckpoint } from './ship-checkpoint.ts';
import { RecordRows, writeShippedRow } from './shipped-row.ts';

/** Rows and bytes of an insert, as `Shipper` sends them. The row, or the record, that reaches a limit is sent with it. */
const BATCH_ROWS = 50_000;
const BATCH_BYTES = 16 * 1024 * 1024;

/** A failed request is tried again after 0.2 s, then after twice the time, up to ten seconds; so many times in all. */
const RETRY_TICK_MS = 100;
const RETRY_TICKS_MAX = 100;
export const ATTEMPTS_MAX = 8;

export type FolderMoveOptions = {
  readonly disk: Disk;
  /** The store folder, which no service may use meanwhile. */
  readonly folder: string;
  /** Of a move that has begun. */
  readonly checkpoint: ShipCheckpoint;
  readonly table: MovedTable;
  readonly signal: AbortSignal;
  readonly onDamage: (damage: FolderDamage) => void;
  /** `eventsTotal`: those of segment files; those of the log come after them. */
  readonly onProgress: (eventsDone: number, eventsTotal: number) => void;
  /** Instead of the constants above; for tests. */
  readonly limits?: { readonly batchRows?: number; readonly retryTickMs?: number };
};

/** What a move has done. */
export type Moved = {
  /** Events that were sent, and those that ClickHouse had already. */
  readonly sentCount: number;
  readonly presentCount: number;
  /** Segment files that were sent by an earlier move. */
  readonly earlierFileCount: number;
  readonly damageCount: number;
  /** Events that cannot be read: those of segment files, as far as their number is known. */
  readonly lostCount: number;
  /** Files that could not be read now. While there are some, the move has not ended. */
  readonly unchecked: readonly UncheckedFile[];
};

/** ClickHouse does not do what is asked of it. What was sent so far stays, and the next move goes on. */
export class MoveError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'MoveError';
  }

  /** Why requests are not repeated any more: the signal, or the last failure. */
  static of({ aborted }: AbortSignal, failure: unknown): MoveError {
    if (aborted) return new MoveError('stopped', failure);
    const reason = failure instanceof Error ? failure.message : String(failure);
    return new MoveError(`ClickHouse failed ${ATTEMPTS_MAX} times: ${reason}`, failure);
  }
}

/**
 * Sends all events of a data folder to ClickHouse, each once: those of segment files, then those of the log that are in
 * none. Changes nothing in the folder but the checkpoint, and holds one segment and one batch in memory at a time.
 *
 * An event is known by its source and its arrival, which stay the same when a service seals the log or merges segment
 * files between two runs. So whatever an earlier run has sent is found in the table: a run asks for the arrivals of each
 * day that the table has rows of. An insert that is still under way when the next run asks is a batch with the same
 * rows and so the same token (`tokenOf`), and ClickHouse ignores the second. A service that changes the files between
 * two runs takes longer than an insert.
 */
export class FolderMove {
  readonly #options: FolderMoveOptions;
  readonly #unchecked: UncheckedFile[] = [];
  #gateway = '';
  /** Days that have rows in the table since before this run, as `dayKey` names them. */
  #doubtful: ReadonlySet<string> = new Set();
  #sentCount = 0;
  #presentCount = 0;
  #earlierFileCount = 0;
  #damageCount = 0;
  #lostCount = 0;
  #doneCount = 0;
  #totalCount = 0;
  /** Bytes of segments that were read since memory was last given back. */
  #garbageSize = 0;

  constructor(options: FolderMoveOptions) {
    this.#options = options;
  }

  /** Rejects with a MoveError if ClickHouse or the signal ends the move, and with a DiskError. Runs once. */
  async run(): Promise<Moved> {
    const { disk, folder, checkpoint, table, signal } = this.#options;
    const { gateway, files } = must(checkpoint.move, 'the move has begun');
    this.#gateway = gateway;
    const listed = await new SegmentListing(disk, folder).read();
    this.#unchecked.push(...listed.unchecked);
    for (const damage of listed.damages) this.#report(damage);
    const everything = { first: 0, end: Number.MAX_SAFE_INTEGER };
    const counts = await this.#request(() => table.countDays(gateway, everything, signal));
    this.#doubtful = new Set(counts.map(({ source, day }) => dayKey(source, day)));
    this.#totalCount = listed.segments.reduce((sum, { envelope }) => sum + envelope.rowCount, 0);
    const earlier = new Set(files);
    const read: SegmentFile[] = [];
    for (const file of listed.segments) {
      const isEarlier = earlier.has(manifestName(file.envelope));
      if (isEarlier) this.#earlierFileCount += 1;
      if (isEarlier || (await this.#moveFile(file))) read.push(file);
      this.#advance(file.envelope.rowCount);
    }
    const nextSequence = await this.#moveLog(new SegmentCoverage(read));
    if (this.#unchecked.length === 0) await checkpoint.endMove(nextSequence);
    return {
      ...{ sentCount: this.#sentCount, presentCount: this.#presentCount },
      ...{ earlierFileCount: this.#earlierFileCount, damageCount: this.#damageCount },
      ...{ lostCount: this.#lostCount, unchecked: this.#unchecked },
    };
  }

  /** Resolves to whether the rows could be read. If not, those that the log still has are sent from there. */
  async #moveFile(file: SegmentFile): Promise<boolean> {
    const { source, partition, rowCount, imageSize } = file.envelope;
    const path = relative(this.#options.folder, file.path);
    let rows: SegmentRows | undefined;
    try {
      rows = await SegmentRows.load(file);
    } catch (error) {
      this.#noteUnread(path, file, error);
      return false;
    }
    if (rows === undefined) {
      this.#lostCount += rowCount;
      this.#report({ kind: 'rows', path, source, rowCount });
      return false;
    }
    if (rows.lostColumns.length > 0) {
      this.#report({ kind: 'columns', path, source, rowCount, columns: rows.lostColumns });
    }
    await this.#sendSegment(rows, { source, partition });
    await this.#options.checkpoint.noteMoved(manifestName(file.envelope));
    this.#garbageSize += imageSize;
    if (this.#garbageSize > GARBAGE_BYTES_MAX) {
      this.#garbageSize = 0;
      await SegmentRows.release();
    }
    return true;
  }

  async #sendSegment(
    rows: SegmentRows,
    { source, partition }: { readonly source: string; readonly partition: number },
  ): Promise<void> {
    const gateway = this.#gateway;
    const present = await this.#findPresent(rows.range);
    let batch = new MoveBatch(source, partition);
    for (const chunk of rows.chunks()) {
      for (const { arrival, ...row } of chunk) {
        batch.add(arrival, (tsv, place) =>
          writeShippedRow({ ...row, gateway, place, receivedUs: 0 }, tsv),
        );
        if (!this.#isFull(batch.rowCount, batch.byteSize)) continue;
        await this.#send(batch, present);
        batch = new MoveBatch(source, partition);
      }
      await yieldToEventLoop();
    }
    await this.#send(batch, present);
  }

  #noteUnread(path: string, { envelope }: SegmentFile, error: unknown): void {
    const { source, rowCount } = envelope;
    if (error instanceof DiskError && error.code === 'ENOENT') {
      // Somebody removed it, or a retention that ran out.
      this.#lostCount += rowCount;
      this.#report({ kind: 'missing', path, source });
    } else if (error instanceof SegmentDamageError) {
      this.#lostCount += rowCount;
      this.#report({ kind: 'segment', path, source, reason: 'neither of its envelopes is whole' });
    } else if (error instanceof DiskError || error instanceof SegmentVersionError) {
      this.#unchecked.push({ path, reason: error.message });
    } else throw error;
  }

  /** Sends what is in no segment file. Resolves to the sequence of the next record. */
  async #moveLog(coverage: SegmentCoverage): Promise<number> {
    const { disk } = this.#options;
    const folder = join(this.#options.folder, 'log');
    const end = await new LogEndFile(disk, folder).read();
    const numbers = listLogNumbers(await disk.list(folder));
    const batches = new LogBatches(this.#gateway, coverage);
    const sendAll = async (): Promise<void> => {
      for (const batch of batches.take()) {
        await this.#send(batch, await this.#findPresent(batch.range));
        this.#advance(batch.rowCount);
      }
    };
    const visitor: LogVisitor = {
      record: async (record) => {
        batches.add(record);
        if (this.#isFull(batches.rowCount, batches.byteSize)) await sendAll();
      },
      damage: async (damage) => this.#reportLog(damage),
      fileEnd: async () => {},
      unread: (path, error) => {
        const { message: reason } = error;
        this.#unchecked.push({ path: relative(this.#options.folder, path), reason });
      },
      progress: () => {},
    };
    const { nextSequence } = await walkLog({ disk, folder, numbers, end, visitor });
    await sendAll();
    return nextSequence;
  }

  #reportLog({ file, offset, size, reason, recordsLost, firstSequence }: WalkedDamage): void {
    if (reason === 'tail') return;
    const path = file === LOG_END_FILE ? file : join('log', file);
    this.#report({ kind: 'log', path, offset, size, reason, recordsLost, firstSequence });
  }

  #isFull(rowCount: number, byteSize: number): boolean {
    return rowCount >= (this.#options.limits?.batchRows ?? BATCH_ROWS) || byteSize >= BATCH_BYTES;
  }

  /** The events that the table has since before this run. */
  async #findPresent(range: ArrivalRange): Promise<Arrivals> {
    if (!this.#doubtful.has(dayKey(range.source, range.day))) return Arrivals.NONE;
    const { table, signal } = this.#options;
    return this.#request(() => table.findArrivals(this.#gateway, range, signal));
  }

  /** Sends the rows of a batch, without those of some arrivals. */
  async #send(batch: MoveBatch, present: Arrivals): Promise<void> {
    const { table, signal } = this.#options;
    const { rows, count } = batch.rowsWithout(present);
    this.#presentCount += batch.rowCount - count;
    if (count === 0) return;
    await this.#request(() => table.insert(rows, tokenOf(rows), signal));
    this.#sentCount += count;
  }

  /** Repeats a request until it succeeds or has failed too often. */
  async #request<T>(request: () => Promise<T>): Promise<T> {
    const { signal, limits } = this.#options;
    const retryWait = new RetryWait(RETRY_TICKS_MAX);
    for (let attempt = 1; ; attempt++) {
      if (signal.aborted) throw MoveError.of(signal, undefined);
      try {
        return await request();
      } catch (error) {
        if (signal.aborted || attempt === ATTEMPTS_MAX) throw MoveError.of(signal, error);
      }
      retryWait.note(false);
      for (; retryWait.isWaiting; retryWait.tick()) {
        await wait(limits?.retryTickMs ?? RETRY_TICK_MS, undefined, { signal }).catch(() => {});
      }
    }
  }

  #advance(eventCount: number): void {
    this.#doneCount += eventCount;
    this.#options.onProgress(this.#doneCount, Math.max(this.#doneCount, this.#totalCount));
  }

  #report(damage: FolderDamage): void {
    this.#damageCount += 1;
    this.#options.onDamage(damage);
  }
}

/** Rows of records by source and day. */
class LogBatches {
  readonly #gateway: string;
  readonly #coverage: SegmentCoverage;
  #batches = new Map<string, MoveBatch>();
  rowCount = 0;
  byteSize = 0;

  /** Rows that segment files have are left out. */
  constructor(gateway: string, coverage: SegmentCoverage) {
    this.#gateway = gateway;
    this.#coverage = coverage;
  }

  /** @throws RecordError if the record's data is not that of a batch. */
  add(record: ReplayedRecord): void {
    const { source, sequence, arrivalBase, rowCount } = record;
    const rows = new RecordRows(record, this.#gateway);
    for (let row = 0; row < rowCount; row++) {
      const partition = toPartition(rows.timestampUs(row));
      if (this.#coverage.covers({ source, partition, sequence })) continue;
      const batch = this.#batchOf(source, partition);
      const sizeBefore = batch.byteSize;
      batch.add(arrivalBase + row, (tsv, place) => rows.write(row, tsv, place));
      this.rowCount += 1;
      this.byteSize += batch.byteSize - sizeBefore;
    }
  }

  take(): readonly MoveBatch[] {
    const batches = [...this.#batches.values()];
    this.#batches = new Map();
    this.rowCount = 0;
    this.byteSize = 0;
    return batches;
  }

  #batchOf(source: string, partition: number): MoveBatch {
    const key = `${source} ${partition}`;
    const batch = this.#batches.get(key) ?? new MoveBatch(source, partition);
    this.#batches.set(key, batch);
    return batch;
  }
}

function dayKey(source: string, day: string): string {
  return `${source} ${day}`;
}
