import { grownFloat64, grownUint8, NO_FLOAT64, NO_UINT8 } from '../column/arrays.ts';
import { FLOAT64 } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import { type Vector, valueAt } from '../column/vector.ts';
import { type FunctionDoc, sameAs } from '../function/scalar-function.ts';
import type { AggregateFunction, AggregateState } from './aggregate-function.ts';
import {
  type ExactNumber,
  ExactSums,
  type ExactSumsPartial,
  exactDifference,
  exactInteger,
  exactProduct,
  exactSum,
} from './exact-sums.ts';
import { DOUBLE, WORDS } from './number-index.ts';
import { INTEGER_MAX } from './sum.ts';

const VAR_SAMP_DOC: FunctionDoc = [
  'Sample variance. NULLs are ignored; NULL for fewer than two other values.',
  'VAR_SAMP(x) FROM UNNEST([1, 3]) AS x',
  '2.0',
];

const STDDEV_SAMP_DOC: FunctionDoc = [
  'Sample standard deviation. NULLs are ignored; NULL for fewer than two other values.',
  'STDDEV_SAMP(x) FROM UNNEST([1, 2, 3]) AS x',
  '1.0',
];

/**
 * Variances, covariances and the correlation of FLOAT64: computed from exact sums and rounded at the
 * end alone, so that the order of rows and how they are divided change no bit. Rows with a NULL are
 * left out; a NaN or an infinity makes NaN.
 */
export const VARIANCES: readonly AggregateFunction[] = [
  ofOne(
    'var_pop',
    [
      'Population variance. NULLs are ignored; NULL without other values.',
      'VAR_POP(x) FROM UNNEST([1, 3]) AS x',
      '1.0',
    ],
    1,
    variance(0),
  ),
  ofOne('var_samp', VAR_SAMP_DOC, 2, variance(1)),
  ofOne('variance', sameAs('var_samp', 'variance', VAR_SAMP_DOC), 2, variance(1)),
  ofOne(
    'stddev_pop',
    [
      'Population standard deviation. NULLs are ignored; NULL without other values.',
      'STDDEV_POP(x) FROM UNNEST([1, 5]) AS x',
      '2.0',
    ],
    1,
    deviation(0),
  ),
  ofOne('stddev_samp', STDDEV_SAMP_DOC, 2, deviation(1)),
  ofOne('stddev', sameAs('stddev_samp', 'stddev', STDDEV_SAMP_DOC), 2, deviation(1)),
];

/** COVAR_POP(x, y), COVAR_SAMP(x, y), CORR(x, y): over the rows where neither is NULL. */
export const COVARIANCES: readonly AggregateFunction[] = [
  ofTwo(
    'covar_pop',
    [
      'Population covariance of pairs of numbers. Pairs with a NULL are ignored; NULL without other pairs.',
      'COVAR_POP(x, 2 * x) FROM UNNEST([1, 3]) AS x',
      '2.0',
    ],
    1,
    [[0, 1]],
    variance(0),
  ),
  ofTwo(
    'covar_samp',
    [
      'Sample covariance of pairs of numbers. Pairs with a NULL are ignored; NULL for fewer than two other pairs.',
      'COVAR_SAMP(x, 2 * x) FROM UNNEST([1, 3]) AS x',
      '4.0',
    ],
    2,
    [[0, 1]],
    variance(1),
  ),
  ofTwo(
    'corr',
    [
      'Pearson correlation of pairs of numbers, from -1 to 1. Pairs with a NULL are ignored; NULL for fewer than two other pairs, NaN if one side is constant.',
      'CORR(x, -x) FROM UNNEST([1, 2, 3]) AS x',
      '-1.0',
    ],
    2,
    [
      [0, 1],
      [0, 0],
      [1, 1],
    ],
    correlation,
  ),
];

/** The answer, given for each pair of arguments `count`² times the mean product of deviations. */
type Finish = (spreads: readonly ExactNumber[], count: number) => number;

/** Positions of the arguments whose products are summed. */
type Pairs = readonly (readonly [number, number])[];

function ofOne(
  name: string,
  doc: FunctionDoc,
  countMin: number,
  finish: Finish,
): AggregateFunction {
  const shape = { width: 1, countMin, pairs: [[0, 0]] as const, finish };
  return {
    name,
    doc,
    overloads: [{ parameters: [FLOAT64], result: FLOAT64, create: () => new MomentsState(shape) }],
  };
}

