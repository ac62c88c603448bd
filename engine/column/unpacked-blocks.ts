import { must } from '../assert.ts';

/**
 * Blocks that are kept: of a column, of its codes, of its dictionary. A scan reads one segment after the other, so those
 * of the last few serve all segments.
 */
const BLOCKS_MAX = 16;

/** Bytes of memory for a block, at least: it serves others after it, and most of them have 64 KiB at most. */
const ROOM_SIZE_MIN = 64 * 1024 + 1;

/** Keys of the blocks of one segment: more than any has. */
const KEYS_EACH = 2 ** 24;

/** The blocks of segment files that a thread unpacked last, for the next bytes of the same. */
export class UnpackedBlocks {
  /** By key, those unpacked longest ago first. */
  readonly #blocks = new Map<number, Uint8Array>();
  #readerCount = 0;

  /** The key of the first block of a segment, for whoever reads it; the others follow. */
  newKeys(): number {
    return KEYS_EACH * this.#readerCount++;
  }

  /** Good until the next room is taken, and perhaps with other bytes behind it. */
  find(key: number): Uint8Array | undefined {
    return this.#blocks.get(key);
  }

  /** Memory for a block: that of the oldest which is kept, where there are enough. */
  takeRoom(size: number): Uint8Array {
    const roomSize = Math.max(size, ROOM_SIZE_MIN);
    if (this.#blocks.size < BLOCKS_MAX) return new Uint8Array(roomSize);
    const [oldest, room] = must(this.#blocks.entries().next().value);
    this.#blocks.delete(oldest);
    return room.length < size ? new Uint8Array(roomSize) : room;
  }

  keep(key: number, block: Uint8Array): void {
    this.#blocks.set(key, block);
  }
}
