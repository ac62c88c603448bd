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
 * Head and envelope stand at both ends, so that neither a torn end nor a bad first sector costs more
 * than one of them. Every byte of the file is under some CRC. Magic, version, size and CRC have
 * their places in every version, so that an older program can tell a newer file from a damaged one.
 *
 * A block is a part of a slice as it lies in memory, or compressed where that saves at least a tenth. All
 * slices of a segment are there, so what is read back is the same bytes as what was written.
 *
 * In files of version 1 a block is a whole slice; else they are the same.
 */
export const SEGMENT_FILE_VERSION = 2;

/** Files of this version, and of those behind it, are read. */
export const SEGMENT_FILE_VERSION_MIN = 1;

/** "WSEG" */
export const SEGMENT_MAGIC = 0x47455357;
export const HEAD_SIZE = 16;
export const HEAD_CRC_OFFSET = 12;

/** The head before, and behind, an envelope. */
export function headOf(envelope: Uint8Array): Uint8Array {
  const head = new Uint8Array(HEAD_SIZE);
  const view = new DataView(head.buffer);
  view.setUint32(0, SEGMENT_MAGIC, true);
  view.setUint32(4, SEGMENT_FILE_VERSION, true);
  view.setUint32(8, envelope.length, true);
  view.setUint32(HEAD_CRC_OFFSET, headCrc(head, envelope), true);
  return head;
}

/** What the CRC of a head should be. */
export function headCrc(head: Uint8Array, envelope: Uint8Array): number {
  return crc32(envelope, crc32(head.subarray(0, HEAD_CRC_OFFSET)));
}

/** A file of a version this program does not read; it must not be touched. */
export class SegmentVersionError extends Error {
  constructor(path: string, version: number) {
    super(
      `${path} is a segment file of version ${version}; this program reads versions ${SEGMENT_FILE_VERSION_MIN} to ${SEGMENT_FILE_VERSION}`,
    );
    this.name = 'SegmentVersionError';
  }
}

/** No envelope of a file is whole: nothing in it can be believed. */
export class SegmentDamageError extends Error {
  constructor(path: string, reason: string) {
    super(`${path} is damaged: ${reason}`);
    this.name = 'SegmentDamageError';
  }
}
