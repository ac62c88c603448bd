import { NO_INT32 } from '../column/arrays.ts';
import { arrayOf, INT64, type SqlType } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import { type Vector, valueAt } from '../column/vector.ts';
import { compareByKey } from '../function/comparison.ts';
import { QueryError } from '../query-error.ts';
import { type AggregateFunction, type AggregateState, NO_MODIFIERS } from './aggregate-function.ts';
import { COUNT } from './count.ts';
import type { DistinctValues } from './distinct-values.ts';
import { KeyColumn } from './key-column.ts';
import { PairIndex } from './pair-index.ts';
import { SUM } from './sum.ts';

/** Values one APPROX_TOP_COUNT or APPROX_TOP_SUM may ask for: an answer of a cell stays short. */
const TOP_VALUES_MAX = 10_000;

/** Distinct values, over all groups, of one APPROX_TOP_COUNT or APPROX_TOP_SUM: each has a weight, and is sorted by it. */
const DISTINCT_VALUES_MAX = 2_000_000;

/**
 * APPROX_TOP_COUNT(x, n): the n values that come most often, NULL among them, with their counts, the
 * most frequent first and equals by value; NULL of no rows. Exact: a group's values are all counted.
 */
export const APPROX_TOP_COUNT: AggregateFunction = {
  name: 'approx_top_count',
  doc: [
    'The most frequent values with their counts, as an array of records `(value, count)`; the second argument is the number of values. Exact; NULL is a value.',
    "APPROX_TOP_COUNT(x, 2) FROM UNNEST(['a', 'b', 'a']) AS x",
    "[('a', 2), ('b', 1)]",
  ],
  modifiers: [],
  overloads: [
    {
      parameters: ['orderable'],
      constants: [INT64],
      result: (types) => topType(types[0]!, 'count', INT64),
      create: (types, [number]) =>
        new TopState(types[0]!, {
          count: valueCount('APPROX_TOP_COUNT', number),
          weigh: () => COUNT.overloads[0]!.create([], [], NO_MODIFIERS),
        }),
    },
  ],
};

/**
 * APPROX_TOP_SUM(x, weight, n): as APPROX_TOP_COUNT, by the sum of weights. A NULL weighs nothing; of
 * nothing else the sum is NULL, and last. Fails for a weight below 0 and NaN.
 */
export const APPROX_TOP_SUM: AggregateFunction = {
  name: 'approx_top_sum',
  doc: [
    'The values with the greatest sums of weights, as an array of records `(value, sum)`; the second argument is the weight, the third the number of values. Exact; an error for a negative weight.',
    'APPROX_TOP_SUM(MOD(x, 2), x, 1) FROM UNNEST([1, 2, 3]) AS x',
    '[(1, 4)]',
  ],
  fails: 'by value',
  modifiers: [],
  overloads: [
    {
      parameters: ['orderable', 'number'],
      constants: [INT64],
      result: (types) => topType(types[0]!, 'sum', types[1]!),
      create: (types, [number]) =>
        new TopState(types[0]!, {
          count: valueCount('APPROX_TOP_SUM', number),
          weigh: () => SUM.overloads[0]!.create([types[1]!], [], NO_MODIFIERS),
        }),
    },
  ],
};

function topType(value: SqlType, name: string, type: SqlType): SqlType {
  return arrayOf({
    kind: 'STRUCT',
    fields: [
      { name: 'value', type: value.kind === 'NULL' ? INT64 : value },
      { name, type },
    ],
  });
}

function valueCount(name: string, value: SqlValue | undefined): number {
  if (typeof value === 'number' && value >= 1 && value <= TOP_VALUES_MAX) return value;
  throw new QueryError(
    'query_failed',
    `the number of values of ${name} must be from 1 to ${TOP_VALUES_MAX} (TOP_VALUES_MAX); ` +
      `got ${value === null ? 'NULL' : String(value)}`,
  );
}

type TopOptions = {
  /** Values of an answer. */
  readonly count: number;
  /** The aggregate that gives the weight of each value. */
  readonly weigh: () => AggregateState;
};

