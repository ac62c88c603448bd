import { must } from '../engine/assert.ts';
import type { Batch } from '../engine/column/batch.ts';
import type { AnyContent, SegmentContent, SegmentHandle } from '../engine/column/segment.ts';
import type {
  DroppedSegments,
  ScanScope,
  SegmentCatalog,
  TimeScope,
} from '../engine/column/snapshot.ts';
import { DROPPED_IDS_MAX } from '../engine/limits.ts';
import { Backlog, type Stream } from './backlog.ts';
import { isTurnSpent, Slices, yieldToEventLoop } from './event-loop.ts';
import type { HeldSegment, SegmentIds } from './held-segment.ts';
import { OverloadError } from './ingest-error.ts';
import {
  APPEND_SLICE_BYTES,
  APPEND_SLICE_ROWS,
  PARTITION_QUIET_US,
  QUEUE_BYTES_MAX,
  REPLAY_SEAL_FAILURES_MAX,
} from './limits.ts';
import type { ReplayedRecord } from './log/log-recovery.ts';
import { type LogRecord, RecordError } from './log/record-body.ts';
import { MemoryBalance } from './memory-balance.ts';
import { MemoryBudget, type MemoryStats } from './memory-budget.ts';
import { oldestPartitionUs, partitionOf } from './partition.ts';
import { SealedSegments, type SegmentStorage } from './sealed-segments.ts';
import type { SegmentFile } from './segment-file.ts';
import { type BatchOrigin, type RingStats, type Sealing, SegmentRing } from './segment-ring.ts';
import type { SegmentSummary } from './segment-summary.ts';
import { SerialWork } from './serial-work.ts';

export type LogStoreOptions = Sealing & {
  /** Names of all sources. */
  readonly sources: readonly string[];
  /** How long rows are kept, at least; they go by whole UTC days. */
  readonly retentionUs: number;
  /** How much of the segments may be in memory; all of them when left out. */
  readonly budget?: MemoryBudget | undefined;
  /** Called when much memory is garbage, in this thread and in those that were told of it. */
  readonly onGarbage?: () => void;
  /** Who is told what becomes of what segments hold; asked for when there is something to tell. */
  readonly remembered?: () => ContentMemory;
};

/** What is remembered of segments goes by what they hold. */
interface ContentMemory {
  /** What some segments held is in one from now on; before each of them is forgotten. */
  inherit(from: readonly AnyContent[], to: SegmentContent): void;
  /** What a segment held is no more, or in another one. */
  forget(content: AnyContent): void;
}

/** Where batches are made durable before anyone sees them. */
export interface BatchLog {
  /** @throws StorageError when no record is taken at present. */
  check(): void;
  /**
   * Resolves to the record's sequence once it is durable. Records become durable in the order of the
   * calls, or else neither one nor any after it: these all reject.
   */
  append(record: LogRecord): Promise<number>;
}

export type SourceStats = RingStats & { readonly source: string };

/** How the log is replayed. */
export type ReplayOptions = {
  /** Microseconds since the epoch. */
  readonly nowUs: number;
  /** The time to measure retention from; -Infinity leaves nothing out. */
  readonly retentionNowUs: number;
  /** Whether a record's rows of a partition are in segment files already. */
  readonly isCovered: (record: ReplayedRecord, partition: number) => boolean;
};

/** Rows [from, to) of a batch. */
type RowRange = { readonly from: number; readonly to: number };

/** Segments of all stores of this process: threads know them by their ids, the main thread among them. */
let segmentCount = 0;

/**
 * All rows of all sources, on the main thread.
 *
 * Batches become rows in the order of the calls of `append`, one batch after another, each visible
 * as a whole or not at all. There is no other way for a row to come in, and no timer here: the owner
 * calls `tick` now and then.
 */
