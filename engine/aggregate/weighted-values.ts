/**
 * Values, ascending, none of them NaN: `values[i]` is one that was met and stands for `weights[i]` of
 * its neighbours, itself included. A value may stand there more than once.
 */
export type WeightedValues = {
  readonly values: Float64Array;
  readonly weights: Float64Array;
};

/** How many values they all stand for. */
export function totalWeight({ weights }: WeightedValues): number {
  let total = 0;
  for (let index = 0; index < weights.length; index++) total += weights[index]!;
  return total;
}

/** All of them in one list. */
export function mergedValues(lists: readonly WeightedValues[]): WeightedValues {
  const waiting = lists.filter(({ values }) => values.length > 0);
  if (waiting.length === 0) return { values: new Float64Array(0), weights: new Float64Array(0) };
  // The oldest two first, so that each value is moved about log2(lists) times.
  for (let first = 0; first + 1 < waiting.length; first += 2) {
    waiting.push(mergedPair(waiting[first]!, waiting[first + 1]!));
  }
  return waiting.at(-1)!;
}

function mergedPair(left: WeightedValues, right: WeightedValues): WeightedValues {
  const length = left.values.length + right.values.length;
  const values = new Float64Array(length);
  const weights = new Float64Array(length);
  mergeInto({ values, weights }, left, right);
  return { values, weights };
}

function mergeInto(to: WeightedValues, left: WeightedValues, right: WeightedValues): void {
  const { values: leftValues, weights: leftWeights } = left;
  const { values: rightValues, weights: rightWeights } = right;
  const { values, weights } = to;
  let leftIndex = 0;
  let rightIndex = 0;
  let at = 0;
  while (leftIndex < leftValues.length && rightIndex < rightValues.length) {
    if (leftValues[leftIndex]! <= rightValues[rightIndex]!) {
      values[at] = leftValues[leftIndex]!;
      weights[at++] = leftWeights[leftIndex++]!;
    } else {
      values[at] = rightValues[rightIndex]!;
      weights[at++] = rightWeights[rightIndex++]!;
    }
  }
  values.set(leftValues.subarray(leftIndex), at);
  weights.set(leftWeights.subarray(leftIndex), at);
  at += leftValues.length - leftIndex;
  values.set(rightValues.subarray(rightIndex), at);
  weights.set(rightWeights.subarray(rightIndex), at);
}

/**
 * Fewer values for the same: each stands for neighbours of at most 4·`share`·q·(1 − q) of all weight, where
 * q is the part of it below them, or for ever so many that are equal. It is the one in their middle, so that
 * ranks are off by `share` / 2 at most, and by less the farther from the median. The least and the greatest
 * value always stand for themselves alone and their equals.
 */
export function thinnedWeights(list: WeightedValues, share: number): WeightedValues {
  const { values, weights } = list;
  const total = totalWeight(list);
  const thin = {
    values: new Float64Array(values.length),
    weights: new Float64Array(values.length),
  };
  let count = 0;
  for (let start = 0, below = 0; start < values.length; ) {
    const weightMax = (4 * share * below * (total - below)) / total;
    const first = values[start]!;
    let weight = weights[start]!;
    let end = start + 1;
    while (end < values.length && (values[end] === first || weight + weights[end]! <= weightMax)) {
      weight += weights[end++]!;
    }
    thin.values[count] = middleOf(list, start, weight);
    thin.weights[count++] = weight;
    below += weight;
    start = end;
  }
  return { values: thin.values.slice(0, count), weights: thin.weights.slice(0, count) };
}

/** Of values from `start` on, which have `weight` together, the one that has half of it behind it. */
function middleOf({ values, weights }: WeightedValues, start: number, weight: number): number {
  let index = start;
  for (let reached = weights[start]!; 2 * reached < weight; reached += weights[index]!) index++;
  return values[index]!;
}

/** As `thinnedWeights`, of ascending values that count once each: looks at few of them. */
export function thinnedValues(sorted: Float64Array, share: number): WeightedValues {
  const total = sorted.length;
  const values: number[] = [];
  const weights: number[] = [];
  for (let start = 0; start < total; ) {
    const weightMax = (4 * share * start * (total - start)) / total;
    let end = Math.min(total, start + Math.max(1, Math.floor(weightMax)));
    // Equal ones stay together.
    if (sorted[end - 1] === sorted[start]) {
      while (end < total && sorted[end] === sorted[start]) end++;
    }
    values.push(sorted[(start + end - 1) >> 1]!);
    weights.push(end - start);
    start = end;
  }
  return { values: Float64Array.from(values), weights: Float64Array.from(weights) };
}
