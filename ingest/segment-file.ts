import { promisify } from 'node:util';
import { brotliDecompress, crc32 } from 'node:zlib';
import { assert, must } from '../engine/assert.ts';
import { type SealedColumnName, sealedColumnsOf } from '../engine/column/sealed-columns.ts';
import { readFooter, type SealedFooter } from '../engine/column/sealed-layout.ts';
import type { Slice } from '../engine/column/slice.ts';
import { type Disk, DiskError, type DiskReader } from './disk/disk.ts';
import {
  decodeSegmentEnvelope,
  type SegmentBlock,
  type SegmentEnvelope,
} from './segment-envelope.ts';
import {
  HEAD_CRC_OFFSET,
  HEAD_SIZE,
  headCrc,
  IMAGE_FOOTER_SIZE_OFFSET,
  IMAGE_HEADER_SIZE,
  SEGMENT_FILE_VERSION,
  SEGMENT_MAGIC,
  SegmentDamageError,
  SegmentVersionError,
} from './segment-layout.ts';
import type { PackedSegment } from './segment-packing.ts';

/** Bytes read at a time, and unpacked together: the memory that loading takes besides. */
const RUN_SIZE_MAX = 4 * 1024 * 1024;

/** What a disk says of a bad sector; other refusals may be gone the next time. */
const UNREADABLE_CODE = 'EIO';

const decompress = promisify(brotliDecompress);

/** Which of the two envelopes of a file. */
export type EnvelopeCopy = 'front' | 'back';

/** A segment as it was read. */
export type LoadedSegment = {
  /** The bytes that were packed, but zeros for each slice that is damaged. */
  readonly buffer: SharedArrayBuffer;
  /** Columns that cannot be read, in the order of `sealedColumnsOf`. */
  readonly damagedColumns: readonly SealedColumnName[];
};

/**
 * A segment file, its envelope read and believed. Nothing of it is kept open: each call opens the
 * file anew. Every method rejects with a `DiskError` when the file cannot be opened.
 */
export class SegmentFile {
  readonly path: string;
  readonly byteSize: number;
  readonly envelope: SegmentEnvelope;
  /** The envelope that is damaged and was done without. */
  readonly damagedCopy: EnvelopeCopy | undefined;
  readonly #disk: Disk;
  /** Where the first block begins. */
  readonly #blocksOffset: number;

  private constructor(disk: Disk, path: string, found: FoundEnvelope) {
    this.#disk = disk;
    this.path = path;
    this.byteSize = found.byteSize;
    this.envelope = found.envelope;
    this.damagedCopy = found.damagedCopy;
    this.#blocksOffset = HEAD_SIZE + found.envelopeSize;
  }

  /** A file as it was written just now. */
  static written(disk: Disk, path: string, packed: PackedSegment): SegmentFile {
    return new SegmentFile(disk, path, { ...packed, damagedCopy: undefined });
  }

  /**
   * Reads both envelopes. Rejects with `SegmentDamageError` when neither is whole and with
   * `SegmentVersionError` when one of another version is.
   */
  static open(disk: Disk, path: string): Promise<SegmentFile> {
    return withReader(disk, path, async (reader) => {
      const front = await readEnvelope(reader, path, 'front');
      const back = await readEnvelope(reader, path, 'back');
      const bytes = front ?? back;
      if (bytes === undefined) {
        throw new SegmentDamageError(path, 'neither of its envelopes is whole');
      }
      const damagedCopy = front === undefined ? 'front' : back === undefined ? 'back' : undefined;
      return new SegmentFile(disk, path, {
        byteSize: reader.size,
        envelope: decodeSegmentEnvelope(bytes),
        envelopeSize: bytes.length,
        damagedCopy,
      });
    });
  }

  /** The whole segment, each slice held against its CRC. */
  async load(): Promise<LoadedSegment> {
    const { blocks, imageSize } = this.envelope;
    const buffer = new SharedArrayBuffer(imageSize);
    const frame = await decompress(this.envelope.frame);
    new Uint8Array(buffer).set(frame.subarray(0, IMAGE_HEADER_SIZE));
    const footer = frame.subarray(IMAGE_HEADER_SIZE);
    new Uint8Array(buffer, imageSize - footer.length).set(footer);
    const slices = await this.#readBlocks(blocks);
    const damaged = new Set<number>();
    blocks.forEach(({ offset }, index) => {
      const slice = slices[index];
      if (slice === undefined) damaged.add(offset);
      else new Uint8Array(buffer, offset).set(slice);
    });
    const isDamaged = ([offset, size]: Slice): boolean => size > 0 && damaged.has(offset);
    const damagedColumns = sealedColumnsOf(readFooter(buffer))
      .filter((column) => column.slices.some(isDamaged))
      .map(({ column }) => column);
    return { buffer, damagedColumns };
  }

  /** The footer of the sealed segment. */
  async footer(): Promise<SealedFooter> {
    const frame = await decompress(this.envelope.frame);
    return JSON.parse(footerText(frame)) as SealedFooter;
  }

  /**
   * The bytes of one column, slice by slice in the order of `sealedColumnsOf`; `undefined` when any of
   * them is damaged.
   */
  async readColumn(column: SealedColumnName): Promise<readonly Uint8Array[] | undefined> {
    const found = sealedColumnsOf(await this.footer()).find((other) => other.column === column);
    assert(found !== undefined, `segment ${this.envelope.id} has a column ${column}`);
    const offsets = new Set(found.slices.map(([offset]) => offset));
    const blocks = this.envelope.blocks.filter(({ offset }) => offsets.has(offset));
    const read = await this.#readBlocks(blocks);
    if (read.includes(undefined)) return undefined;
    const sliceAt = new Map(blocks.map(({ offset }, index) => [offset, read[index]!]));
    return found.slices.map(([offset, size]) =>
      size === 0 ? new Uint8Array(0) : must(sliceAt.get(offset)),
    );
  }

