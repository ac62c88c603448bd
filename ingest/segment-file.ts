import { promisify } from 'node:util';
import { brotliDecompress, crc32 } from 'node:zlib';
import {
  assert,
  type BlockTable,
  blocksWith,
  FOOTER_SIZE_OFFSET,
  HEADER_SIZE,
  must,
  newSegmentBuffer,
  readFooter,
  type SealedColumnName,
  type SealedFooter,
  type Slice,
  sealedColumnsOf,
} from '../engine/columns.ts';
import type { Disk, DiskReader } from './disk/disk.ts';
import { SteadyDisk } from './disk/steady-disk.ts';
import {
  blockAt,
  decodeSegmentEnvelope,
  listBlocks,
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

/** Bytes that are read and decompressed at a time: the memory that loading takes besides the segment. */
const RUN_SIZE_MAX = 4 * 1024 * 1024;

const decompress = promisify(brotliDecompress);

/** One of the two envelopes of a file. */
export type EnvelopeCopy = 'front' | 'back';

/** A segment read from its file. */
export type LoadedSegment = {
  /** The bytes that were packed, with zeros for each damaged block. */
  readonly buffer: SharedArrayBuffer;
  /** Columns that cannot be read, in the order of `sealedColumnsOf`. */
  readonly damagedColumns: readonly SealedColumnName[];
};

/**
 * A segment file with a valid envelope. The file is not kept open: each call opens it. Every method rejects with a
 * `DiskError` if the file cannot be read. Damage means that bytes were read and differ from those written.
 */
export class SegmentFile {
  readonly path: string;
  readonly byteSize: number;
  readonly envelope: SegmentEnvelope;
  /** The damaged envelope, if one is. */
  readonly damagedCopy: EnvelopeCopy | undefined;
  readonly #disk: SteadyDisk;

  private constructor(disk: Disk, path: string, found: FoundEnvelope) {
    this.#disk = SteadyDisk.of(disk);
    this.path = path;
    this.byteSize = found.byteSize;
    this.envelope = found.envelope;
    this.damagedCopy = found.damagedCopy;
  }

  /** The file that was just written at `path`. */
  static written(disk: Disk, path: string, packed: PackedSegment): SegmentFile {
    return new SegmentFile(disk, path, { ...packed, damagedCopy: undefined });
  }

  /**
   * Reads both envelopes. Rejects with `SegmentDamageError` if neither is whole, and with `SegmentVersionError` if one
   * has another version.
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

  /** Reads the whole segment and checks each slice against its CRC. */
  async load(): Promise<LoadedSegment> {
    const { imageSize } = this.envelope;
    const blocks = listBlocks(this.envelope);
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

  /** Reads the segment's summary, without its columns; `undefined` if the names of its projects are damaged. */
  async summary(): Promise<SegmentSummary | undefined> {
    const { groups } = await this.footer();
    const [bytes, offsets] = await this.readSlices([groups.names.bytes, groups.names.offsets]);
    if (bytes === undefined || offsets === undefined) return undefined;
    // The bytes read may begin at any offset of their buffer; a copy is aligned to 32 bits.
    const names = { bytes, offsets: new Uint32Array(new Uint8Array(offsets).buffer) };
    return summarizeEnvelope(this.envelope, names, groups.hasMixed);
  }

  /** Reads the footer of the sealed segment. */
  async footer(): Promise<SealedFooter> {
    const frame = await decompress(this.envelope.frame);
    return JSON.parse(footerText(frame)) as SealedFooter;
  }

  /** Reads the slices of one column, in the order of `sealedColumnsOf`; `undefined` if any of them is damaged. */
  async readColumn(column: SealedColumnName): Promise<readonly Uint8Array[] | undefined> {
    const found = sealedColumnsOf(await this.footer()).find((other) => other.column === column);
    assert(found !== undefined, `segment ${this.envelope.id} has a column ${column}`);
    const read = await this.readSlices(found.slices);
    return read.every((slice) => slice !== undefined) ? read : undefined;
  }

  /** Reads slices of the segment; `undefined` for each damaged one. */
  async readSlices(slices: readonly Slice[]): Promise<(Uint8Array | undefined)[]> {
    const { blocks } = this.envelope;
    const wanted = new Set<number>();
    for (const slice of slices) {
      if (slice[1] === 0) continue;
      const { first, end } = blocksWith(blocks, slice);
      for (let index = first; index < end; index++) wanted.add(index);
    }
    const bytesByOffset = new Map<number, Uint8Array | undefined>();
    await this.#readBlocks(
      Array.from(wanted, (index) => blockAt(blocks, index)),
      ({ offset }, bytes) => bytesByOffset.set(offset, bytes),
    );
    return slices.map((slice) => joined(slice, blocks, bytesByOffset));
  }

  /** Reads blocks, in the order of the file. `take` gets `undefined` for a damaged one. */
  #readBlocks(
    blocks: readonly StoredBlock[],
    take: (block: StoredBlock, bytes: Uint8Array | undefined) => void,
  ): Promise<void> {
    return withReader(this.#disk, this.path, async (reader) => {
      const inFile = blocks.toSorted((one, other) => one.storedOffset - other.storedOffset);
      for (const run of listRuns(inFile)) {
        const stored = await readRun(reader, run);
        const unpackedRun = await Promise.all(run.map((block, i) => unpacked(block, stored[i])));
        for (const [index, block] of run.entries()) take(block, unpackedRun[index]);
      }
    });
  }
}

