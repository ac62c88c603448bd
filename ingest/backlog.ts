import { OverloadError } from './ingest-error.ts';
import { BACKLOG_SHARE_URGENT } from './limits.ts';
import type { HeldMemory, MemoryBudget } from './memory-budget.ts';
import type { SealedSegments } from './sealed-segments.ts';
import type { SegmentRing } from './segment-ring.ts';

/** One source. */
export type Stream = { readonly ring: SegmentRing; readonly sealed: SealedSegments };

/**
 * What has come in and cannot leave memory, as no file holds it yet: batches that wait, open segments,
 * those that wait to be sealed, and sealed ones that wait to be written.
 *
 * It has a part of the memory for itself. When that is full, no more is taken in until some of it is in
 * files. So it is, too, when files cannot be written at all: memory has an end, and what was taken in
 * can be asked for meanwhile. Without a limit everything is taken in, whatever the disk does.
 */
export class Backlog {
  readonly #budget: MemoryBudget;
  readonly #streams: ReadonlyMap<string, Stream>;
  readonly #queuedBytes: () => number;

  constructor(parts: {
    readonly budget: MemoryBudget;
    readonly streams: ReadonlyMap<string, Stream>;
    /** Bytes of batches that wait to be appended. */
    readonly queuedBytes: () => number;
  }) {
    this.#budget = parts.budget;
    this.#streams = parts.streams;
    this.#queuedBytes = parts.queuedBytes;
  }

  /** Bytes of what segments do not hold: see `HeldMemory`. */
  heldBeside(): Pick<HeldMemory, 'open' | 'queued'> {
    const { open, frozen } = this.#unsealed();
    return { open: open + frozen, queued: this.#queuedBytes() };
  }

  /** Whether there is so much that no more rows should come. */
  get isFull(): boolean {
    return this.#byteSize > this.#budget.backlogBytesMax;
  }

  /** Whether it soon will be, or a source has so much to be sealed. */
  get isSealUrgent(): boolean {
    if (this.#byteSize > BACKLOG_SHARE_URGENT * this.#budget.backlogBytesMax) return true;
    for (const { ring } of this.#streams.values()) if (ring.isSealUrgent) return true;
    return false;
  }

  /** Throws an OverloadError when no more rows should come. */
  check(): void {
    if (!this.isFull) return;
    throw new OverloadError(
      `at most ${this.#budget.backlogBytesMax} bytes of events may be in memory that no file holds yet; there are more`,
    );
  }

  /** Bytes that it may still grow by. A merge may take them: where sealing is behind only small segments are merged. */
  get freeBytes(): number {
    return this.#budget.backlogBytesMax - this.#byteSize;
  }

  /** Seals the largest open segment when all of them take much: each source has one, used or not. */
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

  /** After some of it has been sealed or written, well or not; `undefined` when nothing is under way. */
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

  /** Bytes of batches and of sealed segments that wait. */
  #waiting(): number {
    let size = this.#queuedBytes();
    for (const { sealed } of this.#streams.values()) size += sealed.unstoredSize;
    return size;
  }
}
