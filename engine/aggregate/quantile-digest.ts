import { TDigest } from 'tdigest';
import { sortDoubles } from './sort-doubles.ts';

/**
 * Greatest share of the values that one centroid may stand for, reached in the middle. Read as one
 * value it is off by half of that; centroids also overlap, the more the less random the order of
 * values is, so this is well below the rank error of 0.1 % that is promised.
 */
const CENTROID_SHARE_MAX = 0.0005;

/** Values sorted and thinned out at a time: sorting is far cheaper than the digest's tree. */
const BUFFER_VALUES_MAX = 65_536;

/** Weighted values, ascending: `values[i]` stands for `weights[i]` values. */
export type WeightedValues = { readonly values: Float64Array; readonly weights: Float64Array };

/** `observed[i]` is a value that was met, as near as was kept to the centroid's mean. */
export type DigestPartial = {
  readonly means: Float64Array;
  readonly weights: Float64Array;
  readonly observed: Float64Array;
};

/**
 * A t-digest of finite doubles that answers with values it has met. The same values in the same
 * order and the same combines give the same answer: the package's own compression shuffles with
 * Math.random and is never called. Values are sorted some thousands at a time and merged in by one pass
 * over both (Dunning and Ertl, "Computing Extremely Accurate Quantiles Using t-Digests"); the
 * package's tree, built for it and dropped, takes in digests, whose centroids overlap. Else the
 * digest lies in three flat arrays.
 */
export class QuantileDigest {
  #centroids: DigestPartial = { means: EMPTY, weights: EMPTY, observed: EMPTY };
  #buffer = new Float64Array(256);
  #buffered = 0;
  /** Values that came more than once at a time, not yet in the digest. */
  #repeated: { readonly value: number; readonly count: number }[] = [];

  add(value: number, count: number): void {
    if (count > 1) {
      this.#repeated.push({ value, count });
      if (this.#repeated.length === BUFFER_VALUES_MAX) this.#flush();
      return;
    }
    if (this.#buffered === this.#buffer.length) {
      if (this.#buffered === BUFFER_VALUES_MAX) {
        this.#flush();
      } else {
        const grown = new Float64Array(2 * this.#buffer.length);
        grown.set(this.#buffer);
        this.#buffer = grown;
      }
    }
    this.#buffer[this.#buffered++] = value;
  }

  /** Adds each of the values once. */
  addEach(values: Float64Array): void {
    for (let from = 0; from < values.length; ) {
      // The first of them makes room, if there is none.
      this.add(values[from]!, 1);
      const room = this.#buffer.length - this.#buffered;
      const rest = values.subarray(from + 1, from + 1 + room);
      this.#buffer.set(rest, this.#buffered);
      this.#buffered += rest.length;
      from += 1 + rest.length;
    }
  }

  combine(partial: DigestPartial): void {
    this.#flush();
    this.#merge(partial);
  }

  partial(): DigestPartial {
    this.#flush();
    return this.#centroids;
  }

  /** What the digest holds, each centroid as a value that was met. */
  values(): WeightedValues {
    const { observed, weights } = this.partial();
    return { values: observed, weights };
  }

  /** Moves all that waits into the digest. */
  #flush(): void {
    if (this.#buffered > 0) {
      const sorted = this.#buffer.subarray(0, this.#buffered);
      this.#buffered = 0;
      sortDoubles(sorted);
      this.#centroids = mergedValues(this.#centroids, sorted);
    }
    if (this.#repeated.length > 0) {
      const sorted = this.#repeated.sort((left, right) => left.value - right.value);
      this.#repeated = [];
      const values = Float64Array.from(sorted, ({ value }) => value);
      const weights = Float64Array.from(sorted, ({ count }) => count);
      this.#merge({ means: values, weights, observed: values });
    }
  }

  /** `observed` is ascending and may be of any length here. */
  #merge(added: DigestPartial): void {
    const { means, weights, observed } = this.#centroids;
    // K = 0: never compress by itself.
    const digest = new TDigest(CENTROID_SHARE_MAX, 0);
    // The digest merges next to nothing of what comes in ascending order, so all are shuffled.
    for (const index of shuffledIndexes(means.length + added.means.length)) {
      const other = index - means.length;
      if (other < 0) digest.push_centroid({ mean: means[index]!, n: weights[index]! });
      else digest.push_centroid({ mean: added.means[other]!, n: added.weights[other]! });
    }
    const centroids = digest.toArray();
    const newMeans = Float64Array.from(centroids, (centroid) => centroid.mean);
    this.#centroids = {
      means: newMeans,
      weights: Float64Array.from(centroids, (centroid) => centroid.n),
      observed: nearestOf(newMeans, merged(observed, added.observed)),
    };
  }
}

