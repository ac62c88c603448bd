import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw, type ZlibOptions } from 'node:zlib';
import { echo } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import {
  BODIES_BYTES_MAX,
  BODY_WIRE_BYTES_MAX,
  DISCARD_BYTES_MAX,
  LARGE_BODIES_BYTES_MAX,
  LARGE_BODY_BYTES_MIN,
} from '../limits.ts';
import { ByteGate } from './byte-gate.ts';

type Encoding = 'gzip' | 'deflate' | 'br';

/** The bytes of a body, end to end. */
export type Body = readonly Buffer[];

/** Bytes inflated at a time: each costs a trip to another thread. */
const INFLATE_CHUNK_SIZE = 128 * 1024;

/** What the option `info` makes of an answer; `bytesWritten` counts the compressed bytes it read. */
type Inflated = { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } };
type Inflate = (body: Buffer, options: ZlibOptions) => Promise<Inflated>;

// The types know the option, not what it does.
const inflateGzip = promisify(gunzip) as unknown as Inflate;
const inflateZlib = promisify(inflate) as unknown as Inflate;
const inflateDeflate = promisify(inflateRaw) as unknown as Inflate;
const inflateBrotli = promisify(brotliDecompress) as unknown as Inflate;

/** Reads bodies, all of them together within one budget of memory. */
export class BodyReader {
  readonly #heldBytesMax: number;
  #heldBytes = 0;
  readonly #largeBodies = new ByteGate(LARGE_BODIES_BYTES_MAX);

  constructor(heldBytesMax: number = BODIES_BYTES_MAX) {
    this.#heldBytesMax = heldBytesMax;
  }

  /**
   * Reads and inflates the body of a request, at most `bytesMax` bytes of it, and gives it to
   * `work`, in pieces; the body counts as held until that is done.
   *
   * @throws ServiceError when it is too large, damaged, or there is no memory for it now.
   */
  async use<T>(
    request: IncomingMessage,
    response: ServerResponse,
    bytesMax: number,
    work: (body: Body) => Promise<T>,
  ): Promise<T> {
    const encoding = encodingOf(request);
    const wireBytesMax = encoding === undefined ? bytesMax : BODY_WIRE_BYTES_MAX;
    if (Number(request.headers['content-length'] ?? 0) > wireBytesMax) throw tooLarge(bytesMax);
    if (request.headers.expect !== undefined) {
      response.writeContinue();
      // It has its answer, and the body is on its way now.
      delete request.headers.expect;
    }
    let heldBytes = 0;
    const hold = (bytes: number): void => {
      if (this.#heldBytes + bytes > this.#heldBytesMax) {
        throw new ServiceError('ingest_overloaded', 'too many bodies are being received at once');
      }
      this.#heldBytes += bytes;
      heldBytes += bytes;
    };
    try {
      const arrived = await collect(request, (wireBytes, chunkBytes) => {
        if (wireBytes > wireBytesMax) throw tooLarge(bytesMax);
        hold(chunkBytes);
      });
      if (encoding === undefined) return await this.#workOn(arrived, work);
      const body = await inflateBody(Buffer.concat(arrived), encoding, bytesMax);
      hold(body.length);
      return await this.#workOn([body], work);
    } finally {
      this.#heldBytes -= heldBytes;
    }
  }

  /** Small bodies never wait for large ones. */
  async #workOn<T>(body: Body, work: (body: Body) => Promise<T>): Promise<T> {
    const size = body.reduce((sum, piece) => sum + piece.length, 0);
    if (size < LARGE_BODY_BYTES_MIN) return await work(body);
    await this.#largeBodies.enter(size);
    try {
      return await work(body);
    } finally {
      this.#largeBodies.leave(size);
    }
  }
}

/** Whether a request brings a body, if only an empty one of unknown length. */
export function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || Number(length ?? 0) > 0;
}

