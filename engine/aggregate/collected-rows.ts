import { detachedValue } from '../column/detached-vector.ts';
import type { SqlValue } from '../column/value.ts';
import type { Vector } from '../column/vector.ts';
import { valueAt } from '../column/vector.ts';
import { compareByKey, type OrderDirection } from '../function/order-direction.ts';
import { COLLECTED_BYTES_MAX } from '../limits.ts';
import { QueryError } from '../query-error.ts';
import { grownInt32, NO_INT32 } from './growth.ts';
import { fromPortable, type PortableValue, toPortable } from './portable-value.ts';

/** Rows, over all groups, that one ARRAY_AGG, STRING_AGG or ARRAY_CONCAT_AGG holds at a time. */
export const COLLECTED_VALUES_MAX = 2_000_000;

/** Parallel arrays: the group, the value and, for each key of the order, the key of each row. */
export type CollectedPartial = {
  readonly groups: Int32Array;
  readonly values: readonly PortableValue[];
  readonly keys: readonly (readonly PortableValue[])[];
};

/** Rows held before the first look for some that a LIMIT rules out. */
const PRUNED_ROWS_MIN = 4096;

/**
 * One value of each row, by group, in an order: by the keys, then as rows were added. So rows that
 * the keys do not tell apart must come to one state, in their order, for the answer not to depend on
 * how rows are divided: the rows of one event do, and the arrival is the last key.
 *
 * With a limit only the first rows of each group are kept: whenever twice as many as could stay have
 * come, the others are let go.
 */
export class CollectedRows {
  readonly #order: readonly OrderDirection[];
  /** Rows of a group that count, from the first. */
  readonly #rowsMax: number;
  #groups: Int32Array<ArrayBuffer> = NO_INT32;
  #values: PortableValue[] = [];
  /** For each key of the order the keys of all rows. */
  #keys: SqlValue[][];
  #bytes = 0;
  /** Groups whose rows are to go. */
  readonly #cleared = new Set<number>();
  /** Rows at which those that do not count are let go. */
  #pruneAt: number;
  /** Once asked for: rows by group, and where the rows of each group begin among them. */
  #sorted: { readonly rows: Int32Array; readonly starts: Int32Array } | undefined;

  constructor(order: readonly OrderDirection[], rowsMax = Number.POSITIVE_INFINITY) {
    this.#order = order;
    this.#rowsMax = rowsMax;
    this.#keys = order.map(() => []);
    this.#pruneAt = rowsMax === Number.POSITIVE_INFINITY ? rowsMax : PRUNED_ROWS_MIN;
  }

  /** Adds a row; its keys are entry `row` of the vectors. Throws `query_limit` beyond the limits. */
  add(group: number, value: SqlValue, keys: readonly Vector[], row: number): void {
    for (const [index, key] of keys.entries()) {
      this.#keys[index]!.push(this.#counted(detachedValue(valueAt(key, row))));
    }
    const portable = toPortable(value);
    this.#bytes += sizeOf(portable);
    this.#append(group, portable);
  }

  /** Adds the rows of another; its group `i` is our group `groups[i]`. */
  combine(theirs: CollectedPartial, groups: Int32Array): void {
    for (const [row, value] of theirs.values.entries()) {
      for (const [index, keys] of theirs.keys.entries()) {
        this.#keys[index]!.push(this.#counted(fromPortable(keys[row]!)));
      }
      this.#bytes += sizeOf(value);
      this.#append(groups[theirs.groups[row]!]!, value);
    }
  }

