import { must } from '../engine/assert.ts';
import type { Batch } from '../engine/column/batch.ts';
import type { SegmentHandle } from '../engine/column/segment.ts';
import type { DroppedSegments, ScanScope, SegmentCatalog } from '../engine/column/snapshot.ts';
import { DROPPED_IDS_MAX } from '../engine/limits.ts';
import { yieldToEventLoop } from './event-loop.ts';
import { OverloadError } from './ingest-error.ts';
import {
  APPEND_SLICE_BYTES,
  APPEND_SLICE_ROWS,
  QUEUE_BYTES_MAX,
  REPLAY_SEAL_FAILURES_MAX,
} from './limits.ts';
import type { ReplayedRecord } from './log/log-recovery.ts';
import { type LogRecord, RecordError } from './log/record-body.ts';
import {
  type BatchOrigin,
  oldestPartitionUs,
  type RingStats,
  type Sealing,
  type SegmentIds,
  SegmentRing,
} from './segment-ring.ts';

export type LogStoreOptions = Sealing & {
  /** Names of all sources. */
  readonly sources: readonly string[];
  /** How long rows are kept, at least; they go by whole UTC days. */
  readonly retentionUs: number;
};

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

/**
 * All rows of all sources, on the main thread.
 *
 * Batches become rows in the order of the calls of `append`, one batch after another, each visible
 * as a whole or not at all. There is no other way for a row to come in, and no timer here: the owner
 * calls `tick` now and then.
 */
export class LogStore implements SegmentCatalog {
  readonly #rings = new Map<string, SegmentRing>();
  readonly #retentionUs: number;
  #log: BatchLog | undefined;
  /** The last record of the log that became rows, or was left out. */
  #sequence = 0;
  /** Ends when all that was queued so far has; never rejects. */
  #queue: Promise<void> = Promise.resolve();
  #queuedBytes = 0;
  #segmentCount = 0;
  #droppedCount = 0;
  /** The last of them, oldest first. */
  readonly #droppedIds: number[] = [];
  #isClosed = false;

  constructor(options: LogStoreOptions) {
    this.#retentionUs = options.retentionUs;
    const ids: SegmentIds = {
      next: () => ++this.#segmentCount,
      drop: (id) => this.#drop(id),
    };
    for (const source of options.sources) {
      this.#rings.set(source, new SegmentRing(source, options, ids));
    }
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
   * Rejects with `OverloadError` when too much waits already, to be appended or to be sealed, and
   * when the store is closed: then nothing was written. Rejects with `StorageError` when the log
   * cannot make it durable: a restart may find it all the same. The source must be one of the store's.
   */
  async append(source: string, batch: Batch, receivedUs = 0): Promise<void> {
    const ring = this.#ring(source);
    const size = batchSize(batch);
    if (this.#isClosed) throw new OverloadError('the store is closed');
    if (ring.isOverloaded) {
      throw new OverloadError(`too many segments of ${source} wait to be sealed`);
    }
    if (this.#queuedBytes + size > QUEUE_BYTES_MAX) {
      throw new OverloadError(
        `at most ${QUEUE_BYTES_MAX} bytes of events may wait; ${this.#queuedBytes} do, got ${size} more`,
      );
    }
    if (batch.rowCount === 0) return;
    this.#log?.check();
    const arrivalBase = ring.reserveArrivals(batch.rowCount);
    this.#queuedBytes += size;
    try {
      // The log gets it now, in the order of the calls; rows follow in the same order.
      const durable = this.#log?.append({ source, receivedUs, arrivalBase, batch });
      // The queue looks at it later; until then nobody would.
      durable?.catch(() => {});
      await this.#enqueue(async () => {
        const sequence = (await durable) ?? 0;
        await appendNow(ring, batch, { sequence, arrivalBase, rowCount: batch.rowCount });
        this.#sequence = sequence;
      });
    } finally {
      this.#queuedBytes -= size;
    }
  }

