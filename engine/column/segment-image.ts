import { brotliDecompressSync, crc32 } from 'node:zlib';
import { QueryError } from '../query-error.ts';
import { newSegmentBuffer } from './arrays.ts';
import type { SliceReader } from './extract/slice-bytes.ts';
import {
  inFileOrder,
  planStretches,
  type Stretch,
  threadFiles,
  WIDE_GAP_SIZE_MAX,
} from './file-blocks.ts';
import { decodeBrotli } from './kept-decoder.ts';
import { HEADER_SIZE } from './sealed-layout.ts';
import type { SealedSegmentHandle } from './segment.ts';
import {
  ABSENT,
  BLOCK_NUMBERS,
  type BlockRange,
  type BlockTable,
  blocksWith,
  GAUGE_LIMIT,
  GAUGE_PASSING,
  GAUGE_RESIDENT,
  isRetired,
  KIB,
  noteUse,
  RESIDENT,
  type SegmentBacking,
  wasNeeded,
} from './segment-backing.ts';
import type { Slice } from './slice.ts';

type Stretches = ReadonlyMap<number, Stretch>;

/** Bytes that each copy from memory counts in addition: to find what is copied takes as long as to copy so many. */
const READ_SIZE = 2048;

/** The file of a segment has gone: it was merged or dropped since the snapshot. Another one is due. */
export class SegmentGoneError extends Error {
  readonly path: string;

  constructor(path: string) {
    super(`${path} is no more`);
    this.name = 'SegmentGoneError';
    this.path = path;
  }
}

/** Bytes of a segment file are not those that were written. */
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

/**
 * A segment file cannot be read at present, which says nothing of what is in it: the query fails, and the next
 * one reads again. Its message is for callers and names no path.
 */
export class SegmentReadError extends QueryError {
  readonly segmentId: number;
  readonly path: string;
  /** Of the system: EIO, EMFILE, … */
  readonly reason: string;

  constructor(segmentId: number, path: string, reason: string) {
    const words = REASONS.get(reason);
    const why = words === undefined ? reason : `${words} (${reason})`;
    super('storage_failed', `stored logs cannot be read at present: ${why}; try again later`);
    this.name = 'SegmentReadError';
    this.segmentId = segmentId;
    this.path = path;
    this.reason = reason;
  }
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['EIO', 'the disk reports an error'],
  ['EMFILE', 'the service has as many files open as it may, and its limit should be raised'],
  ['ENFILE', 'the system has as many files open as it may, and its limit should be raised'],
  ['EACCES', 'the rights of a file do not allow it'],
]);

/** Of a segment something is not in memory, and nothing may be loaded now. Not an error of a query. */
export class NotInMemoryError extends Error {}

/** Runs what must not wait for a disk: throws a NotInMemoryError where a block would be read from a file. */
export function withoutLoading<T>(work: () => T): T {
  const { mayWait } = threadFiles;
  threadFiles.mayWait = false;
  try {
    return work();
  } finally {
    threadFiles.mayWait = mayWait;
  }
}

function checkLoading(): void {
  if (!threadFiles.mayWait) throw new NotInMemoryError('a block is not in memory');
}

/** Whether a segment could not be read, and its reading should be tried on another snapshot. */
export function isUnreadable(error: unknown): error is SegmentGoneError | SegmentDamagedError {
  return error instanceof SegmentGoneError || error instanceof SegmentDamagedError;
}

/**
 * The bytes of a sealed segment, as one thread reads them: what is missing is read from the segment's
 * file, block by block, when it is first needed. Reading holds the thread up; to be used in a worker.
 *
 * A block is read into the buffer that all threads share while there is room for it, else into one of
 * this image's own, which goes when the image does.
 */
export class SegmentImage {
  /** Header and footer are here, and the blocks that `need` says are. */
  readonly buffer: SharedArrayBuffer;
  readonly #handle: SealedSegmentHandle;
  readonly #backing: SegmentBacking | undefined;
  readonly #onApart: () => void;
  /** Made when it is first needed, as large as the segment; pages not written to take no memory. */
  #own: OwnBlocks | undefined;
  #ownSize = 0;
  #isWhole = false;
  /** Of its first block in `threadFiles.unpackedBlocks`. */
  readonly #firstKey = threadFiles.unpackedBlocks.newKeys();
  /** Of blocks that will be read soon. */
  readonly #expected = new Map<number, Stretch>();