const EMPTY = new Float64Array(0);

/** The digest with further values, ascending, each of which counts once. */
function mergedValues(digest: DigestPartial, sorted: Float64Array): DigestPartial {
  const all = mergedByMean(digest, sorted);
  const { means, weights } = thinned(all.means, all.weights);
  return { means, weights, observed: nearestOf(means, merged(digest.observed, sorted)) };
}

type Centroids = {
  readonly means: Float64Array<ArrayBuffer>;
  readonly weights: Float64Array<ArrayBuffer>;
};

function mergedByMean(digest: DigestPartial, sorted: Float64Array): Centroids {
  const means = new Float64Array(digest.means.length + sorted.length);
  const weights = new Float64Array(means.length);
  let at = 0;
  let next = 0;
  for (let index = 0; index < means.length; index++) {
    const isValue =
      at === digest.means.length || (next < sorted.length && sorted[next]! < digest.means[at]!);
    means[index] = isValue ? sorted[next++]! : digest.means[at]!;
    weights[index] = isValue ? 1 : digest.weights[at++]!;
  }
  return { means, weights };
}

/** Averages runs of neighbours, within the share that a centroid at that rank may have. */
function thinned(means: Float64Array, weights: Float64Array): Centroids {
  const total = sumOf(weights);
  const thinMeans = new Float64Array(means.length);
  const thinWeights = new Float64Array(means.length);
  let count = 0;
  for (let start = 0, below = 0; start < means.length; ) {
    const rank = below / total;
    const weightMax = 4 * CENTROID_SHARE_MAX * rank * (1 - rank) * total;
    let weight = weights[start]!;
    let end = start + 1;
    while (end < means.length && weight + weights[end]! <= weightMax) weight += weights[end++]!;
    thinMeans[count] = meanOf(means, weights, { start, end, weight });
    thinWeights[count++] = weight;
    below += weight;
    start = end;
  }
  return { means: thinMeans.slice(0, count), weights: thinWeights.slice(0, count) };
}

type Run = { readonly start: number; readonly end: number; readonly weight: number };

/** Summing differences keeps the mean within its values, and from overflowing. */
function meanOf(means: Float64Array, weights: Float64Array, { start, end, weight }: Run): number {
  const least = means[start]!;
  let excess = 0;
  for (let index = start + 1; index < end; index++) {
    excess += (means[index]! - least) * (weights[index]! / weight);
  }
  return Math.min(least + excess, means[end - 1]!);
}

function sumOf(weights: Float64Array): number {
  let sum = 0;
  for (const weight of weights) sum += weight;
  return sum;
}

/** 0 to count − 1 in the order of one fixed random sequence (xorshift32, Fisher and Yates). */
function shuffledIndexes(count: number): Int32Array {
  const indexes = Int32Array.from({ length: count }, (_, index) => index);
  let state = 0x2545f491;
  for (let last = count - 1; last > 0; last--) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const other = (state >>> 0) % (last + 1);
    const swapped = indexes[last]!;
    indexes[last] = indexes[other]!;
    indexes[other] = swapped;
  }
  return indexes;
}

function merged(left: Float64Array, right: Float64Array): Float64Array {
  const all = new Float64Array(left.length + right.length);
  let leftIndex = 0;
  let rightIndex = 0;
  for (let index = 0; index < all.length; index++) {
    const takeLeft =
      rightIndex === right.length ||
      (leftIndex < left.length && left[leftIndex]! <= right[rightIndex]!);
    all[index] = takeLeft ? left[leftIndex++]! : right[rightIndex++]!;
  }
  return all;
}

/** For each of `wanted` the nearest of `candidates`, of two as near the lesser. Both ascending. */
function nearestOf(
  wanted: Float64Array<ArrayBuffer>,
  candidates: Float64Array,
): Float64Array<ArrayBuffer> {
  let at = 0;
  return wanted.map((value) => {
    while (at + 1 < candidates.length && candidates[at + 1]! <= value) at++;
    const below = candidates[at]!;
    const above = at + 1 < candidates.length ? candidates[at + 1]! : below;
    return above - value < value - below ? above : below;
  });
}