/** Whether there is more of a body on its way. One that waits for a 100 is not. */
export function isBodyUnderWay(request: IncomingMessage): boolean {
  return !request.complete && !request.destroyed && request.headers.expect === undefined;
}

/**
 * Reads what is left of a refused request and throws it away; a request that sends much more is cut
 * off. `done` is called once, at the end of either.
 */
export function discardBody(request: IncomingMessage, done: () => void): void {
  let discardedBytes = 0;
  request.on('data', (chunk: Buffer) => {
    discardedBytes += chunk.length;
    if (discardedBytes > DISCARD_BYTES_MAX) request.socket.destroy();
  });
  request.once('close', done);
  request.on('error', () => {});
  request.resume();
}

function encodingOf(request: IncomingMessage): Encoding | undefined {
  const header = request.headers['content-encoding'];
  const encodings = (header ?? '')
    .toLowerCase()
    .split(',')
    .map((encoding) => encoding.trim())
    .filter((encoding) => encoding !== '' && encoding !== 'identity');
  const [encoding] = encodings;
  if (encoding === undefined) return undefined;
  if (encodings.length === 1) {
    // Another name of gzip (RFC 9110 §8.4.1.3).
    if (encoding === 'gzip' || encoding === 'x-gzip') return 'gzip';
    if (encoding === 'deflate' || encoding === 'br') return encoding;
  }
  throw new ServiceError(
    'unsupported_encoding',
    `Content-Encoding must be one of gzip, deflate, br or identity; got ${echo(header ?? '')}`,
  );
}

/** `admit` sees the bytes so far and those of each chunk, and throws to stop. */
function collect(
  request: IncomingMessage,
  admit: (wireBytes: number, chunkBytes: number) => void,
): Promise<Body> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let wireBytes = 0;
    const stop = (): void => {
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
    };
    const onData = (chunk: Buffer): void => {
      wireBytes += chunk.length;
      try {
        admit(wireBytes, chunk.length);
      } catch (error) {
        stop();
        reject(error);
        return;
      }
      chunks.push(chunk);
    };
    const onEnd = (): void => {
      stop();
      resolve(chunks);
    };
    const onClose = (): void => {
      stop();
      reject(new ServiceError('invalid_body', 'the connection ended before the body did'));
    };
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

async function inflateBody(body: Buffer, encoding: Encoding, bytesMax: number): Promise<Buffer> {
  const options = { maxOutputLength: bytesMax, chunkSize: INFLATE_CHUNK_SIZE, info: true };
  try {
    const { buffer, engine } = await inflaterOf(encoding, body)(body, options);
    // Events behind the end would be acknowledged and lost. Zeros behind gzip are usual padding.
    const restBytes = body.length - engine.bytesWritten;
    if (restBytes > 0 && encoding !== 'gzip') throw new Error(`${restBytes} bytes follow its end`);
    return buffer;
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE') {
      throw tooLarge(bytesMax);
    }
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `the body is not whole ${encoding}, as Content-Encoding says: ${reason}`;
    throw new ServiceError('invalid_body', message, { cause });
  }
}

function inflaterOf(encoding: Encoding, body: Buffer): Inflate {
  if (encoding === 'gzip') return inflateGzip;
  if (encoding === 'br') return inflateBrotli;
  return hasZlibHeader(body) ? inflateZlib : inflateDeflate;
}

/**
 * `deflate` means the zlib format (RFC 9110 §8.4.1.2), but some senders leave out its header. That
 * is two bytes: the low half of the first is 8, and both are a multiple of 31 (RFC 1950 §2.2).
 */
function hasZlibHeader(body: Buffer): boolean {
  return body.length >= 2 && (body[0]! & 15) === 8 && body.readUInt16BE(0) % 31 === 0;
}

function tooLarge(bytesMax: number): ServiceError {
  return new ServiceError(
    'body_too_large',
    `a body has at most ${bytesMax} bytes after inflation; got more`,
  );
}
