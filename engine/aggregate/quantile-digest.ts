import { DoubleHistogram } from './double-histogram.ts';
import { sortDoubles } from './sort-doubles.ts';
import {
  mergedValues,
  thinnedValues,
  thinnedWeights,
  totalWeight,
  type WeightedValues,
} from './weighted-values.ts';

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
    const grown = new Float64Array(2 * this.#buffer.length);
    grown.set(this.#buffer);
    this.#buffer = grown;
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
