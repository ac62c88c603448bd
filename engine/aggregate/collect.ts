import { grownInt32, NO_INT32 } from '../column/arrays.ts';
import { arrayOf, BYTES, INT64, type SqlType, STRING } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import { detachedValue, type Vector, valueAt } from '../column/vector.ts';
import { compareByKey, type OrderDirection } from '../function/comparison.ts';
import { elementsOf } from '../function/dynamic.ts';
import { QueryError } from '../query-error.ts';
import type { AggregateFunction, AggregateState, CallModifiers } from './aggregate-function.ts';
import { fromPortable, type PortableValue, toPortable } from './distinct-values.ts';

/** Bytes of the values and keys of collected rows: an answer could not return more, nor a heap hold it. */
const COLLECTED_BYTES_MAX = 256 * 1024 * 1024;

/** ARRAY_AGG(x): the values of x, NULLs among them unless they are ignored; NULL if there are no rows. */
export const ARRAY_AGG: AggregateFunction = {
  name: 'array_agg',
  doc: [
    'The values as an array, including NULLs unless the call says `IGNORE NULLS`; NULL without rows.',
    'ARRAY_AGG(x ORDER BY x DESC) FROM UNNEST([1, 3, 2]) AS x',
    '[3, 2, 1]',
  ],
  modifiers: ['distinct', 'nulls', 'order', 'limit'],
  overloads: [
    {
      parameters: ['element'],
      result: (types) => arrayOf(types[0]!),
      create: (_types, _constants, modifiers) =>
        new CollectingState(modifiers, {
          take: modifiers.nulls === 'ignore' ? (value) => value ?? undefined : (value) => value,
          finish: (values) => values,
        }),
    },
  ],
};

/** ARRAY_CONCAT_AGG(x): the elements of the arrays, one array after the other; NULLs are left out. */
export const ARRAY_CONCAT_AGG: AggregateFunction = {
  name: 'array_concat_agg',
  doc: [
    'The elements of all arrays, concatenated. NULLs are ignored; NULL without other values.',
    'ARRAY_CONCAT_AGG([x, x * 10] ORDER BY x) FROM UNNEST([1, 2]) AS x',
    '[1, 10, 2, 20]',
  ],
  modifiers: ['distinct', 'order', 'limit'],
  overloads: [
    {
      parameters: ['list'],
      result: (types) => listType(types[0]!),
      create: (_types, _constants, modifiers) =>
        new CollectingState(modifiers, {
          take: (value) => elementsOf(value) ?? undefined,
          finish: (arrays) => arrays.flatMap((array) => array as readonly SqlValue[]),
        }),
    },
  ],
};

/** STRING_AGG(x[, delimiter]): the texts with a delimiter between them, a comma; NULLs are left out. */
export const STRING_AGG: AggregateFunction = {
  name: 'string_agg',
  doc: [
    'The texts or BYTES joined with a separator (default: a comma). NULLs are ignored; NULL without other values.',
    "STRING_AGG(x, '-' ORDER BY x) FROM UNNEST(['b', NULL, 'a']) AS x",
    "'a-b'",
  ],
  modifiers: ['distinct', 'order', 'limit'],
  overloads: [STRING, BYTES].flatMap((type) =>
    [[], [type]].map((constants) => ({
      parameters: [type],
      constants,
      result: type,
      create: (
        _types: readonly SqlType[],
        [delimiter = ',']: readonly SqlValue[],
        modifiers: CallModifiers,
      ) =>
        new CollectingState(modifiers, {
          take: (value) => value ?? undefined,
          finish: joined(delimiter),
        }),
    })),
  ),
};

function joined(delimiter: SqlValue): (texts: readonly SqlValue[]) => SqlValue {
  if (typeof delimiter !== 'string') {
    throw new QueryError('query_failed', 'the delimiter of STRING_AGG must not be NULL');
  }
  return (texts) => {
    const length = (texts as readonly string[]).reduce(
      (total, text) => total + text.length + delimiter.length,
      0,
    );
    if (length <= COLLECTED_BYTES_MAX) return texts.join(delimiter);
    throw new QueryError(
      'query_limit',
      `STRING_AGG makes texts of at most ${COLLECTED_BYTES_MAX} characters (COLLECTED_BYTES_MAX); got more`,
    );
  };
}

/** The elements of an event's list are DYNAMIC; those of a bare NULL are none. */
function listType(type: SqlType): SqlType {
  if (type.kind === 'ARRAY') return type;
  return arrayOf(type.kind === 'NULL' ? INT64 : type);
}

type Collecting = {
  /** What is kept of a value; `undefined` leaves its row out. */
  readonly take: (value: SqlValue) => SqlValue | undefined;
  /** The answer, given what was kept of one row or more. */
  readonly finish: (values: readonly SqlValue[]) => SqlValue;
};

/** Keeps one value of each row, in the order of the call; NULL where a group has none. */
class CollectingState implements AggregateState {
  readonly #rows: CollectedRows;
  readonly #collecting: Collecting;

  constructor({ order, limit }: CallModifiers, collecting: Collecting) {
    this.#rows = new CollectedRows(order, limit);
    this.#collecting = collecting;
  }

  update(groups: Int32Array, count: number, _groupCount: number, vectors: readonly Vector[]): void {
    const [values, ...keys] = vectors;
    for (let row = 0; row < count; row++) {
      const value = this.#collecting.take(valueAt(values!, row));
      if (value !== undefined) this.#rows.add(groups[row]!, value, keys, row);
    }
  }

  combine(partial: unknown, groups: Int32Array): void {
    this.#rows.combine(partial as CollectedPartial, groups); // By contract, as partial() gave it.
  }

  clear(group: number): void {
    this.#rows.clear(group);
  }

  partial(): CollectedPartial {
    return this.#rows.partial();
  }

  finalize(group: number): SqlValue {
    const values = this.#rows.valuesOf(group);
    return values.length === 0 ? null : this.#collecting.finish(values);
  }
}

/** Rows, over all groups, that one ARRAY_AGG, STRING_AGG or ARRAY_CONCAT_AGG holds at a time. */
export const COLLECTED_VALUES_MAX = 2_000_000;

/** Parallel arrays: the group, the value and, for each key of the order, the key of each row. */
type CollectedPartial = {
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
class CollectedRows {
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

  /** Frees the rows of a group before the state ends. The group gets no more rows. */
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
