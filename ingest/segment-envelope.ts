import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { Builder, ByteBuffer } from 'flatbuffers';
import {
  assert,
  BLOCK_NUMBERS,
  type BlockTable,
  must,
  type PackedBlock,
  type PackedImage,
} from '../engine/columns.ts';
import { HEAD_SIZE } from './segment-layout.ts';
import type { SegmentName } from './segment-name.ts';
import type { SequenceInterval } from './sequence-intervals.ts';

/** The metadata of a segment file. */
export type SegmentEnvelope = SegmentName & {
  /** Id of the source. */
  readonly source: string;
  readonly rowCount: number;
  /** Microseconds since the epoch. */
  readonly timestampUsMin: number;
  readonly timestampUsMax: number;
  readonly arrivalMin: number;
  readonly arrivalMax: number;
  /**
   * The log records whose rows of the partition are all in this file, or in it and those with the same `awaits`.
   * Ascending and disjoint.
   */
  readonly covered: readonly SequenceInterval[];
  /** Ids of files that do not count beside this one, if they still exist. */
  readonly replaced: readonly number[];
  /**
   * Ids of the files whose rows were divided among this file and others, all of which have the same `awaits`. While any
   * of these files counts, this one does not.
   */
  readonly awaits: readonly number[];
  /** Bytes of the sealed segment in memory. */
  readonly imageSize: number;
  /**
   * BLOCK_NUMBERS for each block (`segment-backing.ts`), in the order of their places in memory. In shared memory, because
   * every query passes it to other threads.
   */
  readonly blocks: BlockTable;
  /** Whether each block is a whole array, however large, as in version 1. */
  readonly areBlocksWhole: boolean;
  /**
   * The bytes around the slices, compressed (RFC 7932): the header of the sealed segment, then its footer. In shared
   * memory, too.
   */
  readonly frame: Uint8Array;
};

/** An envelope to be written. The offsets of blocks are known only when its size is. */
export type NewSegmentEnvelope = Omit<SegmentEnvelope, 'blocks' | 'areBlocksWhole'> &
  Pick<PackedImage, 'blocks' | 'ranks'>;

/** An entry of an envelope's table of blocks. */
export type StoredBlock = PackedBlock & {
  /** The offset in the file. */
  readonly storedOffset: number;
};

export function blockAt(blocks: BlockTable, index: number): StoredBlock {
  const number = (place: number): number =>
    must(blocks[index * BLOCK_NUMBERS + place], 'the table has the block');
  return {
    offset: number(0),
    size: number(1),
    storedOffset: number(2),
    storedSize: number(3),
    crc: number(4),
  };
}

/** Bytes of a block in memory. */
export function blockSizeAt(blocks: BlockTable, index: number): number {
  return must(blocks[index * BLOCK_NUMBERS + 1], 'the table has the block');
}

/** All blocks of an envelope as objects. Callers should not keep them: thousands of envelopes are in memory. */
export function listBlocks({ blocks }: SegmentEnvelope): StoredBlock[] {
  return Array.from({ length: blocks.length / BLOCK_NUMBERS }, (_, index) =>
    blockAt(blocks, index),
  );
}

/**
 * The envelope is a FlatBuffer of one table. Fields are only ever added, at the end.
 *
 * ```
 *  0 id f64 · 1 source string · 2 partition i32 · 3 rowCount u32 · 4, 5 timestampUs f64 ·
 *  6, 7 arrival f64 · 8 covered [f64], two each · 9 replaced [f64] · 10 imageSize u32 ·
 *  11 blocks [u32], four each (version 1) · 12 frame [u8] · 13 awaits [f64] ·
 *  14 packedBlocks [u8]: the same, all firsts, then all seconds …, compressed (RFC 7932) ·
 *  15 ranks [u8]: the rank of each block in the file less that of the one before, u32, compressed (version 3)
 * ```
 */
const FIELD = {
  id: 0,
  source: 1,
  partition: 2,
  rowCount: 3,
  timestampUsMin: 4,
  timestampUsMax: 5,
  arrivalMin: 6,
  arrivalMax: 7,
  covered: 8,
  replaced: 9,
  imageSize: 10,
  blocks: 11,
  frame: 12,
  awaits: 13,
  packedBlocks: 14,
  ranks: 15,
} as const;

type FieldName = keyof typeof FIELD;

const BLOCK_WORDS = 4;

