import {
  type DeferredAnswer,
  deferredAnswer,
  isFailure,
  valueInAnswer,
} from '../aggregate/deferred.ts';
import { ExactSums } from '../aggregate/exact-sums.ts';
import { FLOAT64, type SqlType } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import { valueAt, valueVector } from '../column/vector.ts';
import { compareValues } from '../function/comparison.ts';
import { orderedValues } from '../function/dynamic.ts';
import { QueryError } from '../query-error.ts';
import type { WindowFunction, WindowKernel } from './window-function.ts';

/** PERCENTILE_CONT and PERCENTILE_DISC: a value of all rows of a partition, in order of the value. */
export const PERCENTILE_FUNCTIONS: readonly WindowFunction[] = [
  {
    ...percentile('percentile_cont'),
    doc: [
      'The value at a fraction from 0 to 1 of the ordered numbers of the partition, interpolated between neighbours. NULLs are ignored.',
      'PERCENTILE_CONT(x, 0.5) OVER () FROM UNNEST([1, 4]) AS x',
      '[2.5, 2.5]',
    ],
    overloads: [{ parameters: [FLOAT64, FLOAT64], result: FLOAT64 }],
    prepare: ([fraction]) => percentileKernel(checked('PERCENTILE_CONT', fraction!), interpolated),
  },
  {
    ...percentile('percentile_disc'),
    doc: [
      'The first of the ordered values of the partition whose cumulative fraction is at least the given one, from 0 to 1. NULLs are ignored.',
      "PERCENTILE_DISC(x, 0.5) OVER () FROM UNNEST(['a', 'b', 'c']) AS x",
      "['b', 'b', 'b']",
    ],
    overloads: [
      { parameters: ['orderable', FLOAT64], result: (types: readonly SqlType[]) => types[0]! },
    ],
    prepare: ([fraction]) => percentileKernel(checked('PERCENTILE_DISC', fraction!), nearest),
  },
];

function percentile(name: string) {
  return { name, perRowCount: 1, order: 'forbidden', isFramed: false, ignoresNulls: true } as const;
}

function checked(name: string, value: SqlValue): number {
  const fraction = Number(value);
  if (value !== null && fraction >= 0 && fraction <= 1) return fraction;
  const got = value === null ? 'NULL' : String(value);
  throw new QueryError('query_failed', `${name} takes a fraction from 0 to 1; got ${got}`);
}

type Pick = (sorted: readonly SqlValue[], fraction: number) => SqlValue;

function percentileKernel(fraction: number, pick: Pick): WindowKernel {
  return ({ count, order, partitions }, { vectors, ignoresNulls, isDeferred }) => {
    const pickOf = (values: readonly SqlValue[]): SqlValue => {
      const nulls = ignoresNulls ? [] : values.filter((value) => value === null);
      const counted = [...nulls, ...orderedValues(values)];
      return counted.length === 0 ? null : pick(counted.sort(compareValues), fraction);
    };
    const results = new Array<SqlValue>(count);
    for (let index = 0; index + 1 < partitions.length; index++) {
      const rows = order.subarray(partitions[index], partitions[index + 1]);
      const values = Array.from(rows, (row) => valueAt(vectors[0]!, row));
      const result = isDeferred ? deferredPick(values as DeferredAnswer[], pickOf) : pickOf(values);
      for (const row of rows) results[row] = result;
    }
    return valueVector(results);
  };
}

function deferredPick(
  answers: readonly DeferredAnswer[],
  pickOf: (values: readonly SqlValue[]) => SqlValue,
): DeferredAnswer {
  return answers.find(isFailure) ?? deferredAnswer(pickOf(answers.map(valueInAnswer)));
}

/** The first value that at least the fraction of all is no greater than. */
function nearest(sorted: readonly SqlValue[], fraction: number): SqlValue {
  const { whole, rest } = productOf(fraction, sorted.length);
  return sorted[Math.max(0, rest === 0 ? whole - 1 : whole)]!;
}

/** A value between the two that the fraction lies between; beside a NULL the other one. */
function interpolated(sorted: readonly SqlValue[], fraction: number): SqlValue {
  const place = productOf(fraction, sorted.length - 1);
  const [left, right] = [sorted[place.whole]!, sorted[place.whole + 1] ?? null];
  if (place.rest === 0 || right === null) return left;
  if (left === null) return right;
  return between(Number(left), Number(right), place);
}

/** `left + (right - left) * rest`, rounded once. */
function between(left: number, right: number, { rest, restError }: Product): number {
  if (!Number.isFinite(left) || !Number.isFinite(right)) return left * (1 - rest) + right * rest;
  const sum = new ExactSums();
  const terms = [
    left,
    ...exactProduct(right, rest),
    ...exactProduct(-left, rest),
    right * restError,
    -left * restError,
  ];
  for (const term of terms) sum.add(0, term, 1);
  return sum.rounded(0);
}

/** A product and its rounding error, after Dekker, "A floating-point technique" (1971); `right` is below 1. */
function exactProduct(left: number, right: number): readonly [number, number] {
  // Of the largest doubles the halves would not be finite.
  const scale = Math.abs(left) > 2 ** 996 ? 2 ** -30 : 1;
  const product = left * right;
  const [leftHigh, leftLow] = halves(left * scale);
  const [rightHigh, rightLow] = halves(right);
  const whole = product * scale;
  const error =
    leftLow * rightLow - (whole - leftHigh * rightHigh - leftLow * rightHigh - leftHigh * rightLow);
  return [product, error / scale];
}

function halves(value: number): readonly [number, number] {
  const shifted = value * (2 ** 27 + 1);
  const high = shifted - (shifted - value);
  return [high, value - high];
}

/** `whole + rest + restError`, of which `rest` is below 1 and its error below what it can tell. */
type Product = { readonly whole: number; readonly rest: number; readonly restError: number };

/** `fraction * count`, exactly: as a double it would have lost the last digits of the rest. */
function productOf(fraction: number, count: number): Product {
  let mantissa = fraction;
  let shift = 0;
  // Doubling is exact.
  for (; !Number.isInteger(mantissa); mantissa *= 2) shift++;
  const product = BigInt(mantissa) * BigInt(count);
  const whole = product >> BigInt(shift);
  const rest = product - (whole << BigInt(shift));
  const error = rest - BigInt(Number(rest));
  const scale = 2 ** -shift;
  return { whole: Number(whole), rest: Number(rest) * scale, restError: Number(error) * scale };
}