  /** The slices of some blocks, `undefined` for each that is damaged. `blocks`: in the file's order. */
  #readBlocks(blocks: readonly SegmentBlock[]): Promise<(Uint8Array | undefined)[]> {
    const offsetOf = new Map<SegmentBlock, number>();
    let offset = this.#blocksOffset;
    for (const block of this.envelope.blocks) {
      offsetOf.set(block, offset);
      offset += block.storedSize;
    }
    return withReader(this.#disk, this.path, async (reader) => {
      const slices: (Uint8Array | undefined)[] = [];
      for (const run of runsOf(blocks, offsetOf)) {
        const stored = await readRun(reader, run, must(offsetOf.get(run[0]!)));
        const unpacking = run.map((block, index) => unpacked(block, stored[index]));
        slices.push(...(await Promise.all(unpacking)));
      }
      return slices;
    });
  }
}

type FoundEnvelope = {
  readonly byteSize: number;
  /** The envelope that is believed. */
  readonly envelope: SegmentEnvelope;
  readonly envelopeSize: number;
  readonly damagedCopy: EnvelopeCopy | undefined;
};

/** One envelope; `undefined` when it is damaged. */
async function readEnvelope(
  reader: DiskReader,
  path: string,
  copy: EnvelopeCopy,
): Promise<Uint8Array | undefined> {
  const isFront = copy === 'front';
  const headOffset = isFront ? 0 : reader.size - HEAD_SIZE;
  const head = headOffset < 0 ? undefined : await readBytes(reader, headOffset, HEAD_SIZE);
  if (head === undefined) return undefined;
  const view = new DataView(head.buffer, head.byteOffset, HEAD_SIZE);
  const size = view.getUint32(8, true);
  if (view.getUint32(0, true) !== SEGMENT_MAGIC || 2 * (HEAD_SIZE + size) > reader.size)
    return undefined;
  const bytes = await readBytes(reader, isFront ? HEAD_SIZE : headOffset - size, size);
  if (bytes === undefined) return undefined;
  if (headCrc(head, bytes) !== view.getUint32(HEAD_CRC_OFFSET, true)) return undefined;
  const version = view.getUint32(4, true);
  if (version !== SEGMENT_FILE_VERSION) throw new SegmentVersionError(path, version);
  return bytes;
}

/** Text of a sealed segment's footer, out of its frame. */
function footerText(frame: Buffer): string {
  const size = frame.readUInt32LE(IMAGE_FOOTER_SIZE_OFFSET);
  return frame.subarray(frame.length - size).toString('utf8');
}

/** Blocks that follow one another in the file, up to RUN_SIZE_MAX bytes or one block together. */
function runsOf(
  blocks: readonly SegmentBlock[],
  offsetOf: ReadonlyMap<SegmentBlock, number>,
): SegmentBlock[][] {
  const runs: SegmentBlock[][] = [];
  let end = -1;
  let size = 0;
  for (const block of blocks) {
    const offset = must(offsetOf.get(block));
    if (offset === end && size + block.storedSize <= RUN_SIZE_MAX) runs.at(-1)!.push(block);
    else {
      runs.push([block]);
      size = 0;
    }
    size += block.storedSize;
    end = offset + block.storedSize;
  }
  return runs;
}

/** Bytes of blocks that lie end to end from `offset` on; `undefined` where they cannot be read. */
async function readRun(
  reader: DiskReader,
  run: readonly SegmentBlock[],
  offset: number,
): Promise<(Uint8Array | undefined)[]> {
  const size = run.reduce((sum, block) => sum + block.storedSize, 0);
  const whole = await readBytes(reader, offset, size);
  const stored: (Uint8Array | undefined)[] = [];
  let start = 0;
  for (const { storedSize } of run) {
    // Where the run cannot be read in one piece, a bad sector costs only the blocks it is in.
    stored.push(
      whole === undefined
        ? await readBytes(reader, offset + start, storedSize)
        : whole.subarray(start, start + storedSize),
    );
    start += storedSize;
  }
  return stored;
}

/** The slice of a block; `undefined` when its bytes are not those that were written. */
async function unpacked(
  block: SegmentBlock,
  stored: Uint8Array | undefined,
): Promise<Uint8Array | undefined> {
  if (stored === undefined || crc32(stored) !== block.crc) return undefined;
  return stored.length === block.size ? stored : decompress(stored);
}

/** Bytes [offset, offset + size); `undefined` when the file ends before, or cannot be read there. */
async function readBytes(
  reader: DiskReader,
  offset: number,
  size: number,
): Promise<Uint8Array | undefined> {
  const bytes = new Uint8Array(size);
  try {
    return (await reader.read(bytes, offset)) === size ? bytes : undefined;
  } catch (error) {
    if (error instanceof DiskError && error.code === UNREADABLE_CODE) return undefined;
    throw error;
  }
}

async function withReader<T>(
  disk: Disk,
  path: string,
  use: (reader: DiskReader) => Promise<T>,
): Promise<T> {
  const reader = await disk.open(path);
  try {
    return await use(reader);
  } finally {
    await reader.close();
  }
}
