import { carvedInt32 } from '../column/carved-arrays.ts';
import { packUuid, UUID_BYTES } from '../column/packed-digits.ts';
import { quickHashOfBytes, randomHashKey } from '../column/string-hash.ts';
import type { SqlType } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import type { Dictionary, DictionaryVector, Vector } from '../column/vector.ts';
import { valueAt } from '../column/vector.ts';
import { encodeWtf8 } from '../column/wtf8.ts';
import { hashOfValue } from './value-hash.ts';

/** One of `count` parts of something, by its number from zero. */
type Part = { readonly index: number; readonly count: number };

/** Rows of a chunk: the first `count` of `positions`. */
export type SelectedRows = {
  readonly positions: Int32Array;
  readonly count: number;
  /** Whether their values are of another dictionary than those before. */
  readonly isOfOther: boolean;
};

/** The part that NULL is in. */
const NULL_PART = 0;

const UNKNOWN = 0;
const INSIDE = 1;
const OUTSIDE = 2;

/**
 * One part of all values of a type. Each value is in one part: values that are equal as keys of groups are in the same,
 * whatever their form. Which one it is differs from thread to thread.
 */
export class ValuePart {
  readonly #type: SqlType;
  readonly #part: Part;
  /** The last that was met: what is known of its codes must not grow with the number of dictionaries. */
  #dictionary: Dictionary | undefined;
  /** UNKNOWN, INSIDE or OUTSIDE for each code of it. */
  #codes = new Uint8Array(0);

  constructor(type: SqlType, part: Part) {
    this.#type = type;
    this.#part = part;
  }

  /** The rows whose value is in this part. */
  select(vector: Vector, count: number): SelectedRows {
    return vector.kind === 'dictionary'
      ? this.#selectCodes(vector, count)
      : this.#selectValues(vector, count);
  }

  /** Releases the dictionary that was met last. */
  forgetDictionary(): void {
    this.#dictionary = undefined;
  }

  #selectCodes({ codes, dictionary }: DictionaryVector, count: number): SelectedRows {
    const isOfOther = this.#dictionary !== dictionary;
    if (isOfOther) {
      this.#dictionary = dictionary;
      this.#codes = new Uint8Array(dictionary.size);
    }
    const known = this.#codes;
    const nulls = this.#has(null) ? INSIDE : OUTSIDE;
    const positions = carvedInt32(count);
    let kept = 0;
    for (let row = 0; row < count; row++) {
      const code = codes[row]!;
      let where = code < 0 ? nulls : known[code]!;
      if (where === UNKNOWN) {
        where = this.#hasCode(dictionary, code) ? INSIDE : OUTSIDE;
        known[code] = where;
      }
      positions[kept] = row;
      kept += Number(where === INSIDE);
    }
    return { positions, count: kept, isOfOther };
  }

  #selectValues(vector: Vector, count: number): SelectedRows {
    const positions = carvedInt32(count);
    let kept = 0;
    for (let row = 0; row < count; row++) {
      positions[kept] = row;
      kept += Number(this.#has(valueAt(vector, row)));
    }
    return { positions, count: kept, isOfOther: false };
  }

  #hasCode(dictionary: Dictionary, code: number): boolean {
    const { strings, uuids, split } = dictionary;
    if (uuids !== undefined) return this.#hasUuid(uuids, code * UUID_BYTES);
    if (strings !== undefined) {
      return this.#hasString(strings.bytes, strings.offsets[code]!, strings.offsets[code + 1]!);
    }
    if (split === undefined) return this.#has(dictionary.value(code));
    const { bytes, start, end } = split.range(code);
    return this.#hasString(bytes, start, end);
  }

  #hasString(bytes: Uint8Array, start: number, end: number): boolean {
    return packUuid(bytes, start, end, packedUuid)
      ? this.#hasUuid(packedUuid, 0)
      : this.#hasHash(quickHashOfBytes(bytes, start, end, KEY) >>> 0);
  }

  #hasUuid(bytes: Uint8Array, start: number): boolean {
    return this.#hasHash(quickHashOfBytes(bytes, start, start + UUID_BYTES, KEY) >>> 0);
  }

  #has(value: SqlValue): boolean {
    if (value === null) return this.#part.index === NULL_PART;
    if (typeof value === 'string') {
      const bytes = encodeWtf8(value);
      return this.#hasString(bytes, 0, bytes.length);
    }
    // FLOAT64 keeps doubles only (`KeyColumn`).
    const isWide = typeof value === 'bigint' && this.#type.kind === 'FLOAT64';
    return this.#hasHash(hashOfValue(isWide ? Number(value) : value));
  }

  #hasHash(hash: number): boolean {
    return hash % this.#part.count === this.#part.index;
  }
}

/** Nobody can send values that are all in one part. */
const KEY = randomHashKey();

/** One UUID, packed: dictionaries may have UUIDs as such or as texts. */
const packedUuid = new Uint8Array(UUID_BYTES);
