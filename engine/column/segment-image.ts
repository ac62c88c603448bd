import { closeSync, openSync, readSync } from 'node:fs';
import { brotliDecompressSync, crc32 } from 'node:zlib';
import { HEADER_SIZE } from './sealed-layout.ts';
import type { SealedSegmentHandle } from './segment.ts';
import {
  ABSENT,
  BLOCK_NUMBERS,
  blockOf,
  GAUGE_CLOCK,
  GAUGE_LIMIT,
  GAUGE_PASSING,
  GAUGE_RESIDENT,
  KIB,
  RESIDENT,
  type SegmentBacking,
} from './segment-backing.ts';
import { newSegmentBuffer } from './segment-buffer.ts';
import type { Slice } from './slice.ts';

/** What zlib insists on. */
const CHUNK_SIZE_MIN = 64;

/** Where blocks are read to before they are unpacked; larger ones get memory of their own. */
const STORED_SIZE_KEPT_MAX = 4 * 1024 * 1024;
let kept = new Uint8Array(64 * 1024);

function storedBytes(size: number): Uint8Array {
  if (size > STORED_SIZE_KEPT_MAX) return new Uint8Array(size);
  if (size > kept.length) kept = new Uint8Array(Math.min(2 * size, STORED_SIZE_KEPT_MAX));
  return kept.subarray(0, size);
}

/** The file of a segment has gone: it was merged or dropped since the snapshot. Another one is due. */
export class SegmentGoneError extends Error {
  readonly path: string;

  constructor(path: string) {
    super(`${path} is no more`);
    this.name = 'SegmentGoneError';
    this.path = path;
  }
}

/** Bytes of a segment file are not those that were written, or cannot be read. */
export class SegmentDamagedError extends Error {
  readonly segmentId: number;
  readonly path: string;
  readonly reason: string;

  constructor(segmentId: number, path: string, reason: string) {
    super(`${path} is damaged: ${reason}`);
    this.name = 'SegmentDamagedError';
    this.segmentId = segmentId;
    this.path = path;
    this.reason = reason;
  }
}

/** Whether a segment could not be read, and its reading should be tried on another snapshot. */
export function isUnreadable(error: unknown): error is SegmentGoneError | SegmentDamagedError {
  return error instanceof SegmentGoneError || error instanceof SegmentDamagedError;
}

/**
 * The bytes of a sealed segment, as one thread reads them: a buffer into which what is missing is
 * read from the segment's file, block by block, when it is first needed. Reading holds the thread up;
 * to be used in a worker.
 */
export class SegmentImage {
  readonly buffer: SharedArrayBuffer;
  /**
   * Whether the buffer is of this image alone: what was missing did not fit beside what all threads
   * share, and goes when the image does.
   */
  readonly isPassing: boolean;
  readonly #id: number;
  readonly #backing: SegmentBacking | undefined;
  readonly #states: Int32Array | undefined;
  #byteSize = 0;

  private constructor(handle: SealedSegmentHandle, isPassing: boolean) {
    const { id, buffer, backing } = handle;
    this.#id = id;
    this.#backing = backing;
    this.isPassing = isPassing;
    this.buffer = isPassing ? newSegmentBuffer(buffer.byteLength) : buffer;
    this.#states = isPassing ? new Int32Array(backing!.states.length) : backing?.states;
    this.#needFrame();
  }

  /**
   * What of the segment all threads share, or, when nothing of it is in memory and there is no room,
   * a passing image. Throws as `need` does.
   */
  static open(handle: SealedSegmentHandle): SegmentImage {
    const { backing } = handle;
    const isPassing = backing !== undefined && !hasFrame(backing) && isFull(backing);
    return new SegmentImage(handle, isPassing);
  }

  /**
   * All bytes of a segment, in a buffer that is not to be written to: the shared one if it has them
   * all. Throws as `need` does.
   */
  static whole(handle: SealedSegmentHandle): SharedArrayBuffer {
    const { backing, buffer } = handle;
    if (backing === undefined || backing.states.every((state) => state === RESIDENT)) return buffer;
    const image = new SegmentImage(handle, true);
    for (let block = 0; block < backing.blocks.length / BLOCK_NUMBERS; block++) image.#load(block);
    return image.buffer;
  }

