import {
  brotliDecompressSync,
  constants,
  createBrotliDecompress,
  createInflateRaw,
  inflateRawSync,
} from 'node:zlib';

/** What zlib insists on. */
const CHUNK_SIZE_MIN = 64;

/**
 * What a stream of `node:zlib` decompresses with, in the thread that calls. Node does not document it, and has had it
 * since version 11; `minizlib`, with which npm unpacks packages, uses it, too.
 */
type NativeDecoder = {
  readonly reset: () => void;
  readonly writeSync: (
    ...of: [
      flush: number,
      input: Uint8Array,
      inputStart: number,
      inputSize: number,
      output: Uint8Array,
      outputStart: number,
      outputSize: number,
    ]
  ) => void;
};

/** A stream, with its decoder where this Node has one. */
type DecoderStream = {
  readonly destroyed: boolean;
  readonly on: (event: 'error', listener: () => void) => unknown;
  readonly _handle?: Partial<NativeDecoder> | null;
  /** Its first number: bytes of the output that the last call has left. */
  readonly _writeState?: Uint32Array;
};

/**
 * Decompresses small blocks one after another. `brotliDecompressSync` and `inflateRawSync` make a stream for each, which
 * takes several times as long as to decompress a few kilobytes: here one is kept.
 */
class KeptDecoder {
  readonly #open: () => object;
  readonly #finish: number;
  #stream: DecoderStream | undefined;

  /** `finish`: says that all of the input is there. */
  constructor(open: () => object, finish: number) {
    this.#open = open;
    this.#finish = finish;
  }

  /**
   * Decompresses as much as the output has room for; how many bytes that is. `undefined` where the bytes are damaged, and
   * where this Node has no such decoder: `node:zlib` then says which.
   */
  decode(packed: Uint8Array, output: Uint8Array): number | undefined {
    this.#stream ??= this.#newStream();
    const { _handle: decoder, _writeState: left } = this.#stream;
    if (!decoder?.reset || !decoder.writeSync || left === undefined) return undefined;
    decoder.reset();
    decoder.writeSync(this.#finish, packed, 0, packed.length, output, 0, output.length);
    if (!this.#stream.destroyed) return output.length - left[0]!;
    this.#stream = undefined;
    return undefined;
  }

  #newStream(): DecoderStream {
    const stream = this.#open() as DecoderStream;
    // One that fails says so once more, later, to whoever listens; nobody would end the process.
    stream.on('error', () => {});
    return stream;
  }
}

const brotli = new KeptDecoder(createBrotliDecompress, constants.BROTLI_OPERATION_FINISH);
const deflate = new KeptDecoder(createInflateRaw, constants.Z_FINISH);

/**
 * Decompresses what has `size` bytes (RFC 7932), into the beginning of `room` as a rule. That has more than `size` bytes: one
 * more tells whether more would come out.
 *
 * @throws Error of Node when the bytes are damaged, or when more come out; where fewer do, these are given.
 */
export function decodeBrotli(packed: Uint8Array, size: number, room: Uint8Array): Uint8Array {
  if (brotli.decode(packed, room.subarray(0, size + 1)) === size) return room.subarray(0, size);
  // In one piece: many small ones, put together, leave much memory in pieces that are not given back.
  const chunkSize = Math.max(size, CHUNK_SIZE_MIN);
  return plainOf(brotliDecompressSync(packed, { chunkSize, maxOutputLength: size }));
}

/** Decompresses the first `size` bytes (RFC 1951), into the beginning of `room` as a rule. Throws an Error of Node when the bytes are damaged. */
export function decodeDeflate(
  packed: Uint8Array,
  size: number,
  room = new Uint8Array(size),
): Uint8Array {
  const bytes = room.subarray(0, size);
  if (deflate.decode(packed, bytes) === size) return bytes;
  const chunkSize = Math.max(size + 1, CHUNK_SIZE_MIN);
  return plainOf(inflateRawSync(packed, { chunkSize })).subarray(0, size);
}

/** `slice` of a Buffer copies nothing. */
function plainOf({ buffer, byteOffset, byteLength }: Buffer): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
