import { type ExactNumber, exactSum } from './exact-number.ts';
import { PreciseSums, type PreciseSumsPartial } from './precise-sums.ts';
import { INTEGER_MAX } from './sum-kernels.ts';

export type ProductSumsPartial = readonly PreciseSumsPartial[];

/**
 * A range of products, by the sum of the exponents of their factors: `[from, to)`. The larger factor
 * (of the lowest range the smaller) is multiplied by 2^-`exponent`, so that the product and all its
 * parts are doubles; what a sum holds counts 2^`exponent` times.
 */
const RANGES = [
  { from: -970, to: 1022, exponent: 0 },
  { from: 1022, to: Number.POSITIVE_INFINITY, exponent: 1100 },
  { from: Number.NEGATIVE_INFINITY, to: -970, exponent: -1200 },
] as const;

/**
 * Exact sums of products of two finite doubles, one per group, after Dekker, "A floating-point
 * technique for extending the available precision" (1971): a double is the sum of one of 26 bits and
 * one of 27, and products of such are exact.
 */
export class ProductSums {
  readonly #sums: readonly PreciseSums[] = RANGES.map(() => new PreciseSums());

  reserve(groupCount: number): void {
    for (const sums of this.#sums) sums.reserve(groupCount);
  }

  add(group: number, x: number, y: number): void {
    const product = x * y;
    const isWhole = Math.floor(x) === x && Math.floor(y) === y;
    if (isWhole && product < INTEGER_MAX && product > -INTEGER_MAX) {
      this.#sums[0]!.add(group, product);
      return;
    }
    const exponents = exponentOf(x) + exponentOf(y);
    const index = RANGES.findIndex(({ from, to }) => exponents >= from && exponents < to);
    const { exponent } = RANGES[index]!;
    if (exponent === 0) {
      addProduct(this.#sums[0]!, group, x, y);
    } else {
      const isLarger = Math.abs(x) > Math.abs(y) === exponent > 0;
      const [scaled, other] = isLarger ? [x, y] : [y, x];
      addProduct(this.#sums[index]!, group, timesPower(scaled, -exponent), other);
    }
  }

  sum(group: number): ExactNumber {
    return this.#sums
      .map((sums, index) => {
        const { units, exponent } = sums.sum(group);
        return { units, exponent: exponent + RANGES[index]!.exponent };
      })
      .reduce(exactSum);
  }

  partial(groupCount: number): ProductSumsPartial {
    return this.#sums.map((sums) => sums.partial(groupCount));
  }

  combine(theirs: ProductSumsPartial, groups: Int32Array): void {
    for (const [index, sums] of this.#sums.entries()) sums.combine(theirs[index]!, groups);
  }
}

function addProduct(sums: PreciseSums, group: number, x: number, y: number): void {
  const xHigh = upperBits(x);
  const yHigh = upperBits(y);
  const xLow = x - xHigh;
  const yLow = y - yHigh;
  sums.add(group, xHigh * yHigh);
  if (yLow !== 0) sums.add(group, xHigh * yLow);
  if (xLow !== 0) sums.add(group, xLow * yHigh);
  if (xLow !== 0 && yLow !== 0) sums.add(group, xLow * yLow);
}

const DOUBLE = new Float64Array(1);
const WORDS = new Uint32Array(DOUBLE.buffer);

/** The double without the lower 27 of its 53 bits. */
function upperBits(value: number): number {
  DOUBLE[0] = value;
  WORDS[0]! &= 0xf8000000;
  return DOUBLE[0]!;
}

/** e with 2^e <= |value| < 2^(e + 1); -1022 for what is smaller. */
function exponentOf(value: number): number {
  DOUBLE[0] = value;
  return Math.max((WORDS[1]! >>> 20) & 0x7ff, 1) - 1023;
}

/** value · 2^power, where that is a double; 2^power alone may not be one. */
function timesPower(value: number, power: number): number {
  const half = Math.trunc(power / 2);
  return value * 2 ** half * 2 ** (power - half);
}
