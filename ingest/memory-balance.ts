import { chooseLeaving, leavingOf, type Shortage } from './eviction.ts';
import type { HeldSegment } from './held-segment.ts';
import { GARBAGE_BYTES_MAX, GARBAGE_BYTES_QUIET, GARBAGE_SHARE_MAX } from './limits.ts';
import type { HeldMemory, MemoryBudget, MemoryStats } from './memory-budget.ts';
import type { SegmentBlocks } from './segment-blocks.ts';

/**
 * Keeps sealed segments within a budget: adds up what they have in memory, and lets go of what was not
 * needed for longest.
 */
export class MemoryBalance {
  readonly #budget: MemoryBudget;
  readonly #segments: () => Iterable<HeldSegment>;
  readonly #heldBeside: () => Pick<HeldMemory, 'open' | 'queued'>;
  readonly #onGarbage: () => void;
  /** Set while blocks leave memory; never rejects. */
  #evicting: Promise<void> | undefined;
  /** Whether there was something to look at while blocks left. */
  #isDue = false;
  /** What segments held when that was last added up; `undefined` when they have changed since. */
  #held: Pick<HeldMemory, 'blocks' | 'unstored' | 'index'> | undefined;
  #residentCount = 0;
  /** Bytes dropped since `onGarbage` was called. */
  #garbageSize = 0;

  constructor(parts: {
    readonly budget: MemoryBudget;
    /** All sealed segments there are, oldest first as far as that goes. */
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

  /** To be told when there is another segment, or other memory of one. */
  touch(): void {
    this.#held = undefined;
  }

  /** To be told when a segment, or memory of one, is no more. */
  dropped(byteSize: number): void {
    this.#held = undefined;
    this.#garbageSize += byteSize;
  }

  /** To be called about once a second. `isQuiet`: nothing has come in since. */
  tick(isQuiet: boolean): void {
    if (this.#budget.tick()) this.#held = undefined;
    this.balance();
    if (isQuiet) this.#collect(GARBAGE_BYTES_QUIET);
  }

  /** Takes note of what is in memory, and begins to let go of what is too much. */
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
      // When nothing could leave, and nothing has changed since, only a later look may find more.
      const isDue = this.#isDue || blockCount > 0;
      this.#isDue = false;
      if (isDue) this.balance();
    });
  }

  /** After what is about to leave has left. */
  async settled(): Promise<void> {
    while (this.#evicting !== undefined) await this.#evicting;
  }

  stats(): MemoryStats {
    const stats = this.#budget.stats(this.#residentCount);
    return { ...stats, held: { ...stats.held, ...this.#heldBeside() } };
  }

  /** Has garbage collected when there is more of it than that, or than the budget can bear. */
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

  /** Resolves to how many blocks left. */
  async #evict(shortage: Shortage): Promise<number> {
    const holders: { readonly segment: HeldSegment; readonly blocks: SegmentBlocks }[] = [];
    for (const segment of this.#segments()) {
      const { blocks } = segment;
      if (blocks !== undefined) holders.push({ segment, blocks });
    }
    const count = { blocks: 0, bytes: 0 };
    for (const [holder, leaving] of chooseLeaving(holders, shortage, this.#budget.clock)) {
      const left = leavingOf(holder.blocks, leaving);
      if (!(await holder.segment.letGo(holder.blocks, leaving))) continue;
      count.blocks += left.blocks;
      count.bytes += left.bytes;
    }
    this.#budget.evicted(count);
    return count.blocks;
  }
}
