import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { must } from '../../engine/columns.ts';
import { COMPRESSED_BYTES_MIN } from '../limits.ts';
import { type AnswerFormat, JSON_FORMAT, type ResultColumn } from './answer-format.ts';
import { rewriteAll } from './rows-rewriter.ts';

const ENCODINGS = ['br', 'gzip', 'identity'] as const;

/** A content coding, by its HTTP name. */
export type Encoding = (typeof ENCODINGS)[number];

/** A whole body as sent. All answers share its bytes. */
export type BodyForm = {
  readonly bytes: Buffer;
  readonly encoding: Encoding;
  /** A strong entity tag with its quotes, different for each format and encoding. */
  readonly etag: string;
};

/** What stands before and after the rows, a JSON array, in the body of an answer. */
export const RESULT_START = Buffer.from('{"result":');
export const RESULT_END = Buffer.from('}');

/** An answer without its rows. */
export type AnswerNames = {
  /** Differs for answers of different bytes. */
  readonly digest: string;
  readonly columns: readonly ResultColumn[];
  /** The number of rows, if `max_rows` cut off others. */
  readonly truncatedTo?: number | undefined;
  /** `completeUntilUs` of its run. */
  readonly completeUntilUs?: number | undefined;
};

/**
 * The body of an answer for several callers, kept as one block of bytes. It is converted to other
 * formats and compressed at the first request for each. Its bytes never change.
 */
export class KeptAnswer {
  readonly digest: string;
  readonly truncatedTo: number | undefined;
  /** `completeUntilUs` of the last run that gave this answer. */
  completeUntilUs: number | undefined;
  /** The body as JSON, not compressed. */
  readonly identity: BodyForm;
  readonly #columns: readonly ResultColumn[];
  /** Bodies that are made or being made, by their tags. */
  readonly #forms = new Map<string, BodyForm | Promise<BodyForm>>();
  #byteSize: number;
  #onGrown: () => void = () => {};

  /** Copies `json`, whose memory may be borrowed. */
  constructor(json: Uint8Array, names: AnswerNames) {
    const { digest, columns, truncatedTo, completeUntilUs } = names;
    const size = RESULT_START.length + json.length + RESULT_END.length;
    // Not from the pool of small buffers, because a kept slice would retain the whole pool.
    const bytes = Buffer.allocUnsafeSlow(size);
    RESULT_START.copy(bytes);
    bytes.set(json, RESULT_START.length);
    RESULT_END.copy(bytes, size - RESULT_END.length);
    this.digest = digest;
    this.truncatedTo = truncatedTo;
    this.completeUntilUs = completeUntilUs;
    this.#columns = columns;
    this.identity = {
      bytes,
      encoding: 'identity',
      etag: formatEtag(digest, JSON_FORMAT, 'identity'),
    };
    this.#byteSize = size;
  }

  /** Bytes of the body in all forms made so far. */
  get byteSize(): number {
    return this.#byteSize;
  }

  /** Calls `listener` whenever `byteSize` has grown. It replaces the previous listener. */
  whenGrown(listener: () => void): void {
    this.#onGrown = listener;
  }

  /** The uncompressed body in a format. Concurrent requests share the work of making it. */
  plain(format: AnswerFormat): BodyForm | Promise<BodyForm> {
    const { rewriter } = format;
    if (rewriter === undefined) return this.identity;
    const etag = formatEtag(this.digest, format, 'identity');
    return this.#made(etag, async () => {
      const { bytes } = this.identity;
      const rows = bytes.subarray(RESULT_START.length, bytes.length - RESULT_END.length);
      const rewritten = await rewriteAll(rewriter(rows, this.#columns));
      this.#grow(rewritten.length);
      return { bytes: rewritten, encoding: 'identity', etag };
    });
  }

  /** The body in a format and an encoding; uncompressed if compression does not shorten it. */
  form(format: AnswerFormat, encoding: Encoding): BodyForm | Promise<BodyForm> {
    if (encoding === 'identity') return this.plain(format);
    const etag = formatEtag(this.digest, format, encoding);
    return this.#made(etag, async () => {
      const plain = await this.plain(format);
      if (!isCompressible(plain)) return plain;
      const compressed = await must(COMPRESSORS.get(encoding))(plain.bytes);
      if (compressed.length >= plain.bytes.length) return plain;
      this.#grow(compressed.length);
      return { bytes: own(compressed), encoding, etag };
    });
  }

  #made(etag: string, make: () => Promise<BodyForm>): BodyForm | Promise<BodyForm> {
    const known = this.#forms.get(etag);
    if (known !== undefined) return known;
    const making = make();
    this.#forms.set(etag, making);
    making.then(
      (form) => this.#forms.set(etag, form),
      // A failure goes to those that wait; the next request tries again.
      () => this.#forms.delete(etag),
    );
    return making;
  }

  #grow(byteSize: number): void {
    this.#byteSize += byteSize;
    this.#onGrown();
  }
}

/** Whether the body's form depends on the encoding that a caller prefers. */
export function isCompressible({ bytes }: BodyForm): boolean {
  return bytes.length >= COMPRESSED_BYTES_MIN;
}

/** Formats the entity tag of rows in a form. A digest has only characters that a tag may have. */
export function formatEtag(digest: string, format: AnswerFormat, encoding: Encoding): string {
  const formatPart = format === JSON_FORMAT ? '' : `-${format.name}`;
  const encodingPart = encoding === 'identity' ? '' : `-${encoding}`;
  return `"${digest}${formatPart}${encodingPart}"`;
}

/** Copies bytes into memory of exactly their size. */
function own(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

const gzipAsync = promisify(gzip);
const brotliAsync = promisify(brotliCompress);

/**
 * Brotli's default, 11, takes far longer than 5 and saves a few percent; an answer is compressed
 * once for each of its renewals.
 */
const BROTLI_QUALITY = 5;

const COMPRESSORS: ReadonlyMap<Encoding, (bytes: Buffer) => Promise<Buffer>> = new Map([
  ['gzip', (bytes: Buffer) => gzipAsync(bytes)],
  [
    'br',
    (bytes: Buffer) =>
      brotliAsync(bytes, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
          [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        },
      }),
  ],
]);
