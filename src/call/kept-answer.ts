import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { must } from '../../engine/assert.ts';
import { COMPRESSED_BYTES_MIN } from '../limits.ts';

export const ENCODINGS = ['br', 'gzip', 'identity'] as const;

/** A content coding, by its name in HTTP. */
export type Encoding = (typeof ENCODINGS)[number];

/** A whole body as it leaves. The bytes are shared by all who are answered with them. */
export type BodyForm = {
  readonly bytes: Buffer;
  readonly encoding: Encoding;
  /** A strong entity tag, quotes included: another one for each encoding. */
  readonly etag: string;
};

/** What stands before and after the rows of an answer, a JSON array, in its body. */
export const RESULT_START = Buffer.from('{"result":');
export const RESULT_END = Buffer.from('}');

/**
 * The body of an answer that several callers get, kept as one run of bytes, and compressed when
 * that is first asked for. Its bytes never change.
 */
export class KeptAnswer {
  /** Tells answers of different bytes apart. */
  readonly digest: string;
  readonly identity: BodyForm;
  /** Forms that are made or being made, by encoding. */
  readonly #forms = new Map<Encoding, BodyForm | Promise<BodyForm>>();
  #byteSize: number;
  #onGrown: () => void = () => {};

  /** Copies `json`, rows that may be on loan. */
  constructor(json: Uint8Array, digest: string) {
    const size = RESULT_START.length + json.length + RESULT_END.length;
    // Not of the pool that small buffers share: a kept slice would keep the whole of it.
    const bytes = Buffer.allocUnsafeSlow(size);
    RESULT_START.copy(bytes);
    bytes.set(json, RESULT_START.length);
    RESULT_END.copy(bytes, size - RESULT_END.length);
    this.digest = digest;
    this.identity = { bytes, encoding: 'identity', etag: etagOf(digest, 'identity') };
    this.#byteSize = size;
  }

  /** Bytes of the body in all the encodings made so far. */
  get byteSize(): number {
    return this.#byteSize;
  }

  /** Whether the encoding a caller prefers decides on the bytes it gets. */
  get isCompressible(): boolean {
    return this.identity.bytes.length >= COMPRESSED_BYTES_MIN;
  }

  /** Calls `listener`, and no other any more, whenever `byteSize` has grown. */
  whenGrown(listener: () => void): void {
    this.#onGrown = listener;
  }

  /**
   * The body in an encoding, or plain where that makes it no shorter. All who ask while it is being
   * compressed wait for the same work.
   */
  form(encoding: Encoding): BodyForm | Promise<BodyForm> {
    if (encoding === 'identity' || !this.isCompressible) return this.identity;
    const known = this.#forms.get(encoding);
    if (known !== undefined) return known;
    const making = this.#compress(encoding);
    this.#forms.set(encoding, making);
    // A failure is told to those who wait, and the next one tries again.
    making.catch(() => this.#forms.delete(encoding));
    return making;
  }

  async #compress(encoding: Encoding): Promise<BodyForm> {
    const compress = must(COMPRESSORS.get(encoding));
    const compressed = await compress(this.identity.bytes);
    const isShorter = compressed.length < this.identity.bytes.length;
    const form = isShorter
      ? { bytes: own(compressed), encoding, etag: etagOf(this.digest, encoding) }
      : this.identity;
    this.#forms.set(encoding, form);
    if (isShorter) {
      this.#byteSize += compressed.length;
      this.#onGrown();
    }
    return form;
  }
}

/** The entity tag of rows in an encoding. A digest has no character that a tag may not have. */
export function etagOf(digest: string, encoding: Encoding): string {
  return encoding === 'identity' ? `"${digest}"` : `"${digest}-${encoding}"`;
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
