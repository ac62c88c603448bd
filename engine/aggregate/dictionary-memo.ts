import { findingsGeneration } from '../column/findings.ts';
import type { Dictionary } from '../column/vector.ts';

/**
 * What one reader of vectors has worked out about the dictionaries it met, by identity. A dictionary
 * is not kept alive by it, but for the last one: a scan goes through segments one after the other,
 * and what it has left should be free to go.
 */
export class DictionaryMemo<T> {
  readonly #make: (dictionary: Dictionary) => T;
  /** Made for the first: most readers meet none. */
  #known: WeakMap<Dictionary, { readonly value: T }> | undefined;
  #generation = findingsGeneration();
  #last: Dictionary | undefined;
  #lastValue: T | undefined;

  constructor(make: (dictionary: Dictionary) => T) {
    this.#make = make;
  }

  get(dictionary: Dictionary): T {
    if (this.#generation !== findingsGeneration()) this.#forget();
    if (dictionary === this.#last) return this.#lastValue as T;
    this.#known ??= new WeakMap();
    let known = this.#known.get(dictionary);
    if (known === undefined) {
      known = { value: this.#make(dictionary) };
      this.#known.set(dictionary, known);
    }
    this.#last = dictionary;
    this.#lastValue = known.value;
    return known.value;
  }

  #forget(): void {
    this.#generation = findingsGeneration();
    this.#known = undefined;
    this.#last = undefined;
    this.#lastValue = undefined;
  }
}
