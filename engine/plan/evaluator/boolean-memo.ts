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
 * What a predicate says of each entry of one dictionary, asked when a live row first carries it.
 * State `code + 1` is the entry's, so that state 0 is that of NULL.
 */
export class BooleanMemo {
  readonly #states: Uint8Array;
  readonly #errors = new Map<number, QueryError>();
  readonly #evaluate: (code: number) => SqlValue;

  /** `evaluate` is given a code, -1 for NULL, and may throw a QueryError. */
  constructor(dictionarySize: number, evaluate: (code: number) => SqlValue) {
    this.#states = new Uint8Array(dictionarySize + 1);
    this.#evaluate = evaluate;
  }

  /** The verdict on each entry; throws the error of the first that has one. */
  apply({ codes, count }: DictionaryVector): Vector {
    const states = this.#states;
    const truths = carvedUint8(count);
    for (let i = 0; i < count; i++) {
      const code = codes[i]!;
      if (states[code + 1] === UNSET) this.#ask(code);
      const state = states[code + 1]!;
      if (state === ERROR) throw this.#errors.get(code)!;
      truths[i] = state - 1;
    }
    return booleanVector(truths, count);
  }

  #ask(code: number): void {
    try {
      this.#states[code + 1] = truthOf(this.#evaluate(code)) + 1;
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      this.#errors.set(code, error);
      this.#states[code + 1] = ERROR;
    }
  }
}
