import { assert } from '../../engine/assert.ts';
import type { DiskReader } from '../disk/disk.ts';
import { LOG_READ_BYTES } from '../limits.ts';

/** What a disk loses at a time, at the least. */
const BLOCK_SIZE = 4096;

/**
 * A log file as a window that moves forward over it, always in the same memory: a window is some
 * megabytes, and V8 would collect all garbage after every few of them.
 */
export class LogWindow {
  readonly size: number;
  readonly #reader: DiskReader;
  #start = 0;
  #bytes = new Uint8Array(0);
  #memory = new Uint8Array(0);

  constructor(reader: DiskReader) {
    this.#reader = reader;
    this.size = reader.size;
  }

  /**
   * Bytes [offset, offset + count) of the file, fewer where it ends. `offset` must be a multiple of
   * 8; the first byte lies at a multiple of 8 of its buffer. They are good until the next call.
   */
  async bytes(offset: number, count: number): Promise<Uint8Array> {
    assert(offset % 8 === 0, 'what is in a log file is aligned');
    const end = Math.min(offset + count, this.size);
    if (offset < this.#start || end > this.#start + this.#bytes.length) {
      const length = Math.min(Math.max(count, LOG_READ_BYTES), Math.max(this.size - offset, 0));
      if (length > this.#memory.length) this.#memory = new Uint8Array(length);
      // Whoever looks at it amid the reading, or after one that failed, must find nothing there.
      this.#bytes = this.#memory.subarray(0, 0);
      const bytes = this.#memory.subarray(0, length);
      this.#bytes = bytes.subarray(0, await this.#read(bytes, offset));
      this.#start = offset;
    }
    return this.#bytes.subarray(offset - this.#start, Math.max(end, offset) - this.#start);
  }

  /** Where the disk has lost a block, its bytes are zeros: no record with them passes its CRC. */
  async #read(target: Uint8Array, offset: number): Promise<number> {
    try {
      return await this.#reader.read(target, offset);
    } catch {
      for (let at = 0; at < target.length; at += BLOCK_SIZE) {
        const block = target.subarray(at, at + BLOCK_SIZE);
        await this.#reader.read(block, offset + at).catch(() => block.fill(0));
      }
      return target.length;
    }
  }
}
