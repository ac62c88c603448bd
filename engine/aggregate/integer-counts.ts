import { IntegerCoding } from '../column/packed-numbers.ts';

/** Integers in [0, 65536), ascending, and how often each came. */
export type IntegerCounts = { readonly values: Uint16Array; readonly counts: Uint32Array };

/** Integers by their codes and how often each came: those of one group ascend, or are loose (`CodeEntries`). */
export type CountedIntegers = {
  readonly codes: Uint16Array | Uint32Array;
  readonly counts: Uint32Array;
  readonly coding: IntegerCoding;
};

/** Integers in [0, HISTOGRAM_VALUES_MAX) may be counted by a histogram. */
export const HISTOGRAM_VALUES_MAX = 65_536;

/** Of such integers that are their own codes. */
export const AS_THEY_ARE = IntegerCoding.inSteps(0, 1, HISTOGRAM_VALUES_MAX - 1);

export function countedIntegers({ values, counts }: IntegerCounts): CountedIntegers {
  return { codes: values, counts, coding: AS_THEY_ARE };
}

const NONE: IntegerCounts = { values: new Uint16Array(0), counts: new Uint32Array(0) };

/** The integers of some lists in one, each once. Lists of about one length are merged with each other. */
export function mergedCounts(lists: readonly IntegerCounts[]): IntegerCounts {
  if (lists.length === 0) return NONE;
  if (lists.length === 1) return lists[0]!;
  const middle = lists.length >> 1;
  return merged(mergedCounts(lists.slice(0, middle)), mergedCounts(lists.slice(middle)));
}

function merged(left: IntegerCounts, right: IntegerCounts): IntegerCounts {
  const leftSize = left.values.length;
  const rightSize = right.values.length;
  const values = new Uint16Array(leftSize + rightSize);
  const counts = new Uint32Array(leftSize + rightSize);
  let size = 0;
  let leftEntry = 0;
  let rightEntry = 0;
  while (leftEntry < leftSize && rightEntry < rightSize) {
    const leftValue = left.values[leftEntry]!;
    const rightValue = right.values[rightEntry]!;
    let count = 0;
    if (leftValue <= rightValue) count += left.counts[leftEntry++]!;
    if (rightValue <= leftValue) count += right.counts[rightEntry++]!;
    values[size] = Math.min(leftValue, rightValue);
    counts[size++] = count;
  }
  for (; leftEntry < leftSize; leftEntry++) {
    values[size] = left.values[leftEntry]!;
    counts[size++] = left.counts[leftEntry]!;
  }
  for (; rightEntry < rightSize; rightEntry++) {
    values[size] = right.values[rightEntry]!;
    counts[size++] = right.counts[rightEntry]!;
  }
  return { values: values.subarray(0, size), counts: counts.subarray(0, size) };
}
