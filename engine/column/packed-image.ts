import { brotliCompressSync, constants, crc32 } from 'node:zlib';
import { assert } from '../assert.ts';
import { EXTRACT_IMAGE_BYTES_MIN } from './extract/segment-extract.ts';
import {
  HEADER_SIZE,
  listValueSlices,
  readFooter,
  type SealedFooter,
  sealedSlicesOf,
  structureOffsetsOf,
} from './sealed-layout.ts';
import { ALIGNMENT, type Slice, SMALL_SLICE_SIZE } from './slice.ts';

/** Shorter blocks do not repay being unpacked. */
const PACKED_SIZE_MIN = 64;
/** How many bytes a block has at most. */
type BlockSizes = {
  /** A part of a slice that becomes shorter when compressed. */
  readonly packed: number;
  /** The same where shorter blocks cost little; 0: nowhere. */
  readonly short: number;
  /** A part of a slice that does not: to cut it costs only an entry of the table. */
  readonly plain: number;
  /** Of several small slices; 0: each has a block of its own, so that damage costs no more than one column. */
  readonly shared: number;
  /** Whether blocks of the same rows lie together in the file. */
  readonly areStriped: boolean;
};

/** A segment that is read whole. Of 40,000 full edge events these take 1.7 % more on disk than slices as a whole. */
const SIZES: BlockSizes = {
  packed: 32 * 1024,
  short: 0,
  plain: 16 * 1024,
  shared: 0,
  areStriped: false,
};
/**
 * One of which rows are taken out: to unpack blocks is most of what that takes. Twenty rows of 12,000 full edge events, 8.5 MB, are
 * in 205 blocks, of which 0.34 MB are read and 0.77 MB unpacked. With packed blocks of 8 KiB alone it is 0.55 and 1.21 MB, and
 * the file has 0.6 % less; with those of 2 KiB alone it is 0.34 and 0.54 MB, and the file has 3.7 % more.
 */
const LARGE_SIZES: BlockSizes = {
  packed: 8 * 1024,
  short: 2 * 1024,
  plain: 4 * 1024,
  shared: 8 * 1024,
  areStriped: true,
};
/**
 * What two short blocks may take on disk, as a multiple of one with the bytes of both. Of what comes again further away, as the
 * shapes of events do, they take much more.
 */
const SHORT_COST_MAX = 1.1;
const PACKED_SHARE_MAX = 0.9;
/**
 * Of full edge events 3 makes 337 bytes in 94 ms per 49,000; deflate at level 1 makes 339 in 350 ms,
 * quality 5 makes 329 in 340 ms, and zstd -3 of their JSON 458.
 */
const BLOCK_QUALITY = 3;
/**
 * A frame of 75 columns is 20.9 KB: 5 makes 2,438 bytes in 0.2 ms, the default of 11 2,138 in 22 ms, 3
 * 2,632 in 0.1 ms.
 */
const FRAME_QUALITY = 5;

/**
 * Logarithms of the bytes that brotli looks back over. It makes room for that many whatever it is
 * given, and most slices are much shorter than the largest window.
 */
const WINDOW_BITS_MIN = 10;
const WINDOW_BITS_MAX = 22;

/** Bytes of blocks collected in one buffer, at most: a large segment is a few of them. */
const PART_SIZE_MAX = 4 * 1024 * 1024;

/** A part of a slice, or some small slices, of a sealed segment as it lies in a file. */
export type PackedBlock = {
  /** Place in memory. */
  readonly offset: number;
  readonly size: number;
  /** Bytes in the file; less than `size` when compressed (RFC 7932), else the bytes themselves. */
  readonly storedSize: number;
  /** CRC-32 of the bytes in the file. */
  readonly crc: number;
};

/** A sealed segment as a file holds it: what `SegmentImage` makes the same bytes of again. */
export type PackedImage = Pick<
  SealedFooter,
  'rowCount' | 'timestampUsMin' | 'timestampUsMax' | 'arrivalMin' | 'arrivalMax'
> & {
  /** Bytes of the sealed segment in memory. */
  readonly imageSize: number;
  /** In the order of their places in memory. */
  readonly blocks: readonly PackedBlock[];
  /** For each block, how many are before it in the file, where they lie end to end. */
  readonly ranks: Uint32Array;
  /** What stands around the slices in memory, compressed: the header, then the footer. */
  readonly frame: Uint8Array;
  /** The bytes of all blocks, to be written end to end; each part has a buffer of its own. */
  readonly parts: readonly Uint8Array[];
};