  /** Lets go of the rows of a group, in time. No more come. */
  clear(group: number): void {
    this.#cleared.add(group);
    if (this.#pruneAt === Number.POSITIVE_INFINITY)
      this.#pruneAt = 2 * this.#values.length + PRUNED_ROWS_MIN;
  }

  partial(): CollectedPartial {
    if (this.#hasSpare()) this.#prune();
    return {
      groups: this.#groups.slice(0, this.#values.length),
      values: this.#values,
      keys: this.#keys.map((keys) => keys.map(toPortable)),
    };
  }

  /** The values of a group that count, in order. No rows are added afterwards. */
  valuesOf(group: number): readonly SqlValue[] {
    this.#sorted ??= this.#sortedRows();
    const { rows, starts } = this.#sorted;
    if (group + 1 >= starts.length) return [];
    const end = Math.min(starts[group + 1]!, starts[group]! + this.#rowsMax);
    return Array.from(rows.subarray(starts[group]!, end), (row) =>
      fromPortable(this.#values[row]!),
    );
  }

  #counted(key: SqlValue): SqlValue {
    this.#bytes += typeof key === 'object' ? sizeOf(toPortable(key)) : sizeOf(key);
    return key;
  }

  #append(group: number, value: PortableValue): void {
    const size = this.#values.push(value);
    this.#groups = grownInt32(this.#groups, size);
    this.#groups[size - 1] = group;
    if (size >= this.#pruneAt) this.#prune();
    if (this.#values.length > COLLECTED_VALUES_MAX) {
      throw overLimit(`${COLLECTED_VALUES_MAX} rows (COLLECTED_VALUES_MAX)`);
    }
    if (this.#bytes > COLLECTED_BYTES_MAX) {
      if (this.#hasSpare()) this.#prune();
      if (this.#bytes > COLLECTED_BYTES_MAX) {
        throw overLimit(`${COLLECTED_BYTES_MAX} bytes (COLLECTED_BYTES_MAX)`);
      }
    }
  }

  /** Whether there may be rows that do not count. */
  #hasSpare(): boolean {
    return this.#pruneAt !== Number.POSITIVE_INFINITY;
  }

  /** Keeps the rows that count, as they were added. */
  #prune(): void {
    const { rows, starts } = this.#sortedRows();
    const kept: number[] = [];
    for (let group = 0; group + 1 < starts.length; group++) {
      if (this.#cleared.has(group)) continue;
      const end = Math.min(starts[group + 1]!, starts[group]! + this.#rowsMax);
      for (let at = starts[group]!; at < end; at++) kept.push(rows[at]!);
    }
    kept.sort((left, right) => left - right);
    this.#groups = Int32Array.from(kept, (row) => this.#groups[row]!);
    this.#values = kept.map((row) => this.#values[row]!);
    this.#keys = this.#keys.map((keys) => kept.map((row) => keys[row]!));
    this.#cleared.clear();
    this.#bytes = 0;
    for (const value of this.#values) this.#bytes += sizeOf(value);
    for (const keys of this.#keys) for (const key of keys) this.#counted(key);
    this.#pruneAt = Math.max(PRUNED_ROWS_MIN, 2 * kept.length);
  }

  /** All rows: group after group, each in order. */
  #sortedRows(): { readonly rows: Int32Array; readonly starts: Int32Array } {
    const count = this.#values.length;
    let groupCount = 0;
    for (let row = 0; row < count; row++) groupCount = Math.max(groupCount, this.#groups[row]! + 1);
    const starts = new Int32Array(groupCount + 1);
    for (let row = 0; row < count; row++) starts[this.#groups[row]! + 1]!++;
    for (let group = 0; group < groupCount; group++) starts[group + 1]! += starts[group]!;
    const ends = starts.slice();
    const rows = new Int32Array(count);
    for (let row = 0; row < count; row++) rows[ends[this.#groups[row]!]!++] = row;
    if (this.#order.length > 0) {
      for (let group = 0; group < groupCount; group++) {
        const own = rows.subarray(starts[group]!, starts[group + 1]!);
        if (own.length > 1) own.sort((left, right) => this.#compare(left, right));
      }
    }
    return { rows, starts };
  }

  #compare(left: number, right: number): number {
    for (const [index, direction] of this.#order.entries()) {
      const keys = this.#keys[index]!;
      const order = compareByKey(direction, keys[left]!, keys[right]!);
      if (order !== 0) return order;
    }
    return left - right;
  }
}

function overLimit(what: string): QueryError {
  const sentence = `an aggregate that collects values may hold at most ${what}; got more`;
  return new QueryError('query_limit', sentence);
}

/** Bytes of a place in an array; an object takes about two more. */
const PLACE_BYTES = 8;

/** Bytes a value takes in V8's heap, about: two for each unit of a text, though most take one. */
function sizeOf(value: PortableValue): number {
  if (typeof value === 'string') return 3 * PLACE_BYTES + 2 * value.length;
  if (typeof value !== 'object' || value === null) return PLACE_BYTES;
  if ('months' in value) return 6 * PLACE_BYTES;
  if ('json' in value) return 5 * PLACE_BYTES + 2 * value.json.length;
  return value.reduce<number>((total, each) => total + sizeOf(each), 3 * PLACE_BYTES);
}
