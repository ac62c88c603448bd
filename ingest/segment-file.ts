import { promisify } from 'node:util';
import { brotliDecompress, crc32 } from 'node:zlib';
import { assert, must } from '../engine/assert.ts';
import { type SealedColumnName, sealedColumnsOf } from '../engine/column/sealed-columns.ts';
import {
  FOOTER_SIZE_OFFSET,
  HEADER_SIZE,
  readFooter,
  type SealedFooter,
} from '../engine/column/sealed-layout.ts';
import { type BlockTable, blocksWith } from '../engine/column/segment-backing.ts';
import { newSegmentBuffer } from '../engine/column/segment-buffer.ts';
import type { Slice } from '../engine/column/slice.ts';
import type { Disk, DiskReader } from './disk/disk.ts';
import { SteadyDisk } from './disk/steady-disk.ts';
import {
  blockAt,
  blocksOf,
  decodeSegmentEnvelope,
  type SegmentEnvelope,
  type StoredBlock,
} from './segment-envelope.ts';
import {
  HEAD_CRC_OFFSET,
  HEAD_SIZE,
  headCrc,
  SEGMENT_FILE_VERSION,
  SEGMENT_FILE_VERSION_MIN,
  SEGMENT_MAGIC,
  SegmentDamageError,
  SegmentVersionError,
} from './segment-layout.ts';
import type { PackedSegment } from './segment-packing.ts';
import { type SegmentSummary, summarizeEnvelope } from './segment-summary.ts';

/** Bytes read at a time, and unpacked together: the memory that loading takes besides. */
const RUN_SIZE_MAX = 4 * 1024 * 1024;

const decompress = promisify(brotliDecompress);

/** Which of the two envelopes of a file. */
export type EnvelopeCopy = 'front' | 'back';

/** A segment as it was read. */
export type LoadedSegment = {
  /** The bytes that were packed, but zeros for each block that is damaged. */
  readonly buffer: SharedArrayBuffer;
  /** Columns that cannot be read, in the order of `sealedColumnsOf`. */
  readonly damagedColumns: readonly SealedColumnName[];
};

/**
 * A segment file, its envelope read and believed. Nothing of it is kept open: each call opens the
 * file anew. Every method rejects with a `DiskError` when the file cannot be read: damage is what was read
 * and is not what was written.
 */
export class SegmentFile {
  readonly path: string;
  readonly byteSize: number;
  readonly envelope: SegmentEnvelope;
  /** The envelope that is damaged and was done without. */
  readonly damagedCopy: EnvelopeCopy | undefined;
  readonly #disk: SteadyDisk;

  private constructor(disk: Disk, path: string, found: FoundEnvelope) {
    this.#disk = SteadyDisk.of(disk);
    this.path = path;
    this.byteSize = found.byteSize;
    this.envelope = found.envelope;
    this.damagedCopy = found.damagedCopy;
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
    return withReader(SteadyDisk.of(disk), path, async (reader) => {
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
        damagedCopy,
      });
    });
  }

  /** The whole segment, each slice held against its CRC. */
  async load(): Promise<LoadedSegment> {
    const { imageSize } = this.envelope;
    const blocks = blocksOf(this.envelope);
    const buffer = newSegmentBuffer(imageSize);
    const frame = await decompress(this.envelope.frame);
    new Uint8Array(buffer).set(frame.subarray(0, HEADER_SIZE));
    const footer = frame.subarray(HEADER_SIZE);
    new Uint8Array(buffer, imageSize - footer.length).set(footer);
    const damaged: StoredBlock[] = [];
    await this.#readBlocks(blocks, (block, bytes) => {
      if (bytes === undefined) damaged.push(block);
      else new Uint8Array(buffer, block.offset).set(bytes);
    });
    const isDamaged = ([offset, size]: Slice): boolean =>
      damaged.some((block) => offset < block.offset + block.size && block.offset < offset + size);
    const damagedColumns = sealedColumnsOf(readFooter(buffer))
      .filter((column) => column.slices.some(isDamaged))
      .map(({ column }) => column);
    return { buffer, damagedColumns };
  }

  /**
   * What is known of the segment without its columns; `undefined` when the names of its projects are
   * damaged.
   */
  async summary(): Promise<SegmentSummary | undefined> {
    const { groups } = await this.footer();
    const [bytes, offsets] = await this.readSlices([groups.names.bytes, groups.names.offsets]);
    if (bytes === undefined || offsets === undefined) return undefined;
    // What is read may begin anywhere in its buffer; a copy begins where 32 bits may.
    const names = { bytes, offsets: new Uint32Array(new Uint8Array(offsets).buffer) };
    return summarizeEnvelope(this.envelope, names, groups.hasMixed);
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
    const read = await this.readSlices(found.slices);
    return read.every((slice) => slice !== undefined) ? read : undefined;
  }

  /** Some slices of the segment, `undefined` for each that is damaged. */
  async readSlices(slices: readonly Slice[]): Promise<(Uint8Array | undefined)[]> {
    const { blocks } = this.envelope;
    const indexes = new Set<number>();
    for (const slice of slices) {
      if (slice[1] === 0) continue;
      const { first, end } = blocksWith(blocks, slice);
      for (let index = first; index < end; index++) indexes.add(index);
    }
    const wanted = [...indexes].sort((left, right) => left - right);
    const bytesOf = new Map<number, Uint8Array | undefined>();
    await this.#readBlocks(
      wanted.map((index) => blockAt(blocks, index)),
      ({ offset }, bytes) => bytesOf.set(offset, bytes),
    );
    return slices.map((slice) => joined(slice, blocks, bytesOf));
  }

  /** Some blocks, in the file's order; `take` gets `undefined` for one that is damaged. */
  #readBlocks(
    blocks: readonly StoredBlock[],
    take: (block: StoredBlock, bytes: Uint8Array | undefined) => void,
  ): Promise<void> {
    return withReader(this.#disk, this.path, async (reader) => {
      for (const run of runsOf(blocks)) {
        const stored = await readRun(reader, run);
        const unpackedRun = await Promise.all(run.map((block, i) => unpacked(block, stored[i])));
        for (const [index, block] of run.entries()) take(block, unpackedRun[index]);
      }
    });
  }
}

