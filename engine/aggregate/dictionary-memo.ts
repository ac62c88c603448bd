import type { Dictionary } from '../column/vector.ts';

/**
 * Dictionaries remembered at once. A scan goes through segments one after the other, so one would
 * mostly do; a few more keep alternating inputs (a join's, a union's) from starting over.
 */
const DICTIONARIES_MAX = 8;

/** What one reader of vectors has worked out about the dictionaries it met last, by identity. */
export class DictionaryMemo<T> {
  readonly #make: (dictionary: Dictionary) => T;
  readonly #known = new Map<Dictionary, T>();
  #last: Dictionary | undefined;
  #lastValue: T | undefined;

  constructor(make: (dictionary: Dictionary) => T) {
    this.#make = make;
  }

  get(dictionary: Dictionary): T {
    if (dictionary === this.#last) return this.#lastValue as T;
    let value = this.#known.get(dictionary);
    if (value === undefined) {
      value = this.#make(dictionary);
      if (this.#known.size === DICTIONARIES_MAX) {
        // A Map lists its keys in the order they came: the first is the oldest.
        for (const oldest of this.#known.keys()) {
          this.#known.delete(oldest);
          break;
        }
      }
      this.#known.set(dictionary, value);
    }
    this.#last = dictionary;
    this.#lastValue = value;
    return value;
  }
}