  /** Bytes of the segment that are in the buffer. */
  get residentSize(): number {
    const backing = this.#backing;
    if (backing === undefined) return this.buffer.byteLength;
    let size = 0;
    for (let block = 0; block < backing.states.length - 1; block++) {
      if (this.#states![block] === RESIDENT) size += backing.blocks[block * BLOCK_NUMBERS + 1]!;
    }
    return size;
  }

  /** Bytes that this image read for itself alone. */
  get passingSize(): number {
    return this.isPassing ? this.#byteSize : 0;
  }

  /**
   * Makes sure that a slice is in the buffer. Throws a SegmentGoneError, a SegmentDamagedError, or
   * what the system says when the file cannot be opened.
   */
  readonly need = (slice: Slice): void => {
    const backing = this.#backing;
    if (backing === undefined || slice[1] === 0) return;
    const block = blockOf(backing.blocks, slice);
    if (block < 0) throw new Error(`segment ${this.#id} has no block at ${slice[0]}`);
    backing.usedAt[block] = backing.gauge[GAUGE_CLOCK]!;
    if (Atomics.load(this.#states!, block) === ABSENT) this.#load(block);
  };

  #needFrame(): void {
    const backing = this.#backing;
    if (backing === undefined) return;
    const index = backing.states.length - 1;
    backing.usedAt[index] = backing.gauge[GAUGE_CLOCK]!;
    if (Atomics.load(this.#states!, index) === RESIDENT) return;
    const frame = this.#unpack(backing.frame, undefined);
    const bytes = new Uint8Array(this.buffer);
    bytes.set(frame.subarray(0, HEADER_SIZE));
    bytes.set(frame.subarray(HEADER_SIZE), bytes.length - frame.length + HEADER_SIZE);
    this.#became(index, frame.length);
  }

  #load(block: number): void {
    const backing = this.#backing!;
    const at = block * BLOCK_NUMBERS;
    const [offset, size] = [backing.blocks[at]!, backing.blocks[at + 1]!];
    const target = new Uint8Array(this.buffer, offset, size);
    target.set(this.#read(block));
    this.#became(block, size);
  }

  #read(block: number): Uint8Array {
    const { path, blocks } = this.#backing!;
    const [size, offset, storedSize, crc] = blocks.subarray(
      block * BLOCK_NUMBERS + 1,
      (block + 1) * BLOCK_NUMBERS,
    ) as unknown as [number, number, number, number];
    const stored = this.#readFile(path, offset, storedSize);
    if (crc32(stored) !== crc) this.#fail(`the checksum of the block at ${offset} is wrong`);
    return storedSize === size ? stored : this.#unpack(stored, size);
  }

  /** Good until the next block is read. */
  #readFile(path: string, offset: number, size: number): Uint8Array {
    const bytes = storedBytes(size);
    const file = openFile(path);
    try {
      let read = 0;
      while (read < size) {
        const count = readSync(file, bytes, read, size - read, offset + read);
        if (count === 0) this.#fail(`it ends before the block at ${offset} does`);
        read += count;
      }
      return bytes;
    } catch (error) {
      if (codeOf(error) === 'EIO') this.#fail(`the block at ${offset} cannot be read`);
      throw error;
    } finally {
      closeSync(file);
    }
  }

  /** `size`: bytes that must come out; `undefined`: any. */
  #unpack(packed: Uint8Array, size: number | undefined): Uint8Array {
    let bytes: Uint8Array;
    try {
      // In one piece: many small ones, put together, leave much memory in pieces that are not given back.
      const options = { chunkSize: Math.max(size ?? 0, CHUNK_SIZE_MIN), maxOutputLength: size };
      bytes = brotliDecompressSync(packed, size === undefined ? {} : options);
    } catch {
      return this.#fail('a block cannot be unpacked');
    }
    if (size !== undefined && bytes.length !== size) this.#fail('a block is not as long as it was');
    return bytes;
  }

  #became(index: number, size: number): void {
    const { gauge } = this.#backing!;
    this.#byteSize += size;
    Atomics.store(this.#states!, index, RESIDENT);
    Atomics.add(gauge, this.isPassing ? GAUGE_PASSING : GAUGE_RESIDENT, Math.ceil(size / KIB));
  }

  #fail(reason: string): never {
    throw new SegmentDamagedError(this.#id, this.#backing!.path, reason);
  }
}

function hasFrame({ states }: SegmentBacking): boolean {
  return Atomics.load(states, states.length - 1) === RESIDENT;
}

function isFull({ gauge }: SegmentBacking): boolean {
  return Atomics.load(gauge, GAUGE_RESIDENT) >= Atomics.load(gauge, GAUGE_LIMIT);
}

function openFile(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw new SegmentGoneError(path);
    throw error;
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}
