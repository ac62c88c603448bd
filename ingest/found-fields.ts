/** A field that is not there: no token lies at it. */
export const ABSENT = -1;

/** Where the fields of one record at a time lie, by numbers below `count`. */
export class FoundFields {
  /** Where each field's token lies, or ABSENT. */
  readonly #at: Int32Array;
  /** Its first slot. */
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

  /** The field's token, or ABSENT. */
  at(field: number): number {
    return this.#at[field]!;
  }

  /** The first slot of a field that is there. */
  slotOf(field: number): number {
    return this.#slot[field]!;
  }
}