type TopPartial = {
  readonly values: DistinctValues;
  readonly groups: Int32Array;
  readonly valueOfPair: Int32Array;
  readonly weights: unknown;
};

/** Numbers the distinct values, and the pairs of a group and a value: groups of the inner aggregate. */
class TopState implements AggregateState {
  readonly #options: TopOptions;
  readonly #values: KeyColumn;
  readonly #pairs = new PairIndex();
  readonly #weights: AggregateState;
  #ids: Int32Array<ArrayBuffer> = NO_INT32;
  /** Once asked for: the pairs of each group. */
  #pairsOfGroups: ReadonlyMap<number, readonly number[]> | undefined;

  constructor(type: SqlType, options: TopOptions) {
    this.#options = options;
    this.#values = new KeyColumn(type);
    this.#weights = options.weigh();
  }

  update(groups: Int32Array, count: number, _groupCount: number, vectors: readonly Vector[]): void {
    const [values, ...weights] = vectors;
    if (this.#ids.length < count) this.#ids = new Int32Array(count);
    for (const weight of weights) checkWeights(weight, count);
    this.#values.assign(values!, count, this.#ids);
    this.#pairs.assign(groups, this.#ids, count, this.#ids);
    this.#checkSize();
    this.#weights.update(this.#ids, count, this.#pairs.size, weights);
  }

  combine(partial: unknown, groups: Int32Array): void {
    const theirs = partial as TopPartial; // By contract, what partial() of this class gave.
    const ourValues = this.#values.combine(theirs.values);
    const pairGroups = theirs.groups.map((group) => groups[group]!);
    const pairs = theirs.valueOfPair.map((value) => ourValues[value]!);
    this.#pairs.assign(pairGroups, pairs, pairs.length, pairs);
    this.#checkSize();
    this.#weights.combine(theirs.weights, pairs, this.#pairs.size);
  }

  partial(): TopPartial {
    return {
      values: this.#values.distinctValues(),
      groups: this.#pairs.lefts.slice(),
      valueOfPair: this.#pairs.rights.slice(),
      weights: this.#weights.partial(this.#pairs.size),
    };
  }

  finalize(group: number): SqlValue {
    this.#pairsOfGroups ??= groupedPairs(this.#pairs.lefts);
    const pairs = this.#pairsOfGroups.get(group);
    if (pairs === undefined) return null;
    const entries = pairs.map((pair) => ({
      value: this.#values.value(this.#pairs.right(pair)),
      weight: this.#weights.finalize(pair),
    }));
    entries.sort(
      (left, right) =>
        compareByKey(BY_WEIGHT, left.weight, right.weight) ||
        compareByKey(BY_VALUE, left.value, right.value),
    );
    return entries.slice(0, this.#options.count).map(({ value, weight }) => [value, weight]);
  }

  #checkSize(): void {
    if (this.#pairs.size <= DISTINCT_VALUES_MAX) return;
    throw new QueryError(
      'query_limit',
      `there may be at most ${DISTINCT_VALUES_MAX} distinct values in one APPROX_TOP_COUNT or ` +
        `APPROX_TOP_SUM (DISTINCT_VALUES_MAX); got ${this.#pairs.size}`,
    );
  }
}

const BY_WEIGHT = { descending: true, nullsFirst: false };
const BY_VALUE = { descending: false, nullsFirst: true };

function groupedPairs(groups: Int32Array): ReadonlyMap<number, readonly number[]> {
  const pairsOf = new Map<number, number[]>();
  for (const [pair, group] of groups.entries()) {
    const pairs = pairsOf.get(group);
    if (pairs === undefined) pairsOf.set(group, [pair]);
    else pairs.push(pair);
  }
  return pairsOf;
}

function checkWeights(weights: Vector, count: number): void {
  for (let row = 0; row < count; row++) {
    const weight = valueAt(weights, row);
    if (weight === null || (weight as number | bigint) >= 0) continue;
    throw new QueryError(
      'query_failed',
      `the weights of APPROX_TOP_SUM must be from 0; got ${String(weight)}`,
    );
  }
}