  /**
   * Takes in what the log holds, as it was: to be called before `useLog`, in the order of sequences,
   * one after another. Waits while sealing is behind. What is older than the retention is left out.
   *
   * Rejects with a RecordError when the record cannot be applied; none of its rows is there then.
   */
  async replay(record: ReplayedRecord, nowUs: number): Promise<void> {
    const { source, sequence, arrivalBase, rowCount } = record;
    const ring = this.#ring(source);
    this.skip(record);
    if (record.timestampUsMax < oldestPartitionUs(nowUs - this.#retentionUs)) return;
    const batch = record.batch();
    await roomIn(ring, nowUs);
    try {
      await appendNow(ring, batch, { sequence, arrivalBase, rowCount });
    } catch (cause) {
      throw new RecordError(`record ${sequence} cannot be applied`, cause);
    }
  }

  /** Leaves a record out that is replayed in its place in the order: its rows are elsewhere. */
  skip({ source, sequence, arrivalBase, rowCount }: ReplayedRecord): void {
    this.#ring(source).skipArrivals(arrivalBase + rowCount);
    this.#sequence = sequence;
  }

  /**
   * The first record that must stay in the log as long as sealed segments are durable: all rows of
   * earlier ones are in these. Whoever makes them durable trims the log up to here.
   */
  firstUnsealedSequence(): number {
    const firsts = Array.from(this.#rings.values(), (ring) => ring.firstUnsealedSequence);
    return Math.min(this.#sequence + 1, ...firsts.filter((sequence) => sequence !== undefined));
  }

  segments(source: string, scope: ScanScope): readonly SegmentHandle[] {
    return this.#ring(source).segments(scope);
  }

  dropped(): DroppedSegments {
    return { count: this.#droppedCount, ids: this.#droppedIds };
  }

  /**
   * Seals old open segments, tries failed sealings again and drops partitions older than the
   * retention. While `nowUs` stands still nothing ages. The retention is measured from
   * `retentionNowUs`, which need not believe the clock at once.
   */
  tick(nowUs: number, retentionNowUs: number = nowUs): void {
    for (const ring of this.#rings.values()) ring.tick(nowUs, retentionNowUs - this.#retentionUs);
  }

  /** Seals every row taken in so far. Rejects when a sealing fails; the rows are still there then. */
  async flush(): Promise<void> {
    const rings = [...this.#rings.values()];
    await this.#enqueue(async () => {
      for (const ring of rings) ring.sealOpen();
    });
    for (const ring of rings) await ring.sealed();
    for (const ring of rings) {
      if (ring.sealError !== undefined) {
        throw new Error('a segment could not be sealed', { cause: ring.sealError });
      }
    }
  }

  /** Takes no more in; resolves when all that was taken in is there and no sealing is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#queue;
    for (const ring of this.#rings.values()) await ring.sealed();
  }

  stats(): SourceStats[] {
    return Array.from(this.#rings, ([source, ring]) => ({ source, ...ring.stats() }));
  }

  /** Bytes of batches that wait to be appended. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  #ring(source: string): SegmentRing {
    return must(this.#rings.get(source), `source ${source} is one of the store's`);
  }

  #drop(id: number): void {
    this.#droppedCount += 1;
    this.#droppedIds.push(id);
    if (this.#droppedIds.length > DROPPED_IDS_MAX) this.#droppedIds.shift();
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => {});
    return done;
  }
}

/**
 * The one place that every batch passes to become rows, all visible at once. When it rejects, none
 * is. Lets other work of the thread run now and then.
 */
async function appendNow(ring: SegmentRing, batch: Batch, origin: BatchOrigin): Promise<void> {
  const sliceRows = sliceRowsOf(batch);
  const isLarge = batchSize(batch) > APPEND_SLICE_BYTES;
  try {
    ring.begin(origin);
    for (let row = 0; row < batch.rowCount; row += sliceRows) {
      if (row > 0 || isLarge) await yieldToEventLoop();
      ring.append(batch, row, Math.min(row + sliceRows, batch.rowCount));
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
    // Tries again what failed, and drops nothing.
    ring.tick(nowUs, Number.NEGATIVE_INFINITY);
  }
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