/**
 * Packs a sealed segment; takes some microseconds per event. To be used in a worker. Calls `checkpoint` for each block twice:
 * when it is planned, and before it is compressed.
 */
export function packImage(buffer: SharedArrayBuffer, checkpoint = () => {}): PackedImage {
  const footer = readFooter(buffer);
  const planned: PlannedBlock[] = [];
  let slicesEnd = HEADER_SIZE;
  for (const block of planBlocks(buffer, footer)) {
    checkpoint();
    assert(block.offset >= slicesEnd, 'blocks do not overlap');
    slicesEnd = block.offset + block.size;
    planned.push(block);
  }
  const order = orderInFile(planned);
  const ranks = new Uint32Array(planned.length);
  const blocks = new Array<PackedBlock>(planned.length);
  const parts = new PartSink(buffer.byteLength);
  for (const [rank, index] of order.entries()) {
    checkpoint();
    const { offset, size } = planned[index]!;
    const bytes = packed(new Uint8Array(buffer, offset, size));
    ranks[index] = rank;
    blocks[index] = { offset, size, storedSize: bytes.length, crc: crc32(bytes) };
    parts.add(bytes);
  }
  const { rowCount, timestampUsMin, timestampUsMax, arrivalMin, arrivalMax } = footer;
  return {
    ...{ rowCount, timestampUsMin, timestampUsMax, arrivalMin, arrivalMax },
    imageSize: buffer.byteLength,
    blocks,
    ranks,
    // A copy: what brotli gives may lie in a larger buffer, which goes to another thread whole.
    frame: new Uint8Array(compressed(frameOf(buffer, slicesEnd), FRAME_QUALITY)),
    parts: parts.finish(),
  };
}

/** Buffers of a packed image that can go to another thread, and are not in this one then. */
export function buffersOf({ frame, parts }: PackedImage): ArrayBuffer[] {
  return [frame, ...parts].map(({ buffer }) => buffer as ArrayBuffer);
}

/**
 * The blocks of a segment, in the order of their places in memory. Slices of the structure share none with those of
 * columns: damage to one of these costs no row.
 */
function* planBlocks(buffer: SharedArrayBuffer, footer: SealedFooter): Generator<PlannedBlock> {
  const sizes = buffer.byteLength < EXTRACT_IMAGE_BYTES_MIN ? SIZES : LARGE_SIZES;
  const structure = structureOffsetsOf(footer);
  const striped = new Set(
    sizes.areStriped ? listValueSlices(footer).map(([offset]) => offset) : [],
  );
  let shared: Slice | undefined;
  let isOfStructure = false;
  for (const slice of sealedSlicesOf(footer)) {
    const [offset, size] = slice;
    if (shared !== undefined) {
      const joined: Slice = [shared[0], offset + size - shared[0]];
      if (structure.has(offset) === isOfStructure && joined[1] <= sizes.shared) {
        shared = joined;
        continue;
      }
      yield apart(shared);
    }
    isOfStructure = structure.has(offset);
    shared = size < SMALL_SLICE_SIZE ? slice : undefined;
    if (shared !== undefined) continue;
    const first = new Uint8Array(buffer, offset, Math.min(size, sizes.plain));
    const blockSize = chooseBlockSize(first, sizes);
    yield* striped.has(offset) ? cutStripes(slice, blockSize) : cutApart(slice, blockSize);
  }
  if (shared !== undefined) yield apart(shared);
}

/** By how the beginning of a slice becomes shorter. */
function chooseBlockSize(
  first: Uint8Array,
  { packed: packedSize, short, plain }: BlockSizes,
): number {
  const stored = packed(first);
  if (stored === first) return plain;
  if (short === 0) return packedSize;
  let shortStored = 0;
  for (let start = 0; start < first.length; start += short) {
    shortStored += packed(first.subarray(start, start + short)).length;
  }
  return shortStored <= SHORT_COST_MAX * stored.length ? short : packedSize;
}

/** As it is where compressing saves too little. */
function packed(block: Uint8Array): Uint8Array {
  if (block.length < PACKED_SIZE_MIN) return block;
  const bytes = compressed(block, BLOCK_QUALITY);
  return bytes.length <= block.length * PACKED_SHARE_MAX ? bytes : block;
}

