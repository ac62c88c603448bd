import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { must } from '../assert.ts';
import { BLOCK_NUMBERS, type BlockTable } from './segment-backing.ts';

/** Bytes that are read in one call of the system, at most. */
const STRETCH_SIZE_MAX = 256 * 1024;

/** Bytes between two wanted blocks that are read with both: a call of the system takes longer. */
const GAP_SIZE_MAX = 4 * 1024;

/** The same for blocks of a whole array, which lie far apart: what is between them is mostly read next, for another array. */
export const WIDE_GAP_SIZE_MAX = 64 * 1024;

/** Bytes of the stretches that a thread keeps, the latest ones. */
export const STRETCHES_SIZE_MAX = 1024 * 1024;

/** Part of a file with some blocks that are wanted together: it is read when the first of them is needed. */
export type Stretch = {
  readonly offset: number;
  readonly size: number;
  /** Where a ring has it; `undefined` if it was not read yet. */
  kept?: KeptBytes;
};

type KeptBytes = {
  /** How many bytes the ring had taken in before it. */
  readonly place: number;
  /** Fewer than were asked for where the file ended. */
  readonly size: number;
};

/** Block indexes in the order in which the file has them. */
export function inFileOrder(table: BlockTable, blocks: Iterable<number>): number[] {
  return [...blocks].sort(
    (one, other) => storedOffsetOf(table, one) - storedOffsetOf(table, other),
  );
}

/** The stretches of blocks that lie near each other, by block. `blocks` is in the order of the file. A block far from others has none. */
export function planStretches(
  table: BlockTable,
  blocks: readonly number[],
  gapSizeMax = GAP_SIZE_MAX,
): ReadonlyMap<number, Stretch> {
  const stretchOf = new Map<number, Stretch>();
  for (let first = 0, next = 0; first < blocks.length; first = next) {
    const offset = storedOffsetOf(table, blocks[first]!);
    let end = storedEndOf(table, blocks[first]!);
    for (next = first + 1; next < blocks.length; next++) {
      if (storedOffsetOf(table, blocks[next]!) - end > gapSizeMax) break;
      const endWithNext = storedEndOf(table, blocks[next]!);
      if (endWithNext - offset > STRETCH_SIZE_MAX) break;
      end = endWithNext;
    }
    if (next === first + 1) continue;
    const stretch: Stretch = { offset, size: end - offset };
    for (let index = first; index < next; index++) stretchOf.set(blocks[index]!, stretch);
  }
  return stretchOf;
}

function storedOffsetOf(table: BlockTable, block: number): number {
  return table[block * BLOCK_NUMBERS + 2]!;
}

function storedEndOf(table: BlockTable, block: number): number {
  return storedOffsetOf(table, block) + table[block * BLOCK_NUMBERS + 3]!;
}

/** Keeps the latest stretches that were read. */
export class StretchRing {
  /** Made when it is first used: not all threads read files. */
  #bytes: Uint8Array | undefined;
  /** Bytes taken in so far, with those left out at the end of the ring. */
  #takenSize = 0;

  /** The bytes of a stretch if they are still there; good until another stretch is read. */
  find({ kept }: Stretch): Uint8Array | undefined {
    if (kept === undefined || this.#takenSize - kept.place > STRETCHES_SIZE_MAX) return undefined;
    const start = kept.place % STRETCHES_SIZE_MAX;
    return this.#bytes?.subarray(start, start + kept.size);
  }

  /** Takes a stretch in. `read` fills the array with bytes of the file, and returns how many there were. */
  read(stretch: Stretch, read: (bytes: Uint8Array) => number): Uint8Array {
    this.#bytes ??= new Uint8Array(STRETCHES_SIZE_MAX);
    const left = STRETCHES_SIZE_MAX - (this.#takenSize % STRETCHES_SIZE_MAX);
    if (left < stretch.size) this.#takenSize += left;
    const place = this.#takenSize;
    this.#takenSize += stretch.size;
    const start = place % STRETCHES_SIZE_MAX;
    const bytes = this.#bytes.subarray(start, start + stretch.size);
    stretch.kept = { place, size: read(bytes) };
    return bytes.subarray(0, stretch.kept.size);
  }
}

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

/** Bytes of stored blocks for which there is memory already; larger ones get memory of their own. */
const STORED_SIZE_KEPT_MAX = 4 * 1024 * 1024;

/** The same of unpacked blocks that go on to the memory of a segment at once. */
const UNPACKED_SIZE_KEPT_MAX = 64 * 1024;

/**
 * What one thread has of segment files. State of the module: a thread reads one block after the other, of whichever segment,
 * and has one file open and one block in hand for all of them.
 */
class ThreadFiles {
  readonly unpackedBlocks = new UnpackedBlocks();
  readonly stretches = new StretchRing();
  /** Whether the work at hand may take the time that a disk takes, or collecting garbage. */
  mayWait = true;
  #stored = new Uint8Array(64 * 1024);
  readonly #unpacked = new Uint8Array(UNPACKED_SIZE_KEPT_MAX + 1);
  /**
   * The file that was read last: blocks of one segment are read one after another. One file is open at a time, and
   * none between tasks, so a file that is removed gives its room back.
   */
  #opened: { readonly path: string; readonly file: number } | undefined;

  /** Where a block is read to before it is unpacked. */
  storedBytes(size: number): Uint8Array {
    if (size > STORED_SIZE_KEPT_MAX) return new Uint8Array(size);
    if (size > this.#stored.length) {
      this.#stored = new Uint8Array(Math.min(2 * size, STORED_SIZE_KEPT_MAX));
    }
    return this.#stored.subarray(0, size);
  }

  /** Where a block is unpacked; there is room for one byte more. */
  unpackedBytes(size: number): Uint8Array {
    return size <= UNPACKED_SIZE_KEPT_MAX ? this.#unpacked : new Uint8Array(size + 1);
  }

  /** Reads into `bytes` until they are full or the file ends; how many were read. Throws what the system says. */
  readAt(path: string, bytes: Uint8Array, offset: number): number {
    const file = this.#open(path);
    let read = 0;
    try {
      while (read < bytes.length) {
        const count = readSync(file, bytes, read, bytes.length - read, offset + read);
        if (count === 0) break;
        read += count;
      }
    } catch (error) {
      this.close();
      throw error;
    }
    return read;
  }

  /** Bytes of a file. Throws what the system says. */
  measure(path: string): number {
    return fstatSync(this.#open(path)).size;
  }

  /** Closes the file that was read last. To be called at the end of a task, and of what reads a segment beside tasks. */
  close(): void {
    if (this.#opened === undefined) return;
    const { file } = this.#opened;
    this.#opened = undefined;
    closeSync(file);
  }

  #open(path: string): number {
    if (this.#opened?.path === path) return this.#opened.file;
    this.close();
    this.#opened = { path, file: openSync(path, 'r') };
    return this.#opened.file;
  }
}

export const threadFiles = new ThreadFiles();
