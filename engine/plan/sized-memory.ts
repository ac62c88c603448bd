type Item<Value> = { readonly value: Value; readonly size: number };

/**
 * Values by key, bounded by what they are said to weigh together: the ones asked for longest ago
 * leave first.
 *
 * Invariant: `#size` is the sum over the items, and at most `#sizeMax`.
 */
export class SizedMemory<Key, Value> {
  readonly #sizeMax: number;
  /** In the order they were last asked for. */
  readonly #items = new Map<Key, Item<Value>>();
  #size = 0;

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  find(key: Key): Value | undefined {
    const item = this.#items.get(key);
    if (item === undefined) return undefined;
    // A Map lists its keys in the order they were set.
    this.#items.delete(key);
    this.#items.set(key, item);
    return item.value;
  }

  /** In the place of what the key had. A value that weighs more than all may is not kept. */
  set(key: Key, value: Value, size: number): void {
    this.#remove(key);
    if (size > this.#sizeMax) return;
    this.#items.set(key, { value, size });
    this.#size += size;
    for (const oldest of this.#items.keys()) {
      if (this.#size <= this.#sizeMax) return;
      this.#remove(oldest);
    }
  }

  #remove(key: Key): void {
    this.#size -= this.#items.get(key)?.size ?? 0;
    this.#items.delete(key);
  }
}
