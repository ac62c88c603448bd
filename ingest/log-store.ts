import {
  assert,
  type Batch,
  DROPPED_IDS_MAX,
  type DroppedSegments,
  must,
  type ScanScope,
  type SegmentCatalog,
  type SegmentHandle,
  type TimeScope,
} from '../engine/columns.ts';
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
import { oldestPartitionUs, toPartition } from './partition.ts';
import { SealedSegments, type SegmentStorage } from './sealed-segments.ts';
import type { SegmentEngine } from './segment-engine.ts';
import type { SegmentFile } from './segment-file.ts';
import { type BatchOrigin, type RingStats, type Sealing, SegmentRing } from './segment-ring.ts';
import type { SegmentSummary } from './segment-summary.ts';
import { SerialWork } from './serial-work.ts';

export type LogStoreOptions = Sealing & {
  /** Names of all sources that there are at first. */
  readonly sources: readonly string[];
  /** How long rows are kept at least. They are dropped by whole UTC days. */
  readonly retentionUs: number;
  /** The memory for segments; unlimited if left out. */
  readonly budget?: MemoryBudget | undefined;
  /** What reads the segments, and keeps what it has found out of them. Called on each use. */
  readonly readers?: () => Pick<SegmentEngine, 'releaseDropped' | 'inherit' | 'forget'>;
};

/** The log that makes batches durable before they become visible. */
export interface BatchLog {
  /** @throws StorageError if the log accepts no record at present. */
  check(): void;
  /**
   * Resolves to the record's sequence when it is durable. Records become durable in the order of the calls. If one
   * fails, all later ones that have not resolved reject, too.
   */
  append(record: LogRecord): Promise<number>;
}

export type SourceStats = RingStats & { readonly source: string };

/** How the log is replayed. */
export type ReplayOptions = {
  /** Microseconds since the epoch. */
  readonly nowUs: number;
  /** The time from which retention is measured; -Infinity: nothing is too old. */
  readonly retentionNowUs: number;
  /** Whether segment files hold a record's rows of a partition. */
  readonly isCovered: (record: ReplayedRecord, partition: number) => boolean;
};

/** Rows `[from, to)` of a batch. */
type RowRange = { readonly from: number; readonly to: number };

/** Segment ids are unique in the process, over all stores: all threads know segments by their ids. */
let segmentCount = 0;

/**
 * All rows of all sources, on the main thread.
 *
 * Batches become rows in the order of the calls of `append`, one after another. Each becomes visible atomically. Rows
 * come in by no other way. The store has no timer: the owner calls `tick` periodically.
 */
