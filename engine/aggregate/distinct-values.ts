import { assert, must } from '../assert.ts';
import { grownUint8, NO_UINT8 } from '../column/arrays.ts';
import { JsonNested, nestedText } from '../column/json-nested.ts';
import { UUID_BYTES, UUID_LENGTH, unpackUuid } from '../column/number-vectors.ts';
import type { ByteRange } from '../column/skeleton.ts';
import { type HashKey, keyedHash } from '../column/string-table.ts';
import { type Interval, isInterval, isNested, type SqlValue } from '../column/value.ts';
import { decodeWtf8, encodeWtf8 } from '../column/wtf8.ts';
import { dynamicKey } from '../function/dynamic.ts';
import { type PagedTexts, rangeOfText } from './byte-index.ts';

/**
 * The distinct values of one column, fit for `postMessage`. `refs[i]` says where value `i` is: its place
 * among those of its form, and the form (`refTo`).
 */
export type DistinctValues = PlacedValues & { readonly refs: Int32Array };

/** Distinct values by their forms, each absent where there is none: most partial states are small. */
export type PlacedValues = {
  readonly numbers?: Float64Array | undefined;
  /** Strings, but for those among `uuids`. */
  readonly texts?: PagedTexts | undefined;
  /** Strings that are UUIDs in their canonical form: 16 bytes each. */
  readonly uuids?: Uint8Array | undefined;
  readonly others?: readonly OtherKey[] | undefined;
};

export type OtherKey = Exclude<PortableValue, number | string>;

export const NUMBER_FORM = 0;
export const TEXT_FORM = 1;
export const UUID_FORM = 2;
export const OTHER_FORM = 3;

const FORM_BITS = 2;
const FORM_COUNT = 2 ** FORM_BITS;

/** Values of one form: a place and its form are one integer of 32 bits, with a sign. */
export const PLACES_MAX = 2 ** (31 - FORM_BITS);

export function refTo(form: number, place: number): number {
  return place * FORM_COUNT + form;
}

export function formOf(ref: number): number {
  return ref & (FORM_COUNT - 1);
}

export function placeOf(ref: number): number {
  return ref >> FORM_BITS;
}

/** The value that `ref` is of. */
export function distinctValue(values: PlacedValues, ref: number): SqlValue {
  const place = placeOf(ref);
  switch (formOf(ref)) {
    case NUMBER_FORM:
      return must(values.numbers)[place]!;
    case OTHER_FORM:
      return fromPortable(must(values.others)[place]!);
    default: {
      const { bytes, start, end } = bytesOfText(values, ref);
      return decodeWtf8(bytes, start, end);
    }
  }
}

/** The bytes of the string that `ref` is of: good until the next call. */
export function bytesOfText(values: PlacedValues, ref: number): ByteRange {
  const place = placeOf(ref);
  switch (formOf(ref)) {
    case TEXT_FORM:
      return rangeOfText(must(values.texts), place);
    default:
      assert(formOf(ref) === UUID_FORM, 'the value is a string');
      unpackUuid(must(values.uuids), place * UUID_BYTES, uuidText, 0);
      return { bytes: uuidText, start: 0, end: UUID_LENGTH };
  }
}

/** One UUID as it is written. */
const uuidText = Buffer.alloc(UUID_LENGTH);

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
        const { bytes, start, end } = bytesOfText(values, ref);
        this.#writeBytes(TEXT, bytes, start, end);
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

/** A value fit for `postMessage`: a record or a list of an event is its JSON. */
export type PortableValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Interval
  | { readonly json: string }
  | readonly PortableValue[];

export function toPortable(value: SqlValue): PortableValue {
  if (typeof value !== 'object' || value === null || isInterval(value)) return value;
  return isNested(value) ? { json: nestedText(value) } : value.map(toPortable);
}

export function fromPortable(value: PortableValue): SqlValue {
  if (typeof value !== 'object' || value === null) return value;
  if ('json' in value) {
    const bytes = new TextEncoder().encode(value.json);
    return new JsonNested(bytes, 0, bytes.length);
  }
  return 'months' in value ? value : value.map(fromPortable);
}
