import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { ZSTDDecoder } from 'zstddec';
import { must } from '../../../engine/columns.ts';

/** `bytesWritten` counts the compressed bytes that it has read. */
export type Inflater = Transform & { readonly bytesWritten: number };

/** What Node's zlib has from 22.15 on. */
type ZstdZlib = {
  readonly createZstdDecompress: (options: {
    readonly chunkSize: number;
    readonly params: Readonly<Record<number, number>>;
  }) => Inflater;
};

/** `ZSTD_d_windowLogMax` (zstd.h). */
const WINDOW_LOG_MAX_PARAMETER = 100;

/** The window that every decoder should have, and that no encoder should exceed unless asked to (RFC 8878, §3.1.1.1.2). */
const WINDOW_LOG_MAX = 23;

/** Frames of a body that are decompressed; senders write one. Each takes some tenths of a millisecond, however short. */
export const ZSTD_FRAMES_MAX = 256;

/** Bytes of memory for decompression, without its output. Each frame of a body may have a window of its own. */
export const ZSTD_STATE_BYTES = 2 ** WINDOW_LOG_MAX;

const nodes: Partial<ZstdZlib> = zlib as unknown as Partial<ZstdZlib>;

/** Whether this version of Node has zstd. */
export const hasZstd: boolean = nodes.createZstdDecompress !== undefined;

/** Node's own decompression of one frame, in another thread. */
export function createZstdInflater(chunkSize: number): Inflater {
  const create = must(nodes.createZstdDecompress, 'this version of Node has zstd');
  return create({ chunkSize, params: { [WINDOW_LOG_MAX_PARAMETER]: WINDOW_LOG_MAX } });
}

/** The least magic number of a frame to be skipped; there are sixteen (RFC 8878, §3.1.2). */
const SKIPPED_MAGIC = 0x184d_2a50;

/** Bytes of a magic number and of a length. */
const SKIPPED_HEADER_SIZE = 8;

/** What follows the frames to be skipped. */
export function skipFrames(body: Buffer): Buffer {
  let at = 0;
  while (body.length >= at + SKIPPED_HEADER_SIZE) {
    const kind = body.readUInt32LE(at) - SKIPPED_MAGIC;
    const end = at + SKIPPED_HEADER_SIZE + body.readUInt32LE(at + 4);
    if (kind < 0 || kind > 15 || end > body.length) break;
    at = end;
  }
  return body.subarray(at);
}

let decoder: Promise<ZSTDDecoder> | undefined;

/**
 * Decompresses a body on this thread, for versions of Node without zstd. `admit` gets the size of the whole, and throws
 * to stop.
 *
 * @throws Error if the body is damaged, or has more than `bytesMax` bytes and does not say so: the library tells neither.
 */
export async function inflateZstd(
  body: Buffer,
  bytesMax: number,
  admit: (size: number) => void,
): Promise<Buffer> {
  const namedSize = readContentSize(body);
  if (namedSize !== undefined && namedSize > bytesMax) admit(namedSize);
  decoder ??= loadDecoder();
  const { buffer, byteOffset, byteLength } = (await decoder).decode(body, bytesMax);
  if (byteLength === 0) {
    throw new Error(`it is damaged, empty, or has more than ${bytesMax} bytes`);
  }
  admit(byteLength);
  return Buffer.from(buffer, byteOffset, byteLength);
}

async function loadDecoder(): Promise<ZSTDDecoder> {
  const loaded = new ZSTDDecoder();
  await loaded.init();
  return loaded;
}

/** Bytes of the magic number and of the descriptor behind it. */
const DESCRIPTOR_END = 5;

/** The size before compression that the header of the first frame names, if it names one (RFC 8878, §3.1.1.1). */
function readContentSize(body: Buffer): number | undefined {
  if (body.length < DESCRIPTOR_END || body.readUInt32LE(0) !== 0xfd2f_b528) return undefined;
  const descriptor = body[DESCRIPTOR_END - 1]!;
  const isSingleSegment = (descriptor >> 5) & 1;
  const sizeFlag = descriptor >> 6;
  if (sizeFlag === 0 && isSingleSegment === 0) return undefined;
  const dictionarySize = [0, 1, 2, 4][descriptor & 3]!;
  const start = DESCRIPTOR_END + (1 - isSingleSegment) + dictionarySize;
  const size = 2 ** sizeFlag;
  if (body.length < start + size) return undefined;
  if (size === 8) return Number(body.readBigUInt64LE(start));
  return body.readUIntLE(start, size) + (size === 2 ? 256 : 0);
}
