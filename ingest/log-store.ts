import { must } from '../engine/assert.ts';
import type { Batch } from '../engine/column/batch.ts';
import type { SegmentHandle } from '../engine/column/segment.ts';
import type { DroppedSegments, ScanScope, SegmentCatalog } from '../engine/column/snapshot.ts';
import { DROPPED_IDS_MAX } from '../engine/limits.ts';
import { yieldToEventLoop } from './event-loop.ts';
import { OverloadError } from './ingest-error.ts';
import { APPEND_SLICE_BYTES, APPEND_SLICE_ROWS, QUEUE_BYTES_MAX } from './limits.ts';
import { type RingStats, type Sealing, type SegmentIds, SegmentRing } from './segment-ring.ts';

export type LogStoreOptions = Sealing & {
  /** Names of all sources. */
  readonly sources: readonly string[];
  /** How long rows are kept, at least; they go by whole UTC days. */
  readonly retentionUs: number;
};

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
      this.#rings.set(source, new SegmentRing(options, ids));
    }
  }

  /**
   * Takes a batch in. When the promise resolves, every later snapshot has all its rows; when it
   * rejects, none ever will. The batch is not to be changed before that, and is not kept after.
   *
   * Rejects with `OverloadError` when too much waits already, to be appended or to be sealed, and
   * when the store is closed. The source must be one of the store's.
   */
  async append(source: string, batch: Batch): Promise<void> {
    const ring = this.#ring(source);
    const size = batchSize(batch);
    if (this.#isClosed) throw new OverloadError('the store is closed');
    if (this.#queuedBytes + size > QUEUE_BYTES_MAX) {
      throw new OverloadError(
        `at most ${QUEUE_BYTES_MAX} bytes of events may wait; ${this.#queuedBytes} do, got ${size} more`,
      );
    }
    this.#queuedBytes += size;
    try {
      await this.#enqueue(() => this.#appendNow(source, ring, batch));
    } finally {
      this.#queuedBytes -= size;
    }
  }

  segments(source: string, scope: ScanScope): readonly SegmentHandle[] {
    return this.#ring(source).segments(scope);
  }

  dropped(): DroppedSegments {
    return { count: this.#droppedCount, ids: this.#droppedIds };
  }

  /**
   * Seals old open segments, tries failed sealings again and drops partitions older than the
   * retention. `nowUs` is the time by which events are kept; while it stands still nothing ages.
   */
  tick(nowUs: number): void {
    for (const ring of this.#rings.values()) ring.tick(nowUs, nowUs - this.#retentionUs);
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

  /** The one place that every batch passes before it becomes rows. */
  async #appendNow(source: string, ring: SegmentRing, batch: Batch): Promise<void> {
    if (ring.isOverloaded) {
      throw new OverloadError(`too many segments of ${source} wait to be sealed`);
    }
    if (batch.rowCount === 0) return;
    const sliceRows = sliceRowsOf(batch);
    const isLarge = batchSize(batch) > APPEND_SLICE_BYTES;
    try {
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
