import { FLOAT64 } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import type { Vector } from '../column/vector.ts';
import { valueAt } from '../column/vector.ts';
import type { FunctionDoc } from '../function/function-doc.ts';
import { sameAs } from '../function/function-doc.ts';
import type { AggregateFunction, AggregateState } from './aggregate-function.ts';
import { type ExactNumber, exactDifference, exactInteger, exactProduct } from './exact-number.ts';
import { exactRatio, rootOfRatio } from './exact-ratio.ts';
import { grownFloat64, grownUint8, NO_FLOAT64, NO_UINT8 } from './growth.ts';
import { PreciseSums, type PreciseSumsPartial } from './precise-sums.ts';
import { ProductSums, type ProductSumsPartial } from './product-sums.ts';

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
