import { OverloadError } from './ingest-error.ts';
import { BACKLOG_SHARE_URGENT } from './limits.ts';
import type { HeldMemory, MemoryBudget } from './memory-budget.ts';
import type { SealedSegments } from './sealed-segments.ts';
import type { SegmentRing } from './segment-ring.ts';

/** The segments of one source. */
export type Stream = { readonly ring: SegmentRing; readonly sealed: SealedSegments };

/**
 * The data that is in memory only, because no file holds it yet: batches in the queue, open segments, frozen segments
 * that wait to be sealed, and sealed segments that wait to be written.
 *
 * The backlog has its own share of the memory. When it is full, no more rows are accepted until some of it is in files.
 * The same holds while files cannot be written: memory is finite, and rows in memory stay readable. Without a limit all
 * rows are accepted.
 */
export class Backlog {
  readonly #budget: MemoryBudget;
  readonly #streams: ReadonlyMap<string, Stream>;
  readonly #queuedBytes: () => number;

  constructor(parts: {
    readonly budget: MemoryBudget;
    readonly streams: ReadonlyMap<string, Stream>;
    /** Bytes of batches in the append queue. */
    readonly queuedBytes: () => number;
  }) {
    this.#budget = parts.budget;
    this.#streams = parts.streams;
    this.#queuedBytes = parts.queuedBytes;
  }

  /** Bytes of open segments and queued batches; see `HeldMemory`. */
  heldBeside(): Pick<HeldMemory, 'open' | 'queued'> {
    const { open, frozen } = this.#unsealed();
    return { open: open + frozen, queued: this.#queuedBytes() };
  }

  /** Whether the backlog is full, so that no more rows are accepted. */
  get isFull(): boolean {
    return this.#byteSize > this.#budget.backlogBytesMax;
  }

  /** Whether the backlog is nearly full, or sealing of a source is behind. */
  get isSealUrgent(): boolean {
    if (this.#byteSize > BACKLOG_SHARE_URGENT * this.#budget.backlogBytesMax) return true;
    for (const { ring } of this.#streams.values()) if (ring.isSealUrgent) return true;
    return false;
  }

  /** @throws OverloadError when no more rows are accepted. */
  check(): void {
    if (!this.isFull) return;
    throw new OverloadError(
      `at most ${this.#budget.backlogBytesMax} bytes of events may be in memory before a file holds them; there are more`,
    );
  }

  /** Bytes by which the backlog may still grow; negative when it is full. A merge may take them (`MemoryBudget.mergeRoom`). */
  get freeBytes(): number {
    return this.#budget.backlogBytesMax - this.#byteSize;
  }

  /** Seals the largest open segment when all open segments together are large. Each source has one, used or not. */
  relieve(): void {
    let largest: SegmentRing | undefined;
    let largestSize = 0;
    let total = 0;
    for (const { ring } of this.#streams.values()) {
      const size = ring.openCapacity;
      total += size;
      if (size <= largestSize) continue;
      largest = ring;
      largestSize = size;
    }
    if (total > this.#budget.openBytesMax) largest?.sealWhenWhole();
  }

  /** Settles after the next sealing or write, successful or not; `undefined` when none is under way. */
  shrinking(): Promise<void> | undefined {
    const underWay: Promise<void>[] = [];
    for (const { ring, sealed } of this.#streams.values()) {
      for (const promise of [ring.sealing(), sealed.storing()]) {
        if (promise !== undefined) underWay.push(promise);
      }
    }
    return underWay.length === 0 ? undefined : Promise.race(underWay);
  }

  get #byteSize(): number {
    const { open, frozen } = this.#unsealed();
    return open + frozen + this.#waiting();
  }

  #unsealed(): { readonly open: number; readonly frozen: number } {
    let open = 0;
    let frozen = 0;
    for (const { ring } of this.#streams.values()) {
      open += ring.openCapacity;
      frozen += ring.frozenCapacity;
    }
    return { open, frozen };
  }

  /** Bytes of queued batches and of sealed segments that wait to be written. */
  #waiting(): number {
    let size = this.#queuedBytes();
    for (const { sealed } of this.#streams.values()) size += sealed.unstoredSize;
    return size;
  }
}