export class LogStore implements SegmentCatalog {
  readonly #streams = new Map<string, Stream>();
  readonly #sealing: Sealing;
  readonly #retentionUs: number;
  readonly #budget: MemoryBudget;
  readonly #memory: MemoryBalance;
  readonly #backlog: Backlog;
  readonly #readers: LogStoreOptions['readers'];
  #onPublished: (source: string) => void = () => {};
  #log: BatchLog | undefined;
  /** The sequence of the last record that became rows or was skipped. */
  #sequence = 0;
  /** The value of `#sequence` at the last tick. */
  #sequenceAtTick = 0;
  readonly #queue = new SerialWork();
  #queuedBytes = 0;
  #droppedCount = 0;
  /** The ids dropped last, oldest first. */
  readonly #droppedIds: number[] = [];
  #isClosed = false;
  #storage: SegmentStorage | undefined;
  /** Days that end before this time should get no more rows. */
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
      onGarbage: () => this.#readers?.().releaseDropped(),
    });
    this.#readers = options.readers;
    this.#sealing = { seal: options.seal, summarize: options.summarize };
    for (const source of options.sources) this.#streams.set(source, this.#newStream(source));
  }

  /** Whether batches of a source are taken in, or rows of it were replayed. */
  hasSource(source: string): boolean {
    return this.#streams.has(source);
  }

  /** From now on batches of this source, which is not one of the store's yet, are taken in, too. */
  addSource(source: string): void {
    assert(!this.#streams.has(source), 'a source that is added is new');
    this.#streams.set(source, this.#newStream(source));
  }

  /** From now on sealed segments are kept in files. `restore` comes before, replaying after. */
  useStorage(storage: SegmentStorage): void {
    this.#storage = storage;
    for (const { sealed } of this.#streams.values()) sealed.useStorage(storage);
  }

  /** Adds a segment that is in a file already. A query that needs it reads it. */
  restore(source: string, file: SegmentFile, summary: SegmentSummary): void {
    const { sealed, ring } = this.#stream(source);
    sealed.restore(file, summary);
    ring.skipArrivals(file.envelope.arrivalMax + 1);
  }

  /** Records that damage has lost rows or values of a source on this UTC day (days since the epoch). */
  noteLost(source: string, day: number): void {
    this.#streams.get(source)?.sealed.noteLost(day);
  }

  /** Makes later batches durable in `log`. Records must be replayed before. */
  useLog(log: BatchLog): void {
    this.#log = log;
  }

  /**
   * Appends a batch that was received at `receivedUs`. When the promise resolves, the batch is in the log, if there is
   * one, and every later snapshot has all of its rows. When it rejects, no snapshot has any. The batch must not change
   * before that, and is not kept afterwards. `source` must be one of the store's.
   *
   * Rejects with an `OverloadError` when too much data waits to be appended, sealed or written, or when the store is
   * closed; nothing was written then. Rejects with a `StorageError` when the log cannot make the batch durable; a
   * restart may replay it nevertheless.
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
      // The log takes records in the order of the calls; rows follow in the same order.
      const durable = this.#log?.append({ source, receivedUs, arrivalBase, batch });
      // The queue awaits it later; without a handler, a rejection before that would end the process.
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
   * Checks whether a batch would be accepted at present: for `source`, or for any source if left out. Saves the work of
   * decoding a body that would be refused.
   *
   * @throws OverloadError, StorageError
   */
  check(source?: string): void {
    if (this.#isClosed) throw new OverloadError('the store is closed');
    if (source !== undefined && this.#stream(source).ring.isOverloaded) {
      throw new OverloadError(`too many segments of ${source} wait to be sealed`);
    }
    // Without storage, the backlog could never shrink.
    if (this.#storage !== undefined) this.#backlog.check();
    this.#log?.check();
  }

  /**
   * Replays a record of the log. Must be called before `useLog`, in the order of sequences, one call at a time. Waits
   * while sealing is behind. Skips rows that are older than the retention or in segment files. A source that is not one
   * of the store's is added: the log is trimmed by sequence, so its rows must reach segment files, too.
   *
   * Rejects with a RecordError if the record cannot be applied. None of its rows is visible then.
   */
  async replay(record: ReplayedRecord, options: ReplayOptions): Promise<void> {
    const { source, sequence, arrivalBase, rowCount } = record;
    if (!this.#streams.has(source)) this.#streams.set(source, this.#newStream(source));
    const { ring } = this.#stream(source);
    ring.skipArrivals(arrivalBase + rowCount);
    this.#sequence = sequence;
    const oldestUs = oldestPartitionUs(options.retentionNowUs - this.#retentionUs);
    const isWanted = wantedPartitions(record, (partition) => {
      return partition >= toPartition(oldestUs) && !options.isCovered(record, partition);
    });
    if (isWanted === 'none') return;
    const batch = record.batch();
    const ranges = isWanted === 'all' ? [{ from: 0, to: rowCount }] : listRanges(batch, isWanted);
    if (ranges.length === 0) return;
    await roomIn(ring, options.nowUs);
    await this.#roomInMemory();
    try {
      await appendNow(ring, batch, { sequence, arrivalBase, rowCount }, ranges);
    } catch (cause) {
      throw new RecordError(`record ${sequence} cannot be applied`, cause);
    }
  }

  /** The first record that must stay in the log: the rows of all earlier ones are in segment files. */
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

  /** Seals the open segments that hold rows of the oldest record in the log. */
  sealOldest(): void {
    const first = this.firstUnstoredSequence();
    for (const { ring } of this.#streams.values()) {
      if (ring.firstOpenSequence === first) ring.sealWhenWhole();
    }
  }

  /**
   * Registers the one listener that is called when a batch has become rows of a source; not for replayed records. It
   * replaces an earlier one.
   */
  whenPublished(listener: (source: string) => void): void {
    this.#onPublished = listener;
  }

  /** The arrival number after the last visible row of a source. All later rows have this number or a higher one. */
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
   * Reads a segment again after a thread found damage in its file. Values that cannot be read are NULL from then on, or
   * the segment is dropped. Resolves to true if later snapshots do not have the damaged segment.
   */
  async repair(segmentId: number): Promise<boolean> {
    for (const { sealed } of this.#streams.values()) {
      const repairing = sealed.repair(segmentId);
      if (repairing !== undefined) return repairing;
    }
    return true;
  }

  /** Records that a query could not read the file of a segment, and why. */
  noteUnread(segmentId: number, error: Error): void {
    for (const { sealed } of this.#streams.values()) sealed.noteUnread(segmentId, error);
  }

  dropped(): DroppedSegments {
    return { count: this.#droppedCount, ids: this.#droppedIds };
  }

  /**
   * Seals old open segments, retries failed steps, drops partitions older than the retention, and merges small
   * segments. Nothing ages while `nowUs` stands still. Retention is measured from `retentionNowUs`, which may lag
   * behind the clock.
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

  /** Seals all rows accepted so far. Rejects if a sealing fails; the rows remain. */
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

  /** Resolves when no write, merge or eviction of segments is under way or due. */
  async settled(): Promise<void> {
    for (const { sealed } of this.#streams.values()) await sealed.settled();
    await this.#merging;
    await this.#memory.settled();
  }

  /** Accepts no more batches. Resolves when all accepted ones are rows and nothing is under way. */
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

  /** Whether posts will soon be refused because sealing is behind. */
  get isSealUrgent(): boolean {
    return this.#backlog.isSealUrgent;
  }

  /** Bytes of batches in the append queue. */
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
      became: (from, to) => this.#readers?.().inherit(from, to),
      gone: (content) => this.#readers?.().forget(content),
    };
    const budget = this.#budget;
    const onChange = (): void => this.#memory.balance();
    const betweenSteps = (totalBytes: number) => this.#mergeSmaller(totalBytes);
    const sealed = new SealedSegments({ source, summarize, ids, budget, onChange, betweenSteps });
    if (this.#storage !== undefined) sealed.useStorage(this.#storage);
    return { sealed, ring: new SegmentRing({ seal, ids, sealed }) };
  }

  #stream(source: string): Stream {
    return must(this.#streams.get(source), `source ${source} is one of the store's`);
  }

  /** Merges as long as a merge is worthwhile, one at a time: each needs much memory. */
  #startMerging(): void {
    if (this.#storage === undefined) return;
    this.#merging ??= this.#mergeAll(Number.POSITIVE_INFINITY).finally(() => {
      this.#merging = undefined;
    });
  }

  /** `totalBelow`: segments that are merged together have fewer bytes. */
  async #mergeAll(totalBelow: number): Promise<void> {
    for (const { sealed } of this.#streams.values()) {
      for (;;) {
        if (this.#isClosed) return;
        const room = { bytesMax: this.#budget.mergeRoom(this.#backlog.freeBytes), totalBelow };
        const merging = sealed.mergeSome(this.#quietUs, room);
        if (merging === undefined) break;
        await merging;
      }
    }
  }

  /** Merges meanwhile what is much smaller than a long merge. Resolves to whether the long one goes on. */
  async #mergeSmaller(totalBytes: number): Promise<boolean> {
    await this.#mergeAll(totalBytes / 2);
    return !this.#isClosed;
  }

  *#sealedSegments(): Iterable<HeldSegment> {
    for (const { sealed } of this.#streams.values()) yield* sealed.segments();
  }

  /**
   * Waits while memory exceeds the limit and blocks can be evicted: replay reads the log faster than segments are
   * sealed and written.
   */
  async #roomInMemory(): Promise<void> {
    for (;;) {
      this.#memory.balance();
      this.#backlog.relieve();
      if (!this.#budget.isOver && !this.#backlog.isFull) return;
      await this.#memory.settled();
      const shrinking = this.#backlog.shrinking();
      // The log must be replayed in full, whatever memory there is: it cannot be refused.
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
 * Makes a batch rows, visible atomically. Every batch passes here. If it rejects, none of the rows is visible. Yields
 * to the event loop between slices.
 */
async function appendNow(
  ring: SegmentRing,
  batch: Batch,
  origin: BatchOrigin,
  ranges: readonly RowRange[] = [{ from: 0, to: batch.rowCount }],
): Promise<void> {
  const slices = new Slices(countSliceRows(batch));
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

/** Waits until sealing has caught up. Rejects after REPLAY_SEAL_FAILURES_MAX failures. */
async function roomIn(ring: SegmentRing, nowUs: number): Promise<void> {
  for (let failures = 0; ring.isOverloaded; ) {
    await ring.sealedNext();
    if (ring.sealError === undefined) continue;
    if (++failures > REPLAY_SEAL_FAILURES_MAX) {
      throw new Error('a segment cannot be sealed', { cause: ring.sealError });
    }
    // Retries failed sealings.
    ring.tick(nowUs);
  }
}

/** The partitions whose rows are replayed: all, none, or a predicate. */
function wantedPartitions(
  record: ReplayedRecord,
  isWanted: (partition: number) => boolean,
): 'all' | 'none' | ((partition: number) => boolean) {
  const first = toPartition(record.timestampUsMin);
  const last = toPartition(record.timestampUsMax);
  const wanted = new Set<number>();
  for (let partition = first; partition <= last; partition++) {
    if (isWanted(partition)) wanted.add(partition);
  }
  if (wanted.size === 0) return 'none';
  return wanted.size === last - first + 1 ? 'all' : (partition) => wanted.has(partition);
}

/** The rows of the wanted partitions, in as few ranges as possible. */
function listRanges(batch: Batch, isWanted: (partition: number) => boolean): RowRange[] {
  const ranges: RowRange[] = [];
  let from = 0;
  for (let row = 0; row <= batch.rowCount; row++) {
    if (row < batch.rowCount && isWanted(toPartition(batch.timestampsUs[row]!))) continue;
    if (row > from) ranges.push({ from, to: row });
    from = row + 1;
  }
  return ranges;
}

/** Number of rows to append before yielding. */
function countSliceRows(batch: Batch): number {
  const rowSize = batchSize(batch) / Math.max(batch.rowCount, 1);
  const rows = Math.floor(APPEND_SLICE_BYTES / Math.max(rowSize, 1));
  return Math.min(Math.max(rows, 1), APPEND_SLICE_ROWS);
}

/** Bytes of a batch, except the few per row. */
export function batchSize(batch: Batch): number {
  return batch.bytes.byteLength + batch.tokens.byteLength + batch.slots.byteLength;
}
