import { carvedFloat64, carvedUint8, NO_FLOAT64, NO_UINT8 } from '../column/arrays.ts';
import { ObjectCache } from '../column/caches.ts';
import type { SqlValue } from '../column/value.ts';
import {
  type Dictionary,
  type DictionaryVector,
  type NumberVector,
  numberVector,
  type Vector,
} from '../column/vector.ts';

/** Values of one dictionary by code, each read once, when first needed. */
type CodeValues = {
  readonly dictionary: Dictionary;
  /** UNREAD, NUMBER or OTHER per code. */
  readonly kinds: Uint8Array;
  /** The values of NUMBER codes. */
  readonly numbers: Float64Array;
  /** The values of OTHER codes. */
  readonly others: SqlValue[];
};

const UNREAD = 0;
const NUMBER = 1;
const OTHER = 2;

export function codeValue(values: CodeValues, code: number): SqlValue {
  const kind = values.kinds[code] === UNREAD ? readCode(values, code) : values.kinds[code];
  return kind === NUMBER ? values.numbers[code]! : values.others[code]!;
}

function readCode(values: CodeValues, code: number): number {
  const value = values.dictionary.value(code);
  if (typeof value === 'number') {
    values.numbers[code] = value;
    values.kinds[code] = NUMBER;
    return NUMBER;
  }
  values.others[code] = value;
  values.kinds[code] = OTHER;
  return OTHER;
}

/**
 * Gives the values of a vector as doubles, where they are nothing but doubles and NULLs, so that
 * one loop serves all forms of vectors. One reader for one argument of one aggregate.
 */
export class NumberReader {
  readonly #codes = new ObjectCache<Dictionary, CodeValues>((dictionary) => ({
    dictionary,
    kinds: new Uint8Array(dictionary.size),
    numbers: new Float64Array(dictionary.size),
    others: [],
  }));
  #values: Float64Array<ArrayBuffer> = NO_FLOAT64;
  #nulls: Uint8Array<ArrayBuffer> = NO_UINT8;

  /** `undefined` when other values are met. The vector is good until the next call. */
  read(vector: Vector, count: number): NumberVector | undefined {
    switch (vector.kind) {
      case 'number':
        return vector;
      case 'dictionary':
        return this.#gather(vector, count);
      case 'constant':
        if (typeof vector.value !== 'number') return undefined;
        this.#reserve(count);
        return numberVector(this.#values.fill(vector.value, 0, count), count);
      case 'boolean':
      case 'nested':
      case 'value':
        return undefined;
    }
  }

  codeValues(dictionary: Dictionary): CodeValues {
    return this.#codes.get(dictionary);
  }

  #gather(vector: DictionaryVector, count: number): NumberVector | undefined {
    this.#reserve(count);
    const known = this.#codes.get(vector.dictionary);
    const { codes } = vector;
    const { kinds, numbers } = known;
    const values = this.#values;
    const nulls = this.#nulls;
    let nullCount = 0;
    for (let row = 0; row < count; row++) {
      const code = codes[row]!;
      if (code < 0) {
        nulls[row] = 1;
        nullCount++;
        continue;
      }
      nulls[row] = 0;
      if (kinds[code] !== NUMBER && (kinds[code] === OTHER || readCode(known, code) === OTHER)) {
        return undefined;
      }
      values[row] = numbers[code]!;
    }
    return numberVector(values, count, nullCount === 0 ? undefined : nulls);
  }

  #reserve(count: number): void {
    if (this.#values.length >= count) return;
    this.#values = carvedFloat64(count);
    this.#nulls = carvedUint8(count);
  }
}
