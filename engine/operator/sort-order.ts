import { carvedFloat64, carvedInt32, carvedUint8 } from '../column/carved-arrays.ts';
import type { VectorFunction } from '../column/chunk.ts';
import type { DictionaryVector, NumberVector, Vector } from '../column/vector.ts';
import { valueAt } from '../column/vector.ts';
import { compareValues } from '../function/comparison.ts';
import { compareByKey, type OrderDirection } from '../function/order-direction.ts';

/** One key of an ORDER BY. */
export type OrderKey = OrderDirection & { readonly expression: VectorFunction };

/**
 * The rows [0, count) in order: by the keys, then by row, so that the order is total. `vectors`
 * are the keys' values, parallel to `keys`.
 */
export function sortedRows(
  keys: readonly OrderDirection[],
  vectors: readonly Vector[],
  count: number,
): Int32Array {
  const rows = carvedInt32(count);
  for (let row = 0; row < count; row++) rows[row] = row;
  const comparators = keys.flatMap((key, index) => {
    const comparator = rowComparator(key, vectors[index]!);
    return comparator === undefined ? [] : [comparator];
  });
  if (comparators.length === 0) return rows;
  const compare = chainComparators(comparators);
  if (!isSorted(rows, compare)) rows.sort(compare);
  return rows;
}

export type RowComparator = (left: number, right: number) => number;

/** Compares rows by the keys alone: 0 if all keys are equal. */
export function keyComparator(
  keys: readonly OrderDirection[],
  vectors: readonly Vector[],
): RowComparator {
  const comparators = keys.flatMap((key, index) => rowComparator(key, vectors[index]!) ?? []);
  const [first] = comparators;
  if (first === undefined) return () => 0;
  if (comparators.length === 1) return first;
  return (left, right) => {
    for (const compare of comparators) {
      const order = compare(left, right);
      if (order !== 0) return order;
    }
    return 0;
  };
}

function chainComparators(comparators: readonly RowComparator[]): RowComparator {
  const [first, second] = comparators as [RowComparator, RowComparator | undefined];
  if (comparators.length === 1) return (left, right) => first(left, right) || left - right;
  if (comparators.length === 2 && second !== undefined) {
    return (left, right) => first(left, right) || second(left, right) || left - right;
  }
  return (left, right) => {
    for (const compare of comparators) {
      const order = compare(left, right);
      if (order !== 0) return order;
    }
    return left - right;
  };
}

/** Rows often come sorted already: a log is one. */
function isSorted(rows: Int32Array, compare: RowComparator): boolean {
  for (let row = 1; row < rows.length; row++) {
    if (compare(row - 1, row) > 0) return false;
  }
  return true;
}

/** Compares rows by one key; `undefined` when all rows are equal in it. */
function rowComparator(key: OrderDirection, vector: Vector): RowComparator | undefined {
  if (vector.kind === 'constant') return undefined;
  if (vector.kind === 'number') return numberComparator(key, vector);
  if (vector.kind === 'dictionary') return numberComparator(key, dictionaryRanks(vector));
  const values = Array.from({ length: vector.count }, (_, row) => valueAt(vector, row));
  return (left, right) => compareByKey(key, values[left]!, values[right]!);
}

/** The fast form of `compareByKey` for numbers. */
function numberComparator(key: OrderDirection, vector: NumberVector): RowComparator {
  const { values, nulls } = vector;
  const sign = key.descending ? -1 : 1;
  if (nulls === undefined) {
    return (left, right) => sign * compareNumbers(values[left]!, values[right]!);
  }
  const nullOrder = key.nullsFirst ? -1 : 1;
  return (left, right) => {
    const nullDifference = nulls[left]! - nulls[right]!;
    if (nullDifference !== 0) return nullDifference * nullOrder;
    return nulls[left] === 1 ? 0 : sign * compareNumbers(values[left]!, values[right]!);
  };
}

/** NaN is below all other numbers, as in GoogleSQL. */
function compareNumbers(left: number, right: number): number {
  if (left < right) return -1;
  if (left > right) return 1;
  if (left === right) return 0;
  return Number(Number.isNaN(right)) - Number(Number.isNaN(left));
}

/** Sorts the distinct codes once, so that rows compare by rank; equal values have equal ranks. */
function dictionaryRanks(vector: DictionaryVector): NumberVector {
  const { codes, count, dictionary } = vector;
  const ranks = carvedFloat64(count);
  const nulls = carvedUint8(count);
  const used = Array.from(new Set(codes.subarray(0, count))).filter((code) => code >= 0);
  const entries = used
    .map((code) => ({ code, value: dictionary.value(code) }))
    .sort((left, right) => compareValues(left.value, right.value));
  const rankOf = new Map<number, number>();
  let rank = 0;
  for (const [index, entry] of entries.entries()) {
    if (index > 0 && compareValues(entries[index - 1]!.value, entry.value) !== 0) rank++;
    rankOf.set(entry.code, rank);
  }
  for (let row = 0; row < count; row++) {
    const code = codes[row]!;
    if (code < 0) nulls[row] = 1;
    else ranks[row] = rankOf.get(code)!;
  }
  return { kind: 'number', count, values: ranks, nulls };
}
