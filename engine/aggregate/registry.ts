import type { AggregateFunction } from './aggregate-function.ts';
import { APPROX_COUNT_DISTINCT } from './approx-count-distinct.ts';
import { APPROX_QUANTILES } from './approx-quantiles.ts';
import { APPROX_TOP_COUNT, APPROX_TOP_SUM } from './approx-top.ts';
import { BIT_AND, BIT_OR, BIT_XOR } from './bits.ts';
import { ARRAY_AGG, ARRAY_CONCAT_AGG, STRING_AGG } from './collect.ts';
import { COUNT, COUNTIF } from './count.ts';
import { ANY_VALUE, LOGICAL_AND, LOGICAL_OR, MAX, MIN } from './extreme.ts';
import { COVARIANCES, VARIANCES } from './moments.ts';
import { AVG, SUM } from './sum.ts';

const FUNCTIONS: ReadonlyMap<string, AggregateFunction> = new Map(
  [
    ...[APPROX_COUNT_DISTINCT, APPROX_QUANTILES, APPROX_TOP_COUNT, APPROX_TOP_SUM],
    ...[ANY_VALUE, ARRAY_AGG, ARRAY_CONCAT_AGG, AVG, BIT_AND, BIT_OR, BIT_XOR],
    ...[COUNT, COUNTIF, LOGICAL_AND, LOGICAL_OR, MAX, MIN, STRING_AGG, SUM],
    ...COVARIANCES,
    ...VARIANCES,
  ].map((aggregate) => [aggregate.name, aggregate] as const),
);

/** The aggregate function of that name, in any case. */
export function findAggregateFunction(name: string): AggregateFunction | undefined {
  return FUNCTIONS.get(name.toLowerCase());
}

/** Names of all aggregate functions, lower case, sorted. */
export function aggregateFunctionNames(): readonly string[] {
  return [...FUNCTIONS.keys()].sort();
}
