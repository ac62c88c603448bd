import type { RowRanges } from './positions.ts';

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

  /** Replaces what the key had. A value that weighs more than all values may together is not kept. */
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

/** As `keepLast`, for as long as somebody has the key. */
export function keepLastWeakly<Key extends object, Value>(
  make: (key: Key) => Value,
): (key: Key) => Value {
  let last = new WeakMap<Key, { readonly value: Value }>();
  return (key) => {
    let known = last.get(key);
    if (known === undefined) {
      known = { value: make(key) };
      last = new WeakMap([[key, known]]);
    }
    return known.value;
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

/**
 * What expressions find out about the values of segments (which entries of a dictionary pass, what a pattern says of
 * a head of URLs) holds as long as the segments do, so it is kept from one run to the next. It counts in one
 * generation: where each run is to look for itself, another one begins with it. State of the module: it is of all caches of
 * the thread.
 */
let generation = 0;

/** What a cache holds of another generation does not count. */
export function cacheGeneration(): number {
  return generation;
}

/** All that the caches of this thread hold is to be found anew. */
export function beginCacheGeneration(): void {
  generation++;
}

/**
 * Values derived from objects such as dictionaries, by identity. It keeps no object alive: prepared plans, and the
 * expressions in them, live longer than the segments they read.
 */
export class ObjectCache<Key extends object, Value extends object> {
  readonly #make: (key: Key) => Value;
  /** Created with the first object: most expressions never meet one. */
  #values: WeakMap<Key, Value> | undefined;
  #generation = generation;

  constructor(make: (key: Key) => Value) {
    this.#make = make;
  }

  /** What is known already. */
  find(key: Key): Value | undefined {
    if (this.#generation !== generation) {
      this.#generation = generation;
      this.#values = undefined;
    }
    return this.#values?.get(key);
  }

  get(key: Key): Value {
    const known = this.find(key);
    if (known !== undefined) return known;
    const value = this.#make(key);
    this.#values ??= new WeakMap();
    this.#values.set(key, value);
    return value;
  }
}

/**
 * What `find` gives of an object, found once for as long as the object lives: of what never changes, such as plans that are run
 * again and again.
 */
export function findOnce<Key extends object, Value>(
  find: (key: Key) => Value,
): (key: Key) => Value {
  const found = new WeakMap<Key, Value>();
  return (key) => {
    const known = found.get(key);
    if (known !== undefined || found.has(key)) return known as Value;
    const value = find(key);
    found.set(key, value);
    return value;
  };
}

/** Bounds of ranges of an answer that is kept, at most: it is there as long as the segment is open. */
export const RANGE_BOUNDS_MAX = 4096;

/** The last answer of a segment: rows are counted, and then read, by the same condition. */
export class RangeCache<Asked, Rows extends RowRanges | undefined> {
  readonly #isSame: (one: Asked, other: Asked) => boolean;
  #last: { readonly asked: Asked; readonly generation: number; readonly rows: Rows } | undefined;

  constructor(isSame: (one: Asked, other: Asked) => boolean) {
    this.#isSame = isSame;
  }

  /** The last answer if the same is asked again, else that of `find`. */
  of(asked: Asked, find: () => Rows): Rows {
    const last = this.#last;
    const generation = cacheGeneration();
    if (last?.generation === generation && this.#isSame(last.asked, asked)) return last.rows;
    const rows = find();
    const isSmall = rows === undefined || rows.length <= RANGE_BOUNDS_MAX;
    this.#last = isSmall ? { asked, generation, rows } : undefined;
    return rows;
  }
}
