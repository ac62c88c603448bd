import type { AggregateSqlCall } from './aggregate-sql.ts';
import { type ExactList, INTEGER_BITS_MAX, roundedRatio, withExactList } from './exact-sql.ts';
import { UNSUPPORTED } from './refusal.ts';

type Moments = {
  /** With fewer rows the answer is NULL. */
  readonly countMin: number;
  /** The answer, given the values of each argument and how many there are. */
  readonly finish: (lists: readonly ExactList[], count: string, of: AggregateSqlCall) => string;
};

/**
 * Variances, deviations, covariances and the correlation of FLOAT64, from exact sums in integers of 256 bits, rounded as
 * the embedded engine does. Values that lie too far apart for these are refused when they are met.
 */
export const momentsSql = {
  var_pop: moments({ countMin: 1, finish: spreadBy(0, 'ratio') }),
  var_samp: moments({ countMin: 2, finish: spreadBy(1, 'ratio') }),
  variance: moments({ countMin: 2, finish: spreadBy(1, 'ratio') }),
  stddev_pop: moments({ countMin: 1, finish: spreadBy(0, 'root') }),
  stddev_samp: moments({ countMin: 2, finish: spreadBy(1, 'root') }),
  stddev: moments({ countMin: 2, finish: spreadBy(1, 'root') }),
  covar_pop: moments({ countMin: 1, finish: spreadBy(0, 'ratio') }),
  covar_samp: moments({ countMin: 2, finish: spreadBy(1, 'ratio') }),
  corr: moments({ countMin: 2, finish: correlation }),
};

function moments({ countMin, finish }: Moments): (of: AggregateSqlCall) => string {
  return (of) => {
    const { arguments: values, reduce, parts } = of;
    const isThere = values.map((value) => `isNotNull(${value})`).join(' AND ');
    const entry = `tuple(${values.map((value) => `assumeNotNull(${value})`).join(', ')})`;
    const rows = reduce('groupArray', [entry], isThere);
    const row = parts.variable();
    const list = (index: number) => `arrayMap(${row} -> ${row}.${index + 1}, ${rows})`;
    const exact = (index: number, lists: readonly ExactList[]): string =>
      index === values.length
        ? finish(lists, `toInt256(length(${rows}))`, of)
        : parts.once(list(index), (doubles) =>
            withExactList(doubles, parts, (each) => exact(index + 1, [...lists, each])),
          );
    const areFinite = values.map((_, index) => `isFinite(${row}.${index + 1})`).join(' AND ');
    const isBad = `arrayExists(${row} -> NOT (${areFinite}), ${rows})`;
    return `multiIf(length(${rows}) < ${countMin}, NULL, ${isBad}, nan, ${exact(0, [])})`;
  };
}

/** Of one argument by itself, or of two: the mean product of deviations, of `lost` degrees of freedom fewer. */
function spreadBy(lost: 0 | 1, form: 'ratio' | 'root'): Moments['finish'] {
  return (lists, count, of) => {
    const [one, other = one] = lists as [ExactList, ExactList?];
    const numerator = spread(one, other, count);
    const denominator = `${count} * (${count} - ${lost})`;
    const exponent = `${one.exponent} + ${other.exponent}`;
    const ratio = roundedRatio({ numerator, denominator, exponent, form }, of.parts);
    return ifFitting([one, other], count, 1, ratio, of);
  };
}

/** `count`² times the mean product of deviations. */
function spread(one: ExactList, other: ExactList, count: string): string {
  const products = `arrayReduce('sum', arrayMap((a, b) -> a * b, ${one.units}, ${other.units}))`;
  const [left, right] = [one, other].map(({ units }) => `arrayReduce('sum', ${units})`);
  return `(${count} * ${products} - ${left} * ${right})`;
}

/** NaN where one of the two does not vary. */
function correlation(lists: readonly ExactList[], count: string, of: AggregateSqlCall): string {
  const { parts } = of;
  const [one, other] = lists as [ExactList, ExactList];
  const answer = parts.once(spread(one, other, count), (both) =>
    parts.once(`${spread(one, one, count)} * ${spread(other, other, count)}`, (product) => {
      const root = roundedRatio(
        { numerator: `${both} * ${both}`, denominator: product, exponent: '0', form: 'root' },
        parts,
      );
      return `if(${product} = 0, nan, if(${both} < 0, -1, 1) * ${root})`;
    }),
  );
  return ifFitting([one, other], count, 2, answer, of);
}

/** The answer, where products of so many spreads have no more bits than an integer. */
function ifFitting(
  lists: readonly ExactList[],
  count: string,
  factors: 1 | 2,
  answer: string,
  { parts }: AggregateSqlCall,
): string {
  const bits = lists.map((list) => list.bits).join(' + ');
  const all = `${factors} * (${bits} + 2 * (1 + ceil(log2(toFloat64(${count})))))`;
  const raised = parts.raise(`${all} > ${INTEGER_BITS_MAX}`, {
    code: 'query_failed',
    message: `${UNSUPPORTED} moments of numbers that lie so far apart`,
    span: undefined,
  });
  return `if(${raised} = 0, ${answer}, nan)`;
}
