import { findingsGeneration } from '../column/findings.ts';
import type { Dictionary } from '../column/vector.ts';

/**
 * What one reader of vectors has worked out about the dictionaries it met, by identity. It keeps no dictionary alive:
 * the expressions of some hundred plans are kept, and the dictionary of an open segment is one object for each run.
 */
export class DictionaryMemo<T> {
  readonly #make: (dictionary: Dictionary) => T;
  /** Made for the first: most readers meet none. */
  #known: WeakMap<Dictionary, { readonly value: T }> | undefined;
  #generation = findingsGeneration();

  constructor(make: (dictionary: Dictionary) => T) {
    this.#make = make;
  }

  get(dictionary: Dictionary): T {
    if (this.#generation !== findingsGeneration()) this.#forget();
    this.#known ??= new WeakMap();
    let known = this.#known.get(dictionary);
    if (known === undefined) {
      known = { value: this.#make(dictionary) };
      this.#known.set(dictionary, known);
    }
    return known.value;
  }

  #forget(): void {
    this.#generation = findingsGeneration();
    this.#known = undefined;
  }
}
