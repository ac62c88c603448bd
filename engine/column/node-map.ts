/** Entries of a new map; a power of two, as every capacity. */
const CAPACITY_MIN = 16;

/** Integers of one entry. */
const ENTRY_SIZE = 3;

/** 2^32 divided by the golden ratio: neighbouring nodes come to lie far apart (Knuth, TAOCP 3, 6.4). */
const SPREAD = 0x9e3779b1;

/**
 * Where some nodes lead: to a node, or a negative number instead, and to the place there. Takes 24 to
 * 48 bytes for each node put in, however many other nodes a segment has.
 *
 * ```
 *  entry e, at 3 e; open addressing, at most every second entry is taken
 * ┌──────────┬────────┬───────┐
 * │ node + 1 │ target │ place │   0 0 0: free
 * └──────────┴────────┴───────┘
 * ```
 */
export class NodeMap {
  #entries = new Int32Array(ENTRY_SIZE * CAPACITY_MIN);
  #capacity = CAPACITY_MIN;
  /** 32 less the logarithm of the capacity. */
  #shift = Math.clz32(CAPACITY_MIN) + 1;
  #count = 0;

  /** The entry of a node, -1 for none: good until the next `set`. */
  find(node: number): number {
    const entry = this.#entryFor(node);
    return this.#entries[entry] === 0 ? -1 : entry;
  }

  target(entry: number): number {
    return this.#entries[entry + 1]!;
  }

  place(entry: number): number {
    return this.#entries[entry + 2]!;
  }

  /** Puts in a node, or gives it another target and place; its entry. */
  set(node: number, target: number, place: number): number {
    let entry = this.#entryFor(node);
    if (this.#entries[entry] === 0) {
      if (2 * (this.#count + 1) > this.#capacity) {
        this.#grow();
        entry = this.#entryFor(node);
      }
      this.#count += 1;
    }
    const entries = this.#entries;
    entries[entry] = node + 1;
    entries[entry + 1] = target;
    entries[entry + 2] = place;
    return entry;
  }

  /** The entry of a node, or the free one that it would take. */
  #entryFor(node: number): number {
    const entries = this.#entries;
    const mask = this.#capacity - 1;
    const key = node + 1;
    // Only the uppermost bits of the product depend on all bits of the node.
    let index = Math.imul(node, SPREAD) >>> this.#shift;
    for (;;) {
      const entry = ENTRY_SIZE * index;
      if (entries[entry] === key || entries[entry] === 0) return entry;
      index = (index + 1) & mask;
    }
  }

  #grow(): void {
    const before = this.#entries;
    this.#capacity *= 2;
    this.#shift -= 1;
    this.#entries = new Int32Array(ENTRY_SIZE * this.#capacity);
    for (let entry = 0; entry < before.length; entry += ENTRY_SIZE) {
      if (before[entry] === 0) continue;
      const moved = this.#entryFor(before[entry]! - 1);
      this.#entries.set(before.subarray(entry, entry + ENTRY_SIZE), moved);
    }
  }
}
