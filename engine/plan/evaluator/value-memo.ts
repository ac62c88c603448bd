import type { SqlValue } from '../../column/value.ts';
import type { Dictionary, DictionaryVector, Vector } from '../../column/vector.ts';
import { dictionaryVector } from '../../column/vector.ts';
import { QueryError } from '../../query-error.ts';

const UNSET = 0;
const NULL = -1;
const ERROR = -2;

/**
 * What a function makes of each entry of one dictionary, computed when a live row first carries
 * it. It is itself a dictionary, with the codes of the one below; NULL, when the function makes a
 * value of it, has the code after all others.
 *
 * `#places[code]` is UNSET, NULL, ERROR, or the place of the value in `#values`, from 1.
 */
export class ValueMemo implements Dictionary {
  readonly size: number;
  /** Two entries may well become one value. */
  readonly isDistinct = false;
  readonly #places: Int32Array;
  readonly #values: SqlValue[] = [];
  readonly #errors = new Map<number, QueryError>();
  readonly #evaluate: (code: number) => SqlValue;

  /** `evaluate` is given a code, -1 for NULL, and may throw a QueryError. */
  constructor(dictionarySize: number, evaluate: (code: number) => SqlValue) {
    this.size = dictionarySize + 1;
    this.#places = new Int32Array(this.size);
    this.#evaluate = evaluate;
  }

  value(code: number): SqlValue {
    const place = this.#places[code]!;
    return place > 0 ? this.#values[place - 1]! : null;
  }

  /** The value of each entry; throws the error of the first that has one. */
  apply({ codes, count }: DictionaryVector): Vector {
    const places = this.#places;
    const nullCode = this.size - 1;
    let changed: Int32Array | undefined;
    for (let i = 0; i < count; i++) {
      const code = codes[i]! < 0 ? nullCode : codes[i]!;
      let place = places[code]!;
      if (place === UNSET) place = this.#compute(code);
      if (place === ERROR) throw this.#errors.get(code)!;
      const result = place === NULL ? -1 : code;
      if (result !== codes[i]) {
        changed ??= codes.slice(0, count);
        changed[i] = result;
      }
    }
    return dictionaryVector(changed ?? codes, count, this);
  }

  #compute(code: number): number {
    let place: number;
    try {
      const value = this.#evaluate(code === this.size - 1 ? -1 : code);
      place = value === null ? NULL : this.#values.push(value);
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      this.#errors.set(code, error);
      place = ERROR;
    }
    this.#places[code] = place;
    return place;
  }
}
