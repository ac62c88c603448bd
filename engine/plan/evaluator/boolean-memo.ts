import { carvedUint8 } from '../../column/carved-arrays.ts';
import type { SqlValue } from '../../column/value.ts';
import type { DictionaryVector, Vector } from '../../column/vector.ts';
import { booleanVector } from '../../column/vector.ts';
import { truthOf } from '../../operator/truth.ts';
import { QueryError } from '../../query-error.ts';

const UNSET = 0;
/** States below it are a truth plus one: FALSE, TRUE or UNKNOWN. */
const ERROR = 4;

/**
 * States of a memo, at most, a power of two. All open segments of a source share one dictionary of up to some million
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
export class BooleanMemo {
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
      if (state === ERROR) throw this.#errors.get(code)!;
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
      this.#states[place] = ERROR;
    }
  }
}
