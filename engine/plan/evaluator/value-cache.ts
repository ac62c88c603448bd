import { carvedUint8 } from '../../column/arrays.ts';
import type { SqlValue } from '../../column/value.ts';
import {
  booleanVector,
  type Dictionary,
  type DictionaryVector,
  dictionaryVector,
  type Vector,
} from '../../column/vector.ts';
import { truthOf } from '../../operator/row-wise.ts';
import { QueryError } from '../../query-error.ts';

const UNSET = 0;
const NULL = -1;
const ERROR_PLACE = -2;

/**
 * What a function makes of each entry of one dictionary, computed when a live row first carries
 * it. It is itself a dictionary, with the codes of the one below; NULL, when the function makes a
 * value of it, has the code after all others.
 *
 * `#places[code]` is UNSET, NULL, ERROR_PLACE, or the place of the value in `#values`, from 1.
 */
export class ValueCache implements Dictionary {
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
      if (place === ERROR_PLACE) throw this.#errors.get(code)!;
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
      place = ERROR_PLACE;
    }
    this.#places[code] = place;
    return place;
  }
}

/** States below it are a truth plus one: FALSE, TRUE or UNKNOWN. */
const ERROR_STATE = 4;

/**
 * States of a cache, at most, a power of two. All open segments of a source share one dictionary of up to some million
 * entries, of which a run meets a few thousand: one state for each entry would be a megabyte for each run.
 */
export const STATES_MAX = 32_768;

/** The state of an entry is at `code + 1`, modulo STATES_MAX. */
const PLACE_MASK = STATES_MAX - 1;

/**
 * What a predicate says of each entry of one dictionary, asked when a live row first carries it.
 * State `code + 1` is the entry's, so that state 0 is that of NULL. Entries of a large dictionary share states: each has
 * the verdict on the entry that was met last, whose code stands beside it, and others are asked again.
 */
export class PredicateCache {
  readonly #states: Uint8Array;
  /** By state, of a large dictionary. */
  readonly #codes: Int32Array | undefined;
  readonly #errors = new Map<number, QueryError>();
  readonly #evaluate: (code: number) => SqlValue;

  /** `evaluate` is given a code, -1 for NULL, and may throw a QueryError. */
  constructor(dictionarySize: number, evaluate: (code: number) => SqlValue) {
    const isShared = dictionarySize >= STATES_MAX;
    this.#states = new Uint8Array(isShared ? STATES_MAX : dictionarySize + 1);
    this.#codes = isShared ? new Int32Array(STATES_MAX) : undefined;
    this.#evaluate = evaluate;
  }

  /** The verdict on each entry; throws the error of the first that has one. */
  apply({ codes, count }: DictionaryVector): Vector {
    const states = this.#states;
    const holders = this.#codes;
    const truths = carvedUint8(count);
    for (let i = 0; i < count; i++) {
      const code = codes[i]!;
      const place = (code + 1) & PLACE_MASK;
      const isKnown = states[place] !== UNSET && (holders === undefined || holders[place] === code);
      if (!isKnown) this.#ask(code, place);
      const state = states[place]!;
      if (state === ERROR_STATE) throw this.#errors.get(code)!;
      truths[i] = state - 1;
    }
    return booleanVector(truths, count);
  }

  #ask(code: number, place: number): void {
    if (this.#codes !== undefined) this.#codes[place] = code;
    try {
      this.#states[place] = truthOf(this.#evaluate(code)) + 1;
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      this.#errors.set(code, error);
      this.#states[place] = ERROR_STATE;
    }
  }
}
