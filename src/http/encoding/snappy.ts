import { Slices, yieldToEventLoop } from '../../../ingest/event-loop.ts';
import { DECODE_SLICE_BYTES } from '../../../ingest/limits.ts';
import { crc32c } from './crc32c.ts';

/** The first chunk of the framing format (Snappy, "framing_format.txt", §4.1). */
const STREAM_START = Buffer.from([0xff, 6, 0, 0, ...Buffer.from('sNaPpY')]);

/** Types of chunks (§4). Those from 0x80 on may be skipped; the others may not. */
const COMPRESSED = 0x00;
const UNCOMPRESSED = 0x01;
const STREAM_IDENTIFIER = 0xff;
const SKIPPABLE_MIN = 0x80;

/** A byte for the type and three for the length. */
const CHUNK_HEADER_SIZE = 4;
const CHECKSUM_SIZE = 4;
/** Bytes of a chunk before compression, at most (§4.2). */
const CHUNK_BYTES_MAX = 65_536;

/** Bytes of a length of 32 bits in groups of seven, at most. */
const LENGTH_SIZE_MAX = 5;

/** The low bits of an element's first byte (Snappy, "format_description.txt", §2). */
const LITERAL = 0;
const COPY_1 = 1;
const COPY_2 = 2;

/** Literals longer than this have their length behind the first byte. */
const SHORT_LITERAL_MAX = 60;

/**
 * Decompresses a body of Snappy, a block or frames: frames begin with an identifier that a block of a message never has.
 * `admit` gets the size of the whole before there is memory for it, and throws to stop. Works in slices.
 *
 * @throws Error that says what is wrong with the body.
 */
export async function inflateSnappy(
  body: Buffer,
  admit: (size: number) => void,
): Promise<readonly Buffer[]> {
  const isFramed = body.subarray(0, STREAM_START.length).equals(STREAM_START);
  const size = isFramed ? await measureFrames(body) : readLength(body).value;
  admit(size);
  const out = Buffer.allocUnsafe(size);
  if (isFramed) await inflateFrames(body, out);
  else await inflateBlock(body, out);
  return [out];
}

type Chunk = { readonly type: number; readonly data: Buffer; readonly end: number };

function chunkAt(body: Buffer, start: number): Chunk {
  const dataStart = start + CHUNK_HEADER_SIZE;
  mustHave(body, dataStart);
  const end = dataStart + body.readUIntLE(start + 1, 3);
  mustHave(body, end);
  return { type: body[start]!, data: body.subarray(dataStart, end), end };
}

/** Whether a chunk has a part of the body. */
function hasData({ type, data }: Chunk): boolean {
  if (type === COMPRESSED || type === UNCOMPRESSED) {
    mustHave(data, CHECKSUM_SIZE);
    return true;
  }
  if (type < SKIPPABLE_MIN) throw new Error(`a chunk has the unknown type ${type}`);
  if (type === STREAM_IDENTIFIER && !data.equals(STREAM_START.subarray(CHUNK_HEADER_SIZE))) {
    throw new Error('a stream identifier is not that of Snappy');
  }
  return false;
}

/** Bytes of a chunk with data, before compression. */
function measureChunk({ type, data }: Chunk): number {
  const content = data.subarray(CHECKSUM_SIZE);
  const size = type === COMPRESSED ? readLength(content).value : content.length;
  if (size > CHUNK_BYTES_MAX) {
    throw new Error(`a chunk may have ${CHUNK_BYTES_MAX} bytes; one has ${size}`);
  }
  return size;
}

async function measureFrames(body: Buffer): Promise<number> {
  const slices = new Slices(DECODE_SLICE_BYTES);
  let size = 0;
  for (let at = 0; at < body.length; ) {
    const chunk = chunkAt(body, at);
    if (hasData(chunk)) size += measureChunk(chunk);
    at = chunk.end;
    if (slices.isOver(at)) await yieldToEventLoop();
  }
  return size;
}