function ofTwo(
  name: string,
  doc: FunctionDoc,
  countMin: number,
  pairs: Pairs,
  finish: Finish,
): AggregateFunction {
  const shape = { width: 2, countMin, pairs, finish };
  return {
    name,
    doc,
    modifiers: [],
    overloads: [
      { parameters: [FLOAT64, FLOAT64], result: FLOAT64, create: () => new MomentsState(shape) },
    ],
  };
}

/** Of one degree of freedom fewer for a sample. */
function variance(lost: 0 | 1): Finish {
  return ([spread], count) =>
    exactRatio(spread!.units, BigInt(count) * BigInt(count - lost), spread!.exponent);
}

function deviation(lost: 0 | 1): Finish {
  return ([spread], count) =>
    rootOfRatio(spread!.units, BigInt(count) * BigInt(count - lost), spread!.exponent);
}

/** NaN where one of the two does not vary. */
function correlation([both, x, y]: readonly ExactNumber[]): number {
  const square = exactProduct(both!, both!);
  const product = exactProduct(x!, y!);
  if (product.units === 0n) return Number.NaN;
  const root = rootOfRatio(square.units, product.units, square.exponent - product.exponent);
  return both!.units < 0n ? -root : root;
}

type Shape = {
  /** Number of arguments. */
  readonly width: number;
  /** With fewer rows the answer is NULL. */
  readonly countMin: number;
  readonly pairs: Pairs;
  readonly finish: Finish;
};

type MomentsPartial = {
  readonly counts: Float64Array;
  readonly saw: Uint8Array;
  readonly sums: readonly PreciseSumsPartial[];
  readonly products: readonly ProductSumsPartial[];
};

/** Per group the count of rows, the sum of each argument, and the sums of products of pairs. */
class MomentsState implements AggregateState {
  readonly #shape: Shape;
  #counts: Float64Array<ArrayBuffer> = NO_FLOAT64;
  /** 1 where a value was not finite. */
  #saw: Uint8Array<ArrayBuffer> = NO_UINT8;
  readonly #sums: readonly PreciseSums[];
  readonly #products: readonly ProductSums[];

  constructor(shape: Shape) {
    this.#shape = shape;
    this.#sums = Array.from({ length: shape.width }, () => new PreciseSums());
    this.#products = shape.pairs.map(() => new ProductSums());
  }

  update(groups: Int32Array, count: number, groupCount: number, vectors: readonly Vector[]): void {
    this.#reserve(groupCount);
    const { width } = this.#shape;
    const values = new Float64Array(width);
    for (let row = 0; row < count; row++) {
      let present = 0;
      for (; present < width; present++) {
        const value = valueAt(vectors[present]!, row);
        if (typeof value !== 'number' && typeof value !== 'bigint') break;
        values[present] = Number(value);
      }
      if (present === width) this.#add(groups[row]!, values);
    }
  }