/** The lowest quality: for a table of 1,665 blocks with 26.6 KB, 1 gives 8.8 KB and 9 gives 8.1 KB. */
const TABLE_QUALITY = 1;

export function encodeSegmentEnvelope(envelope: NewSegmentEnvelope): Uint8Array {
  const builder = new Builder(1024 + envelope.frame.length);
  const source = builder.createString(envelope.source);
  const covered = floatVector(
    builder,
    envelope.covered.flatMap(({ fromSequence, throughSequence }) => [
      fromSequence,
      throughSequence,
    ]),
  );
  const replaced = floatVector(builder, envelope.replaced);
  const awaits = floatVector(builder, envelope.awaits);
  const packedBlocks = builder.createByteVector(packBlocks(envelope.blocks));
  const ranks = builder.createByteVector(packRanks(envelope.ranks));
  const frame = builder.createByteVector(envelope.frame);
  builder.startObject(Object.keys(FIELD).length);
  builder.addFieldFloat64(FIELD.id, envelope.id, 0);
  builder.addFieldOffset(FIELD.source, source, 0);
  builder.addFieldInt32(FIELD.partition, envelope.partition, 0);
  builder.addFieldInt32(FIELD.rowCount, envelope.rowCount, 0);
  builder.addFieldFloat64(FIELD.timestampUsMin, envelope.timestampUsMin, 0);
  builder.addFieldFloat64(FIELD.timestampUsMax, envelope.timestampUsMax, 0);
  builder.addFieldFloat64(FIELD.arrivalMin, envelope.arrivalMin, 0);
  builder.addFieldFloat64(FIELD.arrivalMax, envelope.arrivalMax, 0);
  builder.addFieldOffset(FIELD.covered, covered, 0);
  builder.addFieldOffset(FIELD.replaced, replaced, 0);
  builder.addFieldInt32(FIELD.imageSize, envelope.imageSize | 0, 0);
  builder.addFieldOffset(FIELD.frame, frame, 0);
  builder.addFieldOffset(FIELD.awaits, awaits, 0);
  builder.addFieldOffset(FIELD.packedBlocks, packedBlocks, 0);
  builder.addFieldOffset(FIELD.ranks, ranks, 0);
  builder.finish(builder.endObject());
  return builder.asUint8Array();
}

/** `bytes` must be the result of `encodeSegmentEnvelope`: the caller has checked their CRC. */
export function decodeSegmentEnvelope(bytes: Uint8Array): SegmentEnvelope {
  const table = new Table(bytes);
  const covered = table.floats('covered');
  return {
    id: table.float('id'),
    source: table.text('source'),
    partition: table.integer('partition'),
    rowCount: table.integer('rowCount') >>> 0,
    timestampUsMin: table.float('timestampUsMin'),
    timestampUsMax: table.float('timestampUsMax'),
    arrivalMin: table.float('arrivalMin'),
    arrivalMax: table.float('arrivalMax'),
    covered: Array.from({ length: covered.length / 2 }, (_, index) => ({
      fromSequence: must(covered[2 * index], 'covered sequences come in pairs'),
      throughSequence: must(covered[2 * index + 1], 'covered sequences come in pairs'),
    })),
    replaced: table.floats('replaced'),
    // Files of older versions lack this field.
    awaits: table.has('awaits') ? table.floats('awaits') : [],
    imageSize: table.integer('imageSize') >>> 0,
    blocks: blockTable(
      table.has('packedBlocks')
        ? unpackBlocks(table.bytes('packedBlocks'))
        : byColumn(table.words('blocks')),
      // In older versions the blocks lie as in memory.
      table.has('ranks') ? unpackRanks(table.bytes('ranks')) : undefined,
      HEAD_SIZE + bytes.length,
    ),
    areBlocksWhole: !table.has('packedBlocks'),
    frame: sharedCopy(table.bytes('frame')),
  };
}

/** The numbers of all blocks, one kind after another, as differences, which are mostly equal. */
function packBlocks(blocks: readonly PackedBlock[]): Uint8Array {
  const count = blocks.length;
  const words = new Uint32Array(BLOCK_WORDS * count);
  let end = 0;
  for (const [index, { offset, size, storedSize, crc }] of blocks.entries()) {
    words[index] = offset - end;
    words[count + index] = size;
    words[2 * count + index] = size - storedSize;
    words[3 * count + index] = crc;
    end = offset + size;
  }
  return packWords(words);
}

function packRanks(ranks: Uint32Array): Uint8Array {
  return packWords(ranks.map((rank, block) => rank - (block === 0 ? 0 : ranks[block - 1]!)));
}

