import { crc32 } from 'node:zlib';

/**
 * A segment file holds one sealed segment: the rows of one source and one partition.
 *
 * ```
 *  0       4         8                12      16
 * ┌───────┬─────────┬────────────────┬───────┬──────────┬───────────────────┬──────────┬──────┐
 * │ magic │ version │ envelope size  │ CRC   │ envelope │ blocks, end to    │ envelope │ the  │
 * │ u32   │ u32     │ u32, bytes     │ u32   │          │ end               │ again    │ same │
 * └───────┴─────────┴────────────────┴───────┴──────────┴───────────────────┴──────────┴──────┘
 *  └────────── head: 16 bytes ───────────────┘                                    16 bytes: ┘
 * ```
 *
 * Numbers are little-endian. The CRC-32 of a head is over its first twelve bytes and the envelope.
 * Head and envelope are at both ends, so a torn end or a bad first sector damages only one of them. A CRC covers every byte
 * of the file. Magic, version, size and CRC have the same offsets in every version, so an older program can distinguish a
 * newer file from a damaged one.
 *
 * A block is a part of a slice, compressed if that saves at least a tenth. The file holds all slices of a segment, so
 * reading returns the bytes that were written.
 *
 * The envelope states the order of the blocks. In a large segment, those that hold values of the same rows are a *stripe* and
 * lie together, since the events of one project are a few rows of every column:
 *
 * ```
 * ┌──────────────────────────┬─────────┬─────────┬─────────┬─────────┬─────────┬─────────┬─────┐
 * │ structure, indexes,      │ rows in │ 1st     │ 2nd     │ 1st     │ 2nd     │ 3rd     │ …   │
 * │ small slices             │ 1 block │ half    │ half    │ quarter │ quarter │ quarter │     │
 * └──────────────────────────┴─────────┴─────────┴─────────┴─────────┴─────────┴─────────┴─────┘
 *                                       └ slices of 2 blocks ┘ └ slices of 4 blocks ┘
 * ```
 *
 * In version 2 blocks lie in the order of memory. In version 1 a block is also a whole slice.
 */
export const SEGMENT_FILE_VERSION = 3;

/** The oldest version that is read. */
export const SEGMENT_FILE_VERSION_MIN = 1;

/** "WSEG" */
export const SEGMENT_MAGIC = 0x47455357;
export const HEAD_SIZE = 16;
export const HEAD_CRC_OFFSET = 12;

/** The head of an envelope, which is written before it and after it. */
export function createHead(envelope: Uint8Array): Uint8Array {
  const head = new Uint8Array(HEAD_SIZE);
  const view = new DataView(head.buffer);
  view.setUint32(0, SEGMENT_MAGIC, true);
  view.setUint32(4, SEGMENT_FILE_VERSION, true);
  view.setUint32(8, envelope.length, true);
  view.setUint32(HEAD_CRC_OFFSET, headCrc(head, envelope), true);
  return head;
}

/** The expected CRC of a head. */
export function headCrc(head: Uint8Array, envelope: Uint8Array): number {
  return crc32(envelope, crc32(head.subarray(0, HEAD_CRC_OFFSET)));
}

/** The file has a version that this program does not read. It must not be changed. */
export class SegmentVersionError extends Error {
  constructor(path: string, version: number) {
    super(
      `${path} is a segment file of version ${version}; this program reads versions ${SEGMENT_FILE_VERSION_MIN} to ${SEGMENT_FILE_VERSION}`,
    );
    this.name = 'SegmentVersionError';
  }
}

/** Neither envelope of a file is whole, so none of its contents can be used. */
export class SegmentDamageError extends Error {
  constructor(path: string, reason: string) {
    super(`${path} is damaged: ${reason}`);
    this.name = 'SegmentDamageError';
  }
}