async function inflateFrames(body: Buffer, out: Buffer): Promise<void> {
  const slices = new Slices(DECODE_SLICE_BYTES);
  let size = 0;
  for (let at = 0; at < body.length; ) {
    const chunk = chunkAt(body, at);
    at = chunk.end;
    if (slices.isOver(at + size)) await yieldToEventLoop();
    if (!hasData(chunk)) continue;
    const part = out.subarray(size, size + measureChunk(chunk));
    const content = chunk.data.subarray(CHECKSUM_SIZE);
    if (chunk.type === UNCOMPRESSED) content.copy(part);
    else await inflateBlock(content, part);
    if (masked(crc32c(part)) !== chunk.data.readUInt32LE(0)) {
      throw new Error('the checksum of a chunk does not match');
    }
    size += part.length;
  }
}

/** A checksum as it is stored: a checksum over data with checksums would be weak else (§3). */
function masked(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

/** The length of a block before compression, and where its elements begin (§1). */
function readLength(block: Buffer): { readonly value: number; readonly end: number } {
  let value = 0;
  for (let at = 0; at < LENGTH_SIZE_MAX; at++) {
    mustHave(block, at + 1);
    const byte = block[at]!;
    value += (byte & 0x7f) * 2 ** (7 * at);
    if (byte < 0x80) return { value, end: at + 1 };
  }
  throw new Error('its length has more than 32 bits');
}

/** Decompresses a block into `out`, which has its length. */
async function inflateBlock(block: Buffer, out: Buffer): Promise<void> {
  const slices = new Slices(DECODE_SLICE_BYTES);
  let at = readLength(block).end;
  let size = 0;
  while (at < block.length) {
    const tag = block[at]!;
    if ((tag & 3) === LITERAL) {
      const literal = literalAt(block, at);
      mustFit(out, size + literal.length);
      mustHave(block, literal.start + literal.length);
      at = literal.start + literal.length;
      block.copy(out, size, literal.start, at);
      size += literal.length;
    } else {
      const copy = copyAt(block, at);
      mustFit(out, size + copy.length);
      if (copy.offset === 0 || copy.offset > size) {
        throw new Error(`a copy begins ${copy.offset} bytes before byte ${size}`);
      }
      // Byte by byte: a copy may go on in what it has written.
      const end = size + copy.length;
      for (; size < end; size++) out[size] = out[size - copy.offset]!;
      at = copy.end;
    }
    if (slices.isOver(size)) await yieldToEventLoop();
  }
  if (size < out.length) throw new Error(`it ends after ${size} of ${out.length} bytes`);
}

function literalAt(block: Buffer, at: number): { readonly start: number; readonly length: number } {
  const code = block[at]! >> 2;
  const lengthSize = code - SHORT_LITERAL_MAX + 1;
  if (lengthSize <= 0) return { start: at + 1, length: code + 1 };
  mustHave(block, at + 1 + lengthSize);
  return { start: at + 1 + lengthSize, length: block.readUIntLE(at + 1, lengthSize) + 1 };
}

function copyAt(
  block: Buffer,
  at: number,
): { readonly length: number; readonly offset: number; readonly end: number } {
  const tag = block[at]!;
  const kind = tag & 3;
  if (kind === COPY_1) {
    mustHave(block, at + 2);
    return {
      length: ((tag >> 2) & 7) + 4,
      offset: ((tag >> 5) << 8) + block[at + 1]!,
      end: at + 2,
    };
  }
  const offsetSize = kind === COPY_2 ? 2 : 4;
  const end = at + 1 + offsetSize;
  mustHave(block, end);
  return { length: (tag >> 2) + 1, offset: block.readUIntLE(at + 1, offsetSize), end };
}

function mustHave(bytes: Buffer, size: number): void {
  if (size > bytes.length) throw new Error('it ends too soon');
}

function mustFit(out: Buffer, size: number): void {
  if (size > out.length) throw new Error(`it has more than the ${out.length} bytes that it names`);
}
