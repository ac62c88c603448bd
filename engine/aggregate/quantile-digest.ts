import { lengthened, threadArrays } from '../column/arrays.ts';

/**
 * Greatest share of the values that one of them may stand for, reached in the middle. Ranks are off by half of
 * it each time that values are thinned out: six times are 0.1 %.
 */
const SHARE_MAX = 1 / 3000;

/** Values sorted at a time: they and what sorting needs stay within the second-level cache. */
const BUFFER_VALUES_MAX = 65_536;

const BUFFER_VALUES_MIN = 256;

/** Lists of one level, at most; so many become one of the next. */
const LISTS_MAX = 16;

/**
 * Which values a group has, and at which ranks, within 0.1 % of their count; finite doubles. The first
 * BUFFER_VALUES_MAX are sorted, and make a histogram that counts these and those that come later. What it gives
 * back, the tails for one, is sorted some thousands at a time, and of each such list those are kept that stand for
 * some neighbours. So many of these lists are merged into one and thinned out again, and so on (Manku, Rajagopalan and
 * Lindsay, "Approximate medians and other quantiles in one pass and with limited memory", 1998). A histogram that
 * gives back too much has become a list, too, and another is made.
 *
 * Errors of ranks add up in proportion to what the lists stand for, whatever values they have and in which order: half of
 * SHARE_MAX for a buffer or a histogram, for its end, for each LISTS_MAX-fold of it, and for a partial. Five or six
 * of them are met below 2^28 values. How many neighbours one stands for falls towards both ends as in a t-digest
 * (Dunning and Ertl, "Computing Extremely Accurate Quantiles Using t-Digests"), and a histogram takes in no tails, so
 * that high percentiles are better than that; but they are values that were met, not means, which are no
 * observations, and whose errors have no bound once what they stand for overlaps.
 *
 * Nothing is random: the same values in the same order and the same combines give the same answer.
 */
export class QuantileDigest {
  /** Of level `i`: lists that stand for about BUFFER_VALUES_MAX · LISTS_MAX^i values each. */
  readonly #levels: WeightedValues[][] = [];
  #buffer = new Float64Array(BUFFER_VALUES_MIN);
  #buffered = 0;
  #histogram: DoubleHistogram | undefined;
  /** Values that came more than once at a time, not yet in a list. */
  #repeated: { readonly value: number; readonly count: number }[] = [];