  combine(partial: unknown, groups: Int32Array, groupCount: number): void {
    const theirs = partial as MomentsPartial; // By contract, what partial() of this class gave.
    this.#reserve(groupCount);
    for (let index = 0; index < theirs.counts.length; index++) {
      this.#counts[groups[index]!]! += theirs.counts[index]!;
      this.#saw[groups[index]!]! |= theirs.saw[index]!;
    }
    for (const [index, sums] of this.#sums.entries()) sums.combine(theirs.sums[index]!, groups);
    for (const [index, products] of this.#products.entries()) {
      products.combine(theirs.products[index]!, groups);
    }
  }

  partial(groupCount: number): MomentsPartial {
    return {
      counts: this.#counts.slice(0, groupCount),
      saw: this.#saw.slice(0, groupCount),
      sums: this.#sums.map((sums) => sums.partial(groupCount)),
      products: this.#products.map((products) => products.partial(groupCount)),
    };
  }

  finalize(group: number): SqlValue {
    const { countMin, pairs, finish } = this.#shape;
    const count = this.#counts[group] ?? 0;
    if (count < countMin) return null;
    if (this.#saw[group] === 1) return Number.NaN;
    const sums = this.#sums.map((each) => each.sum(group));
    const spreads = pairs.map(([left, right], index) =>
      exactDifference(
        exactProduct(exactInteger(count), this.#products[index]!.sum(group)),
        exactProduct(sums[left]!, sums[right]!),
      ),
    );
    return finish(spreads, count) + 0; // 0 for -0.
  }

  #reserve(groupCount: number): void {
    this.#counts = grownFloat64(this.#counts, groupCount);
    this.#saw = grownUint8(this.#saw, groupCount);
    for (const sums of this.#sums) sums.reserve(groupCount);
    for (const products of this.#products) products.reserve(groupCount);
  }

  #add(group: number, values: Float64Array): void {
    this.#counts[group]!++;
    if (!values.every(Number.isFinite)) {
      this.#saw[group] = 1;
      return;
    }
    for (const [index, sums] of this.#sums.entries()) sums.add(group, values[index]!);
    for (const [index, products] of this.#products.entries()) {
      const [left, right] = this.#shape.pairs[index]!;
      products.add(group, values[left]!, values[right]!);
    }
  }
}

/**
 * numerator / denominator · 2^exponent, rounded once, to nearest, ties to even; ±Infinity beyond a
 * double. The denominator is positive.
 */
function exactRatio(numerator: bigint, denominator: bigint, exponent = 0): number {
  const { head, shift } = quotient(numerator, denominator);
  // A quotient of 64 bits or more is rounded by Number, and scaling is exact; below the normal
  // doubles the bits that would be lost twice are dropped here, in the same rounding.
  return scaledOnce(head, exponent - shift);
}

/** The root of numerator / denominator · 2^exponent, within a unit in the last place. */
function rootOfRatio(numerator: bigint, denominator: bigint, exponent = 0): number {
  const { head, shift } = quotient(numerator, denominator);
  const power = exponent - shift;
  const half = Math.floor(power / 2);
  const root = Math.sqrt(Number(power === 2 * half ? head : head << 1n));
  return scaled(root, half);
}

/** Bits of a quotient before the sticky one: more than twice a double's would be no better. */
const QUOTIENT_BITS = 64;

/** `head` / 2^`shift` is the quotient, but for a last bit that stands for all that is below. */
function quotient(
  numerator: bigint,
  denominator: bigint,
): { readonly head: bigint; readonly shift: number } {
  const magnitude = numerator < 0n ? -numerator : numerator;
  const shift = QUOTIENT_BITS + bitLength(denominator) - bitLength(magnitude);
  const dividend = shift > 0 ? magnitude << BigInt(shift) : magnitude;
  const divisor = shift < 0 ? denominator << BigInt(-shift) : denominator;
  const whole = dividend / divisor;
  const sticky = whole * divisor === dividend ? 0n : 1n;
  const head = (whole << 1n) | sticky;
  return { head: numerator < 0n ? -head : head, shift: shift + 1 };
}

/** head · 2^power rounded once. `head` is 0 or has more than QUOTIENT_BITS bits, the last sticky. */
function scaledOnce(head: bigint, power: number): number {
  const magnitude = head < 0n ? -head : head;
  // The least double is 2^-1074: bits below it are gathered in a sticky one before rounding.
  const excess = bitLength(magnitude) + power + 1074 - 53;
  if (magnitude === 0n || excess >= 0) return scaled(Number(head), power);
  const dropped = BigInt(-1074 - power);
  if (dropped > BigInt(bitLength(magnitude)) + 1n) return head < 0n ? -0 : 0;
  const half = 1n << (dropped - 1n);
  const rest = magnitude & ((1n << dropped) - 1n);
  const kept = magnitude >> dropped;
  const isUp = rest > half || (rest === half && (kept & 1n) === 1n);
  const rounded = Number(isUp ? kept + 1n : kept) * 2 ** -1074;
  return head < 0n ? -rounded : rounded;
}

/** value · 2^power; 2^power alone may be beyond a double, and so may a third of it not. */
function scaled(value: number, power: number): number {
  const third = Math.trunc(power / 3);
  return value * 2 ** third * 2 ** third * 2 ** (power - 2 * third);
}

function bitLength(value: bigint): number {
  return value === 0n ? 0 : value.toString(2).length;
}

type ProductSumsPartial = readonly PreciseSumsPartial[];

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
class ProductSums {
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

type PreciseSumsPartial = {
  readonly integers: Float64Array;
  readonly exact: ExactSumsPartial | undefined;
};

/**
 * Exact sums of finite doubles, one per group. A group's sum is `#integers[group]`, an integer below
 * 2^53 in magnitude that takes all integers while it can, plus its sum in `#exact`.
 */
class PreciseSums {
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
