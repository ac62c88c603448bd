import { assert, must } from '../assert.ts';
import { packUuid, UUID_BYTES } from '../column/packed-digits.ts';
import { type HashKey, keyedHash } from '../column/string-hash.ts';
import { encodeWtf8 } from '../column/wtf8.ts';
import { dynamicKey } from '../function/dynamic.ts';
import {
  formOf,
  NUMBER_FORM,
  PATTERN_FORM,
  type PlacedValues,
  placeOf,
  TEXT_FORM,
  UUID_FORM,
} from './distinct-values.ts';
import { grownUint8, NO_UINT8 } from './growth.ts';
import { fromPortable } from './portable-value.ts';
import { bytesOfKey } from './text-patterns.ts';

/** The first byte says what the others are. */
const NUMBER = 0;
const TEXT = 1;
const UUID = 2;
/** The text of `dynamicKey`. */
const OTHER = 3;

/** The key of NULL, and the first character of that of an integer that no double holds (`dynamicKey`). */
const NULL_KEY = dynamicKey(null);
const INTEGER_MARK = 'n';

const NUMBER_SIZE = 1 + Float64Array.BYTES_PER_ELEMENT;

/**
 * One distinct value at a time as bytes, which only equal values of one column share: in whatever form its table has it.
 *
 * ```
 * ┌──────┬──────────────────────────────────────────────┐
 * │ kind │ double, little-endian; text; packed UUID; key│
 * └──────┴──────────────────────────────────────────────┘
 * ```
 */
export class KeyBytes {
  #bytes: Uint8Array<ArrayBuffer> = NO_UINT8;
  #view = new DataView(NO_UINT8.buffer);
  #size = 0;

  /** Those of the value that was written last are `bytes[0, size)`. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  get size(): number {
    return this.#size;
  }

  /** Writes the value that `ref` is of, in place of the one before. */
  write(values: PlacedValues, ref: number): void {
    const place = placeOf(ref);
    switch (formOf(ref)) {
      case NUMBER_FORM:
        this.#writeNumber(must(values.numbers)[place]!);
        return;
      case TEXT_FORM: {
        const { bytes, offsets } = must(values.texts);
        this.#writeText(bytes, offsets[place]!, offsets[place + 1]!);
        return;
      }
      case PATTERN_FORM: {
        const { patterns, keys } = must(values.patterned);
        const { bytes, size } = bytesOfKey(patterns, keys[place]!);
        this.#writeText(bytes, 0, size);
        return;
      }
      case UUID_FORM: {
        const start = place * UUID_BYTES;
        this.#writeBytes(UUID, must(values.uuids), start, start + UUID_BYTES);
        return;
      }
      default: {
        const bytes = encodeWtf8(dynamicKey(fromPortable(must(values.others)[place]!)));
        this.#writeBytes(OTHER, bytes, 0, bytes.length);
      }
    }
  }

  hash(key: HashKey): number {
    return keyedHash(this.#view, 0, this.#size, key);
  }

  /** A text may be a UUID that its table has not packed. */
  #writeText(bytes: Uint8Array, start: number, end: number): void {
    if (packUuid(bytes, start, end, packedUuid)) this.#writeBytes(UUID, packedUuid, 0, UUID_BYTES);
    else this.#writeBytes(TEXT, bytes, start, end);
  }

  #writeNumber(value: number): void {
    this.#begin(NUMBER, NUMBER_SIZE);
    // A NaN may have any payload, and 0 a sign.
    this.#view.setFloat64(1, Number.isNaN(value) ? Number.NaN : value + 0, true);
  }

  #writeBytes(kind: number, bytes: Uint8Array, start: number, end: number): void {
    this.#begin(kind, 1 + end - start);
    const own = this.#bytes;
    for (let at = start, to = 1; at < end; at++, to++) own[to] = bytes[at]!;
  }

  #begin(kind: number, size: number): void {
    const bytes = grownUint8(this.#bytes, size);
    if (bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    this.#size = size;
    bytes[0] = kind;
  }
}

/** The number, or NULL, whose bytes are `bytes[start, end)`. */
export function numberOfKey(bytes: Uint8Array, start: number, end: number): number | bigint | null {
  if (bytes[start] === NUMBER) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return view.getFloat64(start + 1, true);
  }
  const text = Buffer.from(bytes.subarray(start + 1, end)).toString('latin1');
  if (bytes[start] === OTHER && text === NULL_KEY) return null;
  assert(bytes[start] === OTHER && text.startsWith(INTEGER_MARK), 'the value is a number');
  return BigInt(text.slice(INTEGER_MARK.length));
}

const packedUuid = new Uint8Array(UUID_BYTES);
