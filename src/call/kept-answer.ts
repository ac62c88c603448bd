import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { must } from '../../engine/assert.ts';
import { COMPRESSED_BYTES_MIN } from '../limits.ts';
import { type AnswerFormat, JSON_FORMAT } from './answer-format.ts';
import { rewriteAll } from './rows-rewriter.ts';

const ENCODINGS = ['br', 'gzip', 'identity'] as const;

/** A content coding, by its name in HTTP. */
export type Encoding = (typeof ENCODINGS)[number];

/** A whole body as it leaves. The bytes are shared by all who are answered with them. */
export type BodyForm = {
  readonly bytes: Buffer;
  readonly encoding: Encoding;
  /** A strong entity tag, quotes included: another one for each format and encoding. */
  readonly etag: string;
};

/** What stands before and after the rows of an answer, a JSON array, in its body. */
export const RESULT_START = Buffer.from('{"result":');
export const RESULT_END = Buffer.from('}');

/** What an answer is, apart from its rows. */
export type AnswerNames = {
  /** Tells answers of different bytes apart. */
  readonly digest: string;
  /** Names of the columns, in their order: an answer without rows has them, too. */
  readonly columns: readonly string[];
  /** Its rows, where `max_rows` cut off others. */
  readonly truncatedTo?: number | undefined;
};

/**
 * The body of an answer that several callers get, kept as one run of bytes, and put into other
 * formats and compressed when that is first asked for. Its bytes never change.
 */
export class KeptAnswer {
  readonly digest: string;
  readonly truncatedTo: number | undefined;
  /** As JSON. */
  readonly identity: BodyForm;
  readonly #columns: readonly string[];
  /** Forms that are made or being made, by their tags. */
  readonly #forms = new Map<string, BodyForm | Promise<BodyForm>>();
  #byteSize: number;
  #onGrown: () => void = () => {};

  /** Copies `json`, rows that may be on loan. */
  constructor(json: Uint8Array, { digest, columns, truncatedTo }: AnswerNames) {
    const size = RESULT_START.length + json.length + RESULT_END.length;
    // Not of the pool that small buffers share: a kept slice would keep the whole of it.
    const bytes = Buffer.allocUnsafeSlow(size);
    RESULT_START.copy(bytes);
    bytes.set(json, RESULT_START.length);
    RESULT_END.copy(bytes, size - RESULT_END.length);
    this.digest = digest;
    this.truncatedTo = truncatedTo;
    this.#columns = columns;
    this.identity = {
      bytes,
      encoding: 'identity',
      etag: formatEtag(digest, JSON_FORMAT, 'identity'),
    };
    this.#byteSize = size;
  }

  /** Bytes of the body in all the forms made so far. */
  get byteSize(): number {
    return this.#byteSize;
  }

  /** Calls `listener`, and no other any more, whenever `byteSize` has grown. */
  whenGrown(listener: () => void): void {
    this.#onGrown = listener;
  }

  /** The body in a format as it is. All who ask while it is being made wait for the same work. */
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

  /** The body in a format and an encoding, or plain where that makes it no shorter. */
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
      // A failure is told to those who wait, and the next one tries again.
      () => this.#forms.delete(etag),
    );
    return making;
  }

  #grow(byteSize: number): void {
    this.#byteSize += byteSize;
    this.#onGrown();
  }
}

/** Whether the encoding a caller prefers decides on the bytes it gets. */
export function isCompressible({ bytes }: BodyForm): boolean {
  return bytes.length >= COMPRESSED_BYTES_MIN;
}

/** The entity tag of rows in a form. A digest has no character that a tag may not have. */
export function formatEtag(digest: string, format: AnswerFormat, encoding: Encoding): string {
  const formatPart = format === JSON_FORMAT ? '' : `-${format.name}`;
  const encodingPart = encoding === 'identity' ? '' : `-${encoding}`;
  return `"${digest}${formatPart}${encodingPart}"`;
}

/** The same bytes in memory of exactly their size. */
function own(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

const gzipAsync = promisify(gzip);
const brotliAsync = promisify(brotliCompress);

/**
 * Brotli's own default, 11, takes a hundred times as long as 5 for a few percent; an answer is
 * compressed once for each of its renewals, not once for ever.
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