function packWords(words: Uint32Array): Uint8Array {
  const params = { [constants.BROTLI_PARAM_QUALITY]: TABLE_QUALITY };
  const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  return brotliCompressSync(bytes, { params });
}

function unpackWords(packed: Uint8Array): Uint32Array {
  return new Uint32Array(new Uint8Array(brotliDecompressSync(packed)).buffer);
}

function unpackRanks(packed: Uint8Array): Uint32Array {
  const ranks = unpackWords(packed);
  for (let block = 1; block < ranks.length; block++) ranks[block]! += ranks[block - 1]!;
  return ranks;
}

/** The numbers of each block, as `byColumn` returns them. */
function unpackBlocks(packed: Uint8Array): Uint32Array {
  const words = unpackWords(packed);
  const count = words.length / BLOCK_WORDS;
  let end = 0;
  for (let block = 0; block < count; block++) {
    const size = words[count + block]!;
    words[block]! += end;
    words[2 * count + block] = size - words[2 * count + block]!;
    end = words[block]! + size;
  }
  return words;
}

/** Transposes the numbers: the first of all blocks, then the second of all blocks, and so on. */
function byColumn(words: Uint32Array): Uint32Array {
  const count = words.length / BLOCK_WORDS;
  return Uint32Array.from(words, (_, index) => {
    return words[(index % count) * BLOCK_WORDS + Math.floor(index / count)]!;
  });
}

/** `fileOffset`: the offset of the first block in the file. */
function blockTable(
  words: Uint32Array,
  ranks: Uint32Array | undefined,
  fileOffset: number,
): BlockTable {
  const count = words.length / BLOCK_WORDS;
  const table = new Uint32Array(new SharedArrayBuffer(count * BLOCK_NUMBERS * 4));
  const order = Uint32Array.from({ length: count }, (_, block) => block);
  ranks?.forEach((rank, block) => {
    order[rank] = block;
  });
  let offset = fileOffset;
  for (const block of order) {
    const storedSize = words[2 * count + block]!;
    const entry = block * BLOCK_NUMBERS;
    table[entry] = words[block]!;
    table[entry + 1] = words[count + block]!;
    table[entry + 2] = offset;
    table[entry + 3] = storedSize;
    table[entry + 4] = words[3 * count + block]!;
    offset += storedSize;
  }
  return table;
}

function sharedCopy(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}

function floatVector(builder: Builder, values: readonly number[]): number {
  builder.startVector(8, values.length, 8);
  for (const value of values.toReversed()) builder.addFloat64(value);
  return builder.endVector();
}

/** The table of an envelope. A field with its default value is absent. */
class Table {
  readonly #buffer: ByteBuffer;
  readonly #start: number;

  constructor(bytes: Uint8Array) {
    this.#buffer = new ByteBuffer(bytes);
    this.#start = this.#buffer.readInt32(0);
  }

  has(field: FieldName): boolean {
    return this.#place(field) >= 0;
  }

  float(field: FieldName): number {
    const at = this.#place(field);
    return at < 0 ? 0 : this.#buffer.readFloat64(at);
  }

  integer(field: FieldName): number {
    const at = this.#place(field);
    return at < 0 ? 0 : this.#buffer.readInt32(at);
  }

  text(field: FieldName): string {
    return Buffer.from(this.bytes(field)).toString('utf8');
  }

  bytes(field: FieldName): Uint8Array {
    const { start, count } = this.#vector(field);
    return this.#buffer.bytes().subarray(start, start + count);
  }

  floats(field: FieldName): number[] {
    const { start, count } = this.#vector(field);
    return Array.from({ length: count }, (_, i) => this.#buffer.readFloat64(start + 8 * i));
  }

  words(field: FieldName): Uint32Array {
    const { start, count } = this.#vector(field);
    return Uint32Array.from({ length: count }, (_, i) => this.#buffer.readUint32(start + 4 * i));
  }

  #vector(field: FieldName): { readonly start: number; readonly count: number } {
    const at = this.#place(field);
    assert(at >= 0, `an envelope has its ${field}`);
    return { start: this.#buffer.__vector(at), count: this.#buffer.__vector_len(at) };
  }

  #place(field: FieldName): number {
    const offset = this.#buffer.__offset(this.#start, 4 + 2 * FIELD[field]);
    return offset === 0 ? -1 : this.#start + offset;
  }
}
