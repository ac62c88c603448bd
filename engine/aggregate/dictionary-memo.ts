import { findingsGeneration } from '../column/findings.ts';
import type { Dictionary } from '../column/vector.ts';

/**
 * Values derived from dictionaries, by the identity of the dictionary. It keeps no dictionary alive: prepared plans, and
 * the expressions in them, live longer than the segments they read.
 */
export class DictionaryMemo<T> {
  readonly #make: (dictionary: Dictionary) => T;
  /** Created with the first dictionary: most expressions never meet one. */
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
