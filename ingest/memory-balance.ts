import { chooseLeaving, measureLeaving, type Shortage } from './eviction.ts';
import type { HeldSegment } from './held-segment.ts';
import { GARBAGE_BYTES_MAX, GARBAGE_BYTES_QUIET, GARBAGE_SHARE_MAX } from './limits.ts';
import type { HeldMemory, MemoryBudget, MemoryStats } from './memory-budget.ts';
import type { SegmentBlocks } from './segment-blocks.ts';

/** Keeps the memory of sealed segments within the budget: measures it, and evicts the least recently used blocks. */
export class MemoryBalance {
  readonly #budget: MemoryBudget;
  readonly #segments: () => Iterable<HeldSegment>;
  readonly #heldBeside: () => Pick<HeldMemory, 'open' | 'queued'>;
  readonly #onGarbage: () => void;
  /** Set while blocks are evicted; never rejects. */
  #evicting: Promise<void> | undefined;
  /** Whether a change during the eviction requires another look. */
  #isDue = false;
  /** Bytes that segments held when they were last measured; `undefined` if they have changed since. */
  #held: Pick<HeldMemory, 'blocks' | 'unstored' | 'index'> | undefined;
  #residentCount = 0;
  /** Bytes dropped since the last call of `onGarbage`. */
  #garbageSize = 0;

  constructor(parts: {
    readonly budget: MemoryBudget;
    /** All sealed segments, oldest first within each source. */
    readonly segments: () => Iterable<HeldSegment>;
    readonly heldBeside: () => Pick<HeldMemory, 'open' | 'queued'>;
    /** Called when much memory is garbage. */
    readonly onGarbage: () => void;
  }) {
    this.#budget = parts.budget;
    this.#segments = parts.segments;
    this.#heldBeside = parts.heldBeside;
    this.#onGarbage = parts.onGarbage;
  }

  /** Must be called when a segment is added or gets other memory. */
  touch(): void {
    this.#held = undefined;
  }

  /** Must be called when a segment, or memory of one, is dropped. */
  dropped(byteSize: number): void {
    this.#held = undefined;
    this.#garbageSize += byteSize;
  }

  /** Must be called about once a second. `isQuiet`: no rows have come since the last call. */
  tick(isQuiet: boolean): void {
    if (this.#budget.tick()) this.#held = undefined;
    this.balance();
    if (isQuiet) this.#collect(GARBAGE_BYTES_QUIET);
  }

  /** Measures what is in memory, and starts to evict what exceeds the budget. */
  balance(): void {
    this.#measure();
    this.#collect(GARBAGE_BYTES_MAX);
    if (this.#evicting !== undefined) {
      this.#isDue = true;
      return;
    }
    const shortage = this.#budget.shortage();
    if (shortage === undefined) return;
    this.#evicting = this.#evict(shortage).then((blockCount) => {
      this.#evicting = undefined;
      // If nothing could be evicted and nothing has changed, only a later look can find more.
      const isDue = this.#isDue || blockCount > 0;
      this.#isDue = false;
      if (isDue) this.balance();
    });
  }

  /** Resolves when no eviction is under way. */
  async settled(): Promise<void> {
    while (this.#evicting !== undefined) await this.#evicting;
  }

  stats(): MemoryStats {
    const stats = this.#budget.stats(this.#residentCount);
    return { ...stats, held: { ...stats.held, ...this.#heldBeside() } };
  }

  /** Has garbage collected if there is more than `bytesMax`, or more than the budget allows. */
  #collect(bytesMax: number): void {
    const garbageMax = Math.min(this.#budget.segmentBytesMax * GARBAGE_SHARE_MAX, bytesMax);
    if (this.#garbageSize <= garbageMax) return;
    this.#garbageSize = 0;
    this.#onGarbage();
  }

  #measure(): void {
    const residentKib = this.#budget.residentKib;
    if (this.#held === undefined || this.#budget.hasGrown) {
      const held = { blocks: 0, unstored: 0, index: 0 };
      this.#residentCount = 0;
      for (const segment of this.#segments()) {
        held.unstored += segment.unstoredSize;
        held.index += segment.indexSize;
        if (segment.blocks === undefined) continue;
        const size = segment.residentSize;
        held.blocks += size;
        if (size > 0) this.#residentCount += 1;
      }
      this.#held = held;
    }
    this.#budget.measured({ ...this.#held, ...this.#heldBeside() }, residentKib);
  }

  /** Resolves to the number of evicted blocks. */
  async #evict(shortage: Shortage): Promise<number> {
    const holders: { readonly segment: HeldSegment; readonly blocks: SegmentBlocks }[] = [];
    for (const segment of this.#segments()) {
      const { blocks } = segment;
      if (blocks !== undefined) holders.push({ segment, blocks });
    }
    const count = { blocks: 0, bytes: 0 };
    for (const [holder, leaving] of chooseLeaving(holders, shortage, this.#budget.clock)) {
      const left = measureLeaving(holder.blocks, leaving);
      if (!(await holder.segment.letGo(holder.blocks, leaving))) continue;
      count.blocks += left.blocks;
      count.bytes += left.bytes;
    }
    this.#budget.evicted(count);
    return count.blocks;
  }
}
