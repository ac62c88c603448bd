import { type ExactNumber, exactInteger, exactSum } from './exact-number.ts';
import type { ExactSumsPartial } from './exact-sums.ts';
import { ExactSums } from './exact-sums.ts';
import { grownFloat64, NO_FLOAT64 } from './growth.ts';
import { INTEGER_MAX } from './sum-kernels.ts';

export type PreciseSumsPartial = {
  readonly integers: Float64Array;
  readonly exact: ExactSumsPartial | undefined;
};

/**
 * Exact sums of finite doubles, one per group. A group's sum is `#integers[group]`, an integer below
 * 2^53 in magnitude that takes all integers while it can, plus its sum in `#exact`.
 */
export class PreciseSums {
  #integers: Float64Array<ArrayBuffer> = NO_FLOAT64;
  readonly #exact = new ExactSums();

  reserve(groupCount: number): void {
    this.#integers = grownFloat64(this.#integers, groupCount);
  }

  /** Adds a finite value to the sum of a group below what was reserved. */
  add(group: number, value: number): void {
    const sum = this.#integers[group]! + value;
    // Rounding is monotone, so a rounded sum of integers below 2^53 was below it, and exact.
    if (Math.floor(value) === value && sum < INTEGER_MAX && sum > -INTEGER_MAX) {
      this.#integers[group] = sum;
    } else {
      this.#exact.add(group, value, this.#integers.length);
    }
  }

  sum(group: number): ExactNumber {
    const integer = exactInteger(this.#integers[group] ?? 0);
    return this.#exact.isEmpty ? integer : exactSum(integer, this.#exact.exact(group));
  }

  partial(groupCount: number): PreciseSumsPartial {
    return {
      integers: this.#integers.slice(0, groupCount),
      exact: this.#exact.partial(groupCount),
    };
  }

  /** Adds the partial's group `i` to our group `groups[i]`, below what was reserved. */
  combine(theirs: PreciseSumsPartial, groups: Int32Array): void {
    for (let index = 0; index < theirs.integers.length; index++) {
      this.add(groups[index]!, theirs.integers[index]!);
    }
    if (theirs.exact !== undefined) {
      this.#exact.combine(theirs.exact, groups, this.#integers.length);
    }
  }
}
