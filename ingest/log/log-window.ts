import { assert } from '../../engine/assert.ts';
import type { DiskReader } from '../disk/disk.ts';
import { LOG_READ_BYTES } from '../limits.ts';

/** Memory for a stretch of the file: what is read goes behind room for the end of the one before. */
type WindowMemory = { bytes: Uint8Array<ArrayBuffer> };

/** The stretch behind the window, on its way. */
type ReadAhead = {
  readonly start: number;
  readonly memory: WindowMemory;
  /** `undefined` when it could not be read: whoever needs it asks again. */
  readonly read: Promise<number | undefined>;
};

/**
 * A log file as a window that moves forward over it, always in the same memory: a window is some
 * megabytes, and V8 would collect all garbage after every few of them. While one stretch of the file
 * is worked on, the next is read.
 */
export class LogWindow {
  readonly size: number;
  readonly #reader: DiskReader;
  #start = 0;
  #bytes = new Uint8Array(0);
  /** Of the window, and for the stretch behind it. */
  #memory: WindowMemory = { bytes: new Uint8Array(0) };
  #spare: WindowMemory = { bytes: new Uint8Array(0) };
  #ahead: ReadAhead | undefined;

  constructor(reader: DiskReader) {
    this.#reader = reader;
    this.size = reader.size;
  }

  /**
   * Bytes [offset, offset + count) of the file, fewer where it ends. `offset` must be a multiple of
   * 8; the first byte lies at a multiple of 8 of its buffer. They are good until the next call. Rejects
   * with what the reader does: what cannot be read is neither damage nor the end of the file.
   */
  async bytes(offset: number, count: number): Promise<Uint8Array> {
    assert(offset % 8 === 0, 'what is in a log file is aligned');
    const end = Math.min(offset + count, this.size);
    if (offset < this.#start || end > this.#start + this.#bytes.length) {
      if (!(await this.#moveOn(offset, end))) await this.#moveTo(offset, count);
    }
    // Who looks at the begin of a file alone, for its header, wants nothing of the rest.
    if (offset > 0) this.#readAhead();
    return this.#bytes.subarray(offset - this.#start, Math.max(end, offset) - this.#start);
  }

  /** Reads a window at any place. */
  async #moveTo(offset: number, count: number): Promise<void> {
    const length = Math.min(Math.max(count, LOG_READ_BYTES), Math.max(this.size - offset, 0));
    const bytes = roomFor(this.#memory, length);
    // Whoever looks at it amid the reading, or after one that failed, must find nothing there.
    this.#bytes = bytes.subarray(0, 0);
    this.#bytes = bytes.subarray(0, await this.#reader.read(bytes, offset));
    this.#start = offset;
  }

  /**
   * Makes what was read ahead the window, with what of the old one is behind `offset` before it.
   * Whether bytes [offset, end) are in it.
   */
  async #moveOn(offset: number, end: number): Promise<boolean> {
    const ahead = this.#ahead;
    if (ahead === undefined) return false;
    this.#ahead = undefined;
    // Its memory is free when this is over, whether it is wanted or not.
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

/** Where `length` bytes may be read to. */
function roomFor(memory: WindowMemory, length: number): Uint8Array<ArrayBuffer> {
  const size = LOG_READ_BYTES + length;
  if (size > memory.bytes.length) memory.bytes = new Uint8Array(size);
  return memory.bytes.subarray(LOG_READ_BYTES, size);
}
