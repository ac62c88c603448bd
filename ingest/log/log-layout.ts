import { crc32 } from 'node:zlib';
import { assert } from '../../engine/columns.ts';

/**
 * The layout of a log file: one header, then records. Integers are little-endian. Records begin at multiples of 8 bytes.
 *
 * ```
 * file header, 64 bytes
 *   0      8          12        16              24        32             40       60      64
 * ┌──────────┬──────────┬─────────┬───────────────┬─────────┬──────────────┬────────┬───────┐
 * │ weir.log │ version  │ file    │ first         │ file id │ durable      │ zero   │ CRC   │
 * │ 8 B      │ 4 B      │ number  │ sequence 8 B  │ 8 B     │ before 8 B   │ 20 B   │ 0..60 │
 * └──────────┴──────────┴─────────┴───────────────┴─────────┴──────────────┴────────┴───────┘
 *
 * record header, 56 bytes, before the record's body
 *   0      4        8         16         24         32            40         44     48     52     56
 * ┌───────┬────────┬─────────┬──────────┬──────────┬─────────────┬──────────┬──────┬──────┬──────┐
 * │ magic │ file   │ file id │ file's   │ sequence │ durable     │ envelope │ data │ CRC  │ CRC  │
 * │ 4 B   │ number │ 8 B     │ first 8 B│ 8 B      │ before 8 B  │ size     │ size │ body │ 0..52│
 * └───────┴────────┴─────────┴──────────┴──────────┴─────────────┴──────────┴──────┴──────┴──────┘
 * ```
 *
 * The first sequence of a file voids every record of earlier files with that sequence or a later
 * one. Each record repeats it, so that a damaged file header hides nothing.
 *
 * *Durable before* is a sequence: all records before it had been synced when this header was written. If one of them is
 * missing, the log is damaged. Missing records from there on were cut off by a crash, perhaps within a group, and had not
 * been acknowledged.
 *
 * The file id is random. After a damaged record header, the next one is searched for in bytes that senders chose. Without
 * the id, they could forge a record.
 *
 * Magic, version and CRC of the file header have the same offsets in every version.
 */
export type FileHeader = {
  readonly number: number;
  readonly firstSequence: number;
  readonly id: bigint;
  /** All records of earlier files before this sequence had been synced. */
  readonly durableBefore: number;
};

export type RecordHeader = {
  readonly file: Omit<FileHeader, 'durableBefore'>;
  readonly sequence: number;
  /** The first sequence of the record's group: all records before it had been synced. */
  readonly durableBefore: number;
  /** In bytes, a multiple of 8, as is `dataSize`. */
  readonly envelopeSize: number;
  readonly dataSize: number;
  /** CRC-32 of envelope and data. */
  readonly bodyCrc: number;
};

export const LOG_VERSION = 1;
export const FILE_HEADER_SIZE = 64;
export const RECORD_HEADER_SIZE = 56;
/** The alignment of records in bytes. */
export const RECORD_ALIGNMENT = 8;

const FILE_MAGIC = Buffer.from('weir.log', 'latin1');
const FILE_CRC_OFFSET = 60;
/** "wrec"; little-endian. */
export const RECORD_MAGIC = 0x63657277;
const RECORD_CRC_OFFSET = 52;

export function encodeFileHeader(header: FileHeader): Uint8Array {
  const bytes = new Uint8Array(FILE_HEADER_SIZE);
  const view = new DataView(bytes.buffer);
  bytes.set(FILE_MAGIC);
  view.setUint32(8, LOG_VERSION, true);
  view.setUint32(12, header.number, true);
  view.setBigUint64(16, BigInt(header.firstSequence), true);
  view.setBigUint64(24, header.id, true);
  view.setBigUint64(32, BigInt(header.durableBefore), true);
  view.setUint32(FILE_CRC_OFFSET, crc32(bytes.subarray(0, FILE_CRC_OFFSET)), true);
  return bytes;
}

/**
 * Decodes a file header; `undefined` if the bytes are not a complete one. If `version` is not LOG_VERSION, the other
 * fields must not be used.
 */
export function decodeFileHeader(
  bytes: Uint8Array,
): (FileHeader & { readonly version: number }) | undefined {
  if (bytes.byteLength < FILE_HEADER_SIZE) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const hasMagic = FILE_MAGIC.every((byte, index) => bytes[index] === byte);
  const crc = crc32(bytes.subarray(0, FILE_CRC_OFFSET));
  if (!hasMagic || view.getUint32(FILE_CRC_OFFSET, true) !== crc) return undefined;
  return {
    version: view.getUint32(8, true),
    number: view.getUint32(12, true),
    firstSequence: Number(view.getBigUint64(16, true)),
    id: view.getBigUint64(24, true),
    durableBefore: Number(view.getBigUint64(32, true)),
  };
}

export function encodeRecordHeader(header: RecordHeader): Uint8Array {
  assert(
    header.envelopeSize < 2 ** 32 && header.dataSize < 2 ** 32,
    'sizes of a record fit 32 bits',
  );
  const bytes = new Uint8Array(RECORD_HEADER_SIZE);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, RECORD_MAGIC, true);
  view.setUint32(4, header.file.number, true);
  view.setBigUint64(8, header.file.id, true);
  view.setBigUint64(16, BigInt(header.file.firstSequence), true);
  view.setBigUint64(24, BigInt(header.sequence), true);
  view.setBigUint64(32, BigInt(header.durableBefore), true);
  view.setUint32(40, header.envelopeSize, true);
  view.setUint32(44, header.dataSize, true);
  view.setUint32(48, header.bodyCrc, true);
  view.setUint32(RECORD_CRC_OFFSET, crc32(bytes.subarray(0, RECORD_CRC_OFFSET)), true);
  return bytes;
}

/** Decodes the record header at `offset`, which must have RECORD_HEADER_SIZE bytes; `undefined` if there is none. */
export function decodeRecordHeader(bytes: Uint8Array, offset: number): RecordHeader | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, RECORD_HEADER_SIZE);
  if (view.getUint32(0, true) !== RECORD_MAGIC) return undefined;
  const crc = crc32(bytes.subarray(offset, offset + RECORD_CRC_OFFSET));
  if (view.getUint32(RECORD_CRC_OFFSET, true) !== crc) return undefined;
  return {
    file: {
      number: view.getUint32(4, true),
      id: view.getBigUint64(8, true),
      firstSequence: Number(view.getBigUint64(16, true)),
    },
    sequence: Number(view.getBigUint64(24, true)),
    durableBefore: Number(view.getBigUint64(32, true)),
    envelopeSize: view.getUint32(40, true),
    dataSize: view.getUint32(44, true),
    bodyCrc: view.getUint32(48, true),
  };
}

/** Rounds up to a multiple of RECORD_ALIGNMENT. */
export function aligned(size: number): number {
  return Math.ceil(size / RECORD_ALIGNMENT) * RECORD_ALIGNMENT;
}

/** The name of the log file with this number. */
export function logFileName(number: number): string {
  return `${String(number).padStart(8, '0')}.log`;
}

/** The number in a log file's name; `undefined` for other names. */
export function logFileNumber(name: string): number | undefined {
  const digits = /^(\d{8,10})\.log$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
