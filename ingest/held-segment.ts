import {
  type AnyContent,
  type BlockUses,
  type MemoryGauge,
  must,
  noteLeaving,
  releaseBuffer,
  retire,
  type SealedSegmentHandle,
  type SegmentContent,
  sizeOfUses,
} from '../engine/columns.ts';
import type { Leaving } from './eviction.ts';
import {
  absentBlocks,
  computeLastUse,
  copyWithout,
  measureResident,
  residentBlocks,
  type SegmentBlocks,
} from './segment-blocks.ts';
import type { SegmentFile } from './segment-file.ts';
import type { SegmentSummary } from './segment-summary.ts';

/** Gives segments their ids, and is notified when they are replaced or dropped. */
export type SegmentIds = {
  readonly next: () => number;
  /** `byteSize`: bytes that become garbage once all threads have dropped the segment. */
  readonly drop: (id: number, byteSize: number) => void;
  /** All rows of the segments `from` are in `to` from now on. */
  readonly became: (from: readonly AnyContent[], to: SegmentContent) => void;
  /** The rows of this content will not be read again. */
  readonly gone: (content: AnyContent) => void;
};

/** The collaborators of a segment. */
export type HeldParts = {
  readonly summary: SegmentSummary;
  readonly ids: SegmentIds;
  readonly gauge: MemoryGauge;
};

/**
 * A sealed segment: in memory, in a file, or in both. Threads know its memory by an id; each new buffer has a new id.
 *
 * Invariant: a segment without a file is wholly in memory.
 */
export class HeldSegment {
  #summary: SegmentSummary;
  #content: SegmentContent;
  readonly #ids: SegmentIds;
  readonly #gauge: MemoryGauge;
  #file: SegmentFile | undefined;
  #handle: SealedSegmentHandle | undefined;
  /** When blocks were used; kept while none of them is in memory. */
  #uses: BlockUses | undefined;

  private constructor({ summary, ids, gauge }: HeldParts, file: SegmentFile | undefined) {
    this.#summary = summary;
    this.#content = pickContent(summary);
    this.#ids = ids;
    this.#gauge = gauge;
    this.#file = file;
  }

  /** Creates a segment that no file holds yet. */
  static sealed(parts: HeldParts, buffer: SharedArrayBuffer): HeldSegment {
    const segment = new HeldSegment(parts, undefined);
    segment.#handle = { kind: 'sealed', id: parts.ids.next(), buffer, content: segment.#content };
    return segment;
  }

  /** Creates a segment that is in a file and of which nothing is in memory. */
  static stored(parts: HeldParts, file: SegmentFile): HeldSegment {
    return new HeldSegment(parts, file);
  }

  get summary(): SegmentSummary {
    return this.#summary;
  }

  /** The file; `undefined` until the segment is durable. */
  get file(): SegmentFile | undefined {
    return this.#file;
  }

  /** The handle by which a query reads the segment. */
  handle(): SealedSegmentHandle {
    this.#handle ??= this.#newHandle(absentBlocks(must(this.#file), this.#gauge, this.#uses));
    return this.#handle;
  }

  get content(): SegmentContent {
    return this.#content;
  }

  /** The id; `undefined` while no thread knows the segment. */
  get id(): number | undefined {
    return this.#handle?.id;
  }

  /** The resident blocks of a stored segment; `undefined` if there are none. */
  get blocks(): SegmentBlocks | undefined {
    const { buffer, backing } = this.#handle ?? {};
    return buffer === undefined || backing === undefined ? undefined : { buffer, backing };
  }

  /** Bytes in memory of a segment that no file holds. */
  get unstoredSize(): number {
    return this.#file === undefined ? this.#summary.byteSize : 0;
  }

  /** Bytes of a stored segment that stay in memory when its blocks are evicted. */
  get indexSize(): number {
    const { blocks, frame } = this.#file?.envelope ?? {};
    const tableSize = (blocks?.byteLength ?? 0) + (frame?.byteLength ?? 0);
    const usesSize = this.#uses === undefined ? 0 : sizeOfUses(this.#uses);
    return tableSize + usesSize + (this.#summary.indexSize ?? 0);
  }

  get residentSize(): number {
    const { blocks } = this;
    return blocks === undefined ? this.unstoredSize : measureResident(blocks);
  }

  /** The last use, by the clock of the gauge; 0 if the segment was never used. */
  get lastUse(): number {
    return this.blocks === undefined ? 0 : computeLastUse(this.blocks.backing);
  }

  /**
   * The rows, or those that `summary` says are left, are in a file and wholly in memory. The segment gets a new id, so
   * that threads record their uses of it from then on.
   */
  becomeStored(
    file: SegmentFile,
    content: { readonly buffer: SharedArrayBuffer; readonly usedAt: number },
    summary?: SegmentSummary,
  ): void {
    // If the buffer is the same, no memory has become garbage.
    const isSame = this.#handle?.buffer === content.buffer;
    if (this.#handle !== undefined) {
      this.#ids.drop(this.#handle.id, isSame ? 0 : this.residentSize);
    }
    this.#file = file;
    if (summary !== undefined) {
      this.#ids.gone(this.#content);
      this.#summary = summary;
      this.#content = pickContent(summary);
    }
    this.#handle = this.#newHandle(residentBlocks(file, this.#gauge, content));
  }

  /**
   * Evicts blocks. Blocks that threads read meanwhile may be evicted with them. Returns false, and changes nothing,
   * when another call has replaced the buffer before or meanwhile.
   */
  async letGo(blocks: SegmentBlocks, leaving: Leaving): Promise<boolean> {
    const handle = this.#handle;
    if (handle?.buffer !== blocks.buffer) return false;
    const copy = leaving === 'all' ? undefined : await copyWithout(blocks, leaving);
    // Another call has replaced or dropped the buffer.
    if (this.#handle !== handle) return false;
    this.#dropHandle();
    for (const block of leaving === 'all' ? blocks.backing.states.keys() : leaving) {
      noteLeaving(blocks.backing, block);
    }
    retire(blocks.backing);
    // Queries that wait or run still hold the handle.
    releaseBuffer(handle);
    if (copy !== undefined) this.#handle = this.#newHandle(copy);
    return true;
  }

  /** Drops the segment: its rows are gone or are in another segment. */
  drop(): void {
    this.#dropHandle();
    this.#ids.gone(this.#content);
  }

  /** Has all threads forget the handle. */
  #dropHandle(): void {
    if (this.#handle !== undefined) this.#ids.drop(this.#handle.id, this.residentSize);
    this.#handle = undefined;
  }

  #newHandle(blocks: SegmentBlocks): SealedSegmentHandle {
    this.#uses = blocks.backing.uses;
    return { kind: 'sealed', id: this.#ids.next(), content: this.#content, ...blocks };
  }
}

function pickContent({ rowCount, timestampUsMin, timestampUsMax }: SegmentSummary): SegmentContent {
  return { rowCount, timestampUsMin, timestampUsMax };
}