  add(value: number, count: number): void {
    if (count > 1) {
      this.#repeated.push({ value, count });
      if (this.#repeated.length === BUFFER_VALUES_MAX) this.#flush();
      return;
    }
    if (this.#buffered === this.#buffer.length) this.#makeRoom();
    this.#buffer[this.#buffered++] = value;
  }

  /** Adds each of the values once. */
  addEach(values: Float64Array): void {
    for (let from = 0; from < values.length; ) {
      if (this.#buffered === this.#buffer.length) this.#makeRoom();
      const some = values.subarray(from, from + this.#buffer.length - this.#buffered);
      this.#buffer.set(some, this.#buffered);
      this.#buffered += some.length;
      from += some.length;
    }
  }

  combine(partial: WeightedValues): void {
    this.#take(levelOf(partial), partial);
  }

  /** What it holds, and `others` besides, thinned out. */
  partial(others: WeightedValues): WeightedValues {
    return thinnedWeights(mergedValues([this.values(), others]), SHARE_MAX);
  }

  /** All that it holds. */
  values(): WeightedValues {
    this.#flush();
    const lists = this.#levels.flat();
    if (this.#histogram !== undefined) lists.push(this.#histogram.values());
    return mergedValues(lists);
  }

  #makeRoom(): void {
    if (this.#buffered === BUFFER_VALUES_MAX) {
      this.#count();
      return;
    }
    this.#buffer = lengthened(this.#buffer, 2 * this.#buffer.length);
  }

  /** Has the full buffer counted; what cannot be stays in it, or becomes a list where it is too much. */
  #count(): void {
    const buffer = this.#buffer;
    if (this.#histogram === undefined) {
      this.#begin(buffer);
      return;
    }
    this.#buffered = this.#histogram.add(buffer, buffer);
    if (2 * this.#buffered <= BUFFER_VALUES_MAX) return;
    const ended = this.#histogram.values();
    this.#histogram = undefined;
    this.combine(thinnedWeights(ended, SHARE_MAX));
    this.#flush();
  }

  /** Makes a histogram of the full buffer; a list, where this has too many values near to one another. */
  #begin(buffer: Float64Array<ArrayBuffer>): void {
    sortDoubles(buffer);
    const rest = new Float64Array(BUFFER_VALUES_MAX);
    const begun = DoubleHistogram.of(buffer, SHARE_MAX / 2, rest);
    if (begun === undefined) {
      this.#buffered = 0;
      this.#take(0, thinnedValues(buffer, SHARE_MAX));
      return;
    }
    this.#histogram = begun.histogram;
    this.#buffered = begun.restCount;
    this.#buffer = rest;
  }

  /** Makes lists of all that waits. */
  #flush(): void {
    if (this.#buffered > 0) {
      const sorted = this.#buffer.subarray(0, this.#buffered);
      this.#buffered = 0;
      sortDoubles(sorted);
      this.#take(0, thinnedValues(sorted, SHARE_MAX));
    }
    if (this.#repeated.length > 0) {
      const sorted = this.#repeated.sort((left, right) => left.value - right.value);
      this.#repeated = [];
      this.combine({
        values: Float64Array.from(sorted, ({ value }) => value),
        weights: Float64Array.from(sorted, ({ count }) => count),
      });
    }
  }

  #take(level: number, list: WeightedValues): void {
    while (this.#levels.length <= level) this.#levels.push([]);
    const lists = this.#levels[level]!;
    lists.push(list);
    if (lists.length < LISTS_MAX) return;
    this.#levels[level] = [];
    this.#take(level + 1, thinnedWeights(mergedValues(lists), SHARE_MAX));
  }
}

/** The level of lists that stand for as many values. */
function levelOf(list: WeightedValues): number {
  const total = totalWeight(list);
  let level = 0;
  for (let values = BUFFER_VALUES_MAX * LISTS_MAX; values <= total; values *= LISTS_MAX) level++;
  return level;
}

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

/**
 * Values, ascending, none of them NaN: `values[i]` is one that was met and stands for `weights[i]` of
 * its neighbours, itself included. A value may stand there more than once.
 */
export type WeightedValues = {
  readonly values: Float64Array;
  readonly weights: Float64Array;
};

/** How many values they all stand for. */
function totalWeight({ weights }: WeightedValues): number {
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
function thinnedValues(sorted: Float64Array, share: number): WeightedValues {
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

/** Values below which sorting by comparison is as fast. */
const RADIX_VALUES_MIN = 1024;

const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;
const DIGIT_MASK = DIGITS - 1;

/**
 * Keys of more bits take three digits, of fewer two, without their lowest bits where these are more than
 * two digits: 65,536 values of this range have but a few with the same two.
 */
const TWO_DIGIT_BITS_MAX = 28;

/** Values with the same digits that are sorted by insertion; longer runs are compared. */
const INSERTION_RUN_MAX = 24;

/**
 * Keys order as doubles do. A value's key is the upper half of its bits (sign, exponent and 20 bits of the
 * fraction, turned so that they order as integers), less `least`, without its lowest `shift` bits. The
 * difference may wrap around: as an unsigned integer it is right.
 */
type KeyRange = { readonly least: number; readonly shift: number; readonly digitCount: number };

/**
 * Sorts doubles, none of them NaN, in place: by two or three digits of their keys from the lowest up, and what is
 * equal in these by comparison. 0 and -0 come in any order.
 */
export function sortDoubles(values: Float64Array): void {
  if (values.length < RADIX_VALUES_MIN) {
    values.sort();
    return;
  }
  const words = wordsOf(values);
  const range = rangeOf(words);
  const counts = new Uint32Array(range.digitCount * DIGITS);
  countDigits(words, range, counts);
  let from = values;
  const room = threadArrays.borrow(Float64Array, values.length);
  let to: Float64Array = room.subarray(0, values.length);
  for (let digit = 0; digit < range.digitCount; digit++) {
    const starts = counts.subarray(digit * DIGITS, (digit + 1) * DIGITS);
    if (!startsOf(starts, values.length)) continue;
    scatter(from, to, range, { starts, down: range.shift + digit * DIGIT_BITS });
    [from, to] = [to, from];
  }
  if (from !== values) values.set(from);
  threadArrays.giveBack(room);
  finish(values, words, range);
}

function wordsOf(values: Float64Array): Int32Array {
  return new Int32Array(values.buffer, values.byteOffset, 2 * values.length);
}

/** Of negative ones all bits but the sign turn: so that they order as integers of 32 bits. */
function orderedBits(high: number): number {
  return high ^ ((high >> 31) & 0x7fffffff);
}

function rangeOf(words: Int32Array): KeyRange {
  let least = 0x7fffffff;
  let greatest = -0x80000000;
  for (let index = 1; index < words.length; index += 2) {
    const bits = orderedBits(words[index]!);
    if (bits < least) least = bits;
    if (bits > greatest) greatest = bits;
  }
  const bitCount = 32 - Math.clz32(greatest - least);
  if (bitCount > TWO_DIGIT_BITS_MAX) return { least, shift: 0, digitCount: 3 };
  return { least, shift: Math.max(0, bitCount - 2 * DIGIT_BITS), digitCount: 2 };
}

/** Counts each digit of the keys: the two lowest, and the third where it is meant. */
function countDigits(
  words: Int32Array,
  { least, shift, digitCount }: KeyRange,
  counts: Uint32Array,
): void {
  for (let index = 1; index < words.length; index += 2) {
    const key = (orderedBits(words[index]!) - least) >>> shift;
    counts[key & DIGIT_MASK]!++;
    counts[DIGITS + ((key >>> DIGIT_BITS) & DIGIT_MASK)]!++;
  }
  if (digitCount < 3) return;
  for (let index = 1; index < words.length; index += 2) {
    const key = (orderedBits(words[index]!) - least) >>> shift;
    counts[2 * DIGITS + (key >>> (2 * DIGIT_BITS))]!++;
  }
}

/** Turns counts into the places that values go to; false when all of them have one digit. */
function startsOf(counts: Uint32Array, valueCount: number): boolean {
  let start = 0;
  for (let digit = 0; digit < DIGITS; digit++) {
    const count = counts[digit]!;
    if (count === valueCount) return false;
    counts[digit] = start;
    start += count;
  }
  return true;
}

type Digit = { readonly starts: Uint32Array; readonly down: number };

function scatter(
  from: Float64Array,
  to: Float64Array,
  { least }: KeyRange,
  { starts, down }: Digit,
): void {
  const words = wordsOf(from);
  const length = from.length;
  for (let index = 0; index < length; index++) {
    const digit = ((orderedBits(words[2 * index + 1]!) - least) >>> down) & DIGIT_MASK;
    const place = starts[digit]!;
    starts[digit] = place + 1;
    to[place] = from[index]!;
  }
}

/** Sorts each run of values that have one key, where it is not in order. */
function finish(values: Float64Array, words: Int32Array, range: KeyRange): void {
  for (let next = 1; next < values.length; next++) {
    if (values[next - 1]! <= values[next]!) continue;
    const start = runStart(words, range, next);
    const end = runEnd(words, range, next);
    if (end - start > INSERTION_RUN_MAX) values.subarray(start, end).sort();
    else insert(values, start, end);
    next = end - 1;
  }
}

function runStart(words: Int32Array, { least, shift }: KeyRange, index: number): number {
  const key = (orderedBits(words[2 * index + 1]!) - least) >>> shift;
  let start = index;
  while (start > 0 && (orderedBits(words[2 * start - 1]!) - least) >>> shift === key) start--;
  return start;
}

function runEnd(words: Int32Array, { least, shift }: KeyRange, index: number): number {
  const key = (orderedBits(words[2 * index + 1]!) - least) >>> shift;
  let at = 2 * index + 1;
  while (at < words.length && (orderedBits(words[at]!) - least) >>> shift === key) at += 2;
  return at >> 1;
}

function insert(values: Float64Array, start: number, end: number): void {
  for (let next = start + 1; next < end; next++) {
    const value = values[next]!;
    let at = next;
    for (; at > start && values[at - 1]! > value; at--) values[at] = values[at - 1]!;
    values[at] = value;
  }
}