type FoundEnvelope = {
  readonly byteSize: number;
  /** The envelope that is believed. */
  readonly envelope: SegmentEnvelope;
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
  if (version < SEGMENT_FILE_VERSION_MIN || version > SEGMENT_FILE_VERSION) {
    throw new SegmentVersionError(path, version);
  }
  return bytes;
}

/** A slice out of its blocks, which are known by their places; `undefined` when one of them is damaged. */
function joined(
  slice: Slice,
  blocks: BlockTable,
  bytesOf: ReadonlyMap<number, Uint8Array | undefined>,
): Uint8Array | undefined {
  const [start, size] = slice;
  const bytes = new Uint8Array(size);
  if (size === 0) return bytes;
  const { first, end } = blocksWith(blocks, slice);
  for (let index = first; index < end; index++) {
    const { offset } = blockAt(blocks, index);
    const block = bytesOf.get(offset);
    if (block === undefined) return undefined;
    const part = block.subarray(Math.max(0, start - offset), start + size - offset);
    bytes.set(part, Math.max(0, offset - start));
  }
  return bytes;
}

/** Text of a sealed segment's footer, out of its frame. */
function footerText(frame: Buffer): string {
  const size = frame.readUInt32LE(FOOTER_SIZE_OFFSET);
  return frame.subarray(frame.length - size).toString('utf8');
}

/** Blocks that follow one another in the file, up to RUN_SIZE_MAX bytes or one block together. */
function runsOf(blocks: readonly StoredBlock[]): StoredBlock[][] {
  const runs: StoredBlock[][] = [];
  let end = -1;
  let size = 0;
  for (const block of blocks) {
    const { storedOffset, storedSize } = block;
    if (storedOffset === end && size + storedSize <= RUN_SIZE_MAX) runs.at(-1)!.push(block);
    else {
      runs.push([block]);
      size = 0;
    }
    size += storedSize;
    end = storedOffset + storedSize;
  }
  return runs;
}

/** Bytes of blocks that lie end to end; `undefined` for those that the file ends before. */
async function readRun(
  reader: DiskReader,
  run: readonly StoredBlock[],
): Promise<(Uint8Array | undefined)[]> {
  const start = must(run[0], 'a run has a block').storedOffset;
  const size = run.reduce((sum, block) => sum + block.storedSize, 0);
  const whole = await readBytes(reader, start, size);
  const stored: (Uint8Array | undefined)[] = [];
  for (const { storedOffset, storedSize } of run) {
    // Where the file was cut off amid the run, the blocks before are there.
    stored.push(
      whole === undefined
        ? await readBytes(reader, storedOffset, storedSize)
        : whole.subarray(storedOffset - start, storedOffset - start + storedSize),
    );
  }
  return stored;
}

/** The bytes of a block as they lie in memory; `undefined` when they are not those that were written. */
async function unpacked(
  block: StoredBlock,
  stored: Uint8Array | undefined,
): Promise<Uint8Array | undefined> {
  if (stored === undefined || crc32(stored) !== block.crc) return undefined;
  return stored.length === block.size ? stored : decompress(stored);
}

/** Bytes [offset, offset + size); `undefined` when the file ends before. */
async function readBytes(
  reader: DiskReader,
  offset: number,
  size: number,
): Promise<Uint8Array | undefined> {
  if (offset + size > reader.size) return undefined;
  const bytes = new Uint8Array(size);
  assert((await reader.read(bytes, offset)) === size, 'what is before the end can be read');
  return bytes;
}

async function withReader<T>(
  disk: SteadyDisk,
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