  private constructor(handle: SealedSegmentHandle, isApart: boolean, onApart: () => void) {
    this.#handle = handle;
    this.#onApart = onApart;
    this.#backing = handle.backing;
    if (isApart) this.#own = newOwnBlocks(handle.backing!);
    this.buffer = this.#own?.buffer ?? handle.buffer;
    this.#needFrame();
  }

  /** Throws as `need` does. `onApart` is told when the first block is read apart. */
  static open(handle: SealedSegmentHandle, onApart: () => void = () => {}): SegmentImage {
    const { backing } = handle;
    const isShared = backing === undefined || hasFrame(backing) || hasRoomForFirst(backing, KIB);
    return new SegmentImage(handle, !isShared, onApart);
  }

  /** To be read in parts, beside queries: what is read takes none of their room. Throws as `need` does. */
  static apart(handle: SealedSegmentHandle): SegmentImage {
    return new SegmentImage(handle, handle.backing !== undefined, () => {});
  }

  /**
   * All bytes of a segment, in a buffer that is not to be written to: the shared one if it has them
   * all. Throws as `need` does.
   */
  static whole(handle: SealedSegmentHandle): SharedArrayBuffer {
    const { backing, buffer } = handle;
    if (backing === undefined || backing.states.every((state) => state === RESIDENT)) return buffer;
    const image = new SegmentImage(handle, true, () => {});
    try {
      image.#loadEachOwn({ first: 0, end: backing.blocks.length / BLOCK_NUMBERS });
    } finally {
      threadFiles.close();
    }
    return image.buffer;
  }

  /** Bytes of the segment that are in the buffer that all threads share. */
  get residentSize(): number {
    const { backing, buffer } = this.#handle;
    if (backing === undefined) return buffer.byteLength;
    let size = 0;
    for (let block = 0; block < backing.states.length - 1; block++) {
      if (backing.states[block] === RESIDENT) size += backing.blocks[block * BLOCK_NUMBERS + 1]!;
    }
    return size;
  }

  /** Bytes of memory that are of this image alone. */
  get passingSize(): number {
    return this.#ownSize;
  }

  /**
   * The buffer that a slice is in now. Throws a SegmentGoneError, a SegmentDamagedError or a
   * SegmentReadError.
   */
  readonly need = (slice: Slice): SharedArrayBuffer => this.#need(slice, hasRoom);

  /** As `need`, of what each query of a segment needs first: it may take some room that others may not. */
  readonly needFirst = (slice: Slice): SharedArrayBuffer => this.#need(slice, hasRoomForFirst);

