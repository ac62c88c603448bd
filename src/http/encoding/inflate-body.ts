import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { unreachable } from '../../../engine/columns.ts';
import { ServiceError } from '../../errors.ts';
import type { BodyEncoding } from './body-encoding.ts';
import { inflateSnappy } from './snappy.ts';
import {
  createZstdInflater,
  hasZstd,
  type Inflater,
  inflateZstd,
  skipFrames,
  ZSTD_FRAMES_MAX,
  ZSTD_STATE_BYTES,
} from './zstd.ts';

/** Bytes that are decompressed at a time: each chunk is passed to another thread. */
const INFLATE_CHUNK_SIZE = 128 * 1024;

/** The window of deflate and some KiB of tables (zlib's `inflate.h`). */
const DEFLATE_STATE_BYTES = 64 * 1024;

export type InflateTerms = {
  readonly encoding: BodyEncoding;
  /** The most bytes of the whole. */
  readonly bytesMax: number;
  /** Called with the bytes of each part before the next one is made; throws to stop: a thousand small bodies could become gigabytes. */
  readonly admit: (partBytes: number) => void;
};

/**
 * Decompresses a body.
 *
 * @throws ServiceError if it is not whole, or what `admit` throws.
 */
export async function inflateBody(body: Buffer, terms: InflateTerms): Promise<readonly Buffer[]> {
  const { encoding } = terms;
  try {
    return await inflate(body, terms);
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `the body is not whole ${encoding}, as Content-Encoding says: ${reason}`;
    throw new ServiceError('invalid_body', message, { cause });
  }
}

async function inflate(
  body: Buffer,
  { encoding, bytesMax, admit }: InflateTerms,
): Promise<readonly Buffer[]> {
  if (encoding === 'snappy') return await inflateSnappy(body, admit);
  if (encoding === 'zstd') {
    return hasZstd ? await inflateFrames(body, admit) : [await inflateZstd(body, bytesMax, admit)];
  }
  const inflater = createInflater(encoding, body);
  const parts = await inflatedParts(inflater, body, admit);
  const rest = body.subarray(inflater.bytesWritten);
  // Events after the end would be acknowledged and lost. Zeros after gzip are usual padding.
  const isPadding = encoding === 'gzip' && areZeros(rest);
  if (rest.length > 0 && !isPadding) throw new Error(`${rest.length} bytes follow its end`);
  return parts;
}

/** Decompresses frames of zstd one after another: Node's zstd ends with the first. */
async function inflateFrames(
  body: Buffer,
  admit: (partBytes: number) => void,
): Promise<readonly Buffer[]> {
  const parts: Buffer[] = [];
  let rest = skipFrames(body);
  for (let count = 0; count === 0 || rest.length > 0; count++) {
    if (count === ZSTD_FRAMES_MAX) throw new Error(`it has more than ${ZSTD_FRAMES_MAX} frames`);
    const inflater = createZstdInflater(INFLATE_CHUNK_SIZE);
    parts.push(...(await inflatedParts(inflater, rest, admit)));
    rest = skipFrames(rest.subarray(inflater.bytesWritten));
  }
  return parts;
}

/** All bytes equal the first if each equals the next: one comparison of memory replaces a loop over bytes. */
function areZeros(bytes: Buffer): boolean {
  return bytes[0] === 0 && bytes.subarray(1).equals(bytes.subarray(0, -1));
}

function inflatedParts(
  inflater: Inflater,
  body: Buffer,
  admit: (partBytes: number) => void,
): Promise<readonly Buffer[]> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    inflater.on('error', reject);
    inflater.on('end', () => resolve(parts));
    inflater.on('data', (part: Buffer) => {
      try {
        admit(part.length);
        parts.push(part);
      } catch (error) {
        inflater.destroy();
        reject(error);
      }
    });
    inflater.end(body);
  });
}

function createInflater(
  encoding: Exclude<BodyEncoding, 'snappy' | 'zstd'>,
  body: Buffer,
): Inflater {
  const options = { chunkSize: INFLATE_CHUNK_SIZE };
  switch (encoding) {
    case 'gzip':
      return createGunzip(options);
    case 'br':
      return createBrotliDecompress(options);
    case 'deflate':
      return hasZlibHeader(body) ? createInflate(options) : createInflateRaw(options);
    default:
      return unreachable(encoding);
  }
}

/**
 * `deflate` means the zlib format (RFC 9110 §8.4.1.2), but some senders omit its header of two bytes: the low half of
 * the first is 8, and both together are a multiple of 31 (RFC 1950 §2.2).
 */
function hasZlibHeader(body: Buffer): boolean {
  return body.length >= 2 && (body.readUInt8(0) & 15) === 8 && body.readUInt16BE(0) % 31 === 0;
}

/** Bytes of memory for decompression, without its output: its state and the next chunk. */
export function measureInflater(encoding: BodyEncoding, body: Buffer): number {
  return measureState(encoding, body) + INFLATE_CHUNK_SIZE;
}

function measureState(encoding: BodyEncoding, body: Buffer): number {
  switch (encoding) {
    case 'gzip':
    case 'deflate':
      return DEFLATE_STATE_BYTES;
    case 'br':
      return 2 ** brotliWindowBits(body[0] ?? 0);
    case 'zstd':
      return ZSTD_STATE_BYTES;
    case 'snappy':
      // It refers back to its own output.
      return 0;
    default:
      return unreachable(encoding);
  }
}

/** WBITS of RFC 7932, §9.1: the window has 2^WBITS - 16 bytes. Brotli's first bits give it. */
function brotliWindowBits(firstByte: number): number {
  if ((firstByte & 1) === 0) return 16;
  const long = (firstByte >> 1) & 7;
  if (long !== 0) return 17 + long;
  const short = (firstByte >> 4) & 7;
  // 1 denotes large windows, another format, which is refused.
  return short === 0 ? 17 : 8 + short;
}