function compressed(bytes: Uint8Array, quality: number): Uint8Array {
  const sizeBits = 32 - Math.clz32(bytes.length);
  return brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: quality,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      [constants.BROTLI_PARAM_LGWIN]: Math.min(
        Math.max(sizeBits, WINDOW_BITS_MIN),
        WINDOW_BITS_MAX,
      ),
    },
  });
}

/** What stands before and behind the slices in memory. */
function frameOf(buffer: SharedArrayBuffer, slicesEnd: number): Uint8Array {
  const frame = new Uint8Array(buffer.byteLength - slicesEnd + HEADER_SIZE);
  frame.set(new Uint8Array(buffer, 0, HEADER_SIZE));
  frame.set(new Uint8Array(buffer, slicesEnd), HEADER_SIZE);
  return frame;
}

/** Collects bytes in few buffers, none larger than need be for as many bytes as are foreseen. */
class PartSink {
  readonly #parts: Uint8Array[] = [];
  #part = new Uint8Array(0);
  /** Bytes of the last part in use. */
  #size = 0;
  /** Bytes that may still come, those of the last part left out. */
  #restSize: number;

  /** Takes no more than `sizeMax` bytes. */
  constructor(sizeMax: number) {
    this.#restSize = sizeMax;
  }

  add(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; ) {
      if (this.#size === this.#part.length) this.#beginPart();
      const count = Math.min(bytes.length - done, this.#part.length - this.#size);
      this.#part.set(bytes.subarray(done, done + count), this.#size);
      this.#size += count;
      done += count;
    }
  }

  finish(): readonly Uint8Array[] {
    // The last one as long as it is: a small segment is a few kilobytes.
    if (this.#size > 0) this.#parts.push(this.#part.slice(0, this.#size));
    return this.#parts;
  }

  #beginPart(): void {
    if (this.#size > 0) this.#parts.push(this.#part);
    assert(this.#restSize > 0, 'no block takes more bytes than its slice');
    this.#part = new Uint8Array(Math.min(PART_SIZE_MAX, this.#restSize));
    this.#restSize -= this.#part.length;
    this.#size = 0;
  }
}

/** A part of a slice, or some small slices, that will be a block of a file. */
export type PlannedBlock = {
  /** Place in memory. */
  readonly offset: number;
  readonly size: number;
  /** How many blocks the slice has, each with the values of so much of the rows; 0 where blocks do not follow the rows. */
  readonly stripeCount: number;
  readonly stripe: number;
};

/** A block that does not follow the rows. */
function apart([offset, size]: Slice): PlannedBlock {
  return { offset, size, stripeCount: 0, stripe: 0 };
}

export function cutApart([offset, size]: Slice, blockSize: number): PlannedBlock[] {
  return Array.from({ length: Math.ceil(size / blockSize) }, (_, index) => {
    const start = index * blockSize;
    return apart([offset + start, Math.min(blockSize, size - start)]);
  });
}

/**
 * Blocks of about `blockSize` bytes: 1, 2, 4, 8 … of them. So the values of a row are in the same stripe of all slices with as
 * many blocks, if values lie in the order of rows.
 */
export function cutStripes([offset, size]: Slice, blockSize: number): PlannedBlock[] {
  const stripeCount = 2 ** Math.max(0, Math.round(Math.log2(size / blockSize)));
  const startOf = (stripe: number): number =>
    stripe === stripeCount ? size : alignedDown((size * stripe) / stripeCount);
  return Array.from({ length: stripeCount }, (_, stripe) => {
    const start = startOf(stripe);
    return { offset: offset + start, size: startOf(stripe + 1) - start, stripeCount, stripe };
  });
}

function alignedDown(offset: number): number {
  return Math.floor(offset / ALIGNMENT) * ALIGNMENT;
}

/**
 * Indexes of blocks in the order of the file: first those that do not follow the rows, in the order of memory; then slices of one
 * block, of two, of four and so on. Among these the first stripe of all slices lies before the second.
 */
export function orderInFile(blocks: readonly PlannedBlock[]): readonly number[] {
  const keys = ['stripeCount', 'stripe', 'offset'] as const;
  return [...blocks.keys()].sort((one, other) => {
    const key = keys.find((each) => blocks[one]![each] !== blocks[other]![each]);
    return key === undefined ? 0 : blocks[one]![key] - blocks[other]![key];
  });
}