  #need(slice: Slice, hasRoomFor: typeof hasRoom): SharedArrayBuffer {
    const backing = this.#backing;
    if (backing === undefined || slice[1] === 0) return this.buffer;
    const range = blocksWith(backing.blocks, slice);
    noteUse(backing, range);
    // An image that began apart is all in one buffer: it is read faster so.
    if (!this.#isApart && this.#needShared(backing, range, hasRoomFor)) {
      return this.buffer;
    }
    return this.#loadEachOwn(range);
  }

  /** Bytes [start, end) of a slice, from memory or from the file; good until the next call. Throws as `need` does. */
  readonly read: SliceReader['read'] = ([offset], start, end) => {
    const backing = this.#backing;
    const bytes: Slice = [offset + start, end - start];
    const shared = this.#handle.buffer;
    if (backing === undefined) return new Uint8Array(shared, ...bytes);
    const range = blocksWith(backing.blocks, bytes);
    if (shared.byteLength > 0 && areResident(backing, range)) {
      noteUse(backing, range);
      if (!this.#isApart) countCopied(backing, end - start);
      return new Uint8Array(shared, ...bytes);
    }
    if (range.end === range.first + 1) return this.#partOf(range.first, bytes);
    this.expect([bytes]);
    const joined = new Uint8Array(end - start);
    for (let block = range.first, at = 0; block < range.end; block++) {
      const part = this.#partOf(block, bytes);
      joined.set(part, at);
      at += part.length;
    }
    return joined;
  };

  /** Some bytes will be read soon: those that are not in memory and lie near each other in the file are read together then. */
  readonly expect: SliceReader['expect'] = (slices) => {
    const backing = this.#backing;
    if (backing === undefined) return;
    const expected = new Set<number>();
    for (const slice of slices) {
      if (slice[1] === 0) continue;
      const { first, end } = blocksWith(backing.blocks, slice);
      for (let block = first; block < end; block++) {
        if (!this.#expected.has(block) && !this.#isInMemory(block)) expected.add(block);
      }
    }
    const order = inFileOrder(backing.blocks, expected);
    for (const [block, stretch] of planStretches(backing.blocks, order)) {
      this.#expected.set(block, stretch);
    }
  };

  #isInMemory(block: number): boolean {
    if (threadFiles.unpackedBlocks.find(this.#firstKey + block) !== undefined) return true;
    return Atomics.load(this.#backing!.states, block) === RESIDENT;
  }

  /** To be called at the end of a task. */
  forgetExpected(): void {
    this.#expected.clear();
  }

  /** Those of some bytes of the segment that are in a block. */
  #partOf(block: number, [offset, size]: Slice): Uint8Array {
    const backing = this.#backing!;
    const [blockOffset, blockSize] = placeOf(backing, block);
    const from = Math.max(offset, blockOffset);
    const to = Math.min(offset + size, blockOffset + blockSize);
    if (this.#isShared(block)) return new Uint8Array(this.buffer, from, to - from);
    return this.#unpackedBlock(block).subarray(from - blockOffset, to - blockOffset);
  }

  /**
   * Whether a block is in the buffer that all threads share. One that was needed before comes there, if there is room: what
   * the rows of all projects have in common, and the rows of a project that is asked for again.
   */
  #isShared(block: number): boolean {
    const { states, uses } = this.#backing!;
    const isNeededAgain = wasNeeded(uses, block);
    noteUse(this.#backing!, { first: block, end: block + 1 });
    if (this.buffer !== this.#handle.buffer) return false;
    if (Atomics.load(states, block) === RESIDENT) return true;
    if (!isNeededAgain || threadFiles.unpackedBlocks.find(this.#firstKey + block) !== undefined)
      return false;
    const [, size] = placeOf(this.#backing!, block);
    if (!hasRoom(this.#backing!, size)) return false;
    this.#loadShared(block, this.#expected);
    countReadInParts(this.#backing!, size);
    return true;
  }

  /** The bytes of a block that is not in memory; the last few are kept. Good until the next call, and perhaps with others behind them. */
  #unpackedBlock(block: number): Uint8Array {
    const key = this.#firstKey + block;
    const known = threadFiles.unpackedBlocks.find(key);
    if (known !== undefined) return known;
    checkLoading();
    const [, size] = placeOf(this.#backing!, block);
    const room = threadFiles.unpackedBlocks.takeRoom(size + 1);
    const read = this.#read(block, this.#expected, room);
    if (!this.#isApart) countReadInParts(this.#backing!, size);
    // What is stored as it is lies where the next block is read to.
    if (read.buffer !== room.buffer) room.set(read);
    threadFiles.unpackedBlocks.keep(key, room);
    return room;
  }

  /** Whether there is room for all of the segment where all threads share it. */
  get hasRoomForAll(): boolean {
    const backing = this.#backing;
    return backing === undefined || hasRoom(backing, backing.imageSize - this.residentSize);
  }

  /** Whether all that is read of it comes into memory of its own. */
  get #isApart(): boolean {
    return this.buffer === this.#own?.buffer;
  }

  /** Whether all of the segment is in the buffer that all threads share: nothing leaves it. */
  get isWhole(): boolean {
    const { backing } = this.#handle;
    this.#isWhole ||= backing === undefined || backing.states.every((state) => state === RESIDENT);
    return this.#isWhole;
  }

  /** Brings blocks into the shared buffer; false where there is no room, or some are in this image's own. */
  #needShared(
    backing: SegmentBacking,
    { first, end }: BlockRange,
    hasRoomFor: typeof hasRoom,
  ): boolean {
    const missing: number[] = [];
    let missingSize = 0;
    for (let block = first; block < end; block++) {
      if (Atomics.load(backing.states, block) === RESIDENT) continue;
      if (this.#own?.isThere[block] === 1) return false;
      missing.push(block);
      missingSize += placeOf(backing, block)[1];
    }
    if (missingSize === 0) return true;
    if (!hasRoomFor(backing, missingSize)) return false;
    const order = inFileOrder(backing.blocks, missing);
    const planned = planStretches(backing.blocks, order, WIDE_GAP_SIZE_MAX);
    for (const block of order) this.#loadShared(block, planned);
    return true;
  }

  #needFrame(): void {
    const backing = this.#backing;
    if (backing === undefined) return;
    const index = backing.states.length - 1;
    noteUse(backing, { first: index, end: index + 1 });
    if (this.#own === undefined && hasFrame(backing)) return;
    checkLoading();
    const frame = this.#unpack(() => brotliDecompressSync(backing.frame));
    const bytes = new Uint8Array(this.buffer);
    bytes.set(frame.subarray(0, HEADER_SIZE));
    bytes.set(frame.subarray(HEADER_SIZE), bytes.length - frame.length + HEADER_SIZE);
    if (this.#own === undefined) becameResident(backing, index, frame.length);
    else this.#becameOwn(frame.length);
  }

  /** Loads a block for all threads; it may be in one of some threadFiles.stretches. */
  #loadShared(block: number, planned: Stretches): void {
    checkLoading();
    const backing = this.#backing!;
    const [offset, size] = placeOf(backing, block);
    new Uint8Array(this.buffer, offset, size).set(
      this.#read(block, planned, threadFiles.unpackedBytes(size)),
    );
    becameResident(backing, block, size);
  }

  /** Brings blocks into the buffer of this image alone. */
  #loadEachOwn({ first, end }: BlockRange): SharedArrayBuffer {
    checkLoading();
    const backing = this.#backing!;
    const own = this.#own ?? newOwnBlocks(backing);
    this.#own = own;
    const missing: number[] = [];
    for (let block = first; block < end; block++) {
      if (own.isThere[block] === 0) missing.push(block);
    }
    const order = inFileOrder(backing.blocks, missing);
    const planned = planStretches(backing.blocks, order, WIDE_GAP_SIZE_MAX);
    for (const block of order) this.#loadOwn(block, own, planned);
    return own.buffer;
  }

  #loadOwn(block: number, { buffer, isThere }: OwnBlocks, planned: Stretches): void {
    const backing = this.#backing!;
    const isFirst = this.#ownSize === 0;
    const [offset, size] = placeOf(backing, block);
    const target = new Uint8Array(buffer, offset, size);
    const shared = this.#handle.buffer;
    if (shared.byteLength > 0 && Atomics.load(backing.states, block) === RESIDENT) {
      target.set(new Uint8Array(shared, offset, size));
      this.#ownSize += size;
    } else {
      target.set(this.#read(block, planned, threadFiles.unpackedBytes(size)));
      this.#becameOwn(size);
    }
    isThere[block] = 1;
    if (isFirst) this.#onApart();
  }

  #becameOwn(size: number): void {
    this.#ownSize += size;
    Atomics.add(this.#backing!.gauge, GAUGE_PASSING, Math.ceil(size / KIB));
  }

  /** A block, perhaps of one of some threadFiles.stretches. Good until the next call; in `room` perhaps. */
  #read(block: number, planned: Stretches, room: Uint8Array): Uint8Array {
    const { size, storedOffset, storedSize, crc } = storedBlockAt(this.#backing!.blocks, block);
    const stretch = planned.get(block);
    const stored =
      (stretch && this.#ofStretch(stretch, storedOffset, storedSize)) ??
      this.#readFile(storedOffset, storedSize);
    if (crc32(stored) !== crc) this.#fail(`the checksum of the block at ${storedOffset} is wrong`);
    return storedSize === size ? stored : this.#unpackBlock(stored, size, room);
  }

  /** Bytes of a stretch; `undefined` where it cannot be read as far as these. Good until the next call. */
  #ofStretch(stretch: Stretch, offset: number, size: number): Uint8Array | undefined {
    const start = offset - stretch.offset;
    const bytes =
      threadFiles.stretches.find(stretch) ??
      threadFiles.stretches.read(stretch, (to) => this.#fill(stretch, to));
    return start + size <= bytes.length ? bytes.subarray(start, start + size) : undefined;
  }

  /** How many bytes could be read: none where a block that is not wanted may be the reason, or any other. */
  #fill({ offset }: Stretch, bytes: Uint8Array): number {
    try {
      return threadFiles.readAt(this.#backing!.path, bytes, offset);
    } catch (error) {
      if (codeOf(error) === undefined) throw error;
      return 0;
    }
  }

  #readFile(offset: number, size: number): Uint8Array {
    const { path } = this.#backing!;
    const bytes = threadFiles.storedBytes(size);
    try {
      return threadFiles.readAt(path, bytes, offset) < size
        ? this.#endedEarly(offset, size)
        : bytes;
    } catch (error) {
      const code = codeOf(error);
      if (code === undefined) throw error;
      if (code === 'ENOENT') throw new SegmentGoneError(path);
      throw new SegmentReadError(this.#handle.id, path, code);
    }
  }

  /** The end of a file is where its size says. */
  #endedEarly(offset: number, size: number): never {
    const { path } = this.#backing!;
    if (threadFiles.measure(path) < offset + size) {
      this.#fail(`it ends before the block at ${offset} does`);
    }
    throw new SegmentReadError(this.#handle.id, path, 'the disk gives less than the file has');
  }

  #unpackBlock(packed: Uint8Array, size: number, room: Uint8Array): Uint8Array {
    const bytes = this.#unpack(() => decodeBrotli(packed, size, room));
    if (bytes.length !== size) this.#fail('a block is not as long as it was');
    return bytes;
  }

  #unpack(unpack: () => Uint8Array): Uint8Array {
    try {
      return unpack();
    } catch {
      return this.#fail('a block cannot be unpacked');
    }
  }

  #fail(reason: string): never {
    throw new SegmentDamagedError(this.#handle.id, this.#backing!.path, reason);
  }
}

function areResident({ states }: SegmentBacking, { first, end }: BlockRange): boolean {
  for (let block = first; block < end; block++) {
    if (Atomics.load(states, block) !== RESIDENT) return false;
  }
  return true;
}

/** What one image has read for itself; `isThere`: 1 for each block that is in the buffer. */
type OwnBlocks = { readonly buffer: SharedArrayBuffer; readonly isThere: Uint8Array };

function newOwnBlocks({ imageSize, states }: SegmentBacking): OwnBlocks {
  return { buffer: newSegmentBuffer(imageSize), isThere: new Uint8Array(states.length) };
}

function storedBlockAt(
  blocks: BlockTable,
  block: number,
): {
  readonly size: number;
  readonly storedOffset: number;
  readonly storedSize: number;
  readonly crc: number;
} {
  const [, size, storedOffset, storedSize, crc] = blocks.subarray(
    block * BLOCK_NUMBERS,
    (block + 1) * BLOCK_NUMBERS,
  );
  return { size: size!, storedOffset: storedOffset!, storedSize: storedSize!, crc: crc! };
}

/** Offset and size of a block in the segment. */
function placeOf({ blocks }: SegmentBacking, block: number): [offset: number, size: number] {
  return [blocks[block * BLOCK_NUMBERS]!, blocks[block * BLOCK_NUMBERS + 1]!];
}

function becameResident({ states, gauge }: SegmentBacking, index: number, size: number): void {
  // A frame that was retired meanwhile stays so.
  Atomics.compareExchange(states, index, ABSENT, RESIDENT);
  Atomics.add(gauge, GAUGE_RESIDENT, Math.ceil(size / KIB));
}

function hasFrame({ states }: SegmentBacking): boolean {
  return Atomics.load(states, states.length - 1) === RESIDENT;
}

function countReadInParts({ readInParts }: SegmentBacking, size: number): void {
  Atomics.add(readInParts, 0, Math.ceil(size / KIB));
}

/** Takes note of bytes of rows that are taken out of what all threads share. */
function countCopied({ readInParts }: SegmentBacking, size: number): void {
  Atomics.add(readInParts, 1, Math.ceil((size + READ_SIZE) / KIB));
}

/** Bytes of rows that were taken out of memory in parts, with what each read takes beside. */
export function bytesCopied({ readInParts }: SegmentBacking): number {
  return Atomics.load(readInParts, 1) * KIB;
}

/** Bytes that were read of a segment in parts. */
export function bytesReadInParts({ readInParts }: SegmentBacking): number {
  return Atomics.load(readInParts, 0) * KIB;
}

export function forgetReadInParts({ readInParts }: SegmentBacking): void {
  for (const index of readInParts.keys()) Atomics.store(readInParts, index, 0);
}

/** Whether so many bytes more may go where all threads share them. */
function hasRoom(backing: SegmentBacking, size: number): boolean {
  return hasRoomWithin(backing, size, 1);
}

/**
 * The same of what tells the rows of a segment apart, and where their values lie: it takes little, and without it each query
 * would read it anew before it can read a row.
 */
function hasRoomForFirst(backing: SegmentBacking, size: number): boolean {
  return hasRoomWithin(backing, size, FIRST_ROOM);
}

/** So many times the memory for all. */
const FIRST_ROOM = 5 / 4;

function hasRoomWithin(backing: SegmentBacking, size: number, times: number): boolean {
  if (isRetired(backing)) return false;
  const { gauge } = backing;
  const resident = Atomics.load(gauge, GAUGE_RESIDENT) + Math.ceil(size / KIB);
  return resident <= times * Atomics.load(gauge, GAUGE_LIMIT);
}

/** What the system says; `undefined` of an error that is not the system's. */
function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'syscall' in error && 'code' in error
    ? String(error.code)
    : undefined;
}
