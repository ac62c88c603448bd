import type { WeightedValues } from './weighted-values.ts';

/** Of so many values one at each end is left out: there ranks are to be nearer than buckets are narrow. */
const TAIL_PARTS = 128;

/** A stretch is given buckets of its own number: so many stretches, whose table stays in the first-level cache. */
const STRETCH_BITS_MAX = 11;

/**
 * Buckets that are aimed at. Each stretch has a power of two of them, so that there are up to twice as many: their counts
 * stay in the second-level cache. A bucket has at most two of these parts of the values, and so is far from being full.
 */
const BUCKETS_AIMED = 32_768;

/**
 * How many of some doubles are near to one another: for a value one increment in place of sorting it. A
 * bucket takes in values whose upper halves (sign, exponent and 20 bits of the fraction, turned so that they
 * order as integers) are within some range, and keeps the first of them. How wide buckets are follows the
 * values that the histogram was made for: all should have about as many.
 *
 * No bucket has more than `share` of all values counted, whatever values come; what would be more, and what lies outside
 * of the range, is given back. So ranks are off by `share` at most, if each bucket's first value stands for all of it.
 */
export class DoubleHistogram {
  readonly #share: number;
  readonly #stretches: Stretches;
  readonly #counts: Int32Array;
  readonly #firsts: Float64Array;
  #total = 0;

  private constructor(stretches: Stretches, share: number) {
    this.#share = share;
    this.#stretches = stretches;
    this.#counts = new Int32Array(stretches.bucketCount);
    this.#firsts = new Float64Array(stretches.bucketCount);
  }

  /**
   * One that has counted `sorted`, none of them NaN; `undefined` if it would count less than half of them. The others are
   * in `rest`, the first `restCount`, among them at least one that is less, and one that is greater, than all counted.
   */
  static of(
    sorted: Float64Array,
    share: number,
    rest: Float64Array,
  ): { readonly histogram: DoubleHistogram; readonly restCount: number } | undefined {
    const stretches = stretchesOf(sorted);
    if (stretches === undefined) return undefined;
    const histogram = new DoubleHistogram(stretches, share);
    const half = sorted.length >> 1;
    const restCount = histogram.#add(sorted, Math.floor(share * half), rest);
    return restCount > half ? undefined : { histogram, restCount };
  }

  /** Counts what it can; the others are in `rest`, which may be `values`, afterwards: how many. */
  add(values: Float64Array, rest: Float64Array): number {
    return this.#add(values, Math.floor(this.#share * this.#total), rest);
  }

  #add(values: Float64Array, countMax: number, rest: Float64Array): number {
    const restCount = countEach(values, this.#stretches, {
      counts: this.#counts,
      countMax,
      firsts: this.#firsts,
      rest,
    });
    this.#total += values.length - restCount;
    return restCount;
  }

  /** Of each bucket the first value, for all of it. */
  values(): WeightedValues {
    const values = new Float64Array(this.#counts.length);
    const weights = new Float64Array(this.#counts.length);
    let length = 0;
    for (let bucket = 0; bucket < this.#counts.length; bucket++) {
      if (this.#counts[bucket] === 0) continue;
      values[length] = this.#firsts[bucket]!;
      weights[length++] = this.#counts[bucket]!;
    }
    return { values: values.subarray(0, length), weights: weights.subarray(0, length) };
  }
}

/**
 * Which bucket a value is in. Its key is the upper half of its bits, ordered, less `least`; the difference may wrap
 * around: as an unsigned integer it is right. What stands above the `lowBits` lowest bits of a key is the number of its
 * stretch; of these bits the upper ones tell which of the stretch's buckets is meant.
 */
type Stretches = {
  readonly least: number;
  readonly lowBits: number;
  /** By stretch: its first bucket, and in the lowest DOWN_BITS bits how many bits of a key it leaves out. */
  readonly buckets: Int32Array;
  readonly bucketCount: number;
};

const DOWN_BITS = 5;

/** Of negative ones all bits but the sign turn: so that they order as integers of 32 bits. */
function orderedBits(high: number): number {
  return high ^ ((high >> 31) & 0x7fffffff);
}

function wordsOf(values: Float64Array): Int32Array {
  return new Int32Array(values.buffer, values.byteOffset, 2 * values.length);
}

/** `undefined` where all but the tails have too few keys for it. */
function stretchesOf(sorted: Float64Array): Stretches | undefined {
  const words = wordsOf(sorted);
  const tail = Math.floor(sorted.length / TAIL_PARTS);
  const least = orderedBits(words[2 * tail + 1]!) + 1;
  const greatest = orderedBits(words[2 * (sorted.length - tail) - 1]!) - 1;
  if (least > greatest) return undefined;
  const keyCount = greatest - least + 1;
  const lowBits = Math.max(0, 32 - Math.clz32(keyCount) - STRETCH_BITS_MAX);
  // A stretch that would reach beyond the greatest is left out.
  const valueCounts = new Int32Array(Math.floor(keyCount / 2 ** lowBits));
  for (let index = 1; index < words.length; index += 2) {
    const stretch = (orderedBits(words[index]!) - least) >>> lowBits;
    if (stretch < valueCounts.length) valueCounts[stretch]!++;
  }
  let bucketCount = 0;
  const buckets = valueCounts.map((count) => {
    const wanted = Math.ceil((count * BUCKETS_AIMED) / sorted.length);
    const bits = wanted <= 1 ? 0 : Math.min(lowBits, 32 - Math.clz32(wanted - 1));
    const first = bucketCount;
    bucketCount += 1 << bits;
    return (first << DOWN_BITS) | (lowBits - bits);
  });
  return { least, lowBits, buckets, bucketCount };
}

type Counting = {
  readonly counts: Int32Array;
  readonly countMax: number;
  readonly firsts: Float64Array;
  readonly rest: Float64Array;
};

function countEach(
  values: Float64Array,
  { least, lowBits, buckets }: Stretches,
  { counts, countMax, firsts, rest }: Counting,
): number {
  const words = wordsOf(values);
  const lowMask = (1 << lowBits) - 1;
  const { length } = values;
  const stretchCount = buckets.length;
  let restCount = 0;
  for (let index = 0; index < length; index++) {
    const key = (orderedBits(words[2 * index + 1]!) - least) | 0;
    const stretch = key >>> lowBits;
    if (stretch < stretchCount) {
      const first = buckets[stretch]!;
      // A shift looks at the lowest five bits alone, which are DOWN_BITS.
      const bucket = (first >>> DOWN_BITS) + ((key & lowMask) >>> first);
      const count = counts[bucket]!;
      if (count < countMax) {
        counts[bucket] = count + 1;
        if (count === 0) firsts[bucket] = values[index]!;
        continue;
      }
    }
    rest[restCount++] = values[index]!;
  }
  return restCount;
}
