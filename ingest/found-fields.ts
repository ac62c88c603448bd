/** The position of a field that the record lacks. */
export const ABSENT = -1;

/** The positions of the fields of one record at a time, by field numbers below `count`. */
export class FoundFields {
  /** The token of each field, or ABSENT. */
  readonly #at: Int32Array;
  /** The first slot of each field. */
  readonly #slot: Int32Array;

  constructor(count: number) {
    this.#at = new Int32Array(count);
    this.#slot = new Int32Array(count);
  }

  clear(): void {
    this.#at.fill(ABSENT);
  }

  set(field: number, at: number, slot: number): void {
    this.#at[field] = at;
    this.#slot[field] = slot;
  }

  /** The token of the field, or ABSENT. */
  at(field: number): number {
    return this.#at[field]!;
  }

  /** The first slot of a field that the record has. */
  getSlot(field: number): number {
    return this.#slot[field]!;
  }
}