type FoundEnvelope = {
  readonly byteSize: number;
  /** The envelope to use: the first of the two that is whole. */
  readonly envelope: SegmentEnvelope;
  readonly damagedCopy: EnvelopeCopy | undefined;
};

/** Reads one envelope; `undefined` if it is damaged. */
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

/** Joins a slice from its blocks, which are keyed by offset; `undefined` if one of them is damaged. */
function joined(
  slice: Slice,
  blocks: BlockTable,
  bytesByOffset: ReadonlyMap<number, Uint8Array | undefined>,
): Uint8Array | undefined {
  const [start, size] = slice;
  const bytes = new Uint8Array(size);
  if (size === 0) return bytes;
  const { first, end } = blocksWith(blocks, slice);
  for (let index = first; index < end; index++) {
    const { offset } = blockAt(blocks, index);
    const block = bytesByOffset.get(offset);
    if (block === undefined) return undefined;
    const part = block.subarray(Math.max(0, start - offset), start + size - offset);
    bytes.set(part, Math.max(0, offset - start));
  }
  return bytes;
}

/** Extracts the text of a sealed segment's footer from its frame. */
function footerText(frame: Buffer): string {
  const size = frame.readUInt32LE(FOOTER_SIZE_OFFSET);
  return frame.subarray(frame.length - size).toString('utf8');
}

/** Groups adjacent blocks into runs of at most RUN_SIZE_MAX bytes, or of one block. */
function listRuns(blocks: readonly StoredBlock[]): StoredBlock[][] {
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

/** Reads the adjacent blocks of a run; `undefined` for each block that the file is too short for. */
async function readRun(
  reader: DiskReader,
  run: readonly StoredBlock[],
): Promise<(Uint8Array | undefined)[]> {
  const start = must(run[0], 'a run has a block').storedOffset;
  const size = run.reduce((sum, block) => sum + block.storedSize, 0);
  const whole = await readBytes(reader, start, size);
  const stored: (Uint8Array | undefined)[] = [];
  for (const { storedOffset, storedSize } of run) {
    // If the file ends within the run, the blocks before its end are complete.
    stored.push(
      whole === undefined
        ? await readBytes(reader, storedOffset, storedSize)
        : whole.subarray(storedOffset - start, storedOffset - start + storedSize),
    );
  }
  return stored;
}

/** Decompresses a block; `undefined` if it is not the one that was written. */
async function unpacked(
  block: StoredBlock,
  stored: Uint8Array | undefined,
): Promise<Uint8Array | undefined> {
  if (stored === undefined || crc32(stored) !== block.crc) return undefined;
  return stored.length === block.size ? stored : decompress(stored);
}

/** Reads bytes [offset, offset + size); `undefined` if the file ends before. */
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
