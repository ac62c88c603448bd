import type { RowRanges } from './row-ranges.ts';

/**
 * What expressions find out about the values of segments (which entries of a dictionary pass, what a pattern says of
 * a head of URLs) holds as long as the segments do, so it is kept from one run to the next. It counts in one
 * generation: where each run is to look for itself, another one begins with it.
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
