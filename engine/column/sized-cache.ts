type Item<Value> = {
  readonly value: Value;
  readonly size: number;
  /** Whether it was asked for since it last had its turn to leave. */
  isWanted: boolean;
};

/**
 * Values by key, bounded by what they are said to weigh together. They leave in the order they came, but who was
 * asked for meanwhile goes to the end of the line instead (the "clock" of Corbató, 1968): to keep a line in the
 * order they were asked for would take longer than to find one.
 *
 * Invariant: `#size` is the sum over the items, and at most `#sizeMax`.
 */
export class SizedCache<Key, Value> {
  readonly #sizeMax: number;
  /** A Map lists its keys in the order they were set: the line. */
  readonly #items = new Map<Key, Item<Value>>();
  #size = 0;

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  find(key: Key): Value | undefined {
    const item = this.#items.get(key);
    if (item === undefined) return undefined;
    item.isWanted = true;
    return item.value;
  }

  /** In the place of what the key had. A value that weighs more than all may is not kept. */
  set(key: Key, value: Value, size: number): void {
    this.#remove(key);
    if (size > this.#sizeMax) return;
    this.#items.set(key, { value, size, isWanted: false });
    this.#size += size;
    this.#makeRoom(key);
  }

  clear(): void {
    this.#items.clear();
    this.#size = 0;
  }

  /** Has others than `kept` leave until there is room for all. */
  #makeRoom(kept: Key): void {
    for (const [next, item] of this.#items) {
      if (this.#size <= this.#sizeMax) return;
      this.#items.delete(next);
      if (item.isWanted || next === kept) {
        item.isWanted = false;
        this.#items.set(next, item);
      } else {
        this.#size -= item.size;
      }
    }
  }

  #remove(key: Key): void {
    this.#size -= this.#items.get(key)?.size ?? 0;
    this.#items.delete(key);
  }
}

/** What `make` gives of a key, kept until another key is asked for: row after row asks for the same. */
export function keepLast<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  let last: { readonly key: Key; readonly value: Value } | undefined;
  return (key) => {
    if (last?.key !== key) last = { key, value: make(key) };
    return last.value;
  };
}

/** What `make` gives of each of the keys that were asked for last, at most so many. */
export function keepRecent<Key, Value>(
  countMax: number,
  make: (key: Key) => Value,
): (key: Key) => Value {
  const kept = new SizedCache<Key, Value>(countMax);
  return keepLast((key) => {
    const known = kept.find(key);
    if (known !== undefined) return known;
    const value = make(key);
    kept.set(key, value, 1);
    return value;
  });
}
