import { must } from '../engine/assert.ts';
import { type BlockUses, noteLeaving, sizeOfUses } from '../engine/column/block-uses.ts';
import type { AnyContent, SealedSegmentHandle, SegmentContent } from '../engine/column/segment.ts';
import { type MemoryGauge, releaseBuffer, retire } from '../engine/column/segment-backing.ts';
import type { Leaving } from './eviction.ts';
import {
  absentBlocks,
  copyWithout,
  lastUseOf,
  residentBlocks,
  residentSizeOf,
  type SegmentBlocks,
} from './segment-blocks.ts';
import type { SegmentFile } from './segment-file.ts';
import type { SegmentSummary } from './segment-summary.ts';

/** Numbers segments, and hears of those that are no more. */
export type SegmentIds = {
  readonly next: () => number;
  /** `byteSize`: of the memory that is garbage once all threads have heard of it. */
  readonly drop: (id: number, byteSize: number) => void;
  /** All rows of some segments are in one from now on, which takes their place. */
  readonly became: (from: readonly AnyContent[], to: SegmentContent) => void;
  /** No row of it will be read again as part of this content. */
  readonly gone: (content: AnyContent) => void;
};

/** What a segment is made of, and by. */
export type HeldParts = {
  readonly summary: SegmentSummary;
  readonly ids: SegmentIds;
  readonly gauge: MemoryGauge;
};

/**
 * A sealed segment: in memory, in a file, or in both. Threads know what it has in memory by an id,
 * and get another one with each other buffer.
 *
 * Invariant: without a file all of it is in memory.
 */
export class HeldSegment {
  #summary: SegmentSummary;
  #content: SegmentContent;
  readonly #ids: SegmentIds;
  readonly #gauge: MemoryGauge;
  #file: SegmentFile | undefined;
  #handle: SealedSegmentHandle | undefined;
  /** Of the file, from when anything of it was in memory last. */
  #uses: BlockUses | undefined;

  private constructor({ summary, ids, gauge }: HeldParts, file: SegmentFile | undefined) {
    this.#summary = summary;
    this.#content = contentOf(summary);
    this.#ids = ids;
    this.#gauge = gauge;
    this.#file = file;
  }

  /** A segment that no file holds yet. */
  static sealed(parts: HeldParts, buffer: SharedArrayBuffer): HeldSegment {
    const segment = new HeldSegment(parts, undefined);
    segment.#handle = { kind: 'sealed', id: parts.ids.next(), buffer, content: segment.#content };
    return segment;
  }

  /** A segment of which nothing is in memory. */
  static stored(parts: HeldParts, file: SegmentFile): HeldSegment {
    return new HeldSegment(parts, file);
  }

  get summary(): SegmentSummary {
    return this.#summary;
  }

  /** There once the segment is durable. */
  get file(): SegmentFile | undefined {
    return this.#file;
  }

  /** What a query gets to read it. */
  handle(): SealedSegmentHandle {
    this.#handle ??= this.#newHandle(absentBlocks(must(this.#file), this.#gauge, this.#uses));
    return this.#handle;
  }

  get content(): SegmentContent {
    return this.#content;
  }

  /** `undefined` while no thread knows of it. */
  get id(): number | undefined {
    return this.#handle?.id;
  }

  /** What of a stored segment is in memory; `undefined` when there is nothing. */
  get blocks(): SegmentBlocks | undefined {
    const { buffer, backing } = this.#handle ?? {};
    return buffer === undefined || backing === undefined ? undefined : { buffer, backing };
  }

  /** Bytes in memory of a segment that no file holds. */
  get unstoredSize(): number {
    return this.#file === undefined ? this.#summary.byteSize : 0;
  }

  /** Bytes kept of a stored segment whether it is in memory or not. */
  get indexSize(): number {
    const { blocks, frame } = this.#file?.envelope ?? {};
    const tableSize = (blocks?.byteLength ?? 0) + (frame?.byteLength ?? 0);
    const usesSize = this.#uses === undefined ? 0 : sizeOfUses(this.#uses);
    return tableSize + usesSize + (this.#summary.indexSize ?? 0);
  }

  get residentSize(): number {
    const { blocks } = this;
    return blocks === undefined ? this.unstoredSize : residentSizeOf(blocks);
  }

  /** When it was last needed, by the clock of the gauge; 0: not since it is here. */
  get lastUse(): number {
    return this.blocks === undefined ? 0 : lastUseOf(this.blocks.backing);
  }

  /**
   * The same rows, or what is left of them (`summary`), are in a file and, all of them, in memory.
   * Threads hear of it as of another segment, so that they tell from then on what of it they use.
   */
  becomeStored(
    file: SegmentFile,
    content: { readonly buffer: SharedArrayBuffer; readonly usedAt: number },
    summary?: SegmentSummary,
  ): void {
    // The same memory is no garbage.
    const isSame = this.#handle?.buffer === content.buffer;
    if (this.#handle !== undefined) {
      this.#ids.drop(this.#handle.id, isSame ? 0 : this.residentSize);
    }
    this.#file = file;
    if (summary !== undefined) {
      this.#ids.gone(this.#content);
      this.#summary = summary;
      this.#content = contentOf(summary);
    }
    this.#handle = this.#newHandle(residentBlocks(file, this.#gauge, content));
  }

  /**
   * Lets some of what is in memory go. What threads read meanwhile may go with it. False when there is
   * another buffer in its place, before or after: what others do to the segment meanwhile stands.
   */
  async letGo(blocks: SegmentBlocks, leaving: Leaving): Promise<boolean> {
    const handle = this.#handle;
    if (handle?.buffer !== blocks.buffer) return false;
    const copy = leaving === 'all' ? undefined : await copyWithout(blocks, leaving);
    // There is another one by now, or none.
    if (this.#handle !== handle) return false;
    this.#dropHandle();
    for (const block of leaving === 'all' ? blocks.backing.states.keys() : leaving) {
      noteLeaving(blocks.backing, block);
    }
    retire(blocks.backing);
    // Queries that wait, or are under way, have the handle.
    releaseBuffer(handle);
    if (copy !== undefined) this.#handle = this.#newHandle(copy);
    return true;
  }

  /** Its rows are no more, or are in another segment. */
  drop(): void {
    this.#dropHandle();
    this.#ids.gone(this.#content);
  }

  /** Tells threads to forget what they know by the handle. */
  #dropHandle(): void {
    if (this.#handle !== undefined) this.#ids.drop(this.#handle.id, this.residentSize);
    this.#handle = undefined;
  }

  #newHandle(blocks: SegmentBlocks): SealedSegmentHandle {
    this.#uses = blocks.backing.uses;
    return { kind: 'sealed', id: this.#ids.next(), content: this.#content, ...blocks };
  }
}

function contentOf({ rowCount, timestampUsMin, timestampUsMax }: SegmentSummary): SegmentContent {
  return { rowCount, timestampUsMin, timestampUsMax };
}
