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
 * it each time that values are thinned out: five times are 0.1 %.
 */
const SHARE_MAX = 0.0004;

/** Values sorted and thinned out at a time: they and what sorting needs stay within the second-level cache. */
const BUFFER_VALUES_MAX = 65_536;

const BUFFER_VALUES_MIN = 256;

/** Lists of one level, at most; so many become one of the next. */
const LISTS_MAX = 16;

/**
 * Which values a group has, and at which ranks, within 0.1 % of their count; finite doubles. Values are sorted
 * some thousands at a time, and of each such list those are kept that stand for some neighbours. So many
 * of these lists are merged into one and thinned out again, and so on (Manku, Rajagopalan and Lindsay,
 * "Approximate medians and other quantiles in one pass and with limited memory", 1998). Errors of ranks add up
 * in proportion to what the lists stand for, whatever values they have and in which order: half of
 * SHARE_MAX for a buffer, for each LISTS_MAX-fold of it, and for a partial. Four or five of them are met
 * below 2^28 values. How many neighbours one stands for falls towards both ends as in a t-digest (Dunning
 * and Ertl, "Computing Extremely Accurate Quantiles Using t-Digests"), so that high percentiles are
 * better than that; but they are values that were met, not means, which are no observations, and whose errors
 * have no bound once what they stand for overlaps.
 *
 * Nothing is random: the same values in the same order and the same combines give the same answer.
 */
export class QuantileDigest {
  /** Of level `i`: lists that stand for about BUFFER_VALUES_MAX · LISTS_MAX^i values each. */
  readonly #levels: WeightedValues[][] = [];
  #buffer = new Float64Array(BUFFER_VALUES_MIN);
  #buffered = 0;
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
    return mergedValues(this.#levels.flat());
  }

  #makeRoom(): void {
    if (this.#buffered === BUFFER_VALUES_MAX) {
      this.#flush();
      return;
    }
    const grown = new Float64Array(2 * this.#buffer.length);
    grown.set(this.#buffer);
    this.#buffer = grown;
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
