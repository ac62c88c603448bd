import { assert } from '../../engine/columns.ts';
import type { DiskReader } from '../disk/disk.ts';
import { LOG_READ_BYTES } from '../limits.ts';

/** A buffer for a range of the file. The range read is preceded by room for the end of the previous one. */
type WindowMemory = { bytes: Uint8Array<ArrayBuffer> };

/** The read of the range after the window, which is under way. */
type ReadAhead = {
  readonly start: number;
  readonly memory: WindowMemory;
  /** `undefined` if the read failed; the next call then reads again. */
  readonly read: Promise<number | undefined>;
};

/**
 * A window that moves forward over a log file, in two alternating buffers: a window has some megabytes, and new buffers
 * would cause frequent garbage collections. While one range of the file is processed, the next is read.
 */
export class LogWindow {
  readonly size: number;
  readonly #reader: DiskReader;
  #start = 0;
  #bytes = new Uint8Array(0);
  /** The buffer of the window, and the one for the next range. */
  #memory: WindowMemory = { bytes: new Uint8Array(0) };
  #spare: WindowMemory = { bytes: new Uint8Array(0) };
  #ahead: ReadAhead | undefined;

  constructor(reader: DiskReader) {
    this.#reader = reader;
    this.size = reader.size;
  }

  /**
   * Returns bytes [offset, offset + count) of the file, fewer at its end. `offset` must be a multiple of 8; the first
   * byte is at a multiple of 8 of its buffer. The bytes are valid until the next call. Rejects as the reader does:
   * unreadable bytes are neither damage nor the end.
   */
  async bytes(offset: number, count: number): Promise<Uint8Array> {
    assert(offset % 8 === 0, 'what is in a log file is aligned');
    const end = Math.min(offset + count, this.size);
    if (offset < this.#start || end > this.#start + this.#bytes.length) {
      if (!(await this.#moveOn(offset, end))) await this.#moveTo(offset, count);
    }
    // A caller that reads only the header, at the start of the file, does not need the rest.
    if (offset > 0) this.#readAhead();
    return this.#bytes.subarray(offset - this.#start, Math.max(end, offset) - this.#start);
  }

  /** Reads a window at any offset. */
  async #moveTo(offset: number, count: number): Promise<void> {
    const length = Math.min(Math.max(count, LOG_READ_BYTES), Math.max(this.size - offset, 0));
    const bytes = roomFor(this.#memory, length);
    // The window must be empty during the read, and after one that failed.
    this.#bytes = bytes.subarray(0, 0);
    this.#bytes = bytes.subarray(0, await this.#reader.read(bytes, offset));
    this.#start = offset;
  }

  /**
   * Makes the range that was read ahead the window, preceded by the rest of the old window from `offset` on. Returns
   * whether it has the bytes [offset, end).
   */
  async #moveOn(offset: number, end: number): Promise<boolean> {
    const ahead = this.#ahead;
    if (ahead === undefined) return false;
    this.#ahead = undefined;
    // The buffer is free after the read, whether its bytes are used or not.
    const count = await ahead.read;
    const left = ahead.start - offset;
    const isNext = offset >= this.#start && left >= 0 && left <= LOG_READ_BYTES;
    if (count === undefined || !isNext || end > ahead.start + count) return false;
    const { memory } = ahead;
    const rest = this.#bytes.subarray(offset - this.#start);
    memory.bytes.set(rest, LOG_READ_BYTES - left);
    this.#bytes = memory.bytes.subarray(LOG_READ_BYTES - left, LOG_READ_BYTES + count);
    this.#start = offset;
    this.#spare = this.#memory;
    this.#memory = memory;
    return true;
  }

  #readAhead(): void {
    const start = this.#start + this.#bytes.length;
    if (this.#ahead !== undefined || start >= this.size || start % 8 !== 0) return;
    const length = Math.min(LOG_READ_BYTES, this.size - start);
    const memory = this.#spare;
    const read = this.#reader.read(roomFor(memory, length), start).catch(() => undefined);
    this.#ahead = { start, memory, read };
  }
}

/** The part of the buffer where `length` bytes are read. */
function roomFor(memory: WindowMemory, length: number): Uint8Array<ArrayBuffer> {
  const size = LOG_READ_BYTES + length;
  if (size > memory.bytes.length) memory.bytes = new Uint8Array(size);
  return memory.bytes.subarray(LOG_READ_BYTES, size);
}