export class LogStore implements SegmentCatalog {
  readonly #streams = new Map<string, Stream>();
  readonly #sealing: Sealing;
  readonly #retentionUs: number;
  readonly #budget: MemoryBudget;
  readonly #memory: MemoryBalance;
  readonly #backlog: Backlog;
  readonly #remembered: LogStoreOptions['remembered'];
  #onPublished: (source: string) => void = () => {};
  #log: BatchLog | undefined;
  /** The last record of the log that became rows, or was left out. */
  #sequence = 0;
  /** What it was at the last tick. */
  #sequenceAtTick = 0;
  readonly #queue = new SerialWork();
  #queuedBytes = 0;
  #droppedCount = 0;
  /** The last of them, oldest first. */
  readonly #droppedIds: number[] = [];
  #isClosed = false;
  #storage: SegmentStorage | undefined;
  /** The end of days that should get no more rows. */
  #quietUs = Number.NEGATIVE_INFINITY;
  /** Set while segments are merged; never rejects. */
  #merging: Promise<void> | undefined;

  constructor(options: LogStoreOptions) {
    this.#retentionUs = options.retentionUs;
    this.#budget = options.budget ?? MemoryBudget.unlimited();
    this.#backlog = new Backlog({
      budget: this.#budget,
      streams: this.#streams,
      queuedBytes: () => this.#queuedBytes,
    });
    this.#memory = new MemoryBalance({
      budget: this.#budget,
      segments: () => this.#sealedSegments(),
      heldBeside: () => this.#backlog.heldBeside(),
      onGarbage: options.onGarbage ?? (() => {}),
    });
    this.#remembered = options.remembered;
    this.#sealing = { seal: options.seal, summarize: options.summarize };
    for (const source of options.sources) this.#streams.set(source, this.#newStream(source));
  }

  /** From now on sealed segments are kept in files. `restore` comes before, replaying after. */
  useStorage(storage: SegmentStorage): void {
    this.#storage = storage;
    for (const { sealed } of this.#streams.values()) sealed.useStorage(storage);
  }

  /** A segment of a source that is in a file already. It is read when a query asks for it. */
  restore(source: string, file: SegmentFile, summary: SegmentSummary): void {
    const { sealed, ring } = this.#stream(source);
    sealed.restore(file, summary);
    ring.skipArrivals(file.envelope.arrivalMax + 1);
  }

  /** Of this day (UTC, since the epoch) rows of a source, or values of rows, were lost to damage. */
  noteLost(source: string, day: number): void {
    this.#streams.get(source)?.sealed.noteLost(day);
  }

  /** From now on batches are made durable in `log` first. What is replayed comes before. */
  useLog(log: BatchLog): void {
    this.#log = log;
  }

  /**
   * Takes a batch in, received at `receivedUs`. When the promise resolves, the batch is in the log, if
   * there is one, and every later snapshot has all its rows; when it rejects, none has any. The batch
   * is not to be changed before that, and is not kept after.
   *
   * Rejects with `OverloadError` when too much waits already, to be appended, sealed or written, and
   * when the store is closed: then nothing was written. Rejects with `StorageError` when the log
   * cannot make it durable: a restart may find it all the same. The source must be one of the store's.
   */
  async append(source: string, batch: Batch, receivedUs = 0): Promise<void> {
    const { ring } = this.#stream(source);
    const size = batchSize(batch);
    if (this.#queuedBytes + size > QUEUE_BYTES_MAX) {
      throw new OverloadError(
        `at most ${QUEUE_BYTES_MAX} bytes of events may wait; ${this.#queuedBytes} do, got ${size} more`,
      );
    }
    this.check(source);
    if (batch.rowCount === 0) return;
    const arrivalBase = ring.reserveArrivals(batch.rowCount);
    this.#queuedBytes += size;
    try {
      // The log gets it now, in the order of the calls; rows follow in the same order.
      const durable = this.#log?.append({ source, receivedUs, arrivalBase, batch });
      // The queue looks at it later; until then nobody would.
      durable?.catch(() => {});
      await this.#queue.run(async () => {
        const sequence = (await durable) ?? 0;
        await appendNow(ring, batch, { sequence, arrivalBase, rowCount: batch.rowCount });
        this.#sequence = sequence;
        this.#backlog.relieve();
        this.#onPublished(source);
      });
    } finally {
      this.#queuedBytes -= size;
    }
  }

  /**
   * Throws an OverloadError or a StorageError when no batch would be taken at present, of this source or, where
   * none is named, of any: worth asking before one is made.
   */
  check(source?: string): void {
    if (this.#isClosed) throw new OverloadError('the store is closed');
    if (source !== undefined && this.#stream(source).ring.isOverloaded) {
      throw new OverloadError(`too many segments of ${source} wait to be sealed`);
    }
    // What no file will hold can never leave.
    if (this.#storage !== undefined) this.#backlog.check();
    this.#log?.check();
  }

  /**
   * Takes in what the log holds, as it was: to be called before `useLog`, in the order of sequences,
   * one after another. Waits while sealing is behind. What is older than the retention is left out,
   * and what is in segment files. A source that is not one of the store's becomes one that nobody
   * posts to: the log is let go of by sequence, so its rows must get to segment files as well.
   *
   * Rejects with a RecordError when the record cannot be applied; none of its rows is there then.
   */
  async replay(record: ReplayedRecord, options: ReplayOptions): Promise<void> {
    const { source, sequence, arrivalBase, rowCount } = record;
    if (!this.#streams.has(source)) this.#streams.set(source, this.#newStream(source));
    const { ring } = this.#stream(source);
    ring.skipArrivals(arrivalBase + rowCount);
    this.#sequence = sequence;
    const oldestUs = oldestPartitionUs(options.retentionNowUs - this.#retentionUs);
    const isWanted = wantedPartitions(record, (partition) => {
      return partition >= partitionOf(oldestUs) && !options.isCovered(record, partition);
    });
    if (isWanted === 'none') return;
    const batch = record.batch();
    const ranges = isWanted === 'all' ? [{ from: 0, to: rowCount }] : rangesOf(batch, isWanted);
    if (ranges.length === 0) return;
    await roomIn(ring, options.nowUs);
    await this.#roomInMemory();
    try {
      await appendNow(ring, batch, { sequence, arrivalBase, rowCount }, ranges);
    } catch (cause) {
      throw new RecordError(`record ${sequence} cannot be applied`, cause);
    }
  }

  /** The first record that must stay in the log: all rows of earlier ones are in segment files. */
  firstUnstoredSequence(): number {
    let first = this.#sequence + 1;
    for (const { ring, sealed } of this.#streams.values()) {
      first = Math.min(
        first,
        ring.firstUnsealedSequence ?? first,
        sealed.firstUnstoredSequence ?? first,
      );
    }
    return first;
  }

  /** Seals the open segments with rows of the record that must stay in the log longest. */
  sealOldest(): void {
    const first = this.firstUnstoredSequence();
    for (const { ring } of this.#streams.values()) {
      if (ring.firstOpenSequence === first) ring.sealWhenWhole();
    }
  }

  /**
   * Calls `listener`, and no other any more, whenever a batch has become rows of a source; not for what is
   * replayed.
   */
  whenPublished(listener: (source: string) => void): void {
    this.#onPublished = listener;
  }

  /** All rows of a source that queries see arrived before this number; all that come later do not. */
  arrivalEnd(source: string): number {
    return this.#stream(source).ring.arrivalEnd;
  }

  segments(source: string, scope: ScanScope): readonly SegmentHandle[] {
    return this.#stream(source).ring.segments(scope);
  }

  lostDays(source: string, scope: TimeScope): readonly number[] {
    return this.#stream(source).sealed.lostDays(scope);
  }

  /**
   * Looks at a segment in whose file a thread found damage: what cannot be read is NULL from then on,
   * or the segment is no more. True when later snapshots are without it.
   */
  async repair(segmentId: number): Promise<boolean> {
    for (const { sealed } of this.#streams.values()) {
      const repairing = sealed.repair(segmentId);
      if (repairing !== undefined) return repairing;
    }
    return true;
  }

  /** Tells that a query could not read the file of a segment, and why. */
  noteUnread(segmentId: number, error: Error): void {
    for (const { sealed } of this.#streams.values()) sealed.noteUnread(segmentId, error);
  }

  dropped(): DroppedSegments {
    return { count: this.#droppedCount, ids: this.#droppedIds };
  }

  /**
   * Seals old open segments, tries again what failed, drops partitions older than the retention and
   * merges small segments. While `nowUs` stands still nothing ages. The retention is measured from
   * `retentionNowUs`, which need not believe the clock at once.
   */
  tick(nowUs: number, retentionNowUs: number = nowUs): void {
    this.#quietUs = nowUs - PARTITION_QUIET_US;
    for (const { ring, sealed } of this.#streams.values()) {
      ring.tick(nowUs);
      sealed.tick(nowUs, retentionNowUs - this.#retentionUs);
    }
    this.#startMerging();
    this.#memory.tick(this.#sequence === this.#sequenceAtTick);
    this.#sequenceAtTick = this.#sequence;
  }

  /** Seals every row taken in so far. Rejects when a sealing fails; the rows are still there then. */
  async flush(): Promise<void> {
    const rings = Array.from(this.#streams.values(), ({ ring }) => ring);
    await this.#queue.run(async () => {
      for (const ring of rings) ring.sealOpen();
    });
    for (const ring of rings) await ring.sealed();
    for (const ring of rings) {
      if (ring.sealError !== undefined) {
        throw new Error('a segment could not be sealed', { cause: ring.sealError });
      }
    }
  }

  /** Resolves when no segment is being written, merged or let go of, and none is about to be. */
  async settled(): Promise<void> {
    for (const { sealed } of this.#streams.values()) await sealed.settled();
    await this.#merging;
    await this.#memory.settled();
  }

  /** Takes no more in; resolves when all that was taken in is there and nothing is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#queue.settled();
    for (const { ring } of this.#streams.values()) await ring.sealed();
    await this.settled();
  }

  stats(): SourceStats[] {
    return Array.from(this.#streams, ([source, { ring }]) => ({ source, ...ring.stats() }));
  }

  memoryStats(): MemoryStats {
    return this.#memory.stats();
  }

  /** Whether posts are about to be refused until more has been sealed. */
  get isSealUrgent(): boolean {
    return this.#backlog.isSealUrgent;
  }

  /** Bytes of batches that wait to be appended. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  #newStream(source: string): Stream {
    const { seal, summarize } = this.#sealing;
    const ids: SegmentIds = {
      next: () => {
        this.#memory.touch();
        segmentCount += 1;
        return segmentCount;
      },
      drop: (id, byteSize) => this.#drop(id, byteSize),
      became: (from, to) => this.#remembered?.().inherit(from, to),
      gone: (content) => this.#remembered?.().forget(content),
    };
    const budget = this.#budget;
    const onChange = (): void => this.#memory.balance();
    const sealed = new SealedSegments({ source, summarize, ids, budget, onChange });
    if (this.#storage !== undefined) sealed.useStorage(this.#storage);
    return { sealed, ring: new SegmentRing({ seal, ids, sealed }) };
  }

  #stream(source: string): Stream {
    return must(this.#streams.get(source), `source ${source} is one of the store's`);
  }

  /** Merges until nothing is worth it, one merge at a time: each holds much memory. */
  #startMerging(): void {
    if (this.#storage === undefined) return;
    this.#merging ??= this.#mergeAll().finally(() => {
      this.#merging = undefined;
    });
  }

  async #mergeAll(): Promise<void> {
    for (const { sealed } of this.#streams.values()) {
      for (;;) {
        if (this.#isClosed) return;
        const merging = sealed.mergeSome(this.#quietUs, this.#backlog.freeBytes);
        if (merging === undefined) break;
        await merging;
      }
    }
  }

  *#sealedSegments(): Iterable<HeldSegment> {
    for (const { sealed } of this.#streams.values()) yield* sealed.segments();
  }

  /**
   * Waits while more is in memory than may be and some of it is about to leave: the log is read faster
   * than segments are sealed and written.
   */
  async #roomInMemory(): Promise<void> {
    for (;;) {
      this.#memory.balance();
      this.#backlog.relieve();
      if (!this.#budget.isOver && !this.#backlog.isFull) return;
      await this.#memory.settled();
      const shrinking = this.#backlog.shrinking();
      // What is in the log must come in all the same: nobody can be told to come back with it.
      if (shrinking === undefined) return;
      await shrinking;
    }
  }

  #drop(id: number, byteSize: number): void {
    this.#memory.dropped(byteSize);
    this.#droppedCount += 1;
    this.#droppedIds.push(id);
    if (this.#droppedIds.length > DROPPED_IDS_MAX) this.#droppedIds.shift();
  }
}

/**
 * The one place that every batch passes to become rows, all visible at once. When it rejects, none
 * is. Lets other work of the thread run now and then.
 */
async function appendNow(
  ring: SegmentRing,
  batch: Batch,
  origin: BatchOrigin,
  ranges: readonly RowRange[] = [{ from: 0, to: batch.rowCount }],
): Promise<void> {
  const slices = new Slices(sliceRowsOf(batch));
  let mustYield = batchSize(batch) > APPEND_SLICE_BYTES || isTurnSpent();
  let doneCount = 0;
  try {
    ring.begin(origin);
    for (const { from, to } of ranges) {
      for (let row = from; row < to; ) {
        if (mustYield) await yieldToEventLoop();
        const end = Math.min(row + slices.stepSize, to);
        ring.append(batch, row, end);
        doneCount += end - row;
        row = end;
        mustYield = slices.isOver(doneCount);
      }
    }
  } catch (error) {
    ring.abandon();
    throw error;
  }
  ring.publish();
}

/** Waits until sealing has caught up. Rejects when it fails again and again. */
async function roomIn(ring: SegmentRing, nowUs: number): Promise<void> {
  for (let failures = 0; ring.isOverloaded; ) {
    await ring.sealedNext();
    if (ring.sealError === undefined) continue;
    if (++failures > REPLAY_SEAL_FAILURES_MAX) {
      throw new Error('a segment cannot be sealed', { cause: ring.sealError });
    }
    // Tries again what failed.
    ring.tick(nowUs);
  }
}

/** The partitions that rows of a record are wanted of: all, none, or those it says. */
function wantedPartitions(
  record: ReplayedRecord,
  isWanted: (partition: number) => boolean,
): 'all' | 'none' | ((partition: number) => boolean) {
  const first = partitionOf(record.timestampUsMin);
  const last = partitionOf(record.timestampUsMax);
  const wanted = new Set<number>();
  for (let partition = first; partition <= last; partition++) {
    if (isWanted(partition)) wanted.add(partition);
  }
  if (wanted.size === 0) return 'none';
  return wanted.size === last - first + 1 ? 'all' : (partition) => wanted.has(partition);
}

/** The rows of some partitions, in as few ranges as there are. */
function rangesOf(batch: Batch, isWanted: (partition: number) => boolean): RowRange[] {
  const ranges: RowRange[] = [];
  let from = 0;
  for (let row = 0; row <= batch.rowCount; row++) {
    if (row < batch.rowCount && isWanted(partitionOf(batch.timestampsUs[row]!))) continue;
    if (row > from) ranges.push({ from, to: row });
    from = row + 1;
  }
  return ranges;
}

/** Rows to append at a stretch. */
function sliceRowsOf(batch: Batch): number {
  const rowSize = batchSize(batch) / Math.max(batch.rowCount, 1);
  const rows = Math.floor(APPEND_SLICE_BYTES / Math.max(rowSize, 1));
  return Math.min(Math.max(rows, 1), APPEND_SLICE_ROWS);
}

/** Bytes that a batch holds, all but the few per row. */
function batchSize(batch: Batch): number {
  return batch.bytes.byteLength + batch.tokens.byteLength + batch.slots.byteLength;
}
